package project

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/tarebench/tare/cmd/tare/internal/yamlfile"
)

// Root returns the top of the repository that contains dir: the nearest directory at or above
// dir with a version control system. Without one it returns dir and false.
func Root(dir string) (string, bool) {
	for at := dir; ; at = filepath.Dir(at) {
		for _, mark := range []string{".git", ".hg", ".jj", ".svn"} {
			if _, err := os.Lstat(filepath.Join(at, mark)); err == nil {
				return at, true
			}
		}
		if filepath.Dir(at) == at {
			return dir, false
		}
	}
}

// Find returns the nearest tare.yaml at or above dir, which is absolute, but not above the top
// of the repository. The path may be a directory or unreadable; its reader reports that.
func Find(dir string) (path string, ok bool) {
	root, _ := Root(dir)
	for at := dir; ; at = filepath.Dir(at) {
		path := filepath.Join(at, FileName)
		if _, err := os.Lstat(path); err == nil {
			return path, true
		}
		if at == root || filepath.Dir(at) == at {
			return "", false
		}
	}
}

// Home returns the directory for the tare.yaml of dir, which is absolute: that of the go.work
// or go.mod nearest to the top of the repository, at or above dir, or the top if there is
// neither.
func Home(dir string) string {
	root, _ := Root(dir)
	home := root
	for at := dir; ; at = filepath.Dir(at) {
		for _, name := range []string{"go.work", "go.mod"} {
			if _, err := os.Stat(filepath.Join(at, name)); err == nil {
				home = at
			}
		}
		if at == root || filepath.Dir(at) == at {
			return home
		}
	}
}

// Load returns the project of dir, which is absolute: that of its tare.yaml, or the default of
// the repository's top. An error in the file is a *yamlfile.Error. shown returns the printed
// form of the file's path; nil means unchanged.
func Load(dir string, shown func(path string) string) (Project, error) {
	path, ok := Find(dir)
	if !ok {
		root, _ := Root(dir)
		return Default(root), nil
	}
	name := path
	if shown != nil {
		name = shown(path)
	}
	src, err := readFile(path, name)
	if err != nil {
		return Project{}, err
	}
	p, err := Parse(name, src)
	p.File, p.Dir = path, filepath.Dir(path)
	return p, err
}

// readFile reads the file at path. Messages call it name.
func readFile(path, name string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("cannot read %s: %w", name, causeOf(err))
	}
	switch {
	case info.IsDir():
		return nil, fmt.Errorf("%s is a directory; it is to be a file, which tare init writes", name)
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is not a regular file", name)
	case info.Size() > yamlfile.MaxBytes:
		return nil, &yamlfile.Error{File: name, Line: 1, Col: 1, What: fmt.Sprintf("the file has %d bytes", info.Size()), Hint: fmt.Sprintf("a project file has at most %d", yamlfile.MaxBytes)}
	}
	src, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("cannot read %s: %w", name, causeOf(err))
	}
	return src, nil
}

// causeOf returns the error of the operating system, without the path.
func causeOf(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}
