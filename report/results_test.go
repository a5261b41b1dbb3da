package report

import (
	"time"

	"github.com/tarebench/tare"
)

// The results below are made up by hand: they hold what a report must be able
// to say, not what was ever measured.

const (
	marshal = "devices-50/marshal"
	stream  = "devices-50/stream"
	goJSON  = "go1.26.8"
	iter    = "github.com/json-iterator/go"
)

func base() *tare.Result {
	return &tare.Result{
		Schema:   tare.ResultSchema,
		Study:    "json-encode",
		Question: "Is jsoniter 2–3× as fast as encoding/json at encoding a device list?",
		Kind:     "codec",
		Run: tare.Run{
			Started: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC),
			Seconds: 38.2,
			Seed:    "7319462018",
			Budget:  "quick",
			Stopped: "decided",
			Machine: tare.Machine{
				OS: "linux", Arch: "amd64", Kernel: "6.1", CPU: "Example CPU 3.0 GHz", Cores: 2, Memory: 8 << 30, Go: goJSON,
				Facilities: []tare.Facility{{Name: "cgroup v2", Found: true}, {Name: "hardware counters", Note: "not in this virtual machine"}},
				Noise:      tare.Noise{CPUPressure: 0.037, RunQueueWait: 0.004, Throttled: -1},
				Resolution: []tare.Resolution{{Workload: marshal, Metric: "time", HalfWidth: 0.0121, Seconds: 38.2}},
			},
		},
		Design: tare.Design{
			Metrics: []string{"time", "cpu", "bytes", "allocs"},
			Contenders: []tare.Contender{
				{ID: "encoding-json", Role: tare.RoleBaseline, Name: "encoding/json", Version: goJSON},
				{ID: "jsoniter-fastest", Role: tare.RoleContender, Name: iter, Version: "v1.1.12"},
				{ID: tare.ControlID, Role: tare.RoleControl, Name: "encoding/json", Version: goJSON},
				{ID: tare.NullID, Role: tare.RoleNull},
			},
			Workloads: []tare.Workload{{ID: marshal, Fixture: "devices", N: 50, Op: "marshal", Pool: 64}},
			Plan:      tare.Plan{Seed: "7319462018", Isolation: tare.Lockstep, RoundsPlanned: 60, Looks: []int{8, 12, 18, 27, 40, 60}},
		},
		Measured: tare.Measured{
			RoundsDone: 27,
			Values: slicesOf(
				figures(marshal, "encoding-json", 93480, 94120, 33128, 602),
				figures(marshal, "jsoniter-fastest", 43260, 43910, 25523, 202),
				figures(marshal, tare.ControlID, 93410, 94230, 33128, 602),
				figures(marshal, tare.NullID, 2.1, 2.4, 0, 0),
			),
			Comparisons: slicesOf(
				against(marshal, "jsoniter-fastest", 0.4628, 0.4471, 0.4796, 1, 1, "a"),
				against(marshal, tare.ControlID, 0.9993, 0.9874, 1.0114, 0, 0, ""),
				[]tare.Comparison{{Workload: marshal, Contender: "encoding-json", Metric: "time", Against: "jsoniter-fastest", Ratio: 2.161, Low: 2.085, High: 2.237, Level: 0.95, RankLow: 2, RankHigh: 2, Letters: "b"}},
			),
		},
		Judged: tare.Judged{
			Conformance: []tare.Conformance{
				{Contender: "encoding-json", Workload: marshal, Cases: 64},
				{Contender: "jsoniter-fastest", Workload: marshal, Cases: 64},
				{Contender: tare.ControlID, Workload: marshal, Cases: 64},
				{Contender: tare.NullID, Workload: marshal, Cases: 64},
			},
			Verdicts: []tare.Verdict{{
				Contender: "jsoniter-fastest", Workload: marshal, Metric: "time", Criterion: "time ratio <= 0.5", Rule: tare.Rule{Kind: tare.RuleRatio, AtMost: true, Limit: 0.5}, Verdict: tare.Met,
				Sentence: "jsoniter-fastest: time ratio <= 0.5 is met: it takes 0.463× the time of encoding-json on devices-50/marshal (0.447 to 0.480, 95 %, 27 rounds).",
			}},
			Claims: []tare.ClaimResult{
				claim("F0.9", "time", 0.49496, 0.4628, 0.4471, 0.4796, tare.Holds, "ConfigFastest is 2.02x faster", "the interval lies inside the published ratio ×/÷ 1.25"),
				claim("F0.11", "bytes", 0.7704, 0.7704, 0.7704, 0.7704, tare.Holds, "23 % less memory", "the interval lies inside the published ratio ×/÷ 1.25"),
			},
		},
		Record: tare.Record{Journal: "journal.ndjson"},
	}
}

