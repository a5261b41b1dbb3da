// Package cgoflags finds the flags with which the go command compiles the C code of a Go package.
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
	"slices"
	"strings"
)

// Context returns a build context for Go files with a build constraint. For example, "cgo && sqlite" sets
// the tag sqlite; "linux && arm64" sets the system and the processor.
func Context(text string) build.Context {
	c := build.Default
	c.CgoEnabled = true
	expr, err := constraint.Parse("//go:build " + text)
	if err != nil {
		return c
	}
	var add func(x constraint.Expr, isRequired bool) // isRequired: the constraint is false if x is
	add = func(x constraint.Expr, isRequired bool) {
		switch x := x.(type) {
		case *constraint.TagExpr:
			switch {
			case !isRequired || x.Tag == "unix":
				c.BuildTags = append(c.BuildTags, x.Tag)
			case Processor(x.Tag):
				c.GOARCH = x.Tag
			case Platform(x.Tag):
				c.GOOS = x.Tag
			default:
				c.BuildTags = append(c.BuildTags, x.Tag)
			}
		case *constraint.AndExpr:
			add(x.X, isRequired)
			add(x.Y, isRequired)
		case *constraint.OrExpr:
			add(x.X, false)
			add(x.Y, false)
		} // a *constraint.NotExpr sets no tags
	}
	add(expr, true)
	return c
}

// Platform reports whether a build tag names a system, a kind of systems or a processor. Sources: "go tool
// dist list" and "go help buildconstraint".
func Platform(tag string) bool {
	switch tag {
	case "aix", "android", "darwin", "dragonfly", "freebsd", "illumos", "ios", "js", "linux", "netbsd", "openbsd", "plan9", "solaris", "unix", "wasip1", "windows":
		return true
	}
	return Processor(tag)
}

// Processor reports whether a build tag names a processor.
func Processor(tag string) bool {
	switch tag {
	case "386", "amd64", "arm", "arm64", "loong64", "mips", "mips64", "mips64le", "mipsle", "ppc64", "ppc64le", "riscv64", "s390x", "wasm":
		return true
	}
	return false
}

// Read returns the flags for the C compiler: from #cgo lines of the package in dir, from pkg-config, and
// from CGO_CPPFLAGS and CGO_CFLAGS. tags is the build constraint of the package's files. Read ignores files
// for which isSkipped returns true; isSkipped may be nil.
func Read(ctx context.Context, dir, tags string, isSkipped func(name string) bool) ([]string, error) {
	return readFlags(ctx, dir, tags, isSkipped, "CGO_CFLAGS", func(p *build.Package) []string { return p.CgoCFLAGS })
}

// ReadCXX is Read for the C++ compiler, with CXXFLAGS instead of CFLAGS.
func ReadCXX(ctx context.Context, dir, tags string, isSkipped func(name string) bool) ([]string, error) {
	return readFlags(ctx, dir, tags, isSkipped, "CGO_CXXFLAGS", func(p *build.Package) []string { return p.CgoCXXFLAGS })
}

// readFlags implements [Read]. variable and packageFlags are the environment variable and the #cgo flags of
// the language.
func readFlags(ctx context.Context, dir, tags string, isSkipped func(name string) bool, variable string, packageFlags func(*build.Package) []string) ([]string, error) {
	dir, err := filepath.Abs(dir) // ImportDir replaces ${SRCDIR} by it
	if err != nil {
		return nil, err
	}
	c := Context(tags)
	c.ReadDir = func(dir string) ([]fs.FileInfo, error) {
		entries, err := os.ReadDir(dir)
		var list []fs.FileInfo
		for _, e := range entries {
			if isSkipped != nil && isSkipped(e.Name()) {
				continue
			}
			if info, err := e.Info(); err == nil {
				list = append(list, info)
			}
		}
		return list, err
	}
	p, err := c.ImportDir(dir, 0)
	var noGo *build.NoGoError
	var several *build.MultiplePackageError
	hasFlags := p != nil || errors.As(err, &noGo) || errors.As(err, &several) // despite err
	if err != nil && !hasFlags {
		return nil, err
	}
	var list []string
	if p != nil {
		list = resolvePaths(dir, append(append(list, p.CgoCPPFLAGS...), packageFlags(p)...))
		if len(p.CgoPkgConfig) > 0 {
			more, err := pkgConfig(ctx, p.CgoPkgConfig)
			if err != nil {
				return nil, err
			}
			list = append(list, more...)
		}
	}
	for _, name := range []string{"CGO_CPPFLAGS", variable} {
		words, err := Split(os.Getenv(name))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		list = append(list, words...)
	}
	return list, nil
}

// resolvePaths joins relative paths in flags to dir, where the go command runs the compiler.
func resolvePaths(dir string, flags []string) []string {
	paths := []string{"-I", "-isystem", "-iquote", "-idirafter", "-isysroot"}
	exists := func(path string) bool {
		_, err := os.Stat(path)
		return err == nil
	}
	var list []string
	for i, f := range flags {
		switch {
		case i > 0 && slices.Contains(paths, flags[i-1]) && !filepath.IsAbs(f):
			f = filepath.Join(dir, f)
		case i > 0 && flags[i-1] == "-include" && !filepath.IsAbs(f) && exists(filepath.Join(dir, f)): // otherwise -I finds the file
			f = filepath.Join(dir, f)
		case len(f) > 2 && strings.HasPrefix(f, "-I") && !filepath.IsAbs(f[2:]):
			f = "-I" + filepath.Join(dir, f[2:])
		}
		list = append(list, f)
	}
	return list
}

// pkgConfig runs pkg-config, or the command in PKG_CONFIG.
func pkgConfig(ctx context.Context, packages []string) ([]string, error) {
	program := os.Getenv("PKG_CONFIG")
	if program == "" {
		program = "pkg-config"
	}
	args := []string{"--cflags"}
	var names []string
	for _, p := range packages { // a #cgo line may mix flags of pkg-config with packages
		switch {
		case p == "--": // it is added below
		case strings.HasPrefix(p, "--"):
			args = append(args, p)
		default:
			names = append(names, p)
		}
	}
	out, err := exec.CommandContext(ctx, program, slices.Concat(args, []string{"--"}, names)...).Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return nil, fmt.Errorf("%s --cflags %s: %s", program, strings.Join(packages, " "), strings.TrimSpace(string(exit.Stderr)))
	}
	if err != nil {
		return nil, fmt.Errorf("the package's #cgo lines need %s: %w", program, err)
	}
	return splitEscaped(string(out))
}
