package main

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
)

// outcome is how the tests of a package met a mutant.
type outcome string

const (
	killed   outcome = "killed"    // a test failed, or the mutant crashed
	survived outcome = "survived"  // all tests passed
	timedOut outcome = "timed out" // only the time limit, or a lack of memory, ended the tests
	notBuilt outcome = "not built"
	gone     outcome = "gone"     // the source has no such site any more
	unclean  outcome = "untested" // the tests fail without a mutant
)

// result is a line of the file of results.
type result struct {
	Mutant  string  `json:"mutant"`  // its id
	Content string  `json:"content"` // hash of the package's files
	Outcome outcome `json:"outcome"`
	By      string  `json:"by,omitempty"` // the test that killed it
	Seconds float64 `json:"seconds"`
}

// runner tests mutants of one tree.
type runner struct {
	root string
	dir  string // of overlays; each mutant has its own there
	mods []string

	mu    sync.Mutex
	clean map[string]func() (cleanRun, error) // of packages without a change
}

// cleanRun says how the tests of an unchanged package behave.
type cleanRun struct {
	limits []time.Duration // of the short tests, then of all; one if they are the same
}

func newRunner(root, dir string) (*runner, error) {
	cmd := exec.Command("go", "list", "-m", "-f", "{{.Dir}}")
	cmd.Dir, cmd.Stderr = root, os.Stderr
	text, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("list the modules of the workspace: %w", err)
	}
	return &runner{root: root, dir: dir, mods: strings.Fields(string(text)), clean: map[string]func() (cleanRun, error){}}, nil
}

// command is the go command in a package. A module outside the workspace is built
// alone, as make does.
func (r *runner) command(ctx context.Context, pkg string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = filepath.Join(r.root, pkg)
	module := cmd.Dir
	for module != r.root {
		if _, err := os.Stat(filepath.Join(module, "go.mod")); err == nil {
			break
		}
		module = filepath.Dir(module)
	}
	cmd.Env = os.Environ()
	if !slices.Contains(r.mods, module) {
		cmd.Env = append(cmd.Env, "GOWORK=off", "GOFLAGS=-mod=readonly -trimpath")
	}
	cmd.WaitDelay = 10 * time.Second
	ownGroup(cmd)
	return cmd
}

// overlay writes a changed file and returns the flag with which the go command takes
// it for the real one.
func (r *runner) overlay(c change) (flag string, remove func(), err error) {
	src, err := c.apply()
	if err != nil {
		return "", nil, err
	}
	dir, err := os.MkdirTemp(r.dir, "mutant")
	if err != nil {
		return "", nil, err
	}
	changed, list := filepath.Join(dir, filepath.Base(c.file)), filepath.Join(dir, "overlay.json")
	text, _ := json.Marshal(map[string]any{"Replace": map[string]string{c.file: changed}})
	err = errors.Join(os.WriteFile(changed, src, 0o600), os.WriteFile(list, text, 0o600))
	return "-overlay=" + list, func() { os.RemoveAll(dir) }, err
}

// builds reports whether the package compiles with the change.
func (r *runner) builds(ctx context.Context, c change) (bool, error) {
	flag, remove, err := r.overlay(c)
	if err != nil {
		return false, err
	}
	defer remove()
	err = r.command(ctx, c.Package, "build", flag, "-o", os.DevNull, ".").Run()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) && exit.Exited() {
		return false, nil
	}
	return err == nil, err
}

// test runs a package's tests, the short ones or all, with more flags.
func (r *runner) test(ctx context.Context, pkg string, short bool, limit time.Duration, flags ...string) (outcome, string, error) {
	// The go command gets the time to compile as well.
	whole, cancel := context.WithTimeout(ctx, limit+10*time.Minute)
	defer cancel()
	args := append([]string{"test", "-count=1", "-vet=off", "-failfast", fmt.Sprint("-short=", short), fmt.Sprint("-timeout=", limit)}, flags...)
	out, err := r.command(whole, pkg, args...).CombinedOutput()
	if ctx.Err() != nil { // what was interrupted has no outcome
		return "", "", context.Cause(ctx)
	}
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) && whole.Err() == nil {
		return "", "", err
	}
	got, by := judge(out, err == nil)
	if got == notBuilt || len(flags) == 0 && got != survived {
		return got, by, fmt.Errorf("%s", bytes.TrimSpace(out[:min(len(out), 4000)]))
	}
	return got, by, nil
}

