package judge

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/evidence"
	"github.com/tarebench/tare/internal/format"
)

// row is a comparison of lean against the baseline on w as Compare gives it.
func row(ratio, lo, hi float64) tare.Comparison {
	return tare.Comparison{Workload: "w", Contender: "lean", Metric: "time", Against: base, Ratio: ratio, Low: lo, High: hi, Level: 0.95, Rounds: 18}
}

func controlRow(lo, hi float64) tare.Comparison {
	c := row(1, lo, hi)
	c.Contender = tare.ControlID
	return c
}

// asking is a study of lean and base on w with a criterion, or none.
func asking(criteria ...tare.Criterion) evidence.Evidence {
	return evidence.Evidence{
		Study: tare.Study{Baseline: base, Metrics: []string{"time", "allocs"}, Workloads: []tare.Workload{{ID: "w"}}, Criteria: criteria},
		Plan:  tare.Plan{Looks: []int{18}, Slices: []tare.Slicing{{Workload: "w", Contenders: []string{base, "lean", tare.ControlID, tare.NullID, "trap"}}}},
		Contenders: []tare.Contender{
			{ID: base, Role: tare.RoleBaseline}, {ID: tare.ControlID, Role: tare.RoleControl}, {ID: tare.NullID, Role: tare.RoleNull},
			{ID: "lean", Role: tare.RoleContender}, {ID: "trap", Role: tare.RoleTrap},
		},
	}
}

func only(t *testing.T, vs []tare.Verdict, criterion bool) tare.Verdict {
	t.Helper()
	var out []tare.Verdict
	for _, v := range vs {
		if (v.Criterion != "") == criterion {
			out = append(out, v)
		}
	}
	if len(out) != 1 {
		t.Fatalf("%d verdicts, want one: %+v", len(out), vs)
	}
	return out[0]
}

func TestDifferenceSentences(t *testing.T) {
	few := row(0.5, 0, 0)
	few.Rounds = 4
	exact := row(202.0/602, 202.0/602, 202.0/602)
	exact.Exact = true
	for _, c := range []struct {
		name string
		row  tare.Comparison
		want string
	}{
		{"faster", row(0.5204, 0.5113, 0.5298), "lean takes 0.52× the time of encoding-json on w (0.51 to 0.53, 95 %, 18 rounds): 1.9× faster."},
		{"slower", row(1.06, 1.04, 1.08), "lean takes 1.06× the time of encoding-json on w (1.04 to 1.08, 95 %, 18 rounds): 6 % more time."},
		{"none", row(1.004, 0.98, 1.03), "lean and encoding-json on w: no difference in time shown; the ratio is 1.00 (0.98 to 1.03, 95 %, 18 rounds)."},
		{"within control", row(0.992, 0.988, 0.997), "lean and encoding-json on w: no difference in time shown; the ratio 0.992 (0.988 to 0.997, 95 %, 18 rounds) is within what the control shows here (±2 %)."},
		{"too few", few, "lean against encoding-json on w: no interval after 4 rounds; it takes 6."},
		{"exact", exact, "lean takes 0.336× the time of encoding-json on w (the same in each of 18 rounds): 3.0× faster."},
	} {
		vs := Verdicts(asking(), []tare.Comparison{c.row, controlRow(1/1.02, 1.02)}, nil)
		v := only(t, vs, false)
		if v.Sentence != c.want || v.Verdict != "" || v.Contender != "lean" || v.Metric != "time" {
			t.Errorf("%s:\n got %q (%s)\nwant %q", c.name, v.Sentence, v.Verdict, c.want)
		}
	}
}

