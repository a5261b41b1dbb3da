// Package catalog finds the contenders, programs to compare, that studies can name. They are in the
// repository of tare around the working directory, in another directory, or in the tare binary.
// [Locate] chooses one of them, [Open] reads it, and [Sources] builds the contenders.
package catalog

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/tarebench/tare/cmd/tare/internal/suggest"
	"github.com/tarebench/tare/internal/atomicfile"
	"github.com/tarebench/tare/internal/build"
	"github.com/tarebench/tare/lab"
)

// ErrNone reports that the working directory is not inside the repository.
var ErrNone = errors.New("no contenders around the working directory")

const modulePath = "github.com/tarebench/tare"

// maxModule limits the bytes that are read of a go.mod.
const maxModule = 64 << 10

// maxLevels is the number of directory levels below contenders that are searched: KIND and
// KIND/CONTENDER.
const maxLevels = 2

// Catalog is a set of contenders. The zero value has none.
type Catalog struct {
	Dir string // directory of the contenders

	root   string           // root of an opened repository; "" if another directory was opened
	leaves []build.Leaf     // the contenders: their directories and manifests
	broken map[string]error // errors of contenders that could not be read, by folder name
}

// Locate opens the catalog in dir. If dir is "", it opens that of the repository around the working
// directory or, outside of it, the one in the binary. It unpacks the latter into the directory cache.
func Locate(dir, cache string) (Catalog, error) {
	c, err := Find(dir)
	if errors.Is(err, ErrNone) {
		return Carried(cache)
	}
	return c, err
}

// Find opens the catalog in dir. If dir is "", it opens that of the repository around the working
// directory. Outside of it, the error is [ErrNone].
func Find(dir string) (Catalog, error) {
	if dir != "" {
		return Open(dir)
	}
	wd, err := os.Getwd()
	if err != nil {
		return Catalog{}, err
	}
	root, err := Repository(wd)
	if err != nil {
		return Catalog{}, err
	}
	return Open(root)
}

// Repository returns the root of the tare repository that contains dir. The error is ErrNone if dir is
// in none, and an *OwnerError if another user owns a file of it.
func Repository(dir string) (string, error) {
	for {
		found, err := isRepository(dir)
		if found && err == nil {
			err = checkOwner(dir)
		}
		if found || err != nil {
			return dir, err
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", ErrNone
		}
		dir = parent
	}
}

// isRepository reports whether dir is the root of the tare repository. Its go.mod has the module
// path, and it has a directory of contenders.
func isRepository(dir string) (bool, error) {
	src, err := atomicfile.ReadStart(filepath.Join(dir, "go.mod"), maxModule)
	if err != nil {
		return false, unlessAbsent(err)
	}
	for line := range strings.Lines(string(src)) {
		if words := strings.Fields(line); len(words) > 0 && words[0] == "module" {
			if len(words) < 2 || words[1] != modulePath {
				return false, nil
			}
			info, err := os.Stat(filepath.Join(dir, "contenders"))
			return err == nil && info.IsDir(), unlessAbsent(err)
		}
	}
	return false, nil
}

// unlessAbsent returns nil if err means that a file does not exist, is a directory, or may not be
// read. It returns any other err.
func unlessAbsent(err error) error {
	for _, absent := range []error{fs.ErrNotExist, fs.ErrPermission, syscall.ENOTDIR, syscall.EISDIR} {
		if errors.Is(err, absent) {
			return nil
		}
	}
	return err
}

