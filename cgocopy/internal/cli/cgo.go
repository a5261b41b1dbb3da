package cli

import (
	"context"
	"errors"
	"fmt"
	"go/build"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// packageOf is the name of the package in dir: that of its Go files, or else
// the directory's.
func packageOf(dir string) (string, error) {
	p, err := build.ImportDir(dir, 0)
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

// cgoFlags are the compiler's flags that the package in dir gives in #cgo lines,
// by pkg-config, and the user in CGO_CFLAGS.
func cgoFlags(ctx context.Context, dir string) ([]string, error) {
	dir, err := filepath.Abs(dir) // ${SRCDIR} becomes it
	if err != nil {
		return nil, err
	}
	c := build.Default
	c.CgoEnabled = true
	p, err := c.ImportDir(dir, 0)
	var none *build.NoGoError
	var several *build.MultiplePackageError
	if err != nil && !errors.As(err, &none) && !errors.As(err, &several) && p == nil {
		return nil, err
	}
	var list []string
	if p != nil {
		list = append(append(list, p.CgoCPPFLAGS...), p.CgoCFLAGS...)
		if len(p.CgoPkgConfig) > 0 {
			more, err := pkgConfig(ctx, p.CgoPkgConfig)
			if err != nil {
				return nil, err
			}
			list = append(list, more...)
		}
	}
	return append(list, strings.Fields(os.Getenv("CGO_CFLAGS"))...), nil
}

// pkgConfig asks pkg-config, or what PKG_CONFIG names, for the flags of
// packages.
func pkgConfig(ctx context.Context, packages []string) ([]string, error) {
	program := os.Getenv("PKG_CONFIG")
	if program == "" {
		program = "pkg-config"
	}
	out, err := exec.CommandContext(ctx, program, append([]string{"--cflags", "--"}, packages...)...).Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return nil, fmt.Errorf("%s --cflags %s: %s", program, strings.Join(packages, " "), strings.TrimSpace(string(exit.Stderr)))
	}
	if err != nil {
		return nil, fmt.Errorf("the package's #cgo lines need %s: %w", program, err)
	}
	return strings.Fields(string(out)), nil
}