// Of a study that goes on until it is decided a row is open while it neither
// shows a difference nor excludes one of the size that was asked for.
func TestSettled(t *testing.T) {
	d := asking()
	d.Plan.Until = 0.03
	for _, c := range []struct {
		name     string
		row      tare.Comparison
		open     int
		sentence string
	}{
		{"found", row(0.52, 0.51, 0.53), 0, "lean takes 0.52× the time of encoding-json on w (0.51 to 0.53, 95 %, 18 rounds): 1.9× faster."},
		{"small", row(1.004, 0.98, 1.02), 0, "lean and encoding-json on w: any difference in time is smaller than 3 %; the ratio is 1.00 (0.98 to 1.02, 95 %, 18 rounds)."},
		{"small, and within the floor", row(0.992, 0.988, 0.997), 0, "lean and encoding-json on w: any difference in time is smaller than 3 %; the ratio is 0.992 (0.988 to 0.997, 95 %, 18 rounds)."},
		{"open", row(1.02, 0.99, 1.05), 1, "lean and encoding-json on w: no difference in time shown; the ratio is 1.02 (0.99 to 1.05, 95 %, 18 rounds)."},
		{"without an interval", row(0.5, 0, 0), 1, ""},
	} {
		rows := []tare.Comparison{c.row, controlRow(1/1.02, 1.02)}
		settled, open := Settled(d, rows, nil, d.Plan.Until)
		if open != c.open || settled != 1-c.open {
			t.Errorf("%s: %d settled, %d open; want %d open", c.name, settled, open, c.open)
		}
		if decided := DecidedTo(d.Plan.Until, d, rows, nil, nil, nil); decided != (c.open == 0) {
			t.Errorf("%s: decided %v", c.name, decided)
		}
		if v := only(t, Verdicts(d, rows, nil), false); c.sentence != "" && v.Sentence != c.sentence {
			t.Errorf("%s:\n got %q\nwant %q", c.name, v.Sentence, c.sentence)
		}
	}
	open := []tare.ClaimResult{{Outcome: tare.ClaimOpen}}
	if DecidedTo(0.03, d, []tare.Comparison{row(0.52, 0.51, 0.53)}, nil, nil, open) {
		t.Error("decided with an open claim")
	}
}

func TestRulings(t *testing.T) {
	below := tare.Criterion{Metric: "time", Ratio: "<= 0.5"}
	above := tare.Criterion{Metric: "time", Ratio: ">= 2"}
	equal := tare.Criterion{Metric: "time", Equivalent: "3%"}
	for _, c := range []struct {
		criterion tare.Criterion
		row       tare.Comparison
		want      tare.Ruling
	}{
		{below, row(0.45, 0.44, 0.46), tare.Met},
		{below, row(0.5, 0.5, 0.5), tare.Met},
		{below, row(0.52, 0.51, 0.53), tare.NotMet},
		{below, row(0.5, 0.49, 0.51), tare.Inconclusive},
		{above, row(2.2, 2.1, 2.3), tare.Met},
		{above, row(1.8, 1.7, 1.9), tare.NotMet},
		{above, row(2, 1.9, 2.1), tare.Inconclusive},
		{equal, row(1.01, 0.98, 1.02), tare.Met},
		{equal, row(1.05, 1.04, 1.06), tare.NotMet},
		{equal, row(0.9, 0.88, 0.92), tare.NotMet},
		{equal, row(1.02, 1.01, 1.04), tare.Inconclusive},
		{equal, row(1, 0.96, 1.02), tare.Inconclusive},
	} {
		v := only(t, Verdicts(asking(c.criterion), []tare.Comparison{c.row}, nil), true)
		if v.Verdict != c.want || v.Criterion != c.criterion.String() {
			t.Errorf("%s with %v to %v: %s, want %s", c.criterion, c.row.Low, c.row.High, v.Verdict, c.want)
		}
		if !strings.Contains(v.Sentence, string(c.want)) {
			t.Errorf("the sentence does not say %q: %s", c.want, v.Sentence)
		}
	}
}

// A ruling that states a difference needs one that exceeds the noise floor, here 30 %.
func TestRulingsWithinNoise(t *testing.T) {
	const noisy, quiet = 0.262, 0.01 // logarithms
	atMost := func(limit float64) tare.Rule { return tare.Rule{Kind: tare.RuleRatio, AtMost: true, Limit: limit} }
	atLeast := func(limit float64) tare.Rule { return tare.Rule{Kind: tare.RuleRatio, Limit: limit} }
	for _, c := range []struct {
		rule             tare.Rule
		ratio, low, high float64
		onNoisy, onQuiet tare.Ruling
	}{
		{atMost(1.05), 1.14, 1.11, 1.32, tare.Inconclusive, tare.NotMet},
		{atMost(1.05), 0.97, 0.95, 0.99, tare.Met, tare.Met}, // equal contenders meet it, too
		{atMost(0.95), 0.85, 0.80, 0.90, tare.Inconclusive, tare.Met},
		{atMost(0.95), 1.14, 1.11, 1.32, tare.NotMet, tare.NotMet},
		{atLeast(1.05), 1.14, 1.11, 1.32, tare.Inconclusive, tare.Met},
		{atLeast(1.05), 1.6, 1.5, 1.7, tare.Met, tare.Met},
		{tare.Rule{Kind: tare.RuleEquivalent, Limit: 0.05}, 1.14, 1.11, 1.32, tare.Inconclusive, tare.NotMet},
		{tare.Rule{Kind: tare.RuleEquivalent, Limit: 0.05}, 1.01, 1.00, 1.02, tare.Met, tare.Met},
	} {
		comparison := tare.Comparison{Ratio: c.ratio, Low: c.low, High: c.high, Level: 0.95, Rounds: 12}
		if got := decideRule(c.rule, comparison, noisy); got != c.onNoisy {
			t.Errorf("%+v, %v to %v, noisy: %s, want %s", c.rule, c.low, c.high, got, c.onNoisy)
		}
		if got := decideRule(c.rule, comparison, quiet); got != c.onQuiet {
			t.Errorf("%+v, %v to %v, quiet: %s, want %s", c.rule, c.low, c.high, got, c.onQuiet)
		}
	}
}

