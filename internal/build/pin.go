package build

import (
	"fmt"
	"go/version"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tarebench/tare/internal/lazyregexp"
)

// This file reads which versions of modules and of Go the user wants for a build. For example,
// github.com/bytedance/sonic@v1.14.0 and go1.25.5 replace the versions in a contender's go.mod.

// Pin selects other versions than the go.mod of a contender, for a build. The zero value changes nothing.
type Pin struct {
	With []With // modules that the contender's go.mod requires, each at most once
	Go   string // toolchain, e.g. go1.25.5, or go1.26.8+jsonv2 with an experiment; "" means the installed one
}

// IsZero reports whether the contender is built unchanged.
func (p Pin) IsZero() bool { return len(p.With) == 0 && p.Go == "" }

// goRelease omits the experiments of the toolchain.
func (p Pin) goRelease() string {
	release, _ := splitToolchain(p.Go)
	return release
}

// With replaces the version of a module, or takes the module from a directory.
type With struct {
	Path    string // path of the module
	Version string // a release such as v1.2.3, a commit or a branch; "" if Dir is set
	Dir     string // absolute directory of the module; "" if Version is set
}

var (
	// A module path and the version after it: github.com/bytedance/sonic and v1.14.0, main or a commit.
	modulePath = lazyregexp.New(`^[A-Za-z0-9_][A-Za-z0-9_~.-]*(/[A-Za-z0-9_~.-]+)*$`)
	anyVersion = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9_.+/-]*$`)
	// A version that never changes: v1.14.0, v1.14.0-rc.1 or a pseudo-version, which the go command makes for a
	// commit: v0.0.0-20190930134022-aa0246cd15f7. See https://go.dev/ref/mod#pseudo-versions.
	fixedVersion = lazyregexp.New(`^v[0-9]+\.[0-9]+\.[0-9]+([-+].*)?$`)
	// A semantic version, and the end of a pseudo-version.
	semanticVersion = lazyregexp.New(`^v(0|[1-9][0-9]*)(\.(0|[1-9][0-9]*)){2}(-[0-9A-Za-z.-]+)?(\+incompatible)?$`)
	pseudoEnd       = lazyregexp.New(`[-.][0-9]{14}-[0-9A-Za-z]+(\+|$)`)
	// A Go release with experiments: go1.26.8+jsonv2.
	goToolchain = lazyregexp.New(`^go[0-9]+\.[0-9]+(\.[0-9]+|(rc|beta)[0-9]+)(\+[a-z][a-z0-9]*)*$`)
)

// ParseWith parses path@version or path=directory. A relative directory is relative to dir.
func ParseWith(s, dir string) (With, error) {
	formErr := fmt.Errorf("%q is neither module@version nor module=./dir, e.g. github.com/bytedance/sonic@v1.14.0", s)
	if path, moduleDir, ok := strings.Cut(s, "="); ok && !strings.Contains(path, "@") {
		if !modulePath.MatchString(path) || strings.TrimSpace(moduleDir) == "" {
			return With{}, formErr
		}
		moduleDir = filepath.FromSlash(moduleDir)
		if !filepath.IsAbs(moduleDir) {
			moduleDir = filepath.Join(dir, moduleDir)
		}
		abs, err := filepath.Abs(moduleDir)
		return With{Path: path, Dir: abs}, err
	}
	path, version, _ := strings.Cut(s, "@")
	if !modulePath.MatchString(path) || !anyVersion.MatchString(version) {
		return With{}, formErr
	}
	return With{Path: path, Version: version}, nil
}

// String returns the form that ParseWith reads.
func (w With) String() string {
	if w.Dir != "" {
		return w.Path + "=" + w.Dir
	}
	return w.Path + "@" + w.Version
}

// isFixed reports whether w names the same version forever. The go command must resolve a branch, a commit or
// "latest".
func (w With) isFixed() bool { return w.Dir != "" || fixedVersion.MatchString(w.Version) }

// IsTag reports whether the version is a tag of the module's authors. The go command makes pseudo-versions for
// other commits.
func (w With) IsTag() bool {
	return semanticVersion.MatchString(w.Version) && !pseudoEnd.MatchString(w.Version)
}

// checkFits returns an error if a contender cannot be built with the pinned versions: its go.mod does not
// require a module of p.With, or the SDK that all contenders use needs a newer Go than p.Go.
func (p Pin) checkFits(leaf Leaf, mod leafModule) error {
	if p.Go != "" {
		if !goToolchain.MatchString(p.Go) {
			return fmt.Errorf("%q is no Go release; write all its numbers, e.g. go1.25.5", p.Go)
		}
		if sdk := mod.sdkDir(); sdk != "" {
			m, err := readModule(sdk)
			isKnown := err == nil && m.goLine != ""
			if isKnown && version.Compare(p.goRelease(), "go"+m.goLine) < 0 {
				return fmt.Errorf("contenders share an SDK that needs go %s, asked was %s", m.goLine, p.Go)
			}
		}
	}
	for i, w := range p.With {
		switch {
		case w.Path == sdkPath:
			return fmt.Errorf("%s is the SDK that contenders share and cannot be pinned", w.Path)
		case mod.requiredVersion(w.Path) == "":
			return fmt.Errorf("%s does not require %s", leaf.Manifest.ID, w.Path)
		case slices.ContainsFunc(p.With[:i], func(earlier With) bool { return earlier.Path == w.Path }):
			return fmt.Errorf("%s is to be built with two versions of %s", leaf.Manifest.ID, w.Path)
		case w.Dir == "":
			continue // the go command checks versions
		}
		if info, err := os.Stat(w.Dir); err != nil || !info.IsDir() {
			return fmt.Errorf("%s: there is no directory %s", w.Path, w.Dir)
		}
		if !isModule(w.Dir) {
			return fmt.Errorf("%s: there is no go.mod in %s", w.Path, w.Dir)
		}
	}
	return nil
}

// withoutPinned removes the versions of pinned modules from a list of modules (path or path@version), because
// other versions of them are built.
func (p Pin) withoutPinned(modules []string) []string {
	out := slices.Clone(modules)
	for i, module := range out {
		path, _, _ := strings.Cut(module, "@")
		if slices.ContainsFunc(p.With, func(w With) bool { return w.Path == path }) {
			out[i] = path
		}
	}
	return out
}
