package gitrev_test

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tarebench/tare/cmd/tare/internal/gitrev"
)

// What is packed is the same elsewhere: the commits by their hashes, and the
// worktree with what is changed and new in it, but not with what git ignores.
func TestPack(t *testing.T) {
	dir := repository(t)
	write(t, dir, map[string]string{".gitignore": "*.log\n", "noise.log": "x", "sub/deep/c.txt": "deep"})
	if err := os.Remove(filepath.Join(dir, "c.txt")); err != nil {
		t.Fatal(err)
	}
	before := files(t, dir)
	repo, err := gitrev.Find(t.Context(), filepath.Join(dir, "sub"))
	if err != nil {
		t.Fatal(err)
	}
	one, err := repo.Resolve(t.Context(), "one")
	if err != nil {
		t.Fatal(err)
	}
	p, packs, err := repo.Pack(t.Context(), []gitrev.Revision{one}, true, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if after := files(t, dir); !maps.Equal(before, after) {
		t.Error("the repository was changed")
	}
	if len(packs) != 2 || p.Prefix != "sub" || len(p.Commits) != 2 || p.Check() != nil {
		t.Fatalf("%+v, %d packs, %v", p, len(packs), p.Check())
	}
	_, again, err := repo.Pack(t.Context(), []gitrev.Revision{one}, true, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for i := range packs {
		a, _ := os.ReadFile(packs[i])
		if b, _ := os.ReadFile(again[i]); len(a) == 0 || string(a) != string(b) {
			t.Errorf("pack %d is another the second time", i+1)
		}
	}
	there := t.TempDir()
	here, err := gitrev.Unpack(t.Context(), p, packs, there)
	if err != nil {
		t.Fatal(err)
	}
	if filepath.Base(here) != "sub" {
		t.Errorf("in %s", here)
	}
	was, is := runGit(t, dir, "status", "--porcelain"), runGit(t, there, "status", "--porcelain")
	if want := strings.Replace(was, "A  staged.txt", "?? staged.txt", 1); !slices.Equal(sorted(want), sorted(is)) {
		t.Errorf("status was\n%s\nand is\n%s", was, is)
	}
	for _, name := range []string{"a.txt", "sub/b.txt", "sub/deep/c.txt", "staged.txt", "untracked.txt"} {
		a, _ := os.ReadFile(filepath.Join(dir, name))
		if b, err := os.ReadFile(filepath.Join(there, name)); err != nil || string(a) != string(b) {
			t.Errorf("%s holds %q, %v", name, b, err)
		}
	}
	for _, name := range []string{"c.txt", "noise.log"} {
		if _, err := os.Stat(filepath.Join(there, name)); err == nil {
			t.Errorf("%s is there", name)
		}
	}
	copied, err := gitrev.Find(t.Context(), here)
	if err != nil {
		t.Fatal(err)
	}
	if a, b := repo.Worktree(t.Context()), copied.Worktree(t.Context()); a != b {
		t.Errorf("%s is %s there", a, b)
	}
	rev, err := copied.Resolve(t.Context(), one.Commit)
	if err != nil || rev.Tree != one.Tree {
		t.Fatalf("%+v, %v", rev, err)
	}
	unpacked, _, err := copied.Extract(t.Context(), rev, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(filepath.Join(unpacked, "a.txt")); err != nil || string(text) != "one" {
		t.Errorf("%q, %v", text, err)
	}
	changed, err := copied.Changed(t.Context(), rev, nil)
	if want, errWant := repo.Changed(t.Context(), one, nil); err != nil || errWant != nil || !slices.Equal(sorted(strings.Join(want, "\n")), sorted(strings.Join(changed, "\n"))) {
		t.Errorf("changed: %q, %v; want %q, %v", changed, err, want, errWant)
	}
}

func sorted(lines string) []string {
	return slices.Sorted(slices.Values(strings.Split(lines, "\n")))
}

// What another machine sends is no path and no option of git's.
func TestPackedIsChecked(t *testing.T) {
	good := func() gitrev.Packed {
		id := strings.Repeat("a", 40)
		return gitrev.Packed{Prefix: "sub", Head: id, Commits: []string{id}, Tree: id}
	}
	if err := good().Check(); err != nil {
		t.Fatal(err)
	}
	for what, change := range map[string]func(*gitrev.Packed){
		"prefix":  func(p *gitrev.Packed) { p.Prefix = "../x" },
		"head":    func(p *gitrev.Packed) { p.Head = "--upload-pack=x" },
		"commits": func(p *gitrev.Packed) { p.Commits = append(p.Commits, "HEAD") },
		"tree":    func(p *gitrev.Packed) { p.Tree = "" },
	} {
		p := good()
		change(&p)
		if p.Check() == nil {
			t.Errorf("%s was taken", what)
		}
	}
}
