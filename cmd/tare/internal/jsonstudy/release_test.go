package jsonstudy

import (
	"slices"
	"strings"
	"testing"

	"github.com/tarebench/tare"
)

func TestParseReleases(t *testing.T) {
	for text, want := range map[string]string{
		"go1.26,go1.27":                      "go1.26 go1.27",
		"1.26.8,go1.27rc1":                   "go1.26.8 go1.27rc1",
		"go1.26.8,go1.26.8+jsonv2":           "go1.26.8 go1.26.8+jsonv2",
		"go1.26,go1.27+nojsonv2+simd,go1.27": "go1.26 go1.27+nojsonv2+simd go1.27",
		"go1.26":                             `error: "go1.26" is one release, which there is nothing to compare with`,
		"go1.26,go1.26":                      "error: go1.26 is listed twice",
		"1.26,go1.26":                        "error: go1.26 is listed twice",
		"go1.26,go1.27+":                     `error: "go1.27+" is not a Go release`,
		"go1.26, go1.27":                     `error: " go1.27" is not a Go release`,
		"go1,go2":                            `error: "go1" is not a Go release`,
		"local,go1.27":                       `error: "local" is not a Go release`,
		"go1.26,":                            `error: "" is not a Go release`,
	} {
		releases, err := ParseReleases(text)
		var names []string
		for _, r := range releases {
			names = append(names, r.line+r.rest+r.experiments)
		}
		got := strings.Join(names, " ")
		if err != nil {
			got = "error: " + err.Error()
		}
		if got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

// A release with all its numbers needs no list of releases, and neither does the installed line.
func TestResolveReleases(t *testing.T) {
	for _, tt := range []struct{ text, installed, want string }{
		{"go1.26,go1.27.1", "go1.26.8", "go1.26.8 go1.27.1"},
		{"go1.26,go1.26+jsonv2", "go1.26.8-X:nodwarf5", "go1.26.8 go1.26.8+jsonv2"},
		{"go1.27rc1,go1.26", "go1.26rc2", "go1.27rc1 go1.26rc2"},
		{"go1.26,go1.26.8", "go1.26.8", "error: go1.26.8 is listed twice"},
	} {
		releases, err := ParseReleases(tt.text)
		if err != nil {
			t.Fatal(err)
		}
		names, err := ResolveReleases(t.Context(), "", tt.installed, releases)
		got := strings.Join(names, " ")
		if err != nil {
			got = "error: " + err.Error()
		}
		if got != tt.want {
			t.Errorf("%s: %s, want %s", tt.text, got, tt.want)
		}
	}
	t.Setenv("GOPROXY", "off")
	releases, _ := ParseReleases("go1.26.8,go1.27")
	_, err := ResolveReleases(t.Context(), "", "go1.26.8", releases)
	if err == nil || !strings.HasPrefix(err.Error(), "which go1.27 is the newest cannot be found out: ") || !strings.HasSuffix(err.Error(), "; name it with all its numbers, e.g. go1.27.0") || strings.Contains(err.Error(), "\n") {
		t.Errorf("without a network: %v", err)
	}
}

func TestNewestOf(t *testing.T) {
	versions := strings.Fields("1.9.2rc2 1.2.2 1.26rc1 1.26.0 1.26.9 1.26.10 1.27rc1 1.27rc2 1.28beta1 1.28rc1")
	for line, want := range map[string]string{
		"go1.26": "go1.26.10", "go1.27": "go1.27rc2", "go1.28": "go1.28rc1", "go1.2": "go1.2.2", "go1.29": "",
	} {
		if got := newestOf(line, versions); got != want {
			t.Errorf("%s: %q, want %q", line, got, want)
		}
	}
}

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
