// Package releases parses the value of the flag --go, the Go releases that a command of tare compares,
// and finds the newest release of each: for "go1.26,go1.27" it may return go1.26.8 and go1.27.2.
package releases

import (
	"context"
	"errors"
	"fmt"
	"go/version"
	"slices"
	"strings"

	"github.com/tarebench/tare/cmd/tare/internal/benchstudy/gocmd"
	"github.com/tarebench/tare/internal/build"
	"github.com/tarebench/tare/internal/lazyregexp"
)

// Hint describes the value of --go, for error messages.
const Hint = "two Go releases or more, e.g. go1.26,go1.27 or go1.26.8,go1.26.8+jsonv2"

// releaseRE matches "go1.26.8+jsonv2". The groups are 1.26, .8 (or rc1) and +jsonv2; the last two may
// be "".
var releaseRE = lazyregexp.New(`^(?:go)?([1-9][0-9]*\.(?:0|[1-9][0-9]*))(\.(?:0|[1-9][0-9]*)|(?:rc|beta)[1-9][0-9]*)?((?:\+[a-z][a-z0-9]*)*)$`)

// Release is a Go release that the user names. go1.26.8 is exact. go1.26 is a line of releases, and
// means its newest release.
type Release struct {
	line        string // e.g. go1.26
	rest        string // text after the line, e.g. .8 or rc1; "" for the newest release of the line
	experiments string // values of GOEXPERIMENT to set, e.g. +jsonv2
}

// IsExact reports whether the release has all its numbers, so that it is the same on every machine.
func (r Release) IsExact() bool { return r.rest != "" }

// String returns the release as the user wrote it.
func (r Release) String() string { return r.line + r.rest + r.experiments }

// Parse parses the value of --go: at least two releases, separated by commas.
func Parse(text string) ([]Release, error) {
	var out []Release
	for _, name := range strings.Split(text, ",") {
		m := releaseRE.FindStringSubmatch(name)
		if m == nil {
			return nil, fmt.Errorf("%q is not a Go release", name)
		}
		r := Release{line: "go" + m[1], rest: m[2], experiments: m[3]}
		if slices.Contains(out, r) {
			return nil, fmt.Errorf("%s is listed twice", name)
		}
		out = append(out, r)
	}
	if len(out) < 2 {
		return nil, fmt.Errorf("%q is one release, which there is nothing to compare with", text)
	}
	return out, nil
}

// Resolve returns the exact names of releases: go1.27.2 for go1.27. A line of releases becomes the
// installed release if that belongs to the line, or else the newest one that can be downloaded. The
// go command gets TARE_RUN=tag in its environment.
func Resolve(ctx context.Context, tag, installed string, releases []Release) ([]string, error) {
	var available []string // versions without "go"; nil before the first use
	var out []string
	for _, r := range releases {
		name := r.line + r.rest
		switch {
		case r.IsExact(): // name is complete
		case isOfLine(installed, r.line):
			name, _, _ = strings.Cut(installed, "-") // without -X:experiments
		default:
			if available == nil {
				var err error
				if available, err = listReleases(ctx, tag); err != nil {
					return nil, fmt.Errorf("which %s is the newest cannot be found out: %w; name it with all its numbers, e.g. %[1]s.0", r.line, err)
				}
			}
			name = newestOf(r.line, available)
			if name == "" {
				return nil, fmt.Errorf("there is no release of %s to download", r.line)
			}
		}
		name += r.experiments
		if slices.Contains(out, name) {
			return nil, fmt.Errorf("%s is listed twice", name)
		}
		out = append(out, name)
	}
	return out, nil
}

// listReleases returns the versions of Go that the module proxy has, such as 1.27.2.
func listReleases(ctx context.Context, tag string) ([]string, error) {
	// A go.mod file must not affect the go command.
	dir, remove := build.OutsideModules()
	defer remove()
	out, err := gocmd.Go{Tag: tag}.In(ctx, dir, "list", "-m", "-versions", "go")
	if err != nil {
		return nil, err
	}
	versions := strings.Fields(out)
	if len(versions) < 2 { // the first field is the name of the module
		return nil, errors.New("the go command lists no releases")
	}
	return versions[1:], nil
}

// isOfLine reports whether a release, such as go1.26.8 or go1.27rc1, belongs to a line such as go1.26.
func isOfLine(release, line string) bool {
	rest, ok := strings.CutPrefix(release, line)
	return ok && (strings.HasPrefix(rest, ".") || strings.HasPrefix(rest, "rc") || strings.HasPrefix(rest, "beta"))
}

// newestOf returns the newest release of a line, e.g. go1.27.2, among versions without "go". A release
// candidate is older than every release. newestOf returns "" without a release.
func newestOf(line string, versions []string) string {
	newest := ""
	for _, v := range versions {
		if name := "go" + v; isOfLine(name, line) && (newest == "" || version.Compare(name, newest) > 0) {
			newest = name
		}
	}
	return newest
}
