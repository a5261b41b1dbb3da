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

// A mutant is a small change to the source of a package, such as another operator. This file runs the tests
// of the package with each mutant: they should fail.

// outcome is the result of a package's tests with a mutant.
type outcome string

const (
	killed   outcome = "killed"    // a test failed, or the mutant crashed
	survived outcome = "survived"  // all tests passed
	timedOut outcome = "timed out" // the time limit or a lack of memory ended the tests
	notBuilt outcome = "not built"
	gone     outcome = "gone"     // the source has changed at this place
	unclean  outcome = "untested" // the tests fail without a mutant
)

type result struct {
	Mutant  string  `json:"mutant"`  // id of the mutant
	Content string  `json:"content"` // hash of the package's files
	Outcome outcome `json:"outcome"`
	By      string  `json:"by,omitempty"` // the test or message that killed the mutant
	Seconds float64 `json:"seconds"`
}

func (r result) resultKey() string { return r.Content + r.Mutant }

type runner struct {
	root string
	dir  string   // for changed files and test binaries, a subdirectory for each
	mods []string // of the workspace's modules

	mu    sync.Mutex
	clean map[string]func() ([]mode, error) // by package: measureClean, which runs only once
}

// mode is a way to run the tests of a package.
type mode struct {
	short bool          // go test -short
	limit time.Duration // five times the duration without a mutant, but at least 30 s
}

// newRunner returns a runner for the tree at root, which writes its files into dir.
func newRunner(root, dir string) (*runner, error) {
	cmd := exec.Command("go", "list", "-m", "-f", "{{.Dir}}")
	cmd.Dir, cmd.Stderr = root, os.Stderr
	text, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("list the modules of the workspace: %w", err)
	}
	return &runner{root: root, dir: dir, mods: strings.Fields(string(text)), clean: map[string]func() ([]mode, error){}}, nil
}

