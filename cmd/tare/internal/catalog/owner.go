package catalog

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tarebench/tare/internal/build"
	"github.com/tarebench/tare/internal/machine"
)

// EnvCatalog is the variable that names the directory of contenders for commands without the flag.
// The directory is trusted, whatever its owner.
const EnvCatalog = "TARE_CATALOG"

// OwnerError reports that another user owns a file of a repository that was found and not named:
// its contenders would run as the caller.
type OwnerError struct{ Root, File, Owner string }

// Error is one line.
func (e *OwnerError) Error() string {
	return fmt.Sprintf("%s belongs to %s, and its code would run as you; if you trust the contenders in %s, name them: --catalog %[3]s, or %[4]s=%[3]s", e.File, e.Owner, e.Root, EnvCatalog)
}

// checkOwner rejects a repository with another user's files among those that are built, as git
// rejects another user's repository (safe.directory).
func checkOwner(root string) error {
	if named := os.Getenv(EnvCatalog); named != "" && sameDir(named, root) {
		return nil
	}
	built := []string{"contenders", "cgocopy"} // top-level directories with files that are built
	for _, dir := range build.SDKDirs() {
		top, _, _ := strings.Cut(dir, "/")
		built = append(built, top)
	}
	return filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err == nil {
			err = checkFile(root, path, d)
		}
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil // it was removed meanwhile, or a link leads nowhere
		case err != nil || !d.IsDir() || path == root:
			return err
		case strings.HasPrefix(d.Name(), "."), filepath.Dir(path) == root && !slices.Contains(built, d.Name()):
			return fs.SkipDir
		}
		return nil
	})
}

// checkFile checks a file, and the file that it leads to if it is a link.
func checkFile(root, path string, d fs.DirEntry) error {
	info, err := d.Info()
	if err == nil && d.Type()&fs.ModeSymlink != 0 && machine.ForeignOwner(info) == "" {
		info, err = os.Stat(path)
	}
	if err != nil {
		return err
	}
	if user := machine.ForeignOwner(info); user != "" {
		return &OwnerError{root, path, user}
	}
	return nil
}

// sameDir reports whether two paths lead to one directory.
func sameDir(a, b string) bool {
	x, errX := os.Stat(a)
	y, errY := os.Stat(b)
	return errX == nil && errY == nil && os.SameFile(x, y)
}
