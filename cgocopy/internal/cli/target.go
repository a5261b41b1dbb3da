package cli

import (
	"fmt"
	"go/build"
	"go/build/constraint"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tarebench/tare/cgocopy/internal/cgoflags"
	"github.com/tarebench/tare/cgocopy/internal/object"
)

// checkWords returns a usage error for values that neither gen nor bind can use.
func (o options) checkWords() error {
	if strings.ContainsAny(strings.Join(o.words, ""), "\n\r") {
		return usageErrorf("a word has more than one line, and the first line of what is generated has them all")
	}
	for _, h := range o.headers {
		if slices.Contains([]string{".o", ".a", ".so", ".obj", ".lib", ".dll", ".dylib"}, filepath.Ext(h)) {
			return usageErrorf("%s is no header; -object %s reads types from what is compiled", h, h)
		}
	}
	if _, err := constraint.Parse("//go:build " + o.build); o.build != "" && err != nil {
		return usageErrorf("-build '%s': %v", o.build, err)
	}
	return nil
}

// platformOf splits the name of a Go file as the go command does. z_linux_arm64.go has the parts z and
// linux && arm64, a build constraint. named is "" without a platform.
func platformOf(out string) (before, named string) {
	before = strings.TrimSuffix(filepath.Base(out), ".go")
	var list []string
	for range 2 {
		rest, last, ok := cutLast(before)
		if !ok || last == "unix" || !cgoflags.Platform(last) { // "unix" has no meaning in file names
			break
		}
		isPair := len(list) == 0 || cgoflags.Processor(list[0]) && !cgoflags.Processor(last) // SYSTEM_PROCESSOR
		if !isPair {
			break
		}
		before, list = rest, append([]string{last}, list...)
	}
	return before, strings.Join(list, " && ")
}

// buildConstraint returns the constraint of -build, or the platform in the name of the file, or "".
func (o options) buildConstraint() string {
	if o.build != "" {
		return o.build
	}
	_, named := platformOf(o.out)
	return named
}

func cutLast(name string) (before, last string, ok bool) {
	i := strings.LastIndexByte(name, '_')
	if i < 0 {
		return name, "", false
	}
	return name[:i], name[i+1:], true
}

// checkTarget returns an error if no build that selects the output is for the machine of the types in f.
// The layout would be wrong.
func (o options) checkTarget(f *object.File) error {
	systems := map[string][]string{"windows": {"windows"}, "darwin": {"darwin", "ios"}}[f.OS]
	if systems == nil { // systems with ELF
		systems = []string{"linux", "android", "freebsd", "netbsd", "openbsd", "dragonfly", "solaris", "illumos", "aix", "plan9", "js", "wasip1"}
	}
	for _, system := range systems {
		c := build.Default
		c.CgoEnabled, c.GOOS = true, system
		if f.Arch != "" {
			c.GOARCH = f.Arch
		}
		if canSelect(c, filepath.Base(o.out), o.build) {
			return nil
		}
	}
	typesTarget := f.Arch + " on " + f.OS
	if f.OS == "" {
		typesTarget = f.Arch + " on linux and its like"
	}
	named := o.buildConstraint()
	if o.object != "" {
		return fmt.Errorf("%s is for %s, and %s is for %s; name an object file for it, or another -build or -o", o.out, named, o.object, typesTarget)
	}
	return fmt.Errorf("%s is for %s, and the compiler makes code for %s; name one for it in CC, or another -build or -o", o.out, named, typesTarget)
}

// canSelect reports whether some build for the system and processor of c selects a file with this name and
// build constraint. Other tags may be set or not. text is "" without a constraint.
func canSelect(c build.Context, name, text string) bool {
	isSelected := func(name, head string) bool {
		c.OpenFile = func(string) (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(head + "package p\n")), nil }
		ok, err := c.MatchFile(".", name)
		return ok && err == nil
	}
	if !isSelected(name, "") {
		return false
	}
	expr, err := constraint.Parse("//go:build " + text)
	if err != nil {
		return true
	}
	return canHaveValue(expr, true, func(tag string) bool { return isSelected("p.go", "//go:build "+tag+"\n\n") })
}

// canHaveValue reports whether an expression can have this value. isSet decides tags that name a platform;
// other tags can be true or false.
func canHaveValue(x constraint.Expr, value bool, isSet func(tag string) bool) bool {
	switch x := x.(type) {
	case *constraint.TagExpr:
		return !cgoflags.Platform(x.Tag) || isSet(x.Tag) == value
	case *constraint.NotExpr:
		return canHaveValue(x.X, !value, isSet)
	case *constraint.AndExpr:
		if value {
			return canHaveValue(x.X, true, isSet) && canHaveValue(x.Y, true, isSet)
		}
		return canHaveValue(x.X, false, isSet) || canHaveValue(x.Y, false, isSet)
	case *constraint.OrExpr:
		if value {
			return canHaveValue(x.X, true, isSet) || canHaveValue(x.Y, true, isSet)
		}
		return canHaveValue(x.X, false, isSet) && canHaveValue(x.Y, false, isSet)
	}
	return true
}