func slicesOf[T any](lists ...[]T) []T {
	var out []T
	for _, l := range lists {
		out = append(out, l...)
	}
	return out
}

func figures(workload, contender string, time, cpu, bytes, allocs float64) []tare.Value {
	var out []tare.Value
	for i, v := range []float64{time, cpu, bytes, allocs} {
		m := tare.Metrics()[i]
		out = append(out, tare.Value{Workload: workload, Contender: contender, Metric: m.Name, Value: v, Low: v, High: v, Unit: m.Unit, Rounds: 27})
	}
	return out
}

func struck(values []tare.Value) []tare.Value {
	for i := range values {
		values[i].Struck = true
	}
	return values
}

// against returns the comparisons of a contender with encoding-json: time as given, CPU slightly
// different from it, bytes and allocations exact.
func against(workload, contender string, ratio, low, high float64, rankLow, rankHigh int, letters string) []tare.Comparison {
	c := tare.Comparison{Workload: workload, Contender: contender, Against: "encoding-json", Level: 0.95, Rounds: 27}
	out := make([]tare.Comparison, 4)
	for i, m := range []string{"time", "cpu", "bytes", "allocs"} {
		out[i] = c
		out[i].Metric, out[i].Exploratory = m, i > 0
		out[i].Ratio, out[i].Low, out[i].High = ratio*(1+0.004*float64(i)), low*(1+0.004*float64(i)), high*(1+0.004*float64(i))
	}
	out[0].RankLow, out[0].RankHigh, out[0].Letters = rankLow, rankHigh, letters
	b, a := 0.7704, 0.3355
	if contender == tare.ControlID {
		b, a = 1, 1
	}
	out[2].Ratio, out[2].Low, out[2].High, out[2].Exact = b, b, b, true
	out[3].Ratio, out[3].Low, out[3].High, out[3].Exact = a, a, a, true
	return out
}

func claim(id, metric string, published, measured, low, high float64, o tare.Outcome, statement, why string) tare.ClaimResult {
	return tare.ClaimResult{
		ID: id, Kind: tare.ClaimRatio, Source: "homelab API research, 2026-03-01", Statement: statement,
		Evidence: "comparison of " + metric + " on " + marshal, Contender: "jsoniter-fastest", Workload: marshal, Metric: metric,
		Published: published, Measured: measured, Low: low, High: high, Outcome: o, Why: why,
	}
}

