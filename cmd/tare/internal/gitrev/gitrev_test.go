package gitrev_test

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tarebench/tare/cmd/tare/internal/gitrev"
)

// runGit runs a command in dir with nobody's configuration.
func runGit(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "protocol.file.allow=always"}, args...)...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

func write(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// repository has two commits, the first one tagged one, and changes besides.
func repository(t *testing.T) string {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("no git command")
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	runGit(t, dir, "init", "-q", "-b", "main")
	write(t, dir, map[string]string{"a.txt": "one", "sub/b.txt": "b", "x_test.go": "kept", ".gitattributes": "*_test.go export-ignore\n*.bin filter=lfs\n"})
	runGit(t, dir, "add", "-A")
	runGit(t, dir, "commit", "-qm", "one")
	runGit(t, dir, "tag", "one")
	write(t, dir, map[string]string{"a.txt": "two", "c.txt": "new"})
	runGit(t, dir, "add", "-A")
	runGit(t, dir, "commit", "-qm", "two")
	write(t, dir, map[string]string{"a.txt": "changed", "staged.txt": "x", "untracked.txt": "x"})
	runGit(t, dir, "add", "staged.txt")
	return dir
}

// files lists every file below dir with what it holds, but for the time of
// last access.
func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			all[path] = "directory"
			return err
		}
		text, err := os.ReadFile(path)
		all[path] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestExtractTouchesNothing(t *testing.T) {
	dir, cache := repository(t), t.TempDir()
	before := files(t, dir)
	repo, err := gitrev.Find(t.Context(), filepath.Join(dir, "sub"))
	if err != nil || repo.Root != dir || filepath.Clean(repo.Prefix) != "sub" {
		t.Fatalf("found %+v, %v", repo, err)
	}
	rev, err := repo.Resolve(t.Context(), "one")
	if err != nil || !strings.HasPrefix(rev.String(), "one (") {
		t.Fatalf("%v, %v", rev, err)
	}
	out, notes, err := repo.Extract(t.Context(), rev, cache)
	if err != nil {
		t.Fatal(err)
	}
	got := files(t, out)
	for name, want := range map[string]string{"a.txt": "one", "sub/b.txt": "b", "x_test.go": "kept"} {
		if got[filepath.Join(out, name)] != want {
			t.Errorf("%s holds %q, want %q", name, got[filepath.Join(out, name)], want)
		}
	}
	if _, is := got[filepath.Join(out, "c.txt")]; is {
		t.Error("a file of a later commit is there")
	}
	if len(notes) != 1 || !strings.Contains(notes[0], "Git LFS") {
		t.Errorf("notes: %q", notes)
	}
	if again, _, err := repo.Extract(t.Context(), rev, cache); again != out || err != nil {
		t.Errorf("the second time: %s, %v", again, err)
	}
	if title := repo.Worktree(t.Context()); !strings.HasSuffix(title, "with changes") {
		t.Errorf("the worktree is %q", title)
	}
	after := files(t, dir)
	for path, text := range after {
		if before[path] != text {
			t.Errorf("%s was changed", path)
		}
	}
	if len(after) != len(before) {
		t.Errorf("%d files, were %d", len(after), len(before))
	}
	if entries, err := os.ReadDir(filepath.Join(cache, "trees")); err != nil || len(entries) != 1 {
		t.Errorf("left in the cache: %v, %v", entries, err)
	}
}

