package cli

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tarebench/tare/cgocopy/internal/plan"
)

// unitName returns a suffix for the names of package-level functions in the generated file out. So a
// package can have several generated files. The default file has "", z_devices.go has Devices. The platform
// in a file name does not count: files for different platforms are never built together.
func unitName(out string) string {
	base, _ := platformOf(out)
	base = strings.TrimPrefix(base, "z_")
	base = strings.TrimPrefix(strings.TrimPrefix(base, "cgocopy"), "_")
	return plan.Exported(base)
}

// fromPackage returns the paths of the headers relative to the directory of the output. A header that is
// found by flags keeps its name.
func fromPackage(o options) []string {
	var list []string
	for _, h := range o.headers {
		list = append(list, headerFromPackage(o, h))
	}
	return list
}

func headerFromPackage(o options, h string) string {
	if _, err := os.Stat(filepath.Join(o.dir, h)); err == nil && !filepath.IsAbs(h) {
		if rel, err := filepath.Rel(filepath.Dir(o.out), filepath.FromSlash(h)); err == nil {
			return filepath.ToSlash(rel)
		}
	}
	return h
}

// flagsFromPackage returns the compiler flags with paths relative to the directory of the output.
func flagsFromPackage(o options) []string {
	movePath := func(path string) string {
		if filepath.IsAbs(path) || path == "" {
			return path
		}
		rel, err := filepath.Rel(filepath.Dir(o.out), filepath.FromSlash(path))
		if err != nil {
			return path
		}
		return filepath.ToSlash(rel)
	}
	withPath := []string{"-I", "-isystem", "-iquote", "-idirafter", "-isysroot"}
	var list []string
	for i, f := range o.flags {
		switch {
		case i > 0 && o.flags[i-1] == "-include":
			f = headerFromPackage(o, f)
		case i > 0 && slices.Contains(withPath, o.flags[i-1]):
			f = movePath(f)
		case strings.HasPrefix(f, "-I") && f != "-I":
			f = "-I" + movePath(f[2:])
		}
		list = append(list, f)
	}
	return list
}

// isOutputOf returns a function that reports whether a file is out, or is generated with it.
func isOutputOf(out string) func(name string) bool {
	base := strings.TrimSuffix(filepath.Base(out), ".go")
	return func(name string) bool {
		rest, ok := strings.CutPrefix(name, base)
		return ok && (rest == ".go" || slices.Contains(siblingSuffixes(), rest))
	}
}

// siblingSuffixes returns the endings of the files that are generated with the first.
func siblingSuffixes() []string { return []string{"_assert.go", "_cgo.go", "_test.go"} }