// inconclusive returns a result of a noisy machine whose budget was spent without a decision.
func inconclusive() *tare.Result {
	r := base()
	r.Stopped, r.RoundsDone, r.Seconds = "budget", 12, 41
	r.Plan.RoundsPlanned, r.Plan.Stretched = 12, true
	r.Machine.Noise = tare.Noise{CPUPressure: 0.37, RunQueueWait: 0.11, Throttled: 0.02}
	r.Machine.Resolution[0].HalfWidth, r.Machine.Resolution[0].Seconds = 0.141, 41
	r.Machine.Unlocked = true
	r.Comparisons = slicesOf(
		against(marshal, "jsoniter-fastest", 0.52, 0.44, 0.61, 1, 2, "a"),
		against(marshal, tare.ControlID, 1.02, 0.88, 1.16, 0, 0, ""),
		[]tare.Comparison{{Workload: marshal, Contender: "encoding-json", Metric: "time", Against: "jsoniter-fastest", RankLow: 1, RankHigh: 2, Letters: "a"}},
	)
	r.Verdicts[0].Verdict, r.Verdicts[0].RoundsNeeded = tare.Inconclusive, 64
	r.Verdicts[0].Sentence = "jsoniter-fastest: time ratio <= 0.5 is inconclusive: it takes 0.52× the time of encoding-json on devices-50/marshal (0.44 to 0.61, 95 %, 12 rounds)."
	r.Claims = []tare.ClaimResult{
		claim("F0.9", "time", 0.49496, 0.52, 0.44, 0.61, tare.DirectionHolds, "ConfigFastest is 2.02x faster", "the interval lies on the claimed side of 1 but reaches beyond the published ratio ×/÷ 1.25"),
		claim("F0.13", "time", 0.9912, 1.01, 0.93, 1.1, tare.ClaimOpen, "ConfigCompatible is slower", "the interval holds 1"),
	}
	r.Findings = []tare.Finding{
		{Check: "null-share", Severity: tare.Note, Workload: marshal, Message: "the harness is 0.002 % of an operation's time"},
		{Check: "machine", Severity: tare.Warn, Message: "some task waited for a processor 37 % of the time", Advice: "end other programs, or give the study more rounds: --budget full"},
	}
	r.Trials = []tare.Trial{{}, {}, {Error: &tare.TrialError{Class: tare.ErrDeadline}}, {Error: &tare.TrialError{Class: tare.ErrDeadline}}, {Error: &tare.TrialError{Class: tare.ErrExit}}}
	return r
}

