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

// EnvCatalog is the environment variable for the directory of contenders; the flag --catalog overrides
// it. The user trusts the directory by naming it, also if another user owns it.
const EnvCatalog = "TARE_CATALOG"

// OwnerError reports that another user owns a file of a repository that the user did not name. The code
// in it would run with the rights of the caller.
type OwnerError struct{ Root, File, Owner string }

// Error returns one line, with the way to trust the repository.
func (e *OwnerError) Error() string {
	return fmt.Sprintf("%s belongs to %s, and its code would run as you; if you trust the contenders in %s, name them: --catalog %[3]s, or %[4]s=%[3]s", e.File, e.Owner, e.Root, EnvCatalog)
}

// checkOwner returns an [OwnerError] if another user owns a file that is built of the repository at
// root. It accepts a repository that EnvCatalog names. git protects its users in the same way
// (safe.directory).
func checkOwner(root string) error {
	if trusted := os.Getenv(EnvCatalog); trusted != "" && sameDir(trusted, root) {
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
			return nil // the file was removed meanwhile, or the target of a link is missing
		case err != nil || !d.IsDir() || path == root:
			return err
		}
		isHidden := strings.HasPrefix(d.Name(), ".")
		isUnused := filepath.Dir(path) == root && !slices.Contains(built, d.Name())
		if isHidden || isUnused {
			return fs.SkipDir
		}
		return nil
	})
}

// checkFile returns an [OwnerError] if another user owns the file, or the target of a link.
func checkFile(root, path string, d fs.DirEntry) error {
	info, err := d.Info()
	isLink := d.Type()&fs.ModeSymlink != 0
	if err == nil && isLink && machine.ForeignOwner(info) == "" {
		info, err = os.Stat(path) // the target
	}
	if err != nil {
		return err
	}
	if user := machine.ForeignOwner(info); user != "" {
		return &OwnerError{root, path, user}
	}
	return nil
}

func sameDir(a, b string) bool {
	infoA, errA := os.Stat(a)
	infoB, errB := os.Stat(b)
	return errA == nil && errB == nil && os.SameFile(infoA, infoB)
}
