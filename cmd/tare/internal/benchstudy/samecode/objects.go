package samecode

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/tarebench/tare/kinds/gobench"
)

// ChangedPackages compares two calls of the linker. Its predicate returns false for packages whose
// object file both link. The go command names objects by their content, so these packages are equal.
func ChangedPackages(a, b *gobench.Link) (func(path string) bool, error) {
	objectsA, err := linkObjects(a)
	if err != nil {
		return nil, err
	}
	objectsB, err := linkObjects(b)
	if err != nil {
		return nil, err
	}
	return func(path string) bool { return objectsA[path] == "" || objectsA[path] != objectsB[path] }, nil
}

// linkObjects returns the object files of a link by import path. It reads the file of the option
// -importcfg, with lines such as "packagefile fmt=/cache/1a/1a2b-d".
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
