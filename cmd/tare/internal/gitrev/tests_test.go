package gitrev_test

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/tarebench/tare/cmd/tare/internal/gitrev"
)

// The tests of one tree are put over a copy of another one, which stays as it is, and
// each of them can be taken back.
func TestCopyTests(t *testing.T) {
	base, head, root := t.TempDir(), t.TempDir(), filepath.Join(t.TempDir(), "copy")
	put := func(dir string, files map[string]string) {
		for name, text := range files {
			path := filepath.Join(dir, name)
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(text), 0o444); err != nil {
				t.Fatal(err)
			}
		}
	}
	put(base, map[string]string{"a.go": "base", "a_test.go": "base", "gone_test.go": "base", "same_test.go": "same v1", "testdata/in": "base", "testdata/deep/in": "same", "sub/s.go": "base", "sub/s_test.go": "base"})
	put(head, map[string]string{
		"a.go": "head", "a_test.go": "head", "same_test.go": "same v2", "testdata/in": "head", "testdata/deep/in": "same", "sub/s.go": "head", "sub/s_test.go": "base",
		"new/new_test.go": "head", ".git/x_test.go": "head", "node_modules/x_test.go": "head",
	})
	if err := os.Symlink("in", filepath.Join(head, "testdata", "link")); err != nil {
		t.Skip(err)
	}
	// Files that tests embed are copied and removed with them, unless other code of base embeds them.
	put(base, map[string]string{
		"e/e.go": "package e\n\n//go:embed code/*\nvar code embed.FS\n", "e/code/a.json": "base",
		"e/corpus/old.json": "base", "e/corpus/both.json": "base", "e/corpus/same.json": "same", "e/other.txt": "base",
	})
	put(head, map[string]string{
		"e/e_test.go":   "package e\n\n//go:embed corpus code \"with space.txt\"\n//go:embed all:hidden `x*.txt`\nvar corpus embed.FS\n\n//go:embedded other.txt\n",
		"e/code/a.json": "head", "e/corpus/both.json": "head", "e/corpus/same.json": "same", "e/corpus/deep/new.json": "head", "e/corpus/_not": "head",
		"e/with space.txt": "head", "e/hidden/.file": "head", "e/x1.txt": "head", "e/other.txt": "head", "e/new.go": "head",
	})
	tests, err := gitrev.CopyTests(base, head, root, func(text []byte) []byte { return bytes.ReplaceAll(text, []byte("v2"), []byte("v1")) })
	if err != nil {
		t.Fatal(err)
	}
	check := func(files map[string]string) {
		t.Helper()
		for name, want := range files {
			text, err := os.ReadFile(filepath.Join(root, name))
			if string(text) != want || (err != nil) != (want == "") {
				t.Errorf("%s: %q, %v; want %q", name, text, err, want)
			}
		}
	}
	check(map[string]string{
		"a.go": "base", "a_test.go": "head", "gone_test.go": "", "same_test.go": "same v1", "testdata/in": "head", "testdata/deep/in": "same", "testdata/link": "head",
		"sub/s.go": "base", "sub/s_test.go": "base", "new/new_test.go": "head", ".git/x_test.go": "", "node_modules/x_test.go": "",
	})
	check(map[string]string{
		"e/code/a.json": "base", "e/corpus/old.json": "", "e/corpus/both.json": "head", "e/corpus/same.json": "same", "e/corpus/deep/new.json": "head", "e/corpus/_not": "",
		"e/with space.txt": "head", "e/hidden/.file": "head", "e/x1.txt": "head", "e/other.txt": "base", "e/new.go": "",
	})
	for dir, want := range map[string][]string{
		"e":        {"e/corpus/both.json", "e/corpus/deep/new.json", "e/corpus/old.json", "e/e_test.go", "e/hidden/.file", "e/with space.txt", "e/x1.txt", "testdata/in", "testdata/link"},
		"e/corpus": {"testdata/in", "testdata/link"},
		".":        {"a_test.go", "gone_test.go", "testdata/in", "testdata/link"}, "sub": {"testdata/in", "testdata/link"}, "new": {"new/new_test.go", "testdata/in", "testdata/link"},
	} {
		if got := tests.Changed(dir); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", dir, got, want)
		}
	}
	for _, name := range []string{"a_test.go", "gone_test.go", "new/new_test.go"} {
		if err := tests.Revert(name); err != nil {
			t.Error(err)
		}
	}
	check(map[string]string{"a_test.go": "base", "gone_test.go": "base", "new/new_test.go": ""})
	if got := tests.Changed("new"); slices.Contains(got, "new/new_test.go") {
		t.Errorf("new: %q after it was taken back", got)
	}
	if text, err := os.ReadFile(filepath.Join(base, "a_test.go")); err != nil || string(text) != "base" {
		t.Errorf("the base was changed: %q, %v", text, err)
	}
}
