package cli

import (
	"errors"
	"fmt"
	"go/build"
	"path/filepath"
	"strings"

	"github.com/tarebench/tare/cgocopy/internal/cgoflags"
)

// packageOf returns the name of the package in dir. Without Go files it is derived from the name of dir.
// tags is the build constraint of the files.
func packageOf(dir, tags string) (string, error) {
	c := cgoflags.Context(tags)
	p, err := c.ImportDir(dir, 0)
	if err == nil && p.Name != "" {
		return p.Name, nil
	}
	var several *build.MultiplePackageError
	if errors.As(err, &several) {
		return "", fmt.Errorf("%s holds more than one package, %s and %s; say which with -pkg", dir, several.Packages[0], several.Packages[1])
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	name := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '_' {
			return r
		}
		return -1
	}, strings.ToLower(filepath.Base(abs)))
	if name == "" || name[0] <= '9' {
		return "", fmt.Errorf("%s has no Go files to tell the name of the package; say it with -pkg", dir)
	}
	return name, nil
}
