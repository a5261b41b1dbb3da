package build

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tarebench/tare/internal/atomicfile"
	"github.com/tarebench/tare/internal/lazyregexp"
)

var (
	// sourceName matches a directory next to the contender's, e.g. ../gin. A relative path still works after a
	// catalog was moved.
	sourceName = lazyregexp.New(`^\.\./[A-Za-z0-9_-][A-Za-z0-9._-]*$`)
	// tagName matches a build tag, e.g. jsoniter.
	tagName = lazyregexp.New(`^[\p{L}\p{Nd}_.]+$`)
)

// Src returns the directory of the main package that the contender is built from: its own
// directory, or the Source of its manifest. The path is absolute and without symbolic links if
// l.Dir is.
func (l Leaf) Src() string {
	if l.Manifest.Source == "" {
		return l.Dir
	}
	dir := filepath.Join(l.Dir, filepath.FromSlash(l.Manifest.Source))
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		return real
	}
	return dir // the directory does not exist: opening it will fail
}

// withTags returns the arguments of a go command: subcommand, the contender's build tags, and args.
func (l Leaf) withTags(subcommand string, args ...string) []string {
	if tags := l.Manifest.Tags; len(tags) > 0 {
		return append([]string{subcommand, "-tags=" + strings.Join(tags, ",")}, args...)
	}
	return append([]string{subcommand}, args...)
}

// checkSource checks the source and tags of a manifest. Errors begin with ": ", so that a file name can
// precede them.
func (m Manifest) checkSource() error {
	if m.Source != "" && !sourceName.MatchString(m.Source) {
		return fmt.Errorf(": source %q is not the folder of a contender next to this one, e.g. ../gin", m.Source)
	}
	for i, tag := range m.Tags {
		switch {
		case !tagName.MatchString(tag):
			return fmt.Errorf(": tag %q is no word; letters, digits, _ and . make one, e.g. jsoniter", tag)
		case slices.Contains(m.Tags[:i], tag):
			return fmt.Errorf(": tag %q is listed twice", tag)
		}
	}
	return nil
}

// checkSourceDir checks the files of a contender that is built from another one's code. Errors begin with ":
// ".
func (l Leaf) checkSourceDir() error {
	m := l.Manifest
	if m.Source == "" {
		return nil
	}
	entries, err := os.ReadDir(l.Dir)
	if err != nil {
		return fmt.Errorf(": %w", err)
	}
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), ".go") || e.Name() == "go.mod" {
			return fmt.Errorf(": it has a source and a %s of its own; one of them must go", e.Name())
		}
	}
	src, err := atomicfile.ReadFile(filepath.Join(l.Src(), ManifestName), maxManifest)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf(": source %s is no contender: it has no %s", m.Source, ManifestName)
	}
	if err != nil {
		return fmt.Errorf(": source %s: %w", m.Source, err)
	}
	sourceManifest, err := parseManifest(src)
	switch {
	case err != nil:
		return fmt.Errorf(": source %s/%s%w", m.Source, ManifestName, err)
	case sourceManifest.Source != "":
		return fmt.Errorf(": source %s has a source itself, %s; name that", m.Source, sourceManifest.Source)
	case sourceManifest.Kind != m.Kind:
		return fmt.Errorf(": source %s is a %s, this is to be a %s", m.Source, sourceManifest.Kind, m.Kind)
	}
	return nil
}