var (
	failed  = regexp.MustCompile(`(?m)^\s*--- FAIL: (\S+)`)
	crashed = regexp.MustCompile(`(?m)^(?:panic: |fatal error: |exit status ).*`)
)

// judge reads what go test wrote. A test that failed before the time was over counts
// as failed.
func judge(out []byte, passed bool) (outcome, string) {
	if passed {
		return survived, ""
	}
	if bytes.Contains(out, []byte(" [build failed]\n")) || bytes.Contains(out, []byte(" [setup failed]\n")) {
		return notBuilt, ""
	}
	if m := failed.FindSubmatch(out); m != nil {
		return killed, string(m[1])
	}
	if by := crashed.Find(out); by != nil && !bytes.HasPrefix(by, []byte("panic: test timed out after")) {
		return killed, string(by)
	}
	return timedOut, ""
}

// try tests a mutant: with the short tests first, then with all.
func (r *runner) try(ctx context.Context, c change) (outcome, string, error) {
	r.mu.Lock()
	clean, ok := r.clean[c.Package]
	if !ok {
		clean = sync.OnceValues(func() (cleanRun, error) { return r.measure(ctx, c.Package) })
		r.clean[c.Package] = clean
	}
	r.mu.Unlock()
	run, err := clean()
	if err != nil && ctx.Err() == nil {
		return unclean, err.Error(), nil
	}
	flag, remove, err := r.overlay(c)
	if err != nil {
		return "", "", err
	}
	defer remove()
	for i, limit := range run.limits {
		got, by, err := r.test(ctx, c.Package, i == 0, limit, flag)
		if got == notBuilt {
			return got, by, nil
		}
		if err != nil || got != survived {
			return got, by, err
		}
	}
	return survived, "", nil
}

// measure tests the unchanged package, twice if it fails, and sets the limits.
func (r *runner) measure(ctx context.Context, pkg string) (run cleanRun, err error) {
	modes := []bool{true}
	if differs, err := r.hasLongTests(ctx, pkg); err != nil {
		return run, err
	} else if differs {
		modes = append(modes, false)
	}
	for _, short := range modes {
		var began time.Time
		for range 2 {
			began = time.Now()
			if _, _, err = r.test(ctx, pkg, short, 10*time.Minute); err == nil {
				break
			}
		}
		if err != nil {
			return run, fmt.Errorf("%s fails without a mutant: %w", pkg, err)
		}
		run.limits = append(run.limits, max(30*time.Second, 5*time.Since(began)).Round(time.Second))
	}
	return run, nil
}

// hasLongTests reports whether something that the package's tests are made of asks
// for testing.Short.
func (r *runner) hasLongTests(ctx context.Context, pkg string) (bool, error) {
	const format = `{{if not .Standard}}{{$d := .Dir}}{{range .GoFiles}}{{$d}}/{{.}}
{{end}}{{range .TestGoFiles}}{{$d}}/{{.}}
{{end}}{{range .XTestGoFiles}}{{$d}}/{{.}}
{{end}}{{end}}`
	out, err := r.command(ctx, pkg, "list", "-deps", "-test", "-f", format, ".").Output()
	if err != nil {
		return false, fmt.Errorf("list the files of %s: %w", pkg, err)
	}
	for _, path := range strings.Fields(string(out)) {
		if !strings.HasPrefix(path, r.root) {
			continue
		}
		if src, err := os.ReadFile(path); err == nil && bytes.Contains(src, []byte("testing.Short()")) {
			return true, nil
		}
	}
	return false, nil
}

