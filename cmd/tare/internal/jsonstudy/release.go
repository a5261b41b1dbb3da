package jsonstudy

import (
	"go/version"
	"slices"
	"strings"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/contender/codec"
)

// tare json --go compares encoding/json built with several toolchains, such as go1.26+jsonv2. This is a
// Go release with an experiment (GOEXPERIMENT). Since firstNewRelease, encoding/json has a new
// implementation, which is backed by encoding/json/v2. These experiments select the other
// implementation.
const (
	newExperiment    = "jsonv2"   // selects the new implementation in earlier releases
	formerExperiment = "nojsonv2" // selects the former implementation in later releases
	firstNewRelease  = "go1.27"
)

// hasNewImplementation reports whether encoding/json is backed by encoding/json/v2.
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

// withFormer returns a toolchain with the former encoding/json: go1.26 for go1.26+jsonv2, and
// go1.27+nojsonv2 for go1.27.
func withFormer(toolchain string) string {
	// The added + makes the last experiment end in + like the others.
	if before, after, ok := strings.Cut(toolchain+"+", "+"+newExperiment+"+"); ok {
		toolchain = strings.TrimSuffix(before+"+"+after, "+")
	}
	if hasNewImplementation(toolchain) {
		toolchain += "+" + formerExperiment
	}
	return toolchain
}

// describeOption says how toolchain is built with the former encoding/json.
func describeOption(toolchain string) string {
	if strings.HasSuffix(withFormer(toolchain), "+"+formerExperiment) {
		return "Built with GOEXPERIMENT=" + formerExperiment
	}
	return "Built without GOEXPERIMENT=" + newExperiment
}

// addFormer adds the last toolchain with the former implementation, to show the effect of the new one.
// It comes last, because a short budget skips the last ones.
func addFormer(toolchains []string) []string {
	last := toolchains[len(toolchains)-1]
	if former := withFormer(last); hasNewImplementation(last) && !slices.Contains(toolchains, former) {
		return append(slices.Clone(toolchains), former)
	}
	return toolchains
}

// NewReleaseStudy returns the study of encoding/json built with several toolchains, on the workloads of
// op. The first toolchain is the baseline. If only the last one has the new implementation, the study
// adds it with the former one. This splits the difference between first and last in two: the new
// implementation, and the rest of the release.
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

// newStudy returns a study whose only contender is encoding/json.
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