// traps returns a result with two traps that were caught as expected and one that was not.
func traps() *tare.Result {
	r := base()
	r.Workloads = append(r.Workloads, tare.Workload{ID: stream, Fixture: "devices", N: 50, Op: "stream", Pool: 1})
	// What a slice is made of is not printed.
	r.Plan.Slices = []tare.Slicing{
		{Workload: marshal, Contenders: []string{"encoding-json", "jsoniter-fastest", "ffjson-ungenerated", "ffjson-kept", tare.ControlID, tare.NullID}, Until: map[string]tare.Until{}, Ops: map[string]int64{}, Lead: map[string]int64{}},
		{Workload: stream, Contenders: []string{"encoding-json", "jsoniter-stream-unflushed", tare.ControlID, tare.NullID}, Until: map[string]tare.Until{}, Ops: map[string]int64{}, Lead: map[string]int64{}},
	}
	r.Contenders = append(r.Contenders,
		tare.Contender{ID: "jsoniter-stream-unflushed", Role: tare.RoleTrap, Name: iter, Version: "v1.1.12", Why: "the stream is never flushed, so its output is cut short", Declared: tare.Declared{Expect: tare.Expect{Void: []string{"wrong-answer"}}}},
		tare.Contender{ID: "ffjson-ungenerated", Role: tare.RoleTrap, Name: "github.com/pquerna/ffjson", Version: "v0.0.0-20190930134022", Why: "no code was generated, so encoding/json does the work", Declared: tare.Declared{Expect: tare.Expect{Void: []string{"identity"}}}},
		tare.Contender{ID: "ffjson-kept", Role: tare.RoleTrap, Name: "github.com/pquerna/ffjson", Version: "v0.0.0-20190930134022", Why: "as above, in another guise", Declared: tare.Declared{Expect: tare.Expect{Void: []string{"identity"}}}},
	)
	r.Values = slicesOf(r.Values,
		struck(figures(marshal, "ffjson-ungenerated", 95210, 96000, 33160, 603)),
		struck(figures(marshal, "ffjson-kept", 95310, 96100, 33160, 603)),
		figures(stream, "encoding-json", 96410, 97020, 42644, 604),
		figures(stream, tare.ControlID, 96380, 97100, 42644, 604),
		struck(figures(stream, "jsoniter-stream-unflushed", 60437, 61000, 70445, 295)),
	)
	r.Comparisons = slicesOf(r.Comparisons, against(stream, tare.ControlID, 1.0004, 0.9871, 1.0139, 0, 0, ""))
	r.Conformance = append(r.Conformance,
		tare.Conformance{Contender: "encoding-json", Workload: stream, Cases: 64},
		tare.Conformance{Contender: "jsoniter-stream-unflushed", Workload: stream, Cases: 64, Wrong: 64},
	)
	r.Findings = []tare.Finding{
		{Check: "wrong-answer", Severity: tare.Void, Contender: "jsoniter-stream-unflushed", Workload: stream, Message: "64 of 64 answers are wrong, the first ends after 512 of 11,598 bytes", Advice: "flush the stream", Expected: true},
		{Check: "identity", Severity: tare.Void, Contender: "ffjson-ungenerated", Message: "no function named MarshalJSONBuf is linked", Advice: "run the generator", Expected: true},
	}
	r.Expectations = []tare.Expectation{
		{Contender: "jsoniter-stream-unflushed", Check: "wrong-answer", Outcome: tare.Caught, Message: r.Findings[0].Message, Rounds: 12},
		{Contender: "ffjson-ungenerated", Check: "identity", Outcome: tare.Caught, Message: r.Findings[1].Message, Rounds: 12},
		{Contender: "ffjson-kept", Check: "identity", Outcome: tare.Missed, Message: "the contender was measured, and the check found nothing", Rounds: 12},
	}
	small := claim("F0.10", "allocs", 0.33555, 0.0017, 0.0017, 0.0017, tare.DirectionHolds, "2.98x fewer allocations", "published 0.336×, measured 0.0017×: below 1 as claimed, but more than 2× away from the published ratio")
	small.SizeRefuted = true
	open := claim("F0.16", "time", 0.6436, 0.62, 0.60, 0.64, tare.VoidAsPublished, "Stream API 1.55x", "the stream was never flushed: its output is not JSON")
	open.Contender, open.Workload, open.Evidence = "jsoniter-stream-unflushed", stream, "check wrong-answer"
	again := open
	again.ID, again.Metric, again.Published, again.Statement = "F0.16-allocs", "allocs", 0.488, "2.05x fewer allocations"
	r.Claims = append(r.Claims, small, open, again)
	return r
}

// controlVoid returns a result in which the machine measured a difference between two identical
// programs.
func controlVoid() *tare.Result {
	r := base()
	struck(r.Values)
	for i := range r.Comparisons {
		r.Comparisons[i].RankLow, r.Comparisons[i].RankHigh, r.Comparisons[i].Letters = 0, 0, ""
	}
	r.Verdicts[0].Verdict = tare.VoidRuling
	r.Verdicts[0].Sentence = "jsoniter-fastest on devices-50/marshal is void by control: the baseline came out 1.034 times itself."
	r.Claims[0].Outcome, r.Claims[0].Why = tare.NotMeasured, "the workload is void by control"
	r.Claims[0].Measured, r.Claims[0].Low, r.Claims[0].High = 0, 0, 0
	r.Claims = r.Claims[:1]
	r.Findings = []tare.Finding{
		{Check: "null-share", Severity: tare.Note, Contender: tare.NullID, Workload: marshal, Message: "the harness takes 2.1 ns of an operation"},
		{Check: "control", Severity: tare.Void, Workload: marshal, Message: "the baseline came out 1.034 times itself (99.9 % interval 1.012 to 1.057)", Advice: "something treats identical programs differently: look at affinity and other load, then run again with another --seed"},
	}
	return r
}