// TestReplacedTree extracts a commit whose tree git replace has replaced by another one. Its hash means its own
// files.
func TestReplacedTree(t *testing.T) {
	dir := repository(t)
	runGit(t, dir, "replace", "one^{tree}", "HEAD^{tree}")
	repo, err := gitrev.Find(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	rev, err := repo.Resolve(t.Context(), "one")
	if err != nil {
		t.Fatal(err)
	}
	out, _, err := repo.Extract(t.Context(), rev, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(filepath.Join(out, "a.txt")); err != nil || string(text) != "one" {
		t.Errorf("a.txt holds %q, want the text of the commit, %q; %v", text, "one", err)
	}
}

// A benchmark that writes where it runs must not change the base of the next run.
func TestChangedFilesInTheCacheAreWrittenAgain(t *testing.T) {
	dir := repository(t)
	write(t, dir, map[string]string{".gitignore": "*.log\n", ".gitattributes": "*_test.go export-ignore\n"})
	runGit(t, dir, "add", ".gitignore", ".gitattributes")
	runGit(t, dir, "commit", "-qm", "three")
	repo, err := gitrev.Find(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	rev, err := repo.Resolve(t.Context(), "HEAD")
	if err != nil {
		t.Fatal(err)
	}
	cache := t.TempDir()
	out, _, err := repo.Extract(t.Context(), rev, cache)
	if err != nil {
		t.Fatal(err)
	}
	want := files(t, out)
	for name, change := range map[string]func(){
		"another content":     func() { write(t, out, map[string]string{"sub/b.txt": "B"}) },
		"a new file":          func() { write(t, out, map[string]string{"sub/d.txt": "d"}) },
		"a file git ignores":  func() { write(t, out, map[string]string{"sub/d.log": "d"}) },
		"a file that is gone": func() { _ = os.Remove(filepath.Join(out, "c.txt")) },
		"a link in its place": func() {
			_ = os.Remove(filepath.Join(out, "c.txt"))
			_ = os.Symlink("a.txt", filepath.Join(out, "c.txt"))
		},
		"a file in place of it": func() { _ = os.RemoveAll(out); _ = os.WriteFile(out, nil, 0o644) },
	} {
		change()
		again, notes, err := repo.Extract(t.Context(), rev, cache)
		if err != nil || again != out || len(notes) != 1 || !strings.Contains(notes[0], "its files in the cache had been changed") {
			t.Errorf("%s: notes %q, %v", name, notes, err)
			continue
		}
		if got := files(t, out); !maps.Equal(got, want) {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
	if _, notes, err := repo.Extract(t.Context(), rev, cache); err != nil || len(notes) > 0 {
		t.Errorf("unchanged: notes %q, %v", notes, err)
	}
	if left, err := os.ReadDir(filepath.Join(cache, "trees")); err != nil || len(left) != 1 {
		t.Errorf("%v, %v; want one directory", left, err)
	}
}

func TestUnknownRevision(t *testing.T) {
	repo, err := gitrev.Find(t.Context(), repository(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"nosuch", "", "--all", "one:a.txt"} {
		_, err := repo.Resolve(t.Context(), name)
		var unknown *gitrev.UnknownError
		if !errors.As(err, &unknown) {
			t.Errorf("%q: %v", name, err)
		}
	}
	if _, err := gitrev.Find(t.Context(), t.TempDir()); err == nil || strings.Contains(err.Error(), "\n") {
		t.Errorf("outside of a repository: %v", err)
	}
}

func TestChanged(t *testing.T) {
	dir := repository(t)
	repo, err := gitrev.Find(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	one, err := repo.Resolve(t.Context(), "one")
	if err != nil {
		t.Fatal(err)
	}
	head, err := repo.Resolve(t.Context(), "HEAD")
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		head *gitrev.Revision
		want []string
	}{{&head, []string{"a.txt", "c.txt"}}, {nil, []string{"a.txt", "c.txt", "staged.txt", "untracked.txt"}}} {
		got, err := repo.Changed(t.Context(), one, tt.head)
		slices.Sort(got)
		if err != nil || !slices.Equal(got, tt.want) {
			t.Errorf("changed: %q, %v; want %q", got, err, tt.want)
		}
	}
}

func TestSubmodulesAreNamed(t *testing.T) {
	dir, other := repository(t), repository(t)
	runGit(t, dir, "submodule", "add", "-q", other, "third")
	runGit(t, dir, "commit", "-qam", "three")
	repo, err := gitrev.Find(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	rev, err := repo.Resolve(t.Context(), "HEAD")
	if err != nil {
		t.Fatal(err)
	}
	cache := t.TempDir()
	out, notes, err := repo.Extract(t.Context(), rev, cache)
	if err != nil || !slices.ContainsFunc(notes, func(n string) bool { return strings.Contains(n, "submodule third is left empty") }) {
		t.Errorf("notes: %q, %v", notes, err)
	}
	want := files(t, out)
	third := filepath.Join(out, "third")
	for _, change := range []struct {
		name   string
		change func()
		is     bool // a change
	}{
		{"none", func() {}, false},
		{"a file in it", func() { write(t, out, map[string]string{"third/evil.go": "package third"}) }, true},
		{"it is gone", func() { os.RemoveAll(third) }, true},
		{"a link in its place", func() { os.RemoveAll(third); _ = os.Symlink(t.TempDir(), third) }, true},
		{"none again", func() {}, false},
	} {
		change.change()
		_, notes, err := repo.Extract(t.Context(), rev, cache)
		changed := slices.ContainsFunc(notes, func(n string) bool { return strings.Contains(n, "had been changed") })
		if err != nil || changed != change.is {
			t.Errorf("%s: notes %q, %v", change.name, notes, err)
		}
		if got := files(t, out); !maps.Equal(got, want) {
			t.Errorf("%s: %v, want %v", change.name, got, want)
		}
	}
}

func TestSweep(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{"old/a": "", "new/a": ""})
	long := time.Now().Add(-48 * time.Hour)
	if err := os.Chtimes(filepath.Join(dir, "old"), long, long); err != nil {
		t.Fatal(err)
	}
	gitrev.Sweep(dir, 24*time.Hour)
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 || entries[0].Name() != "new" {
		t.Errorf("left: %v, %v", entries, err)
	}
}

// Commits come with their parents, children first; with first parents only what
// was merged is not among them.
func TestBetween(t *testing.T) {
	dir := repository(t)
	runGit(t, dir, "stash", "-q", "-u")
	runGit(t, dir, "switch", "-qc", "side", "one")
	write(t, dir, map[string]string{"side.txt": "x"})
	runGit(t, dir, "add", "-A")
	runGit(t, dir, "commit", "-qm", "side: a change")
	runGit(t, dir, "switch", "-q", "main")
	runGit(t, dir, "merge", "-q", "--no-ff", "-m", "merge", "side")
	repo, err := gitrev.Find(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	rev := func(name string) gitrev.Revision {
		r, err := repo.Resolve(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	for firstParent, want := range map[bool][]string{false: {"merge", "side: a change", "two"}, true: {"merge", "two"}} {
		commits, err := repo.Between(t.Context(), rev("one"), rev("main"), firstParent)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		seen := map[string]bool{}
		for _, c := range commits {
			got = append(got, c.Subject)
			seen[c.ID] = true
			if c.Author != "a" || c.Time.IsZero() || len(c.Parents) == 0 || firstParent && len(c.Parents) > 1 || seen[c.Parents[0]] {
				t.Errorf("%+v", c)
			}
		}
		if got[0] != "merge" {
			t.Errorf("%q does not begin with the merge", got)
		}
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("first parents %v: %q, want %q", firstParent, got, want)
		}
	}
	var apart *gitrev.ApartError
	if _, err := repo.Between(t.Context(), rev("side"), rev("one"), false); !errors.As(err, &apart) || !strings.Contains(err.Error(), "is no ancestor of one") {
		t.Errorf("%v", err)
	}
}

// TestOutputsAreNotPartOfTheWorktree: files that a command writes into the worktree, and the temporary
// files before them, leave its hash as it is. Other files do not.
func TestOutputsAreNotPartOfTheWorktree(t *testing.T) {
	dir := repository(t)
	repo, err := gitrev.Find(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	hash := func() string {
		t.Helper()
		sum, err := repo.HashWorktree(t.Context(), filepath.Join(dir, "receipt.json"), "", filepath.Join(dir, "sub", "result[1].json"), filepath.Join(dir, "nowhere", "x.json"))
		if err != nil {
			t.Fatal(err)
		}
		return sum
	}
	before := hash()
	write(t, dir, map[string]string{"receipt.json": "{}", ".receipt.json-123": "{", "sub/result[1].json": "{}", "sub/.result[1].json-9": "{"})
	if got := hash(); got != before {
		t.Errorf("outputs change the hash from %s to %s", before, got)
	}
	write(t, dir, map[string]string{"sub/result1.json": "{}"})
	if got := hash(); got == before {
		t.Error("another file does not change the hash")
	}
}

// Lines are found with their files, in a revision and in the files as they are.
func TestGrep(t *testing.T) {
	repo, err := gitrev.Find(t.Context(), repository(t))
	if err != nil {
		t.Fatal(err)
	}
	one, err := repo.Resolve(t.Context(), "one")
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		rev        *gitrev.Revision
		expression string
		want       []gitrev.Match
	}{
		{&one, "^(one|b)$", []gitrev.Match{{File: "a.txt", Line: "one"}, {File: "sub/b.txt", Line: "b"}}},
		{nil, "^x$", []gitrev.Match{{File: "staged.txt", Line: "x"}, {File: "untracked.txt", Line: "x"}}},
		{nil, "^one$", nil},
	} {
		got, err := repo.Grep(t.Context(), tt.rev, tt.expression, "*.txt")
		if err != nil || !slices.Equal(got, tt.want) {
			t.Errorf("%s: %q, %v, want %q", tt.expression, got, err, tt.want)
		}
	}
}
