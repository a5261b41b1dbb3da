package jsonstudy

import (
	"slices"
	"strings"
	"testing"

	"github.com/tarebench/tare"
)

func TestImplementations(t *testing.T) {
	for _, tt := range []struct {
		name   string
		isNew  bool
		former string
		option string
	}{
		{"go1.26.8", false, "go1.26.8", ""},
		{"go1.26.8+jsonv2", true, "go1.26.8", "Built without GOEXPERIMENT=jsonv2"},
		{"go1.26.8+simd+jsonv2", true, "go1.26.8+simd", "Built without GOEXPERIMENT=jsonv2"},
		{"go1.26.8+jsonv2+simd", true, "go1.26.8+simd", "Built without GOEXPERIMENT=jsonv2"},
		{"go1.27.0", true, "go1.27.0+nojsonv2", "Built with GOEXPERIMENT=nojsonv2"},
		{"go1.27rc1", true, "go1.27rc1+nojsonv2", "Built with GOEXPERIMENT=nojsonv2"},
		{"go1.27.0+nojsonv2", false, "go1.27.0+nojsonv2", ""},
		{"go1.27.0+jsonv2", true, "go1.27.0+nojsonv2", "Built with GOEXPERIMENT=nojsonv2"},
		{"go1.100.0", true, "go1.100.0+nojsonv2", "Built with GOEXPERIMENT=nojsonv2"},
	} {
		if got := hasNewImplementation(tt.name); got != tt.isNew {
			t.Errorf("%s: new %v", tt.name, got)
		}
		if got := withFormer(tt.name); got != tt.former {
			t.Errorf("%s: former %s, want %s", tt.name, got, tt.former)
		}
		if tt.isNew {
			if got := describeOption(tt.name); got != tt.option {
				t.Errorf("%s: %s, want %s", tt.name, got, tt.option)
			}
		}
	}
}

func TestReleaseStudy(t *testing.T) {
	for text, want := range map[string]string{
		"go1.26.8 go1.27.2":                   "go1.26.8 go1.27.2 go1.27.2+nojsonv2; go1.26.8 go1.27.2+nojsonv2 go1.27.2",
		"go1.25.9 go1.26.8 go1.27.2":          "go1.25.9 go1.26.8 go1.27.2 go1.27.2+nojsonv2; go1.25.9 go1.27.2+nojsonv2 go1.27.2",
		"go1.26.8 go1.27.2+nojsonv2 go1.27.2": "go1.26.8 go1.27.2+nojsonv2 go1.27.2; go1.26.8 go1.27.2+nojsonv2 go1.27.2",
		"go1.25.9 go1.26.8+jsonv2":            "go1.25.9 go1.26.8+jsonv2 go1.26.8; go1.25.9 go1.26.8 go1.26.8+jsonv2",
		"go1.26.8 go1.26.8+jsonv2":            "go1.26.8 go1.26.8+jsonv2; ",
		"go1.25.9 go1.26.8":                   "go1.25.9 go1.26.8; ",
		"go1.27.0 go1.27.2":                   "go1.27.0 go1.27.2 go1.27.2+nojsonv2; ",
		"go1.27.2 go1.26.8":                   "go1.27.2 go1.26.8; ",
	} {
		toolchains := strings.Fields(text)
		s := NewReleaseStudy("json-x-go", "What changes?", "all", toolchains)
		if err := s.Validate(); err != nil {
			t.Errorf("%s: %v", text, err)
		}
		var ids, chain []string
		for _, e := range s.Contenders {
			ids = append(ids, e.ID)
			if e.Go != e.ID || e.Use != Baseline {
				t.Errorf("%s: %+v", text, e)
			}
		}
		for _, d := range s.Decompose {
			chain = []string{d.From}
			for _, step := range d.Steps {
				chain = append(chain, step.To)
			}
		}
		if got := strings.Join(ids, " ") + "; " + strings.Join(chain, " "); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
		if s.Baseline != toolchains[0] || len(s.Decompose) != 0 && len(s.Decompose) != len(s.Workloads) {
			t.Errorf("%s: baseline %s, %d decompositions", text, s.Baseline, len(s.Decompose))
		}
	}
	for op, want := range map[string]int{"all": 4, "typed": 2, "any": 2} {
		if s := NewReleaseStudy("x", "?", op, []string{"go1.26.8", "go1.26.9"}); len(s.Workloads) != want || slices.ContainsFunc(s.Workloads, func(w tare.Workload) bool { return op != "all" && Typed(w.ID) != (op == "typed") }) {
			t.Errorf("--op %s: %+v", op, s.Workloads)
		}
	}
}