// runAll tests mutants, jobs of them at a time. report gets each result. known has the results of earlier
// runs.
func (r *runner) runAll(ctx context.Context, mutants []mutant, known map[string]result, jobs int, report func(mutant, change, result)) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	work := make(chan mutant)
	var workers sync.WaitGroup
	var mu sync.Mutex
	for range jobs {
		workers.Go(func() {
			for m := range work {
				c, res, err := r.testOne(ctx, m, known)
				if err != nil {
					cancel(err)
					continue // the sender must not block
				}
				mu.Lock()
				report(m, c, res)
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

func (r *runner) testOne(ctx context.Context, m mutant, known map[string]result) (c change, res result, err error) {
	began := time.Now()
	res = result{Mutant: m.id(), Outcome: gone}
	c, ok, err := r.findSite(m)
	if err != nil || !ok {
		return c, res, err
	}
	if res.Content, err = contentHash(r.root, m.Package); err != nil {
		return c, res, err
	}
	if old, ok := known[res.resultKey()]; ok {
		return c, old, nil
	}
	res.Outcome, res.By, err = r.tryMutant(ctx, c)
	res.Seconds = time.Since(began).Round(time.Millisecond * 100).Seconds()
	return c, res, err
}

// findSite returns the change that a mutant makes to the source. It returns false if its place no longer
// exists.
func (r *runner) findSite(m mutant) (change, bool, error) {
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

// contentHash returns a hash of all files of a package. An earlier result with the same hash is still
// valid.
func contentHash(root, pkg string) (string, error) {
	hash := sha256.New()
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
		fmt.Fprintf(hash, "%s %d\n%s", strings.TrimPrefix(path, dir), len(src), src)
		return err
	})
	return fmt.Sprintf("%x", hash.Sum(nil))[:16], err
}

// tryMutant tests a mutant with the short tests first, and then with all tests if there are more.
func (r *runner) tryMutant(ctx context.Context, c change) (outcome, string, error) {
	r.mu.Lock()
	clean, ok := r.clean[c.Package]
	if !ok {
		clean = sync.OnceValues(func() ([]mode, error) { return r.measureClean(ctx, c.Package) })
		r.clean[c.Package] = clean
	}
	r.mu.Unlock()
	modes, err := clean()
	if err != nil && ctx.Err() == nil {
		return unclean, err.Error(), nil
	}
	flag, remove, err := r.writeOverlay(c)
	if err != nil {
		return "", "", err
	}
	defer remove()
	binary := filepath.Join(filepath.Dir(strings.TrimPrefix(flag, overlayFlag)), testName)
	if ok, err := r.compileTests(ctx, c.Package, binary, flag); err != nil || !ok {
		return notBuilt, "", err
	}
	for _, m := range modes {
		got, killer, err := r.testTwice(ctx, c.Package, binary, m)
		if err != nil || got != survived {
			return got, killer, err
		}
	}
	return survived, "", nil
}

const testName = "mutant.test"

// testTwice runs the tests. On a busy machine a test may fail although the mutant has no effect. So
// testTwice repeats a failed test. If it then passes, all tests run again and decide.
func (r *runner) testTwice(ctx context.Context, pkg, binary string, m mode) (outcome, string, error) {
	got, killer, _, err := r.runTests(ctx, pkg, binary, m, "")
	if err != nil || got != killed || !strings.HasPrefix(killer, "Test") {
		return got, killer, err
	}
	again, _, _, err := r.runTests(ctx, pkg, binary, m, killer)
	if err == nil && again == survived {
		got, killer, _, err = r.runTests(ctx, pkg, binary, m, "")
	}
	return got, killer, err
}

// runTests runs a test binary like go test. only is the name of a single test, or "".
func (r *runner) runTests(ctx context.Context, pkg, binary string, m mode, only string) (got outcome, killer string, out []byte, err error) {
	args := []string{"-test.failfast", "-test.paniconexit0", fmt.Sprint("-test.short=", m.short), fmt.Sprint("-test.timeout=", m.limit)}
	if only != "" {
		top, _, _ := strings.Cut(only, "/")
		args = append(args, "-test.run=^"+regexp.QuoteMeta(top)+"$")
	}
	bounded, cancel := context.WithTimeout(ctx, m.limit+time.Minute) // the binary should end itself before
	defer cancel()
	cmd := exec.CommandContext(bounded, binary, args...)
	cmd.Dir = filepath.Join(r.root, pkg)
	cmd.Env = r.environmentFor(cmd.Dir)
	cmd.WaitDelay = time.Minute // for remaining children, as go test does
	setGroup(cmd)
	out, err = cmd.CombinedOutput()
	killGroup(cmd)
	if ctx.Err() != nil { // interrupted tests have no outcome
		return "", "", nil, context.Cause(ctx)
	}
	exit := (*exec.ExitError)(nil)
	isTooLate := errors.Is(err, exec.ErrWaitDelay) || bounded.Err() != nil
	if err != nil && !errors.As(err, &exit) && !isTooLate { // the binary did not start
		return "", "", nil, err
	}
	got, killer = judgeOutput(out, err)
	return got, killer, out, nil
}

// Lines of a test binary's output: of a failed test, e.g. "--- FAIL: TestName/case", and of a crash.
var (
	testFailed = regexp.MustCompile(`(?m)^\s*--- FAIL: (\S+)`)
	crash      = regexp.MustCompile(`(?m)^(?:panic: |fatal error: ).*`)
)

// judgeOutput returns the outcome of a test binary, and the test or message that killed the mutant. err is
// how the binary ended. A test that failed before the time limit counts as failed.
func judgeOutput(out []byte, err error) (outcome, string) {
	if err == nil {
		return survived, ""
	}
	if m := testFailed.FindSubmatch(out); m != nil {
		return killed, string(m[1])
	}
	killer := string(crash.Find(out))
	if strings.HasPrefix(killer, "panic: test timed out after") {
		return timedOut, ""
	}
	exit := (*exec.ExitError)(nil)
	if killer == "" && errors.As(err, &exit) && exit.Exited() { // e.g. in TestMain
		killer = exit.Error()
	}
	if killer != "" {
		return killed, killer
	}
	return timedOut, ""
}

func (r *runner) goCommand(ctx context.Context, pkg string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = filepath.Join(r.root, pkg)
	cmd.Env = r.environmentFor(cmd.Dir)
	cmd.WaitDelay = 10 * time.Second
	setGroup(cmd)
	return cmd
}

// environmentFor returns the environment of the go command and of tests in a directory. Outside the
// workspace (go.work) it switches the workspace off, as the Makefile does.
func (r *runner) environmentFor(dir string) []string {
	module := dir
	for module != r.root {
		if _, err := os.Stat(filepath.Join(module, "go.mod")); err == nil {
			break
		}
		module = filepath.Dir(module)
	}
	env := append(os.Environ(), "PWD="+dir)
	if !slices.Contains(r.mods, module) {
		env = append(env, "GOWORK=off", "GOFLAGS=-mod=readonly -trimpath")
	}
	return env
}

const overlayFlag = "-overlay="

// writeOverlay writes a changed file, and returns the flag of the go command that uses it. remove deletes
// the written files.
func (r *runner) writeOverlay(c change) (flag string, remove func(), err error) {
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
	return overlayFlag + list, func() { os.RemoveAll(dir) }, err
}

// compileTests builds a package's test binary within ten minutes. flags select a mutant; tests with it need
// not compile.
func (r *runner) compileTests(ctx context.Context, pkg, binary string, flags ...string) (bool, error) {
	bounded, cancel := context.WithTimeout(ctx, 10*time.Minute)
	defer cancel()
	args := append([]string{"test", "-c", "-vet=off", "-o", binary}, flags...)
	out, err := r.goCommand(bounded, pkg, args...).CombinedOutput()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) && exit.Exited() {
		if len(flags) == 0 {
			return false, fmt.Errorf("%s", bytes.TrimSpace(out))
		}
		return false, nil
	}
	return err == nil, err
}

// measureClean runs the tests of the unchanged package, up to twice if they fail. It returns the modes with
// their time limits: first the short tests, then all tests if there are more.
func (r *runner) measureClean(ctx context.Context, pkg string) (modes []mode, err error) {
	modes = []mode{{short: true}}
	if hasLong, err := r.hasLongTests(ctx, pkg); err != nil {
		return nil, err
	} else if hasLong {
		modes = append(modes, mode{short: false})
	}
	dir, err := os.MkdirTemp(r.dir, "clean")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	binary := filepath.Join(dir, testName)
	if _, err := r.compileTests(ctx, pkg, binary); err != nil {
		return nil, fmt.Errorf("%s does not compile: %w", pkg, err)
	}
	for i := range modes {
		var began time.Time
		var got outcome
		var out []byte
		for range 2 {
			began = time.Now()
			got, _, out, err = r.runTests(ctx, pkg, binary, mode{short: modes[i].short, limit: 10 * time.Minute}, "")
			if err != nil {
				return nil, err
			}
			if got == survived {
				break
			}
		}
		if got != survived {
			return nil, fmt.Errorf("%s fails without a mutant: %s", pkg, bytes.TrimSpace(out[:min(len(out), 4000)]))
		}
		modes[i].limit = max(30*time.Second, 5*time.Since(began)).Round(time.Second)
	}
	return modes, nil
}

// hasLongTests reports whether -short can skip tests of the package: some file of the tests calls
// testing.Short.
func (r *runner) hasLongTests(ctx context.Context, pkg string) (bool, error) {
	const format = `{{if not .Standard}}{{$d := .Dir}}{{range .GoFiles}}{{$d}}/{{.}}
{{end}}{{range .TestGoFiles}}{{$d}}/{{.}}
{{end}}{{range .XTestGoFiles}}{{$d}}/{{.}}
{{end}}{{end}}`
	out, err := r.goCommand(ctx, pkg, "list", "-deps", "-test", "-f", format, ".").Output()
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

func readResults(path string) (map[string]result, error) {
	src, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return map[string]result{}, nil
	}
	all := map[string]result{}
	for line := range bytes.Lines(src) {
		var r result
		if json.Unmarshal(line, &r) == nil { // the last line may be incomplete
			all[r.resultKey()] = r
		}
	}
	return all, err
}

// chooseMutants returns n mutants of each package that compile, in the order of their rank.
func (r *runner) chooseMutants(ctx context.Context, seed uint64, packages []string, n int) (chosen []mutant, err error) {
	for _, pkg := range packages {
		all, err := findChanges(r.root, pkg)
		if err != nil {
			return nil, err
		}
		slices.SortFunc(all, func(a, b change) int { return cmp.Compare(a.rank(seed), b.rank(seed)) })
		count := 0
		for _, c := range all {
			if count == n {
				break
			}
			ok, err := r.isCompiling(ctx, c)
			if err != nil {
				return nil, err
			}
			if ok {
				chosen, count = append(chosen, c.mutant), count+1
			}
		}
		fmt.Fprintf(os.Stderr, "%s: %d of %d\n", pkg, count, len(all))
	}
	return chosen, nil
}

func (r *runner) isCompiling(ctx context.Context, c change) (bool, error) {
	flag, remove, err := r.writeOverlay(c)
	if err != nil {
		return false, err
	}
	defer remove()
	err = r.goCommand(ctx, c.Package, "build", flag, "-o", os.DevNull, ".").Run()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) && exit.Exited() { // the compiler's verdict
		return false, nil
	}
	return err == nil, err
}
