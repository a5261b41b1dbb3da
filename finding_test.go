package tare_test

import (
	"slices"
	"testing"

	"github.com/tarebench/tare"
)

func TestVoids(t *testing.T) {
	r := tare.Result{Judged: tare.Judged{Findings: []tare.Finding{
		{Check: "identity", Severity: tare.Void, Contender: "a"},
		{Check: "wrong-answer", Severity: tare.Void, Contender: "b", Workload: "w"},
		{Check: "control", Severity: tare.Void, Workload: "x"},
		{Check: "little", Severity: tare.Void, Contender: "b", Workload: "w", Metric: "time"},
		{Check: "generator-headroom", Severity: tare.Void, Contender: "c", Workload: "w", Metric: "time"},
		{Check: "output-parity", Severity: tare.Warn, Contender: "c", Workload: "w"},
	}}}
	ids := func(fs []tare.Finding) []string {
		var out []string
		for _, f := range fs {
			out = append(out, f.Check)
		}
		return out
	}
	for _, c := range []struct {
		contender, workload, metric string
		want                        []string
	}{
		{"a", "w", "", []string{"identity"}},
		{"a", "w", "cpu", []string{"identity"}}, // of all metrics, so of each
		{"a", "x", "time", []string{"identity", "control"}},
		{"b", "w", "", []string{"wrong-answer"}},
		{"b", "w", "time", []string{"wrong-answer", "little"}},
		{"b", "", "", []string{"wrong-answer", "control"}}, // on any workload
		{"c", "w", "", nil},                                // one metric is not all of it
		{"c", "w", "cpu", nil},
		{"c", "w", "time", []string{"generator-headroom"}},
		{"c", "v", "time", nil},
		{"d", "w", "time", nil},
	} {
		if got := ids(tare.VoidsMetric(r.Findings, c.contender, c.workload, c.metric)); !slices.Equal(got, c.want) {
			t.Errorf("%s of %s on %s is void by %q, want %q", c.metric, c.contender, c.workload, got, c.want)
		}
		if got := ids(r.VoidsMetric(c.contender, c.workload, c.metric)); !slices.Equal(got, c.want) {
			t.Errorf("the result says %q, want %q", got, c.want)
		}
		if got := ids(r.Voids(c.contender, c.workload)); c.metric == "" && !slices.Equal(got, c.want) {
			t.Errorf("%s on %s is void by %q, want %q", c.contender, c.workload, got, c.want)
		}
	}
}
