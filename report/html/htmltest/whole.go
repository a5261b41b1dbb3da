package htmltest

import (
	"fmt"
	"slices"

	"github.com/tarebench/tare"
)

// Whole returns a small result with something in every part of a page, including void values and findings of every
// severity.
func Whole() *tare.Result {
	r := Synthetic(6, 6, 12)
	r.Study, r.Kind = "whole", "server"
	r.Metrics = append(r.Metrics, "p50", "p99")
	r.NotWeighed = []tare.NotWeighed{{What: "workload huge/marshal", Why: "not measured at this budget"}}
	base, one, two := r.Contenders[0].ID, r.Contenders[1].ID, r.Contenders[2].ID
	work := r.Workloads[0].ID
	trap := tare.Contender{ID: "trap", Kind: "server", Role: tare.RoleTrap, Name: "example.org/trap", Version: "v0.9.0", Why: "answers without reading", Declared: tare.Declared{Expect: tare.Expect{Void: []string{"wrong-answer", "drift-in-trial"}}}}
	r.Contenders = append(r.Contenders, trap)
	r.Values = append(r.Values, tare.Value{Workload: work, Contender: trap.ID, Metric: "time", Value: 4321, Low: 4300, High: 4400, Unit: "ns/op", Rounds: 12, Struck: true})
	addServers(r)
	r.Verdicts = append(r.Verdicts,
		tare.Verdict{Contender: one, Workload: work, Metric: "time", Criterion: "time ratio <= 0.9", Verdict: tare.NotMet, Sentence: one + ": time ratio <= 0.9 is not met."},
		tare.Verdict{Contender: two, Workload: work, Metric: "time", Criterion: "time ratio <= 0.9", Verdict: tare.Inconclusive, Sentence: two + ": time ratio <= 0.9 is inconclusive.", RoundsNeeded: 40})
	r.Findings = []tare.Finding{
		{Check: "wrong-answer", Severity: tare.Void, Contender: trap.ID, Message: "3 of 9 answers differ", Expected: true},
		{Check: "generator-headroom", Severity: tare.Void, Contender: two, Workload: work, Metric: "p99", Message: "requests were sent 26 ms late", Advice: "take a lower rate"},
		{Check: "machine", Severity: tare.Warn, Message: "some task waited for a processor 21 % of the time", Advice: "stop what else runs here"},
		{Check: "null-share", Severity: tare.Note, Contender: one, Workload: work, Message: "the harness is 4 % of it"},
	}
	r.Expectations = []tare.Expectation{
		{Contender: trap.ID, Check: "wrong-answer", Outcome: tare.Caught, Message: "3 of 9 answers differ", Rounds: 12},
		{Contender: trap.ID, Check: "drift-in-trial", Outcome: tare.NotEnoughEvidence, Message: "12 rounds, about 25 would do", Rounds: 12, RoundsNeeded: 25},
	}
	r.Scaling = newScaling(r, base, one, two)
	r.BreakEven = []tare.BreakEvenResult{{Contender: one, Against: base, Metric: "cpu", Rates: []float64{10, 1000}, Level: 0.95, Sentence: "From 210 operations a second on it is 1 % of a core.",
		Points: []tare.BreakEvenPoint{{Workload: work, Members: 12, Levels: 2, More: 480, MoreLow: 450, MoreHigh: 500, Cores: []float64{0.0000048, 0.00048}, OnePercent: 20833, OnePercentLow: 20000, OnePercentHigh: 22222, Rounds: 12}}}}
	r.Decomposition = []tare.Decomposition{newDecomposition(work, base, one, two)}
	r.Cost = []tare.Cost{{Workload: work, Contender: one, Against: base, Metric: "cpu", Rate: 2000, Cores: 0.021, AgainstCores: 0.02, Saved: -0.001, SavedLow: -0.0014, SavedHigh: -0.0006, OnePercent: 20000, Sentence: "It is a thousandth of a core."}}
	r.Semantics = []tare.Semantics{
		{Contender: base, Reference: "encoding/json go1.26.8", Cases: 40},
		{Contender: one, Reference: "encoding/json go1.26.8", Cases: 40, Unsupported: []string{"stream"}, Differences: []tare.Difference{
			{Property: "float digits", Op: "marshal", Case: "tiny", Class: tare.DiffersInValue, Asked: "1.5e-9", Reference: "1.5e-09", Got: "0", Says: "writes 1.5e-9 as 0", BearsOn: []string{"marshal"}},
			{Property: "HTML escaping", Op: "marshal", Case: "tag", Class: tare.DiffersInForm, Asked: "<b>", Reference: `"\u003cb\u003e"`, Got: `"<b>"`, Says: "leaves < as it is", BearsOn: []string{"marshal"}}}},
	}
	r.Claims = []tare.ClaimResult{
		{ID: "F0.9", Kind: tare.ClaimRatio, Source: "a write-up, 2026-03-01", Statement: "twice as fast", Evidence: "comparison", Contender: one, Workload: work, Metric: "time", Published: 0.5, Unit: "ns/op", Measured: 1.05, Low: 1.03, High: 1.06, Outcome: tare.Refuted, Why: "published 0.5×, measured 1.05×", PublishedValue: 45478, PublishedBaseline: 91882},
		{ID: "F0.19", Kind: tare.ClaimStatement, Source: "a write-up, 2026-03-01", Statement: "a drop-in replacement", Evidence: "semantic-diff", Contender: one, Outcome: tare.Refuted, Why: "it writes 1.5e-9 as 0"},
	}
	r.Profiles = []tare.Profile{newProfile(base, work, nil), newProfile(one, work, &tare.ProfileGap{Against: base, From: 10000, To: 10500,
		Parts:     []tare.GapLine{{Name: "encoding/json", From: 6000, To: 7000}},
		Functions: []tare.GapLine{{Name: "example.org/codec1.(*Encoder).write", From: 0, To: 900}}})}
	r.Trials[7].Error = &tare.TrialError{Class: tare.ErrExit, Message: "exit status 2"}
	r.Trials[8].Void = []tare.VoidPart{{Workload: work, Why: "the round lost its baseline"}}
	r.Trials[9].Void = []tare.VoidPart{{Why: "the machine slept"}}
	return r
}