func TestRulingSentences(t *testing.T) {
	d := asking(tare.Criterion{Metric: "time", Ratio: "<= 0.5"})
	v := only(t, Verdicts(d, []tare.Comparison{row(0.4952, 0.4906, 0.4996)}, nil), true)
	want := "lean: time ratio <= 0.5 is met: it takes 0.4952× the time of encoding-json on w (0.4906 to 0.4996, 95 %, 18 rounds): 2.0× faster."
	if v.Sentence != want {
		t.Errorf("got %q\nwant %q", v.Sentence, want)
	}
	few := row(0.4, 0, 0)
	few.Rounds = 4
	v = only(t, Verdicts(d, []tare.Comparison{few}, nil), true)
	want = "lean: time ratio <= 0.5 is inconclusive on w: no interval after 4 rounds; it takes 6."
	if v.Sentence != want || v.RoundsNeeded != 6 || v.Verdict != tare.Inconclusive {
		t.Errorf("got %q, %d rounds\nwant %q", v.Sentence, v.RoundsNeeded, want)
	}
}

func TestForecast(t *testing.T) {
	f := fake{workloads: []string{"w"}, cost: map[string]float64{"lean": 485}, rounds: 12, slices: 2, roundSD: 0.05}
	f.criteria = []tare.Criterion{{Metric: "time", Ratio: "<= 0.5"}}
	d := f.data(seeded(11))
	v := only(t, Verdicts(d, Compare(d, Effects(d)), nil), true)
	if v.Verdict != tare.Inconclusive || v.RoundsNeeded <= 12 || v.RoundsNeeded > 180 {
		t.Fatalf("%s, %d rounds needed; want inconclusive with a forecast: %s", v.Verdict, v.RoundsNeeded, v.Sentence)
	}
	if !strings.HasSuffix(v.Sentence, " rounds would decide it.") {
		t.Errorf("the sentence has no forecast: %s", v.Sentence)
	}
	c := pick(Compare(d, Effects(d)), "lean", "w", "time")
	d.Study.Criteria[0].Ratio = "<= " + format.Fixed(c.Ratio, 5) // the estimate itself: out of reach
	v = only(t, Verdicts(d, Compare(d, Effects(d)), nil), true)
	if v.RoundsNeeded != 0 || !strings.HasSuffix(v.Sentence, "No number of rounds in reach is expected to decide it.") {
		t.Errorf("%d rounds needed: %s", v.RoundsNeeded, v.Sentence)
	}
}

func TestVoidVerdicts(t *testing.T) {
	met := row(0.4, 0.39, 0.41)
	d := asking(tare.Criterion{Metric: "time", Ratio: "<= 0.5"})
	for _, c := range []struct {
		name    string
		finding tare.Finding
		want    string // sentence; empty: not void
	}{
		{"contender", tare.Finding{Check: "wrong-answer", Severity: tare.Void, Contender: "lean", Workload: "w", Message: "64 of 64 answers are wrong"},
			"lean on w is void by wrong-answer: 64 of 64 answers are wrong."},
		{"every workload", tare.Finding{Check: "identity", Severity: tare.Void, Contender: "lean", Message: "m"}, "lean on w is void by identity: m."},
		{"whole workload", tare.Finding{Check: "control", Severity: tare.Void, Workload: "w", Message: "m"}, "lean on w is void by control: m."},
		{"baseline", tare.Finding{Check: "error-in-loop", Severity: tare.Void, Contender: base, Workload: "w", Message: "m"},
			"lean on w is void by error-in-loop: encoding-json: m."},
		{"other workload", tare.Finding{Check: "wrong-answer", Severity: tare.Void, Contender: "lean", Workload: "v"}, ""},
		{"other contender", tare.Finding{Check: "wrong-answer", Severity: tare.Void, Contender: "fat"}, ""},
		{"warning", tare.Finding{Check: "machine", Severity: tare.Warn}, ""},
	} {
		vs := Verdicts(d, []tare.Comparison{met}, []tare.Finding{c.finding})
		ruled, plain := only(t, vs, true), only(t, vs, false)
		if c.want == "" {
			if ruled.Verdict != tare.Met || strings.Contains(plain.Sentence, "void") {
				t.Errorf("%s: %s, %q; want met", c.name, ruled.Verdict, plain.Sentence)
			}
			continue
		}
		if ruled.Verdict != tare.VoidRuling || ruled.Sentence != c.want || plain.Sentence != c.want {
			t.Errorf("%s: %s %q and %q, want void %q", c.name, ruled.Verdict, ruled.Sentence, plain.Sentence, c.want)
		}
	}
}