// interrupted returns a result that Ctrl-C ended after five rounds, before any interval existed.
func interrupted() *tare.Result {
	r := base()
	r.Stopped, r.RoundsDone, r.Seconds = "interrupted", 5, 7.4
	r.Machine.Resolution = nil
	r.Machine.Noise = tare.Noise{CPUPressure: -1, RunQueueWait: -1, Throttled: -1}
	r.Verdicts = nil
	for i := range r.Comparisons {
		c := &r.Comparisons[i]
		c.Low, c.High, c.Level, c.RankLow, c.RankHigh, c.Letters = 0, 0, 0, 0, 0, ""
	}
	for i := range r.Claims {
		r.Claims[i].Outcome, r.Claims[i].Why = tare.NotMeasured, "no interval after 5 rounds; it takes 8"
		r.Claims[i].Measured, r.Claims[i].Low, r.Claims[i].High = 0, 0, 0
	}
	return r
}

// unbuilt returns a result whose second contender does not compile.
func unbuilt() *tare.Result {
	r := base()
	r.Contenders = append(r.Contenders, tare.Contender{ID: "goccy", Role: tare.RoleContender, Error: "main.go:14:9: undefined: json.Fast"})
	r.Findings = []tare.Finding{{
		Check: "build", Severity: tare.Void, Contender: "goccy", Message: "could not be built: main.go:14:9: undefined: json.Fast",
		Advice: "fix the contender; the others were measured without it",
	}}
	r.Verdicts = append(r.Verdicts, tare.Verdict{Contender: "goccy", Workload: marshal, Metric: "time", Criterion: "time ratio <= 0.5", Rule: tare.Rule{Kind: tare.RuleRatio, AtMost: true, Limit: 0.5}, Verdict: tare.VoidRuling, Sentence: "goccy on devices-50/marshal is void by build: could not be built."})
	r.NotWeighed = []tare.NotWeighed{{What: "segmentio", Why: "not measured at this budget: no claim or criterion names it (--budget full measures it)"}}
	return r
}

// exploring returns a result without criteria and claims.
func exploring() *tare.Result {
	r := base()
	r.Question = "How fast are these codecs on my payload?"
	r.Study, r.Stopped, r.Budget, r.RoundsDone = "mine", "rounds", "20 rounds", 20
	r.Plan.RoundsPlanned, r.Plan.Isolation = 20, tare.TrialWise
	r.Workloads[0] = tare.Workload{ID: marshal, File: "payload.json", Op: "marshal"}
	r.Claims = nil
	r.Verdicts = []tare.Verdict{
		{Contender: "jsoniter-fastest", Workload: marshal, Metric: "time", Sentence: "jsoniter-fastest takes 0.463× the time of encoding-json on devices-50/marshal (0.447 to 0.480, 95 %, 20 rounds): 2.2× faster."},
		{Contender: "segmentio", Workload: marshal, Metric: "time", Sentence: "segmentio and encoding-json on devices-50/marshal: no difference in time shown; the ratio is 1.003 (0.985 to 1.021, 95 %, 20 rounds)."},
	}
	r.Comparisons[4].Level = 0.975 // the control's, on time
	r.Contenders = append(r.Contenders, tare.Contender{ID: "segmentio", Role: tare.RoleContender, Name: "github.com/segmentio/encoding", Version: "v0.5.4"})
	r.Values = append(r.Values, figures(marshal, "segmentio", 93700, 94300, 25522, 202)...)
	r.Comparisons = slicesOf(r.Comparisons, against(marshal, "segmentio", 1.003, 0.985, 1.021, 2, 3, "b"))
	for i := range r.Comparisons {
		if r.Comparisons[i].Contender == "encoding-json" {
			r.Comparisons[i].RankHigh = 3
		}
	}
	return r
}
