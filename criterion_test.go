package tare

import (
	"encoding/json"
	"testing"
)

// TestVerdictKeepsItsRule: a verdict that is read from a document has the rule that it
// was judged by.
func TestVerdictKeepsItsRule(t *testing.T) {
	for _, c := range []Criterion{
		{Metric: "time", Ratio: "<= 0.5"}, {Metric: "cpu", Equivalent: "3%"}, {Metric: "p99.9", Value: "<= 50ms"}, {Metric: "rss", Value: ">= 12"},
		{Metric: "cpu", Difference: "<= 5%", Of: "socket/of health"},
	} {
		rule, err := c.Rule()
		if err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(Verdict{Metric: c.Metric, Criterion: c.String(), Verdict: Met, Rule: rule})
		if err != nil {
			t.Fatal(err)
		}
		var v Verdict
		if err := json.Unmarshal(text, &v); err != nil || v.Rule != rule || v.Criterion != c.String() || v.Verdict != Met {
			t.Errorf("%s: %+v, %v, want the rule %+v", text, v, err, rule)
		}
		if parsed, err := ParseCriterion(c.String()); err != nil || parsed != c {
			t.Errorf("%s: %+v, %v", c, parsed, err)
		}
	}
	var v Verdict
	if err := json.Unmarshal([]byte(`{"criterion": "time cubed", "verdict": "met"}`), &v); err != nil || v.Rule != (Rule{}) {
		t.Errorf("of a later tare: %+v, %v", v, err)
	}
}
