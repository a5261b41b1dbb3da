package jsonstudy

import (
	"context"
	"errors"
	"fmt"
	"go/version"
	"slices"
	"strings"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/benchstudy/gocmd"
	"github.com/tarebench/tare/contender/codec"
	"github.com/tarebench/tare/internal/build"
	"github.com/tarebench/tare/internal/lazyregexp"
)

// ReleaseHint is the hint about --go.
const ReleaseHint = "two Go releases or more, e.g. go1.26,go1.27 or go1.26.8,go1.26.8+jsonv2"

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

// ParseReleases parses the value of --go: at least two releases, separated by commas.
func ParseReleases(text string) ([]Release, error) {
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

// ResolveReleases returns the toolchains of releases, with all their numbers: go1.27.2 for go1.27. A line
// without its last number is the installed release if that belongs to the line, or else the newest one
// that can be downloaded.
func ResolveReleases(ctx context.Context, tag, installed string, releases []Release) ([]string, error) {
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

// Experiments of the go command that select the implementation of encoding/json: the new one before the
// release in which it is the default, and the former one since.
const (
	newExperiment    = "jsonv2"
	formerExperiment = "nojsonv2"
	firstNewRelease  = "go1.27" // its encoding/json is backed by encoding/json/v2
)

// hasNewImplementation reports whether encoding/json of a toolchain is backed by encoding/json/v2.
func hasNewImplementation(toolchain string) bool {
	release, experiments, _ := strings.Cut(toolchain, "+")
	switch list := strings.Split(experiments, "+"); {
	case slices.Contains(list, newExperiment):
		return true
	case slices.Contains(list, formerExperiment):
		return false
	}
	return version.Compare(release, firstNewRelease) >= 0
}

// withFormer returns the toolchain with the former implementation of encoding/json and otherwise like
// toolchain, which has the new one.
func withFormer(toolchain string) string {
	if before, after, ok := strings.Cut(toolchain+"+", "+"+newExperiment+"+"); ok {
		toolchain = strings.TrimSuffix(before+"+"+after, "+")
	}
	if hasNewImplementation(toolchain) {
		toolchain += "+" + formerExperiment
	}
	return toolchain
}

// describeOption returns what makes toolchain, which has the new implementation of encoding/json, use the
// former one. The text begins a sentence.
func describeOption(toolchain string) string {
	if strings.HasSuffix(withFormer(toolchain), "+"+formerExperiment) {
		return "Built with GOEXPERIMENT=" + formerExperiment
	}
	return "Built without GOEXPERIMENT=" + newExperiment
}

// addFormer adds the toolchain that shows which differences of the last one are due to its new
// implementation of encoding/json, unless it is among toolchains. It comes last, because a short budget
// skips the last ones.
func addFormer(toolchains []string) []string {
	last := toolchains[len(toolchains)-1]
	if former := withFormer(last); hasNewImplementation(last) && !slices.Contains(toolchains, former) {
		return append(slices.Clone(toolchains), former)
	}
	return toolchains
}

// NewReleaseStudy returns the study of encoding/json built with several toolchains, on the workloads of
// op. The first toolchain is the baseline. If the last one has the new implementation of encoding/json,
// the study also has it with the former one, and splits their difference.
func NewReleaseStudy(id, question, op string, toolchains []string) tare.Study {
	s := newStudy(id, question, op)
	s.Contenders = nil
	for _, name := range addFormer(toolchains) {
		s.Contenders = append(s.Contenders, tare.Entry{ID: name, Use: Baseline, Go: name})
	}
	first, last := toolchains[0], toolchains[len(toolchains)-1]
	s.Baseline = first
	former := withFormer(last)
	if !hasNewImplementation(last) || hasNewImplementation(first) || former == first {
		return s
	}
	for _, w := range s.Workloads {
		s.Decompose = append(s.Decompose, tare.Decompose{ID: w.ID, Workload: w.ID, From: first, Steps: []tare.DecomposeStep{
			{To: former, Cause: "the rest of the release"},
			{To: last, Cause: "the new implementation of encoding/json"},
		}})
	}
	return s
}

// newStudy returns a study of JSON codecs with the workloads of op, whose only contender is encoding/json.
func newStudy(id, question, op string) tare.Study {
	s := tare.Study{
		ID: id, Question: question, Kind: codec.Kind, Baseline: Baseline,
		Contenders: []tare.Entry{{ID: Baseline}},
		Metrics:    []string{"time", "cpu", "bytes", "allocs"},
		Budget:     tare.Budget{Quick: Quick, Full: Full},
		Borrowed:   true,
	}
	for _, w := range allWorkloads() {
		if op == "all" || (op == "typed") == Typed(w.ID) {
			s.Workloads = append(s.Workloads, w)
		}
	}
	return s
}
