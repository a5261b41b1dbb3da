package samecode

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/tarebench/tare/kinds/gobench"
)

// Changed returns a function that reports whether two links take a package from different files.
// The go command names objects in its cache by their content.
func Changed(a, b *gobench.Link) (func(path string) bool, error) {
	of := make([]map[string]string, 2)
	for i, l := range []*gobench.Link{a, b} {
		var err error
		if of[i], err = linkObjects(l); err != nil {
			return nil, err
		}
	}
	return func(path string) bool { return of[0][path] == "" || of[0][path] != of[1][path] }, nil
}

// linkObjects returns the files that a link reads, by import path.
func linkObjects(l *gobench.Link) (map[string]string, error) {
	i := slices.Index(l.Args, "-importcfg")
	if i < 0 || i+1 == len(l.Args) {
		return nil, fmt.Errorf("%w: its link names no objects", ErrUnknown)
	}
	text, err := os.ReadFile(l.Args[i+1])
	if err != nil {
		return nil, err
	}
	files := map[string]string{}
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(strings.TrimSpace(line), "packagefile "); ok {
			path, file, _ := strings.Cut(rest, "=")
			files[path] = file
		}
	}
	return files, nil
}