// Open reads every contender in dir. It is the repository of tare, a directory of kinds, a directory of
// contenders, or one contender.
func Open(dir string) (Catalog, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return Catalog{}, err
	}
	if info, err := os.Stat(abs); err != nil || !info.IsDir() {
		return Catalog{}, fmt.Errorf("no catalog: there is no directory %s", dir)
	}
	isRoot, err := isRepository(abs)
	if err != nil {
		return Catalog{}, err
	}
	c := Catalog{Dir: abs, broken: map[string]error{}}
	if isRoot {
		c.Dir, c.root = filepath.Join(abs, "contenders"), abs
	}
	if err := c.readBelow(c.Dir, maxLevels); err != nil {
		return Catalog{}, err
	}
	if len(c.leaves) == 0 && len(c.broken) == 0 {
		return Catalog{}, fmt.Errorf("no contenders in %s; a contender is a directory with a %s", dir, build.ManifestName)
	}
	slices.SortFunc(c.leaves, func(a, b build.Leaf) int {
		return cmp.Or(strings.Compare(a.Manifest.Kind, b.Manifest.Kind), strings.Compare(a.Manifest.ID, b.Manifest.ID))
	})
	return c, c.checkUnique()
}

// Repository returns the root of the repository that contains c. The contenders of c are built with its
// SDK. The errors are those of the function [Repository].
func (c Catalog) Repository() (string, error) {
	if c.root != "" {
		return c.root, nil
	}
	return Repository(c.Dir)
}

// readBelow adds the contender in dir to c. If dir is not a contender, it adds those in the
// directories below, down to depth levels.
func (c *Catalog) readBelow(dir string, depth int) error {
	leaf, err := build.ReadLeaf(dir)
	switch {
	case err == nil:
		c.leaves = append(c.leaves, leaf)
		return nil
	case !errors.Is(err, fs.ErrNotExist):
		c.broken[filepath.Base(dir)] = err // returned only if a study names the contender
		return nil
	case depth == 0:
		return nil
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("reading the catalog: %w", err)
	}
	for _, e := range entries {
		if e.IsDir() && !strings.HasPrefix(e.Name(), ".") {
			if err := c.readBelow(filepath.Join(dir, e.Name()), depth-1); err != nil {
				return err
			}
		}
	}
	return nil
}

func (c Catalog) checkUnique() error {
	seen := map[[2]string]string{} // directory by kind and id
	for _, leaf := range c.leaves {
		for _, id := range leaf.Manifest.IDs() {
			key := [2]string{leaf.Manifest.Kind, id}
			if other := seen[key]; other != "" {
				return fmt.Errorf("contender %s is both %s and %s", id, other, leaf.Dir)
			}
			seen[key] = leaf.Dir
		}
	}
	return nil
}

// Leaves returns the contenders, sorted by kind and id.
func (c Catalog) Leaves() []build.Leaf { return slices.Clone(c.leaves) }

// IDs returns the ids that studies of a kind can name, sorted.
func (c Catalog) IDs(kind string) []string {
	var ids []string
	for _, leaf := range c.leaves {
		if leaf.Manifest.Kind == kind {
			ids = append(ids, leaf.Manifest.IDs()...)
		}
	}
	slices.Sort(ids)
	return ids
}

// Leaf finds the contender with a kind and an id. Each variant of a contender has an id; without
// variants, variant is "". For an unknown id the error is a *lab.UnknownError with similar ids. For
// a contender that could not be read it is the error of reading.
func (c Catalog) Leaf(kind, id string) (leaf build.Leaf, variant string, err error) {
	otherKind := "" // kind of another contender with the id
	for _, leaf := range c.leaves {
		m := leaf.Manifest
		i := slices.Index(m.IDs(), id)
		switch {
		case i < 0:
			continue
		case m.Kind != kind:
			otherKind = m.Kind
			continue
		case len(m.Variants) > 0:
			return leaf, m.Variants[i], nil
		}
		return leaf, "", nil
	}
	for folder, err := range c.broken {
		isVariant := strings.HasPrefix(id, folder+"-") // probably: its manifest could not be read
		if id == folder || isVariant {
			return build.Leaf{}, "", err
		}
	}
	unknown := &lab.UnknownError{What: fmt.Sprintf("contender %q", id), Near: suggest.Names(id, c.IDs(kind))}
	if otherKind != "" {
		unknown.What = fmt.Sprintf("%s %q (there is a %s of that name)", kind, id, otherKind)
	}
	return build.Leaf{}, "", unknown
}
