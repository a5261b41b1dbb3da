package jsonstudy

import (
	"go/version"
	"slices"
	"strings"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/contender/codec"
)

// Experiments of the go command that select the implementation of encoding/json: the new one before
// the release in which it is the default, and the former one since.
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

// describeOption returns what makes toolchain, which has the new implementation of encoding/json,
// use the former one. The text begins a sentence.
func describeOption(toolchain string) string {
	if strings.HasSuffix(withFormer(toolchain), "+"+formerExperiment) {
		return "Built with GOEXPERIMENT=" + formerExperiment
	}
	return "Built without GOEXPERIMENT=" + newExperiment
}

// addFormer adds the toolchain that shows which differences of the last one are due to its new
// implementation of encoding/json, unless it is among toolchains. It comes last, because a short
// budget skips the last ones.
func addFormer(toolchains []string) []string {
	last := toolchains[len(toolchains)-1]
	if former := withFormer(last); hasNewImplementation(last) && !slices.Contains(toolchains, former) {
		return append(slices.Clone(toolchains), former)
	}
	return toolchains
}

// NewReleaseStudy returns the study of encoding/json built with several toolchains, on the workloads
// of op. The first toolchain is the baseline. If the last one has the new implementation of
// encoding/json, the study also has it with the former one, and splits their difference.
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

// newStudy returns a study of JSON codecs with the workloads of op, whose only contender is
// encoding/json.
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
