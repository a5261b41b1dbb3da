// Package releases parses the Go releases that a command compares, and finds their toolchains.
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

// Hint is the hint about --go.
const Hint = "two Go releases or more, e.g. go1.26,go1.27 or go1.26.8,go1.26.8+jsonv2"

// releaseRE matches a Go release: the line such as 1.26, the rest of its numbers, and experiments.
var releaseRE = lazyregexp.New(`^(?:go)?([1-9][0-9]*\.(?:0|[1-9][0-9]*))(\.(?:0|[1-9][0-9]*)|(?:rc|beta)[1-9][0-9]*)?((?:\+[a-z][a-z0-9]*)*)$`)

// Release is a Go release as the user names it, possibly without its last number.
type Release struct {
	line        string // e.g. go1.26
	rest        string // the rest of the numbers, e.g. .8 or rc1; "" for the newest release of the line
	experiments string // e.g. +jsonv2, as GOEXPERIMENT has it
}

// IsExact reports whether the release has all its numbers, so that it is the same one everywhere.
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

// Resolve returns the toolchains of releases, with all their numbers: go1.27.2 for go1.27. A line
// without its last number is the installed release if that belongs to the line, or else the newest one
// that can be downloaded.
func Resolve(ctx context.Context, tag, installed string, releases []Release) ([]string, error) {
	var available []string // versions without "go"; nil before the first use
	var out []string
	for _, r := range releases {
		name := r.line + r.rest
		switch {
		case r.IsExact():
		case isOfLine(installed, r.line):
			name, _, _ = strings.Cut(installed, "-") // without -X:experiments
		default:
			if available == nil {
				var err error
				if available, err = listReleases(ctx, tag); err != nil {
					return nil, fmt.Errorf("which %s is the newest cannot be found out: %w; name it with all its numbers, e.g. %[1]s.0", r.line, err)
				}
			}
			if name = newestOf(r.line, available); name == "" {
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
// candidate is older than every release. newestOf returns "" if there is none.
func newestOf(line string, versions []string) string {
	newest := ""
	for _, v := range versions {
		if name := "go" + v; isOfLine(name, line) && (newest == "" || version.Compare(name, newest) > 0) {
			newest = name
		}
	}
	return newest
}