func TestCriterionCovers(t *testing.T) {
	d := asking(tare.Criterion{Metric: "time", Ratio: "<= 0.5"}, tare.Criterion{Metric: "time", Value: "<= 50ms"},
		tare.Criterion{Contender: "trap", Metric: "time", Ratio: "<= 0.5"}, tare.Criterion{Contender: "fat", Metric: "time", Ratio: "<= 0.5"})
	got := map[string]string{}
	for _, v := range Verdicts(d, []tare.Comparison{row(0.4, 0.39, 0.41)}, nil) {
		got[v.Contender+" "+v.Criterion] = string(v.Verdict)
	}
	want := map[string]string{
		"lean ": "", "lean time ratio <= 0.5": "met",
		"lean time <= 50ms": "inconclusive", base + " time <= 50ms": "inconclusive",
		"trap time ratio <= 0.5": "void", // named, but never compared with anything
	}
	for k, v := range want {
		if r, ok := got[k]; !ok || r != v {
			t.Errorf("%s: %q (there: %v), want %q", k, r, ok, v)
		}
	}
	if len(got) != len(want) {
		t.Errorf("verdicts = %v, want %v", got, want)
	}
	d = asking(tare.Criterion{Metric: "time", Ratio: "<= 0.5"})
	d.Plan.Slices[0].Contenders = []string{base}
	if vs := Verdicts(d, nil, nil); len(vs) != 0 {
		t.Errorf("a criterion for everybody covers who cannot do the workload: %+v", vs)
	}
	d.Study.Criteria[0].Contender = "lean"
	if v := only(t, Verdicts(d, nil, nil), true); v.Verdict != tare.VoidRuling || v.Sentence != "lean on w is void: it does not support this workload." {
		t.Errorf("named: %+v", v)
	}
}

func TestAbsoluteCriteria(t *testing.T) {
	f := fake{workloads: []string{"w"}, cost: map[string]float64{"lean": 500}, rounds: 12, slices: 2, roundSD: 0.05}
	ruling := func(d evidence.Evidence, value string) tare.Verdict {
		d.Study.Criteria = []tare.Criterion{{Contender: "lean", Metric: "time", Value: value}}
		return only(t, Verdicts(d, Compare(d, Effects(d)), nil), true)
	}
	d := f.data(seeded(12))
	for value, want := range map[string]tare.Ruling{
		"<= 600ns": tare.Met, "<= 400ns": tare.NotMet, ">= 400": tare.Met, ">= 600": tare.NotMet, "<= 500ns": tare.Inconclusive,
	} {
		if v := ruling(d, value); v.Verdict != want {
			t.Errorf("%s: %s, want %s: %s", value, v.Verdict, want, v.Sentence)
		}
	}
	var high float64
	for _, v := range Values(d) {
		if v.Contender == "lean" {
			high = v.High
		}
	}
	if v := ruling(d, fmt.Sprint("<= ", high-0.01)); v.Verdict != tare.Inconclusive || v.RoundsNeeded <= 12 || !strings.HasSuffix(v.Sentence, "would decide it.") {
		t.Errorf("just inside the interval: %s, %d rounds needed: %s", v.Verdict, v.RoundsNeeded, v.Sentence)
	}
	if v := ruling(upTo(d, 8), "<= 600ns"); v.Verdict != tare.Inconclusive || v.Sentence != "lean: time <= 600ns on w is judged once, at the end." {
		t.Errorf("before the end: %+v", v)
	}
	few := upTo(d, 5)
	few.Final = true
	if v := ruling(few, "<= 600ns"); v.Verdict != tare.Inconclusive || v.RoundsNeeded != 6 {
		t.Errorf("after five rounds: %+v", v)
	}
	v := ruling(d, "<= 600ns")
	if !strings.HasPrefix(v.Sentence, "lean: time <= 600ns is met on w: the median over rounds is ") || !strings.HasSuffix(v.Sentence, " ns/op, 95 %, 12 rounds).") {
		t.Errorf("sentence: %s", v.Sentence)
	}
}

