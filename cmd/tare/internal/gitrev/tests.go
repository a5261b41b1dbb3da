package gitrev

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// Tests is a copy of a tree with the tests of another one: its _test.go files and
// its testdata directories.
type Tests struct {
	Root string

	base    string          // tree that was copied
	changed map[string]bool // slash paths from Root of files that differ from base's
}

// CopyTests copies the tree base to root, and puts the tests of head over it. Function
// adapt changes the text of a _test.go file of head.
func CopyTests(base, head, root string, adapt func(text []byte) []byte) (*Tests, error) {
	t := &Tests{Root: root, base: base, changed: map[string]bool{}}
	err := walkFiles(base, func(name string, e fs.DirEntry) error {
		t.changed[name] = isTest(name) // gone, unless head has it as well
		if isTest(name) {
			return nil
		}
		return copyEntry(filepath.Join(base, name), filepath.Join(root, name), e)
	})
	if err != nil {
		return nil, fmt.Errorf("copy the base: %w", err)
	}
	err = walkFiles(head, func(name string, e fs.DirEntry) error {
		if !isTest(name) {
			return nil
		}
		to := filepath.Join(root, name)
		if !strings.HasSuffix(name, "_test.go") || !e.Type().IsRegular() {
			t.changed[name] = !sameFile(filepath.Join(base, name), filepath.Join(head, name))
			return copyEntry(filepath.Join(head, name), to, e)
		}
		text, err := os.ReadFile(filepath.Join(head, name))
		if err != nil {
			return err
		}
		text = adapt(text)
		was, err := os.ReadFile(filepath.Join(base, name))
		t.changed[name] = err != nil || !bytes.Equal(was, text)
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			return err
		}
		return os.WriteFile(to, text, 0o644)
	})
	if err != nil {
		return nil, fmt.Errorf("copy the tests of the head: %w", err)
	}
	for name, is := range t.changed {
		if !is {
			delete(t.changed, name)
		}
	}
	return t, nil
}

// Changed returns the tests of a directory that differ from base's, by slash path:
// its test files, and files of a testdata directory in it or above it.
func (t *Tests) Changed(dir string) (files []string) {
	for name := range t.changed {
		if at := strings.Index("/"+name, "/testdata/"); at >= 0 {
			if above := path.Clean(name[:at]); above == "." || dir == above || strings.HasPrefix(dir, above+"/") {
				files = append(files, name)
			}
		} else if path.Dir(name) == dir {
			files = append(files, name)
		}
	}
	slices.Sort(files)
	return files
}

// Revert gives a file back the text that it has in base, or removes it if base has
// none.
func (t *Tests) Revert(name string) error {
	delete(t.changed, name)
	to, from := filepath.Join(t.Root, name), filepath.Join(t.base, name)
	if err := os.RemoveAll(to); err != nil {
		return fmt.Errorf("revert %s: %w", name, err)
	}
	info, err := os.Lstat(from)
	if err != nil {
		return nil
	}
	if err := copyEntry(from, to, fs.FileInfoToDirEntry(info)); err != nil {
		return fmt.Errorf("revert %s: %w", name, err)
	}
	return nil
}

// isTest reports whether a file, by slash path, is a test file or below testdata.
func isTest(name string) bool {
	return strings.HasSuffix(name, "_test.go") || strings.Contains("/"+name, "/testdata/")
}

// walkFiles calls do for everything in a tree but directories, by slash path. It skips .git and
// packages of Node.
func walkFiles(root string, do func(name string, e fs.DirEntry) error) error {
	return filepath.WalkDir(root, func(file string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if e.Name() == ".git" || e.IsDir() && e.Name() == "node_modules" {
			if e.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		if e.IsDir() {
			return nil
		}
		name, err := filepath.Rel(root, file)
		if err != nil {
			return err
		}
		return do(filepath.ToSlash(name), e)
	})
}

// copyEntry copies a regular file or a symbolic link. It skips others, such as sockets.
func copyEntry(from, to string, e fs.DirEntry) error {
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	switch {
	case e.Type()&fs.ModeSymlink != 0:
		target, err := os.Readlink(from)
		if err != nil {
			return err
		}
		return os.Symlink(target, to)
	case !e.Type().IsRegular():
		return nil
	}
	info, err := e.Info()
	if err != nil {
		return err
	}
	text, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, text, info.Mode().Perm()|0o200)
}

// sameFile reports whether two files have the same bytes, or links the same target.
func sameFile(a, b string) bool {
	one, errA := os.Lstat(a)
	other, errB := os.Lstat(b)
	if errA != nil || errB != nil || one.Mode().Type() != other.Mode().Type() || one.Size() != other.Size() {
		return false
	}
	if one.Mode()&fs.ModeSymlink != 0 {
		from, _ := os.Readlink(a)
		to, _ := os.Readlink(b)
		return from == to
	}
	text, errA := os.ReadFile(a)
	was, errB := os.ReadFile(b)
	return errA == nil && errB == nil && bytes.Equal(text, was)
}
