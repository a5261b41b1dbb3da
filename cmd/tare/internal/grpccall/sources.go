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

// maxSource limits the bytes of one file.
const maxSource = 16 << 20

// sources finds imported files for the compiler. It limits their number and size.
type sources struct {
	name string   // import path of the compiled file
	file string   // path of the compiled file
	dirs []string // directories of imports, in the order of the search

	mu    sync.Mutex
	found map[string]string // opened files by import path
}

// newSources searches dirs and then the directory of file. The import path name always means file, even if dirs
// have another file of this name.
func newSources(name, file string, dirs []string) *sources {
	s := &sources{name: name, file: file, found: map[string]string{}}
	for _, dir := range append(slices.Clone(dirs), filepath.Dir(file)) {
		if dir = filepath.Clean(dir); !slices.Contains(s.dirs, dir) {
			s.dirs = append(s.dirs, dir)
		}
	}
	return s
}

// missingError means that no directory has an imported file.
type missingError struct {
	path string // import path
	dirs []string
}

// Error is one line.
func (e *missingError) Error() string {
	return fmt.Sprintf("there is no %s in %s", e.path, strings.Join(e.dirs, ", "))
}

// Unwrap returns fs.ErrNotExist.
func (*missingError) Unwrap() error { return fs.ErrNotExist }

// FindFileByPath opens the first file with an import path.
func (s *sources) FindFileByPath(path string) (protocompile.SearchResult, error) {
	if path == s.name {
		r, err := s.openFile(path, s.file)
		return protocompile.SearchResult{Source: r}, err
	}
	for _, dir := range s.dirs {
		file := filepath.Join(dir, filepath.FromSlash(path))
		r, err := s.openFile(path, file)
		switch {
		case err == nil:
			return protocompile.SearchResult{Source: r}, nil
		case !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR): // the file exists, but is not usable
			return protocompile.SearchResult{}, err
		}
	}
	return protocompile.SearchResult{}, &missingError{path, s.dirs}
}

func (s *sources) openFile(path, file string) (io.ReadCloser, error) {
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
	case info.Size() > maxSource:
		return nil, fmt.Errorf("%s has more than %d MB", file, maxSource>>20)
	case opened > maxFiles:
		return nil, fmt.Errorf("more than %d files are imported", maxFiles)
	}
	return os.Open(file)
}

// fileOf returns the opened file with an import path, or path itself.
func (s *sources) fileOf(path string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if file, ok := s.found[path]; ok {
		return file
	}
	return path
}
