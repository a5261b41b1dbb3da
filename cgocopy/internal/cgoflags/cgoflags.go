// Package cgoflags finds the C compiler's flags that a Go package asks for.
package cgoflags

import (
	"context"
	"errors"
	"fmt"
	"go/build"
	"go/build/constraint"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Context selects Go files as the go command does where the constraint of
// generated files holds: cgo && sqlite selects those that need the tag sqlite.
func Context(text string) build.Context {
	c := build.Default
	expr, err := constraint.Parse("//go:build " + text)
	if err != nil {
		return c
	}
	var add func(constraint.Expr)
	add = func(x constraint.Expr) {
		switch x := x.(type) {
		case *constraint.TagExpr:
			c.BuildTags = append(c.BuildTags, x.Tag)
		case *constraint.AndExpr:
			add(x.X)
			add(x.Y)
		case *constraint.OrExpr:
			add(x.X)
			add(x.Y)
		}
	}
	add(expr)
	return c
}

// Read returns the compiler's flags that the package in dir gives in #cgo lines,
// by pkg-config, and the user in CGO_CFLAGS. Files of which leave is true do not
// count; nil: all do.
func Read(ctx context.Context, dir, tags string, leave func(name string) bool) ([]string, error) {
	dir, err := filepath.Abs(dir) // ${SRCDIR} becomes it
	if err != nil {
		return nil, err
	}
	c := Context(tags)
	c.CgoEnabled = true
	c.ReadDir = func(dir string) ([]fs.FileInfo, error) {
		entries, err := os.ReadDir(dir)
		var list []fs.FileInfo
		for _, e := range entries {
			if leave != nil && leave(e.Name()) {
				continue
			}
			if info, err := e.Info(); err == nil {
				list = append(list, info)
			}
		}
		return list, err
	}
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
