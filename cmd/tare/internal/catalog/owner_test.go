package catalog

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestFilesOfAnotherUser: a repository that is found, not named, and has a file of
// another user's among those that are built is refused, whatever lets to it.
func TestFilesOfAnotherUser(t *testing.T) {
	const other = 12345
	if err := os.Chown(filepath.Join(small(t), "go.mod"), other, -1); err != nil {
		t.Skip(err)
	}
	t.Setenv("SUDO_UID", "")
	t.Setenv(EnvCatalog, "")
	leaf := filepath.Join("contenders", "codec", "null")
	for _, name := range []string{".", "go.mod", "contenders", leaf, filepath.Join(leaf, "contender.json"), filepath.Join("apps", "a.go"), filepath.Join("contender", "deep", "a.go"), "root.go", filepath.Join(leaf, "linked.go")} {
		t.Run(name, func(t *testing.T) {
			root := small(t)
			write(t, root, map[string]string{"apps/a.go": "", "contender/deep/a.go": "", "root.go": "", "docs/a.md": "", ".hidden/a.go": "", "cmd/tare/a.go": ""})
			for _, of := range []string{"docs/a.md", ".hidden/a.go"} { // nobody builds them
				if err := os.Chown(filepath.Join(root, of), other, -1); err != nil {
					t.Fatal(err)
				}
			}
			file := filepath.Join(root, name)
			if filepath.Base(name) == "linked.go" {
				theirs := filepath.Join(t.TempDir(), "theirs.go")
				write(t, filepath.Dir(theirs), map[string]string{"theirs.go": ""})
				if err := errors.Join(os.Chown(theirs, other, -1), os.Symlink(theirs, file)); err != nil {
					t.Fatal(err)
				}
			}
			t.Chdir(filepath.Join(root, "cmd", "tare"))
			if name == filepath.Join(leaf, "linked.go") {
				file = filepath.Join(root, name)
			} else if _, err := Find(""); err != nil {
				t.Fatalf("of the caller: %v", err)
			} else if err := os.Chown(file, other, -1); err != nil {
				t.Fatal(err)
			}
			_, errFind := Find("")
			_, errLocate := Locate("", t.TempDir())
			_, errSDK := SDK(Catalog{Dir: filepath.Join(root, "contenders")}, t.TempDir())
			_, errClone := openClone(filepath.Join(root, "cmd", "tare", "x.go"))
			_, errNew := Scaffold(Catalog{}, "codec", "mine", root)
			for i, err := range []error{errFind, errLocate, errSDK, errClone, errNew} {
				var foreign *OwnerError
				if !errors.As(err, &foreign) || filepath.Clean(foreign.File) != file || foreign.Root != root || !strings.Contains(err.Error(), "--catalog "+root) || strings.Contains(err.Error(), "\n") {
					t.Errorf("%d: %v", i, err)
				}
			}
			c, err := Find(root)
			if err != nil {
				t.Fatalf("named: %v", err)
			}
			if sdk, err := SDK(c, t.TempDir()); err != nil || sdk != root {
				t.Errorf("named: SDK %s, %v", sdk, err)
			}
			t.Setenv(EnvCatalog, root)
			if _, err := Find(""); err != nil {
				t.Errorf("named by the variable: %v", err)
			}
			t.Setenv(EnvCatalog, filepath.Dir(root))
			if _, err := Find(""); err == nil {
				t.Error("another one is named")
			}
			t.Setenv(EnvCatalog, "")
			t.Setenv("SUDO_UID", "12345")
			if _, err := Find(""); err != nil && os.Geteuid() == 0 {
				t.Errorf("of the user who called sudo: %v", err)
			}
		})
	}
}
