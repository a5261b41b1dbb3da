package html

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/report/html/htmltest"
)

// The flame graph of the differences is embedded in the page if its file can be read; otherwise the
// page only names the file.
func TestFlameGraphOfDifferences(t *testing.T) {
	r := htmltest.Whole()
	r.Explanations = []tare.Explanation{{
		Workload: r.Workloads[0].ID, Contender: "head", Against: "base", Rounds: 9, From: 100, To: 160, WallFrom: 100, WallTo: 160, Flame: "profiles/difference-1.svg",
		Functions: []tare.Origin{{Function: "example.com/m.F", From: 10, To: 66, Share: 0.94, Low: 0.88, High: 1.01}},
	}}
	const title = "Flame graph of base and head on "
	files := fstest.MapFS{"profiles/difference-1.svg": {Data: []byte(`<svg xmlns="http://www.w3.org/2000/svg"/>`)}}
	for name, c := range map[string]struct {
		o    Options
		path string
		want bool
	}{
		"beside the result": {Options{Files: files}, "profiles/difference-1.svg", true},
		"elsewhere":         {Options{Files: files}, "../difference-1.svg", false},
		"without files":     {Options{}, "profiles/difference-1.svg", false},
	} {
		r.Explanations[0].Flame = c.path
		page := rendered(t, r, c.o)
		if got := strings.Contains(page, title); got != c.want || !strings.Contains(text(t, page), c.path) {
			t.Errorf("%s: drawn %t, want %t, and the file named", name, got, c.want)
		}
	}
}