func TestZeroHasNoRatioButARuling(t *testing.T) {
	for _, c := range []struct {
		own, base float64
		criterion tare.Criterion
		want      tare.Ruling
	}{
		{0, 602, tare.Criterion{Metric: "allocs", Ratio: "<= 0.5"}, tare.Met},
		{0, 602, tare.Criterion{Metric: "allocs", Ratio: ">= 0.5"}, tare.NotMet},
		{0, 602, tare.Criterion{Metric: "allocs", Equivalent: "3%"}, tare.NotMet},
		{0, 0, tare.Criterion{Metric: "allocs", Equivalent: "3%"}, tare.Met},
		{0, 0, tare.Criterion{Metric: "allocs", Ratio: "<= 0.5"}, tare.NotMet},
		{0, 0, tare.Criterion{Metric: "allocs", Ratio: "<= 1"}, tare.Met},
		{3, 0, tare.Criterion{Metric: "allocs", Ratio: "<= 1"}, tare.NotMet},
		{3, 0, tare.Criterion{Metric: "allocs", Ratio: ">= 2"}, tare.Met},
		{-1, 602, tare.Criterion{Metric: "allocs", Ratio: "<= 0.5"}, tare.Inconclusive}, // zero in odd rounds only
	} {
		f := fake{workloads: []string{"w"}, cost: map[string]float64{"lean": 500}, rounds: 8, slices: 2, metrics: []string{"time", "allocs"}}
		f.criteria = []tare.Criterion{c.criterion}
		d := f.data(seeded(13))
		sampled(&d, "allocs_per_op", func(round int, id string) float64 {
			switch {
			case id != "lean":
				return c.base
			case c.own < 0:
				return float64(round%2) * 2
			}
			return c.own
		})
		v := only(t, Verdicts(d, Compare(d, Effects(d)), nil), true)
		if v.Verdict != c.want {
			t.Errorf("%v against %v, %s: %s, want %s", c.own, c.base, c.criterion, v.Verdict, c.want)
		}
		if c.own == 0 && c.base == 602 && c.criterion.Ratio == "<= 0.5" {
			want := "lean: allocs ratio <= 0.5 is met on w: it has 0 allocs/op, encoding-json has 602 allocs/op (8 rounds)."
			if v.Sentence != want {
				t.Errorf("got %q\nwant %q", v.Sentence, want)
			}
		}
	}
}

func TestDecided(t *testing.T) {
	ratio := func(r tare.Ruling) tare.Verdict {
		return tare.Verdict{Metric: "time", Criterion: "time ratio <= 0.5", Verdict: r, Rule: tare.Rule{Kind: tare.RuleRatio, AtMost: true, Limit: 0.5}}
	}
	equal := tare.Verdict{Metric: "time", Criterion: "time equivalent within 3%", Verdict: tare.Inconclusive, Rule: tare.Rule{Kind: tare.RuleEquivalent, AtMost: true, Limit: 0.03}}
	value := tare.Verdict{Metric: "time", Criterion: "time <= 50ms", Verdict: tare.Inconclusive, Rule: tare.Rule{Kind: tare.RuleValue, AtMost: true, Limit: 50e6}}
	plain := tare.Verdict{Metric: "time", Sentence: "…"}
	claim := func(o tare.Outcome) tare.ClaimResult { return tare.ClaimResult{Outcome: o} }
	for _, c := range []struct {
		name     string
		verdicts []tare.Verdict
		claims   []tare.ClaimResult
		want     bool
	}{
		{"nothing asked", []tare.Verdict{plain}, nil, false},
		{"absolute only", []tare.Verdict{value}, nil, false},
		{"met", []tare.Verdict{plain, ratio(tare.Met)}, nil, true},
		{"not met, absolute open", []tare.Verdict{ratio(tare.NotMet), value}, nil, true},
		{"one open", []tare.Verdict{ratio(tare.Met), ratio(tare.Inconclusive)}, nil, false},
		{"equivalence open", []tare.Verdict{ratio(tare.Met), equal}, nil, false},
		{"void and met", []tare.Verdict{ratio(tare.VoidRuling), ratio(tare.Met)}, nil, true},
		{"all void", []tare.Verdict{ratio(tare.VoidRuling)}, nil, false},
		{"claim holds", nil, []tare.ClaimResult{claim(tare.Holds), claim(tare.NotMeasured)}, true},
		{"claim open", []tare.Verdict{ratio(tare.Met)}, []tare.ClaimResult{claim(tare.ClaimOpen)}, false},
		{"nothing measured", nil, []tare.ClaimResult{claim(tare.NotMeasured), claim(tare.VoidAsPublished)}, false},
	} {
		if got := Decided(c.verdicts, c.claims); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}
