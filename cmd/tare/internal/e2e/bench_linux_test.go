package e2e

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// hostile is a repository as tare bench may find one, and what comes of it.
type hostile struct {
	name  string
	soak  bool              // only under make soak: it builds and measures
	base  map[string]string // files of the revision one
	head  map[string]string // what the worktree has instead; an empty text: no such file
	then  func(t *testing.T, root string)
	dir   string   // below the repository, where tare is called
	args  []string // besides those of every call; none: --base one
	env   []string
	code  int
	says  []string // in what it prints; where it fails, in its one line
	never []string // not in what it prints
}

// tidy lays the repository of h out below parent, and is where it is.
func (h hostile) tidy(t *testing.T, parent string) string {
	t.Helper()
	root := filepath.Join(parent, "re po")
	if err := os.MkdirAll(root, 0o755); err != nil {
		t.Fatal(err)
	}
	git(t, root, "init", "--quiet", "--initial-branch=main")
	for name, text := range h.base {
		write(t, root, name, text)
	}
	git(t, root, "add", "--all", "--force")
	git(t, root, "commit", "--quiet", "-m", "one")
	git(t, root, "tag", "one")
	for name, text := range h.head {
		if text == "" {
			if err := os.Remove(filepath.Join(root, name)); err != nil {
				t.Fatal(err)
			}
			continue
		}
		write(t, root, name, text)
	}
	if h.then != nil {
		h.then(t, root)
	}
	return root
}

// tree is everything that can be seen of a repository: every file with its
// text, mode and time, those of .git too, and what git says of it.
func tree(t *testing.T, root string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		about := fmt.Sprint(info.Mode(), " ", info.ModTime().UnixNano()) // of a directory: no file came or went
		switch {
		case info.Mode()&fs.ModeSymlink != 0:
			to, err := os.Readlink(path)
			if err != nil {
				return err
			}
			about += " " + to
		case info.Mode().IsRegular():
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			about += fmt.Sprintf(" %x", sha256.Sum256(text))
		}
		all[path] = about
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"status", "--porcelain=v2", "--ignored"}, {"stash", "list"}, {"worktree", "list"}, {"for-each-ref"}} {
		cmd := exec.Command("git", append([]string{"-C", root}, args...)...)
		cmd.Env = append(os.Environ(), "GIT_OPTIONAL_LOCKS=0")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
		all["git "+strings.Join(args, " ")] = string(out)
	}
	return all
}

// changed are the differences between two views of a repository.
func changed(before, after map[string]string) (diff []string) {
	for name, about := range after {
		if was, ok := before[name]; !ok {
			diff = append(diff, name+" is new")
		} else if was != about {
			diff = append(diff, fmt.Sprintf("%s was %q, is %q", name, was, about))
		}
	}
	for name := range before {
		if _, ok := after[name]; !ok {
			diff = append(diff, name+" is gone")
		}
	}
	slices.Sort(diff)
	return diff
}

// measure calls tare bench in dir, as somebody who may not write where the modes
// of files say so.
func (b bench) measure(t *testing.T, dir string, env []string, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	cmd := b.command(append([]string{"bench", "--quiet", "--no-lock"}, args...)...)
	if os.Getuid() == 0 {
		if path, err := exec.LookPath("setpriv"); err == nil {
			cmd.Args = append([]string{path, "--bounding-set=-dac_override,-dac_read_search"}, cmd.Args...)
			cmd.Path = path
		}
	}
	cmd.Dir = dir
	cmd.Env = append(append(cmd.Env, "GOFLAGS=", "GOWORK=", "GOPROXY=off", "GOTOOLCHAIN=local", "PWD="+dir), env...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	if _, isExit := err.(*exec.ExitError); err != nil && !isExit {
		t.Fatal(err)
	}
	return out.String(), errs.String(), cmd.ProcessState.ExitCode()
}

// Whatever a repository is like, tare bench works or ends with one clear line,
// and leaves everything as it was.
func TestBenchInHostileRepositories(t *testing.T) {
	if testing.Short() {
		t.Skip("builds many repositories")
	}
	t.Parallel()
	for _, tool := range []string{"git", "go"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skip(tool + " is not here")
		}
	}
	b := newBench(t)
	b.cache = t.TempDir() // what is left in it is checked
	for _, h := range hostiles() {
		t.Run(strings.ReplaceAll(h.name, " ", "-"), func(t *testing.T) {
			if h.soak && os.Getenv("TARE_SOAK") == "" {
				t.Skip("under make soak")
			}
			root := h.tidy(t, t.TempDir())
			args := h.args
			if args == nil {
				args = []string{"--base", "one"}
			}
			before := tree(t, root)
			stdout, stderr, code := b.measure(t, filepath.Join(root, h.dir), h.env, append(args, "--rounds", "1", "--slice", "1ms", "--procs", "1")...)
			if diff := changed(before, tree(t, root)); len(diff) > 0 {
				t.Errorf("the repository was changed:\n%s", strings.Join(diff, "\n"))
			}
			if left, _ := filepath.Glob(filepath.Join(b.cache, "bench", "*")); len(left) > 0 {
				t.Errorf("left in the cache: %q", left)
			}
			said := stdout
			if h.code != 0 {
				if said = stderr; strings.Count(said, "\n") != 1 || stdout != "" {
					t.Errorf("stdout %q, stderr %q: want one line on stderr", stdout, stderr)
				}
			} else if stderr != "" {
				t.Errorf("stderr: %s", stderr)
			}
			if code != h.code {
				t.Errorf("exit code %d, want %d\n%s%s", code, h.code, stdout, stderr)
			}
			for _, want := range h.says {
				if !strings.Contains(said, want) {
					t.Errorf("no %q in\n%s", want, said)
				}
			}
			for _, no := range h.never {
				if strings.Contains(said, no) {
					t.Errorf("%q in\n%s", no, said)
				}
			}
			t.Logf("exit code %d: %s", code, said)
		})
	}
	b.nothingLeft(t, "at the end")
}
