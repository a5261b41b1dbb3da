package report

import (
	"strings"
	"testing"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/assert"
)

// The top of a page explains own clients if its answer quotes a workload with them, and how values change
// if its headline says that they do.
func TestTermsAreExplained(t *testing.T) {
	r := &tare.Result{Design: tare.Design{
		Metrics:    []string{"cpu"},
		Contenders: []tare.Contender{{ID: "base", Role: tare.RoleBaseline}, {ID: "other", Role: tare.RoleContender}},
		Workloads:  []tare.Workload{{ID: "get"}, {ID: "get/client", Set: map[string]string{driverKey: clientDriver}}},
	}}
	r.Answer, r.Figures = "No: it changes 1 value.", "own client 0.9×."
	r.Verdicts = []tare.Verdict{{Contender: "other", Workload: "get", Metric: "cpu", Criterion: "cpu ratio <= 1", Verdict: tare.Met}}
	assert.Equal(t, "nothing to explain", len(NewSummary(r).Terms), 0)
	r.Quotes = []tare.Quote{{Contender: "other", Workload: "get/client", Metric: "cpu"}}
	r.Semantics = []tare.Semantics{{Contender: "other", Cases: 9, Differences: []tare.Difference{{Class: tare.DiffersInValue, Property: "digits", Says: "writes 1.5e-9 as 0"}}}}
	terms := strings.Join(NewSummary(r).Terms, "\n")
	assert.Contains(t, "own client", terms, "Own client (get/client): each contender’s own client sends the requests")
	assert.Contains(t, "changes", terms, "How other changes values: it writes 1.5e-9 as 0.")
	r.Answer = "No: it is slower."
	assert.Equal(t, "a headline without changes", len(NewSummary(r).Terms), 1)
}

// A contender that is a step of a decomposition is described by the step, because its name does not tell
// whether it has or lacks what it is named after.
func TestStepsAreDescribed(t *testing.T) {
	r := many(3, 1, true)
	r.Workloads, r.Contenders[3].Role = []tare.Workload{{ID: "w0"}}, tare.RoleApart
	r.Decomposition = []tare.Decomposition{{ID: "D", Workload: "w0", Metric: "time", Steps: []tare.Cause{{From: "base", To: "c1", Cause: "keeping the body"}, {From: "c1", To: "c2", Cause: "parsing it"}}}}
	notes := map[string]string{}
	for _, c := range r.Contenders {
		notes[c.ID] = rivalNote(newView(r, "w0"), c)
	}
	assert.Equal(t, "first step", notes["c1"], "base + keeping the body")
	assert.Equal(t, "second step, of a contender that answers by status only", notes["c2"], "c1 + parsing it; status only")
	assert.Equal(t, "no step", notes["c0"], "")
}

// A limit and a published ratio have marks of their own, and a chart explains those that it has.
func TestMarksAreExplained(t *testing.T) {
	chart := func(claims ...RivalClaim) Contest {
		return Contest{Source: "a write-up", Panels: []Panel{{Rows: []Rival{{Lines: []RivalLine{{Claims: claims}}}}}}}
	}
	for name, c := range map[string]struct {
		chart            Contest
		asked, published bool
	}{
		"neither":          {chart(), false, false},
		"a limit":          {chart(RivalClaim{Value: 0.5, Asked: "≤"}), true, false},
		"a publication":    {chart(RivalClaim{Value: 0.5, Published: true}), false, true},
		"one that is both": {chart(RivalClaim{Value: 0.5, Asked: "≤", Published: true}), true, true},
	} {
		asked, published := c.chart.ExplainMarks()
		assert.Equal(t, name+" asked", strings.Contains(asked, "criterion"), c.asked)
		assert.Equal(t, name+" published", strings.Contains(published, "a write-up"), c.published)
	}
}
