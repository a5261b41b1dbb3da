package grpccall

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"

	"github.com/bufbuild/protocompile"
)

// mostSource is how many bytes one file may have.
const mostSource = 16 << 20

// sources finds the files that are imported in directories, within bounds.
type sources struct {
	name, file string // the file that is compiled, and what it is imported as
	dirs       []string

	mu    sync.Mutex
	found map[string]string // the file of each path by which it was imported
}

// newSources returns the sources in dirs and in the directory of file. Each is
// searched once. The name is always that file, whatever is in dirs.
func newSources(name, file string, dirs []string) *sources {
	s := &sources{name: name, file: file, found: map[string]string{}}
	for _, dir := range append(slices.Clone(dirs), filepath.Dir(file)) {
		if dir = filepath.Clean(dir); !slices.Contains(s.dirs, dir) {
			s.dirs = append(s.dirs, dir)
		}
	}
	return s
}

// missingError reports that no directory has an import. Its path is the one that the
// importing file has.
type missingError struct {
	path string
	dirs []string
}

// Error is one line.
func (e *missingError) Error() string {
	return fmt.Sprintf("there is no %s in %s", e.path, strings.Join(e.dirs, ", "))
}

// Unwrap makes the error one of a file that does not exist.
func (*missingError) Unwrap() error { return fs.ErrNotExist }

// FindFileByPath opens the first file in the directories that has an import path.
func (s *sources) FindFileByPath(path string) (protocompile.SearchResult, error) {
	if path == s.name {
		r, err := s.open(path, s.file)
		return protocompile.SearchResult{Source: r}, err
	}
	for _, dir := range s.dirs {
		file := filepath.Join(dir, filepath.FromSlash(path))
		r, err := s.open(path, file)
		switch {
		case err == nil:
			return protocompile.SearchResult{Source: r}, nil
		case !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR):
			return protocompile.SearchResult{}, err
		}
	}
	return protocompile.SearchResult{}, &missingError{path, s.dirs}
}

// open opens a file, and notes the path that it was imported by.
func (s *sources) open(path, file string) (io.ReadCloser, error) {
	info, err := os.Stat(file)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	s.found[path] = file
	opened := len(s.found)
	s.mu.Unlock()
	switch {
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is not a file", file)
	case info.Size() > mostSource:
		return nil, fmt.Errorf("%s has more than %d MB", file, mostSource>>20)
	case opened > mostFiles:
		return nil, fmt.Errorf("more than %d files are imported", mostFiles)
	}
	return os.Open(file)
}

// fileOf returns the file that was imported by a path, or the path if there is none.
func (s *sources) fileOf(path string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if file, ok := s.found[path]; ok {
		return file
	}
	return path
}
