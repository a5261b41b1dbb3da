package gitrev_test

import (
	"errors"
	"fmt"
	"maps"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/tarebench/tare/cmd/tare/internal/gitrev"
)

// clones are two clones of an empty repository on a disk.
func clones(t *testing.T) (shared []gitrev.Shared, dirs []string) {
	t.Helper()
	origin := t.TempDir()
	runGit(t, origin, "init", "-q", "--bare", "-b", "main")
	for range 2 {
		dir := repository(t)
		runGit(t, dir, "remote", "add", "origin", origin)
		repo, err := gitrev.Find(t.Context(), dir)
		if err != nil {
			t.Fatal(err)
		}
		shared = append(shared, gitrev.Shared{Repo: repo, Remote: "origin", Branch: "tare-history"})
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
		before = append(before, runGit(t, dir, "status", "--porcelain", "--branch")+runGit(t, dir, "for-each-ref"))
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
		var text, text2 strings.Builder
		n, err := shared[0].Copy(t.Context(), &text, hash, 100)
		if err == nil && text.String() == want && n == int64(len(want)) {
			continue
		} else if _, err2 := shared[1].Copy(t.Context(), &text2, hash, 100); err2 != nil || text2.String() != want {
			t.Errorf("%s holds %q, %q, %v, %v", name, text.String(), text2.String(), err, err2)
		}
	}
	var text strings.Builder
	if _, err := shared[0].Copy(t.Context(), &text, there["same.json"], 3); !errors.As(err, new(*gitrev.LargeError)) || err.Error() != "it has 4 bytes, at most 3 are read" || text.Len() > 0 {
		t.Errorf("a file that is too long: %v", err)
	}
	if n, err := shared[0].Add(t.Context(), map[string][]byte{"same.json": []byte("same")}, "again"); n != 0 || err != nil {
		t.Errorf("again: %d, %v", n, err)
	}
	for i, dir := range dirs {
		if after := runGit(t, dir, "status", "--porcelain", "--branch") + runGit(t, dir, "for-each-ref"); after != before[i] {
			t.Errorf("%s was changed: %s", dir, after)
		}
	}
}

// A few trees that have each other as entries list a hundred million files. They are not
// all listed: git is ended at the bound.
func TestListingIsBounded(t *testing.T) {
	shared, dirs := clones(t)
	origin := strings.TrimSpace(runGit(t, dirs[0], "remote", "get-url", "origin"))
	input := func(text string, args ...string) string {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-C", origin, "-c", "user.name=a", "-c", "user.email=a@example.com"}, args...)...)
		cmd.Stdin = strings.NewReader(text)
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		return strings.TrimSpace(string(out))
	}
	kind, mode, hash := "blob", "100644", input("{}", "hash-object", "-w", "--stdin")
	for range 4 {
		var entries strings.Builder
		for i := range 100 {
			fmt.Fprintf(&entries, "%s %s %s\tstudy-%02d.json\n", mode, kind, hash, i)
		}
		kind, mode, hash = "tree", "040000", input(entries.String(), "mktree")
	}
	runGit(t, origin, "update-ref", "refs/heads/tare-history", input("", "commit-tree", "-m", "bomb", hash))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, files, err := shared[0].Files(t.Context())
	runtime.ReadMemStats(&after)
	if want := "list tare-history of origin: it has more than 100000 files, or 16777216 bytes of their names"; !errors.As(err, new(*gitrev.LargeError)) || err.Error() != want || files != nil {
		t.Errorf("%d files, %v, want %s", len(files), err, want)
	}
	if took := after.TotalAlloc - before.TotalAlloc; took > 200<<20 {
		t.Errorf("it allocated %d MiB", took>>20)
	}
}

func TestNoSuchRemote(t *testing.T) {
	shared, _ := clones(t)
	shared[0].Remote = filepath.Join(t.TempDir(), "none")
	if _, err := shared[0].Add(t.Context(), map[string][]byte{"a": nil}, "a"); err == nil {
		t.Error("pushed to nowhere")
	}
}