// sweptWorkloads is the number of workloads that differ in load. The others differ in size.
const sweptWorkloads = 3

// addServers gives the first workloads different rates on one server, and adds latencies.
func addServers(r *tare.Result) {
	for i := range sweptWorkloads {
		w := &r.Workloads[i]
		w.N, w.Bytes = 50, 64*5000
		w.Traffic = &tare.Traffic{Connections: 20, Rate: 500 * float64(i+1), Segment: 5e9}
		for j, c := range r.Contenders {
			for k, name := range []string{"p50", "p99"} {
				ns := 1e5 * float64(1+i) * float64(1+4*k) * (1 + 0.2*float64(j))
				r.Values = append(r.Values, tare.Value{Workload: w.ID, Contender: c.ID, Metric: name, Value: ns, Low: ns * 0.9, High: ns * 1.1, Unit: "ns", Rounds: 12})
			}
		}
		for j := range r.Trials {
			t := &r.Trials[j]
			if t.Histograms == nil {
				t.Histograms = map[string]string{}
			}
			if t.Round <= 2 {
				t.Histograms[w.ID] = Latencies(3000, 1e5*float64(1+i), uint64(j)) //nolint:gosec // an index
			}
		}
	}
}

// newScaling returns an exponent per contender, over the workloads that differ in size.
func newScaling(r *tare.Result, ids ...string) []tare.Scaling {
	var works []string
	for _, w := range r.Workloads[sweptWorkloads:] {
		works = append(works, w.ID)
	}
	var out []tare.Scaling
	for i, id := range ids {
		out = append(out, tare.Scaling{Contender: id, Fixture: "devices", Op: "marshal", Workloads: slices.Clone(works), Exponent: 0.9 + 0.1*float64(i), Low: 0.85, High: 1.2, Level: 0.95, Rounds: 12, PerRound: []float64{0.9, 0.95}})
	}
	return out
}

func newDecomposition(work string, ids ...string) tare.Decomposition {
	step := func(i int, from, to float64) tare.Cause {
		return tare.Cause{Cause: fmt.Sprintf("a line of log %d", i), From: ids[i-1], To: ids[i], Ratio: to / from, Low: to / from * 0.98, High: to / from * 1.02, Level: 0.95, Rounds: 12,
			FromValue: from, ToValue: to, Unit: "ns/op", Share: 0.5, ShareLow: 0.4, ShareHigh: 0.6}
	}
	whole := step(1, 10000, 9000)
	whole.To, whole.Cause = ids[2], ""
	return tare.Decomposition{ID: "D1", Question: "Where does it come from?", Workload: work, Metric: "time", Whole: whole,
		Steps: []tare.Cause{step(1, 10000, 12000), step(2, 12000, 9000)}, Sentence: "Half of it is a line of log."}
}

// newProfile returns a CPU profile of a contender. gap is the difference from the baseline, or nil.
func newProfile(id, work string, gap *tare.ProfileGap) tare.Profile {
	return tare.Profile{Contender: id, Workload: work, Of: tare.ProfileCPU, Unit: "nanoseconds", Total: 1e9, Ops: 100000, File: id + ".pprof", Flame: id + ".svg",
		Top: []tare.ProfileLine{{Function: "encoding/json.(*encodeState).marshal", Flat: 4e8, Cumulative: 9e8}}, Gap: gap}
}
