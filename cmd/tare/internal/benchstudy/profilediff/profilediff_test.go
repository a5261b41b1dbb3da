package profilediff

import (
	"math"
	"slices"
	"testing"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/profile"
)

func TestRowsNameWhatDiffersInEveryRound(t *testing.T) {
	var r Rows
	for i := range Rounds {
		jitter := float64(i % 3)
		base := []profile.Cost{{Function: "m.A", Value: 1000 + jitter}, {Function: "m.B", Value: 500 - jitter}}
		head := []profile.Cost{{Function: "m.A", Value: 1001 - jitter}, {Function: "m.B", Value: 500}, {Function: "m.B", Through: "fmt.Sprintf", Value: 400 + 3*jitter}}
		r.Add(base, head, 1)
	}
	named := r.Significant()
	if len(named) != 1 || named[0].Function != "m.B" || named[0].Through != "fmt.Sprintf" {
		t.Fatalf("named %+v, want m.B through fmt.Sprintf alone", named)
	}
	if c := named[0]; c.Low > c.Share || c.High < c.Share || c.Share < 0.9 || c.Share > 1.1 {
		t.Errorf("share %.3f (%.3f to %.3f), want about 1", c.Share, c.Low, c.High)
	}
}

func TestRowsNameNothingWithoutADifference(t *testing.T) {
	var r Rows
	for i := range Rounds {
		d := float64(10 * (i%2*2 - 1))
		r.Add([]profile.Cost{{Function: "m.A", Value: 1000 + d}}, []profile.Cost{{Function: "m.A", Value: 1000 - d}}, 1)
	}
	if named := r.Significant(); len(named) > 0 {
		t.Errorf("named %+v", named)
	}
}

func TestExactCountsAllocations(t *testing.T) {
	var r Rows
	for range 2 {
		r.Add([]profile.Cost{{Function: "m.A", Value: 1}, {Function: "m.Pool", Value: 0.1}}, []profile.Cost{{Function: "m.A", Line: 7, File: "a.go", Value: 4}, {Function: "m.Pool", Value: 0.3}}, 1)
	}
	sites, unseen := r.Constant(5.2)
	if unseen < 1.9 || unseen > 2.1 {
		t.Errorf("%v unseen of 5.2 more, want 2", unseen)
	}
	if _, none := r.Constant(math.NaN()); none != 0 {
		t.Errorf("%v unseen where nothing was measured", none)
	}
	if len(sites) != 1 || sites[0].Function != "m.A" || sites[0].To-sites[0].From != 3 || sites[0].Line != 7 {
		t.Errorf("sites %+v, want m.A with three more at line 7", sites)
	}
}

// A round whose profile lacks allocations does not count.
func TestRoundsThatAreAlike(t *testing.T) {
	of := func(n float64) allocCounts { return allocCounts{nil, {{Function: "m.A", Value: n}}} }
	if isAgreed(nil) || isAgreed([]allocCounts{of(4)}) || isAgreed([]allocCounts{of(1), of(4)}) || !isAgreed([]allocCounts{of(4), of(1), of(4.1)}) {
		t.Error("two rounds that are alike settle it, and nothing else does")
	}
	for name, c := range map[string]struct {
		of   []allocCounts
		want float64
	}{"one is short": {[]allocCounts{of(1), of(4), of(4)}, 4}, "one round": {[]allocCounts{of(3)}, 3}, "none alike": {[]allocCounts{of(1), of(4), of(8)}, 2.5}} {
		if sites, _ := closestRows(c.of).Constant(math.NaN()); len(sites) != 1 || sites[0].To != c.want {
			t.Errorf("%s: %+v, want %v", name, sites, c.want)
		}
	}
}

func TestDecided(t *testing.T) {
	for text, want := range map[string]string{
		"inlining call to f": "inlining call to f",
		"inlining call to slices.Contains[go.shape.[]example.com/m.T,go.shape.uint]": "inlining call to slices.Contains",
		"[]byte{...} escapes to heap":                                      "[]byte{...} escapes to heap",
		"can inline f with cost 3 as: …":                                   "",
		"cannot inline f: function too complex: cost 90 exceeds budget 80": "cannot inline f: function too complex",
		"x escapes to heap":                                                "x escapes to heap",
		"parameter x leaks to {heap}":                                      "",
		"Found IsInBounds":                                                 "bounds check of an index",
	} {
		if got, ok := parseDecision(text); got != want || ok != (want != "") {
			t.Errorf("decided(%q) = %q, %v; want %q", text, got, ok, want)
		}
	}
}

func TestOnesided(t *testing.T) {
	fact := func(function, text string, n int) map[factKey][]tare.Decision {
		return map[factKey][]tare.Decision{{function, text}: slices.Repeat([]tare.Decision{{Function: function, Text: text}}, n)}
	}
	rank := map[string]int{"m.A": 1}
	if got := selectOneSided(fact("m.A", "x", 1), fact("m.A", "x", 1), rank); len(got) != 0 {
		t.Errorf("as often on both sides: %v", got)
	}
	if got := selectOneSided(fact("m.A", "x", 1), fact("m.A", "x", 2), rank); len(got) != 1 {
		t.Errorf("once more often on one side: %v", got)
	}
	if got := selectOneSided(fact("m.Cold", "x", 1), nil, rank); len(got) != 0 {
		t.Errorf("a function that is not hot: %v", got)
	}
}

func TestNamesInProfiles(t *testing.T) {
	if got := profile.DeclaredFunction("m.(*T).F.func1.2"); got != "m.(*T).F" {
		t.Error(got)
	}
	if got := profile.PackageOf("example.com/m%2ev1.(*T).F"); got != "example.com/m.v1" {
		t.Error(got)
	}
}
