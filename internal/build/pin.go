package build

import (
	"fmt"
	"go/version"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// Pin overrides the go.mod of a contender in a build. The zero value changes nothing.
type Pin struct {
	With []With // different modules, each of which the contender's go.mod requires
	Go   string // toolchain, e.g. go1.25.5; empty means the machine's
}

// IsZero reports whether the contender is built unchanged.
func (p Pin) IsZero() bool { return len(p.With) == 0 && p.Go == "" }

// With is a module in another version than the contender's, or from a directory.
type With struct {
	Path    string // of the module
	Version string // v1.2.3, or another version that the go command accepts: a commit, a branch; "" if Dir is set
	Dir     string // absolute
}

var (
	withPath = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_~.-]*(/[A-Za-z0-9_~.-]+)*$`)
	withTag  = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.+/-]*$`)
	fixedTag = regexp.MustCompile(`^v[0-9]+\.[0-9]+\.[0-9]+([-+].*)?$`)
	tag      = regexp.MustCompile(`^v(0|[1-9][0-9]*)(\.(0|[1-9][0-9]*)){2}(-[0-9A-Za-z.-]+)?(\+incompatible)?$`)
	commitOf = regexp.MustCompile(`[-.][0-9]{14}-[0-9A-Za-z]+(\+|$)`) // https://go.dev/ref/mod#pseudo-versions
	goTag    = regexp.MustCompile(`^go[0-9]+\.[0-9]+(\.[0-9]+|(rc|beta)[0-9]+)$`)
)

// ParseWith reads path@version or path=directory; a relative directory starts
// at dir.
func ParseWith(s, dir string) (With, error) {
	bad := fmt.Errorf("%q is neither module@version nor module=./dir, e.g. github.com/bytedance/sonic@v1.14.0", s)
	if path, to, ok := strings.Cut(s, "="); ok && !strings.Contains(path, "@") {
		if !withPath.MatchString(path) || strings.TrimSpace(to) == "" {
			return With{}, bad
		}
		to = filepath.FromSlash(to)
		if !filepath.IsAbs(to) {
			to = filepath.Join(dir, to)
		}
		abs, err := filepath.Abs(to)
		return With{Path: path, Dir: abs}, err
	}
	path, tag, _ := strings.Cut(s, "@")
	if !withPath.MatchString(path) || !withTag.MatchString(tag) {
		return With{}, bad
	}
	return With{Path: path, Version: tag}, nil
}

// String returns the form that ParseWith reads.
func (w With) String() string {
	if w.Dir != "" {
		return w.Path + "=" + w.Dir
	}
	return w.Path + "@" + w.Version
}

// isFixed reports whether the version is a release, and not a branch, a commit or "latest", which
// the go command must resolve.
func (w With) isFixed() bool { return w.Dir != "" || fixedTag.MatchString(w.Version) }

// IsTag reports whether the version is one that its module's authors gave, such as
// v1.14.0, and no commit: the go command has each commit under a version of its own.
func (w With) IsTag() bool { return tag.MatchString(w.Version) && !commitOf.MatchString(w.Version) }

// checkFits returns an error for the first thing in the pin that cannot be done to a contender of module
// mod.
func (p Pin) checkFits(leaf Leaf, mod leafModule) error {
	if p.Go != "" {
		if !goTag.MatchString(p.Go) {
			return fmt.Errorf("%q is no Go release; write all its numbers, e.g. go1.25.5", p.Go)
		}
		if sdk := mod.sdkDir(); sdk != "" {
			if m, err := moduleOf(sdk); err == nil && m.goLine != "" && version.Compare(p.Go, "go"+m.goLine) < 0 {
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
		case slices.ContainsFunc(p.With[:i], func(o With) bool { return o.Path == w.Path }):
			return fmt.Errorf("%s is to be built with two versions of %s", leaf.Manifest.ID, w.Path)
		case w.Dir == "":
			continue
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

// withoutPinned returns m's claimed modules, without the version if another one is pinned. The
// linked version is read from the binary as ever.
func (p Pin) withoutPinned(m []string) []string {
	out := slices.Clone(m)
	for i, claim := range out {
		path, _, _ := strings.Cut(claim, "@")
		if slices.ContainsFunc(p.With, func(w With) bool { return w.Path == path }) {
			out[i] = path
		}
	}
	return out
}
