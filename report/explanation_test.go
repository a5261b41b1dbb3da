package report

import (
	"strings"
	"testing"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/assert"
)

// explained returns a result with the reasons of a difference: a function, an allocation site, a
// decision of the compiler and a call.
func explained() *tare.Result {
	r := base()
	r.Explanations = []tare.Explanation{{
		Workload: r.Workloads[0].ID, Contender: "head", Against: "base", Rounds: 12, WallFrom: 100, WallTo: 160, From: 100, To: 160,
		Functions: []tare.Origin{{Function: "example.com/mux.(*Mux).route", Through: "strings.Join", File: "mux.go", Line: 453, From: 10, To: 66, Share: 0.94, Low: 0.88, High: 1.01}},
		Sites:     []tare.Origin{{Function: "example.com/mux.pattern", From: 1, To: 3, Share: 1}},
		Unseen:    1,
		Decisions: []tare.Decision{{Side: "base", Function: "example.com/mux.(*Mux).route", File: "mux.go", Line: 450, Text: "inlining call to find"}},
		Calls:     []tare.Decision{{Side: "head", Function: "example.com/mux.(*Mux).route", File: "mux.go", Line: 453, Text: "pattern"}},
	}}
	return r
}

// The short name of a function keeps the name of its package, even if the import path ends in a
// major version.
func TestFunctionsOfMajorVersions(t *testing.T) {
	for name, want := range map[string]string{
		"github.com/go-chi/chi/v5.(*Mux).routeHTTP": "chi/v5.(*Mux).routeHTTP",
		"example.com/m/v2/sub.F":                    "sub.F",
		"example.com/mux.F[go.shape.[]a/b/v2.T]":    "mux.F[go.shape.[]a/b/v2.T]",
		"m/v2.F":                                    "m/v2.F",
	} {
		assert.Equal(t, name, shortenFunction(name, reasonWidth), want)
	}
}

func TestReasons(t *testing.T) {
	e := explained().Explanations[0]
	lines := []string{
		"+56 ns/op, 94 % (88 to 101) of the difference: mux.(*Mux).route through strings.Join (mux.go:453)",
		"+2 allocations/op, 100 %: mux.pattern",
		"+1 allocations/op are in no profile: objects below 16 bytes without pointers share blocks",
		"compiler, in base only: inlining call to find (mux.(*Mux).route, mux.go:450)",
		"call, in head only: pattern (mux.(*Mux).route, mux.go:453)",
	}
	assert.Equal(t, "all", strings.Join(Reasons(e, 0), "\n"), strings.Join(lines, "\n"))
	assert.Equal(t, "of three, each sort has one", strings.Join(Reasons(e, 3), "\n"), strings.Join([]string{lines[0], lines[1], lines[3]}, "\n"))
	e.Ops, e.From, e.To, e.Functions, e.Sites, e.Unseen, e.Decisions = 1e6, 10, 10, nil, nil, 0, nil
	assert.Equal(t, "it waits", strings.Join(Reasons(e, 0), "\n"), "60 ns of 60 ns is time in which nothing runs: it waits, e.g. sleeps, blocks or does input and output\n"+lines[4])
	assert.Equal(t, "it failed", strings.Join(Reasons(tare.Explanation{Why: "no profile"}, 0), "\n"), "not explained: no profile")
	assert.Equal(t, "nothing", strings.Join(Reasons(tare.Explanation{}, 0), "\n"), "no function differs by more than profiles do by chance; no allocation differs")
}

// Counted instructions come before profiled time, and stand alone if nothing was profiled.
func TestReasonsOfWork(t *testing.T) {
	e := tare.Explanation{Work: []tare.Origin{
		{Function: "example.com/mux.(*Mux).route", File: "mux.go", Line: 453, From: 10, To: 486.4, Share: 0.9},
		{Function: "strings.Index", From: 9.3, To: 2, Callers: []tare.Caller{
			{Function: "example.com/mux.(*Mux).route", File: "mux.go", Line: 460, From: 4.998, To: 2},
			{Function: "example.com/mux.clean", Callee: "strings.Replace", File: "clean.go", Line: 7, From: 1, To: 1.004},
		}},
	}}
	lines := []string{
		"+476 instructions/op, 90 % of the difference: mux.(*Mux).route (mux.go:453)",
		"−7.3 instructions/op: strings.Index; called 5 → 2× by mux.(*Mux).route (mux.go:460), 1× by mux.clean through strings.Replace (clean.go:7)",
	}
	assert.Equal(t, "counted", strings.Join(Reasons(e, 0), "\n"), strings.Join(lines, "\n"))
	assert.Equal(t, "of one", strings.Join(Reasons(e, 1), "\n"), lines[0])
	both := explained().Explanations[0]
	both.Work = e.Work
	got := Reasons(both, 0)
	assert.Equal(t, "both", strings.Join(got[:2], "\n"), strings.Join(lines, "\n"))
	assert.Contains(t, "profiled", got[2], "+56 ns/op")
	for name, want := range map[string]bool{"counted": true, "profiled": false} {
		r := explained()
		if want {
			r.Explanations = []tare.Explanation{e}
		}
		var text strings.Builder
		if err := Text(&text, r, Style{}); err != nil {
			t.Fatal(err)
		}
		got := strings.Join(strings.Fields(text.String()), " ") // without line ends
		if strings.Contains(got, "Instructions were counted outside the rounds.") != want || strings.Contains(got, "both sides were profiled") == want {
			t.Errorf("%s: %s", name, text.String())
		}
	}
}

// If only a few lines fit, those about the code come before those about the runtime, unless only
// the runtime differs.
func TestReasonsOfTheRuntimeComeLast(t *testing.T) {
	e := explained().Explanations[0]
	e.Functions = append([]tare.Origin{{Function: "runtime, collecting garbage", From: 1, To: 90, Share: 0.5}}, e.Functions...)
	lines := Reasons(e, 5)
	assert.Contains(t, "first", lines[0], "(*Mux).route")
	assert.Contains(t, "compiler", strings.Join(lines[:4], "\n"), "inlining call to find")
	assert.Contains(t, "all", Reasons(e, 0)[0], "collecting garbage")
	e.Sites = nil
	assert.Contains(t, "without an allocation", Reasons(e, 5)[0], "collecting garbage")
}