// contentHash is of all files of a package, its test data included.
func contentHash(root, pkg string) (string, error) {
	h := sha256.New()
	dir := filepath.Join(root, pkg)
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == dir {
			return err
		}
		if d.IsDir() {
			if d.Name() != "testdata" && !strings.Contains(path, "testdata") {
				return fs.SkipDir // another package
			}
			return nil
		}
		if !d.Type().IsRegular() {
			return nil
		}
		src, err := os.ReadFile(path)
		fmt.Fprintf(h, "%s %d\n%s", strings.TrimPrefix(path, dir), len(src), src)
		return err
	})
	return fmt.Sprintf("%x", h.Sum(nil))[:16], err
}

// known reads the results of an earlier run that was interrupted.
func known(path string) (map[string]result, error) {
	src, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return map[string]result{}, nil
	}
	all := map[string]result{}
	for line := range bytes.Lines(src) {
		var r result
		if json.Unmarshal(line, &r) == nil { // the last line may be torn
			all[r.Content+r.Mutant] = r
		}
	}
	return all, err
}

// runAll tests mutants, jobs at a time, and reports each when it is done.
func (r *runner) runAll(ctx context.Context, mutants []mutant, have map[string]result, jobs int, done func(mutant, change, result)) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	work := make(chan mutant)
	var workers sync.WaitGroup
	var mu sync.Mutex
	for range jobs {
		workers.Go(func() {
			for m := range work {
				c, res, err := r.one(ctx, m, have)
				if err != nil {
					cancel(err)
					continue
				}
				mu.Lock()
				done(m, c, res)
				mu.Unlock()
			}
		})
	}
	for _, m := range mutants {
		if ctx.Err() != nil {
			break
		}
		work <- m
	}
	close(work)
	workers.Wait()
	return context.Cause(ctx)
}

// one tests a mutant, unless its result is there.
func (r *runner) one(ctx context.Context, m mutant, have map[string]result) (c change, res result, err error) {
	began := time.Now()
	res = result{Mutant: m.id(), Outcome: gone}
	c, ok, err := r.find(m)
	if err != nil || !ok {
		return c, res, err
	}
	if res.Content, err = contentHash(r.root, m.Package); err != nil {
		return c, res, err
	}
	if old, ok := have[res.Content+res.Mutant]; ok {
		return c, old, nil
	}
	res.Outcome, res.By, err = r.try(ctx, c)
	res.Seconds = time.Since(began).Round(time.Millisecond * 100).Seconds()
	return c, res, err
}

// find returns the site of a mutant, and false if the source has none.
func (r *runner) find(m mutant) (change, bool, error) {
	if _, err := os.Stat(filepath.Join(r.root, m.Package)); errors.Is(err, fs.ErrNotExist) {
		return change{}, false, nil
	}
	if m.Kind == kindPatch {
		found, err := findPatches(r.root, m)
		if len(found) == 1 {
			return found[0], true, err
		}
		return change{}, false, err
	}
	all, err := findChanges(r.root, m.Package)
	i := slices.IndexFunc(all, func(c change) bool { return c.id() == m.id() })
	if err != nil || i < 0 {
		return change{}, false, err
	}
	return all[i], true, nil
}

// choose returns n mutants that compile of each package, those that rank first.
func (r *runner) choose(ctx context.Context, seed uint64, packages []string, n int) (chosen []mutant, err error) {
	for _, pkg := range packages {
		all, err := findChanges(r.root, pkg)
		if err != nil {
			return nil, err
		}
		slices.SortFunc(all, func(a, b change) int { return cmp.Compare(a.rank(seed), b.rank(seed)) })
		got := 0
		for _, c := range all {
			if got == n {
				break
			}
			ok, err := r.builds(ctx, c)
			if err != nil {
				return nil, err
			}
			if ok {
				chosen, got = append(chosen, c.mutant), got+1
			}
		}
		fmt.Fprintf(os.Stderr, "%s: %d of %d\n", pkg, got, len(all))
	}
	return chosen, nil
}
