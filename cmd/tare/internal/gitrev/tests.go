package gitrev

import (
	"bytes"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// This file copies a revision and replaces its test files by those of another one. So both revisions
// run the same benchmarks.

// Tests is a copy of a tree, the base, with the tests of another tree, the head. So the same benchmarks
// measure the code of both. The tests are the _test.go files, the testdata directories, and the files
// that _test.go files embed.
type Tests struct {
	Root string // directory of the copy

	base      string              // directory of the base
	changed   map[string]bool     // tests that differ from those of the base, by slash path from Root
	embedders map[string][]string // directories of the _test.go files that embed a file, by its slash path
}

// CopyTests copies the code of base to root and adds the tests of head, with the files that they embed.
// Files that the code of base embeds stay as they are. The function adapt changes the text of a
// _test.go file as the code of base needs it.
func CopyTests(base, head, root string, adapt func(text []byte) []byte) (*Tests, error) {
	t := &Tests{Root: root, base: base, changed: map[string]bool{}, embedders: map[string][]string{}}
	isCode, err := t.copyCode()
	if err != nil {
		return nil, fmt.Errorf("copy the base: %w", err)
	}
	err = walkFiles(head, func(name string, e fs.DirEntry) error {
		if !isTest(name) {
			return nil
		}
		source, target := filepath.Join(head, name), filepath.Join(root, name)
		if !strings.HasSuffix(name, "_test.go") || !e.Type().IsRegular() {
			t.changed[name] = !sameFile(filepath.Join(base, name), source)
			return copyEntry(source, target, e)
		}
		text, err := os.ReadFile(source)
		if err != nil {
			return err
		}
		text = adapt(text)
		baseText, err := os.ReadFile(filepath.Join(base, name))
		t.changed[name] = err != nil || !bytes.Equal(baseText, text)
		if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(target, text, 0o644); err != nil {
			return err
		}
		return t.copyEmbedded(head, path.Dir(name), embedPatterns(text), isCode)
	})
	if err != nil {
		return nil, fmt.Errorf("copy the tests of the head: %w", err)
	}
	maps.DeleteFunc(t.changed, func(_ string, changed bool) bool { return !changed })
	return t, nil
}

// copyCode copies the base without its tests. It returns the files that the code embeds.
func (t *Tests) copyCode() (isCode map[string]bool, err error) {
	isCode = map[string]bool{}
	return isCode, walkFiles(t.base, func(name string, e fs.DirEntry) error {
		if isTest(name) {
			t.changed[name] = true
			return nil
		}
		source := filepath.Join(t.base, name)
		if strings.HasSuffix(name, ".go") && e.Type().IsRegular() {
			text, err := os.ReadFile(source)
			if err != nil {
				return err
			}
			if bytes.Contains(text, []byte("//go:embed")) {
				for _, file := range embeddedFiles(t.base, path.Dir(name), embedPatterns(text)) {
					isCode[file] = true
				}
			}
		}
		return copyEntry(source, filepath.Join(t.Root, name), e)
	})
}

// copyEmbedded copies the files of head that patterns of a _test.go file in dir match. Files that code
// embeds stay.
func (t *Tests) copyEmbedded(head, dir string, patterns []string, isCode map[string]bool) error {
	inHead := map[string]bool{}
	for _, name := range embeddedFiles(head, dir, patterns) {
		inHead[name] = true
		if isTest(name) || isCode[name] {
			continue
		}
		source, target := filepath.Join(head, name), filepath.Join(t.Root, name)
		t.changed[name] = !sameFile(filepath.Join(t.base, name), source)
		t.embedders[name] = append(t.embedders[name], dir)
		info, err := os.Lstat(source)
		if err != nil {
			return err
		}
		if err := os.RemoveAll(target); err != nil {
			return err
		}
		if err := copyEntry(source, target, fs.FileInfoToDirEntry(info)); err != nil {
			return err
		}
	}
	for _, name := range embeddedFiles(t.Root, dir, patterns) {
		if inHead[name] || isTest(name) || isCode[name] {
			continue
		}
		t.changed[name] = true
		t.embedders[name] = append(t.embedders[name], dir)
		if err := os.Remove(filepath.Join(t.Root, name)); err != nil {
			return err
		}
	}
	return nil
}

// Changed returns the slash paths of the changed tests that the package in a directory may use. A
// testdata directory above it counts.
func (t *Tests) Changed(dir string) (files []string) {
	for name := range t.changed {
		if i := strings.Index("/"+name, "/testdata/"); i >= 0 {
			owner := path.Clean(name[:i]) // directory that contains testdata
			if owner == "." || dir == owner || strings.HasPrefix(dir, owner+"/") {
				files = append(files, name)
			}
		} else if embedders, isEmbedded := t.embedders[name]; isEmbedded {
			if slices.Contains(embedders, dir) {
				files = append(files, name)
			}
		} else if path.Dir(name) == dir {
			files = append(files, name)
		}
	}
	slices.Sort(files)
	return files
}

// Revert replaces a file by that of the base, or removes it if the base does not have it.
func (t *Tests) Revert(name string) error {
	delete(t.changed, name)
	target, source := filepath.Join(t.Root, name), filepath.Join(t.base, name)
	if err := os.RemoveAll(target); err != nil {
		return fmt.Errorf("revert %s: %w", name, err)
	}
	info, err := os.Lstat(source)
	if err != nil {
		return nil // the base does not have the file
	}
	if err := copyEntry(source, target, fs.FileInfoToDirEntry(info)); err != nil {
		return fmt.Errorf("revert %s: %w", name, err)
	}
	return nil
}

func isTest(name string) bool {
	return strings.HasSuffix(name, "_test.go") || strings.Contains("/"+name, "/testdata/")
}

// walkFiles visits the files of a tree, by slash path from root.
func walkFiles(root string, visit func(name string, e fs.DirEntry) error) error {
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
		return visit(filepath.ToSlash(name), e)
	})
}

// copyEntry copies a regular file, which becomes writable, or a symbolic link.
func copyEntry(source, dest string, e fs.DirEntry) error {
	if err := os.MkdirAll(filepath.Dir(dest), 0o755); err != nil {
		return err
	}
	switch {
	case e.Type()&fs.ModeSymlink != 0:
		target, err := os.Readlink(source)
		if err != nil {
			return err
		}
		return os.Symlink(target, dest)
	case !e.Type().IsRegular():
		return nil
	}
	info, err := e.Info()
	if err != nil {
		return err
	}
	text, err := os.ReadFile(source)
	if err != nil {
		return err
	}
	return os.WriteFile(dest, text, info.Mode().Perm()|0o200)
}

func sameFile(a, b string) bool {
	infoA, errA := os.Lstat(a)
	infoB, errB := os.Lstat(b)
	if errA != nil || errB != nil || infoA.Mode().Type() != infoB.Mode().Type() || infoA.Size() != infoB.Size() {
		return false
	}
	if infoA.Mode()&fs.ModeSymlink != 0 {
		targetA, _ := os.Readlink(a)
		targetB, _ := os.Readlink(b)
		return targetA == targetB
	}
	textA, errA := os.ReadFile(a)
	textB, errB := os.ReadFile(b)
	return errA == nil && errB == nil && bytes.Equal(textA, textB)
}
