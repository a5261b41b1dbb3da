package project

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/tarebench/tare/cmd/tare/internal/yamlfile"
)

// Root returns the top of the repository that contains dir: the nearest directory with files of a
// version control system. Without one, it returns dir and false.
func Root(dir string) (string, bool) {
	for current := dir; ; current = filepath.Dir(current) {
		for _, mark := range []string{".git", ".hg", ".jj", ".svn"} {
			if _, err := os.Lstat(filepath.Join(current, mark)); err == nil {
				return current, true
			}
		}
		if filepath.Dir(current) == current {
			return dir, false
		}
	}
}

// Find returns the path of the nearest tare.yaml at or above dir, within the repository. dir is
// absolute. Find does not open the file: [Load] reports if it cannot be read.
func Find(dir string) (path string, ok bool) {
	root, _ := Root(dir)
	for current := dir; ; current = filepath.Dir(current) {
		path := filepath.Join(current, FileName)
		if _, err := os.Lstat(path); err == nil {
			return path, true
		}
		if current == root || filepath.Dir(current) == current {
			return "", false
		}
	}
}

// Home returns the directory for a new tare.yaml of dir, which is absolute. It is the highest directory
// with a go.work or go.mod at or above dir, or else the top of the repository.
func Home(dir string) string {
	root, _ := Root(dir)
	home := root
	for current := dir; ; current = filepath.Dir(current) {
		for _, name := range []string{"go.work", "go.mod"} {
			if _, err := os.Stat(filepath.Join(current, name)); err == nil {
				home = current
			}
		}
		if current == root || filepath.Dir(current) == current {
			return home
		}
	}
}

// Load returns the project of dir, which is absolute. Without a tare.yaml, it is the default project at
// the top of the repository. An error in the file is a *yamlfile.Error. formatPath returns how messages
// name a path; nil means unchanged.
func Load(dir string, formatPath func(path string) string) (Project, error) {
	path, ok := Find(dir)
	if !ok {
		root, _ := Root(dir)
		return Default(root), nil
	}
	name := path
	if formatPath != nil {
		name = formatPath(path)
	}
	src, err := readFile(path, name)
	if err != nil {
		return Project{}, err
	}
	p, err := Parse(name, src)
	p.File, p.Dir = path, filepath.Dir(path)
	return p, err
}

// readFile reads the file at path, which must be a regular file.
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
		return nil, &yamlfile.Error{
			File: name,
			Line: 1,
			Col:  1,
			What: fmt.Sprintf("the file has %d bytes", info.Size()),
			Hint: fmt.Sprintf("a project file has at most %d", yamlfile.MaxBytes),
		}
	}
	src, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("cannot read %s: %w", name, causeOf(err))
	}
	return src, nil
}

func causeOf(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}
