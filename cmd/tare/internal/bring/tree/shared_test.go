package tree_test

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/tarebench/tare/cmd/tare/internal/bring/tree"
)

// clones are two clones of an empty repository on a disk.
func clones(t *testing.T) (shared []tree.Shared, dirs []string) {
	t.Helper()
	origin := t.TempDir()
	git(t, origin, "init", "-q", "--bare", "-b", "main")
	for range 2 {
		dir := repository(t)
		git(t, dir, "remote", "add", "origin", origin)
		repo, err := tree.Find(t.Context(), dir)
		if err != nil {
			t.Fatal(err)
		}
		shared = append(shared, tree.Shared{Repo: repo, Remote: "origin", Branch: "tare-history"})
		dirs = append(dirs, dir)
	}
	return shared, dirs
}

// Two clones that add files at once lose nothing, and their own branches, files
// and index stay as they are.
func TestAddedAtOnce(t *testing.T) {
	shared, dirs := clones(t)
	if tip, there, err := shared[0].Files(t.Context()); tip != "" || len(there) > 0 || err != nil {
		t.Fatalf("before: %q, %v, %v", tip, there, err)
	}
	var before []string
	for _, dir := range dirs {
		before = append(before, git(t, dir, "status", "--porcelain", "--branch")+git(t, dir, "for-each-ref"))
	}
	const each = 4
	var wg sync.WaitGroup
	for i, s := range shared {
		wg.Go(func() {
			for j := range each {
				name := fmt.Sprintf("study/%d-%d.json", i, j)
				if n, err := s.Add(t.Context(), map[string][]byte{name: []byte(name), "same.json": []byte("same")}, "a result"); err != nil || n < 1 {
					t.Errorf("%s: %d added, %v", name, n, err)
				}
			}
		})
	}
	wg.Wait()
	_, there, err := shared[1].Files(t.Context())
	if err != nil || len(there) != 2*each+1 {
		t.Errorf("%d files, %v: %v", len(there), err, slices.Sorted(maps.Keys(there)))
	}
	for name, hash := range there {
		want := name
		if name == "same.json" {
			want = "same"
		}
		if text, err := shared[0].Content(t.Context(), hash, 100); err == nil && string(text) == want {
			continue
		} else if text, err2 := shared[1].Content(t.Context(), hash, 100); err2 != nil || string(text) != want {
			t.Errorf("%s holds %q, %v, %v", name, text, err, err2)
		}
	}
	if _, err := shared[0].Content(t.Context(), there["same.json"], 3); err == nil || err.Error() != "it has 4 bytes, at most 3 are read" {
		t.Errorf("a file that is too long: %v", err)
	}
	if n, err := shared[0].Add(t.Context(), map[string][]byte{"same.json": []byte("same")}, "again"); n != 0 || err != nil {
		t.Errorf("again: %d, %v", n, err)
	}
	for i, dir := range dirs {
		if after := git(t, dir, "status", "--porcelain", "--branch") + git(t, dir, "for-each-ref"); after != before[i] {
			t.Errorf("%s was changed: %s", dir, after)
		}
	}
}

func TestNoSuchRemote(t *testing.T) {
	shared, _ := clones(t)
	shared[0].Remote = filepath.Join(t.TempDir(), "none")
	if _, err := shared[0].Add(t.Context(), map[string][]byte{"a": nil}, "a"); err == nil {
		t.Error("pushed to nowhere")
	}
}
