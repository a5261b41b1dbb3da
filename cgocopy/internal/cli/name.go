package cli

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tarebench/tare/cgocopy/internal/plan"
)

// unitName returns the suffix of function names, so that several outputs in a package differ: ""
// for the default, Devices for z_devices.go.
func unitName(out string) string {
	base, _ := platformOf(out) // files for several systems are never built together
	base = strings.TrimPrefix(base, "z_")
	base = strings.TrimPrefix(strings.TrimPrefix(base, "cgocopy"), "_")
	return plan.Exported(base)
}

// fromPackage returns the headers as the directory of the output sees them. Those
// that only the compiler's flags find stay as they are.
func fromPackage(o order) []string {
	var list []string
	for _, h := range o.headers {
		list = append(list, headerFromPackage(o, h))
	}
	return list
}

func headerFromPackage(o order, h string) string {
	if _, err := os.Stat(filepath.Join(o.dir, h)); err == nil && !filepath.IsAbs(h) {
		if rel, err := filepath.Rel(filepath.Dir(o.out), filepath.FromSlash(h)); err == nil {
			return filepath.ToSlash(rel)
		}
	}
	return h
}

// flagsFromPackage returns the flags of the command line with paths as the
// directory of the output sees them.
func flagsFromPackage(o order) []string {
	move := func(path string) string {
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
			f = move(f)
		case strings.HasPrefix(f, "-I") && f != "-I":
			f = "-I" + move(f[2:])
		}
		list = append(list, f)
	}
	return list
}

// madeFor reports of which files of a package out is one, or was made with it.
func madeFor(out string) func(name string) bool {
	base := strings.TrimSuffix(filepath.Base(out), ".go")
	return func(name string) bool {
		rest, ok := strings.CutPrefix(name, base)
		return ok && (rest == ".go" || slices.Contains(siblingSuffixes(), rest))
	}
}

// siblingSuffixes returns the name endings of files that are written next to the first.
func siblingSuffixes() []string { return []string{"_assert.go", "_cgo.go", "_test.go"} }
