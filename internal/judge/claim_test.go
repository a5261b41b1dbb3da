package judge

import (
	"strings"
	"testing"

	"github.com/tarebench/tare"
)

func published(baseline, value float64, side string) tare.Claim {
	return tare.Claim{ID: "F", Kind: tare.ClaimRatio, Contender: "lean", Workload: "w", Metric: "time", Baseline: baseline, Value: value, Unit: "ns/op", Side: side, Statement: "s", Source: "src"}
}

// target is c with a ratio that was said to be reached.
func target(c tare.Claim, ratio float64) tare.Claim {
	c.Target = ratio
	return c
}

func TestClaimOutcomes(t *testing.T) {
	half := published(91882, 45478, "") // 0.495
	little := published(100, 95, "")
	slower := published(100, 99, "higher") // the sentence contradicts its figures
	equal := published(100, 100, "")
	for _, c := range []struct {
		name   string
		claim  tare.Claim
		lo, hi float64
		want   tare.Outcome
		size   bool
	}{
		{"holds", half, 0.51, 0.53, tare.Holds, false},
		{"holds, wide", half, 0.40, 0.61, tare.Holds, false},
		{"reaches beyond what holds", half, 0.30, 0.45, tare.DirectionHolds, false},
		{"more than published", half, 0.30, 0.38, tare.MoreThanPublished, false},
		{"more, however much", half, 0.001, 0.002, tare.MoreThanPublished, false},
		{"direction", half, 0.70, 0.75, tare.DirectionHolds, false},
		{"direction, 2× off", published(100, 25, ""), 0.51, 0.6, tare.DirectionHolds, true},
		{"direction, just not 2× off", published(100, 25, ""), 0.49, 0.6, tare.DirectionHolds, false},
		{"other side", half, 1.2, 1.3, tare.Refuted, false},
		{"nothing there", half, 0.97, 1.04, tare.Refuted, false},
		{"certain but within 5 %", half, 0.96, 0.97, tare.Refuted, false},
		{"open, but not the size", half, 0.9, 1.1, tare.NotThatSize, true},
		{"little, five times as much", published(100, 106, ""), 1.24, 1.26, tare.MoreThanPublished, false},
		{"a third of what was said", published(100, 120, ""), 1.055, 1.07, tare.DirectionHolds, false},
		{"the target is reached", target(half, 0.5), 0.45, 0.49, tare.Holds, false},
		{"faster, not twice", target(half, 0.5), 0.57, 0.61, tare.DirectionHolds, false},
		{"the target is open", target(half, 0.5), 0.48, 0.52, tare.DirectionHolds, false},
		{"open", half, 0.6, 1.1, tare.ClaimOpen, false},
		{"little, tie", little, 0.96, 1.04, tare.Tie, false},
		{"little, certain but tie", little, 0.96, 0.97, tare.Tie, false},
		{"little, holds", little, 0.90, 0.96, tare.Holds, false},
		{"little, refuted", little, 1.02, 1.08, tare.Refuted, false},
		{"little, open", little, 0.94, 1.02, tare.ClaimOpen, false},
		{"side beats figures: refuted", slower, 0.85, 0.94, tare.Refuted, false},
		{"side beats figures: holds", slower, 1.04, 1.2, tare.Holds, false},
		{"equal, tie", equal, 0.97, 1.03, tare.Tie, false},
		{"equal, refuted", equal, 1.06, 1.2, tare.Refuted, false},
		{"equal, open", equal, 1.02, 1.2, tare.ClaimOpen, false},
	} {
		d := asking()
		d.Study.Claims = []tare.Claim{c.claim}
		mid := (c.lo + c.hi) / 2
		r := Claims(d, []tare.Comparison{row(mid, c.lo, c.hi), controlRow(1/1.02, 1.02)}, nil, nil, nil)[0]
		if r.Outcome != c.want || r.SizeRefuted != c.size {
			t.Errorf("%s: %s (size refuted %v), want %s (%v): %s", c.name, r.Outcome, r.SizeRefuted, c.want, c.size, r.Why)
		}
		if r.Measured != mid || r.Low != c.lo || r.High != c.hi || r.Published != c.claim.Ratio() || r.Evidence != "lean against encoding-json, time, 18 rounds" {
			t.Errorf("%s: %+v", c.name, r)
		}
	}
}

func TestClaimReasons(t *testing.T) {
	d := asking()
	d.Study.Claims = []tare.Claim{published(91882, 45478, "")}
	why := func(ratio, lo, hi float64) string {
		return Claims(d, []tare.Comparison{row(ratio, lo, hi), controlRow(1/1.1, 1.1)}, nil, nil, nil)[0].Why
	}
	for _, c := range []struct{ got, want string }{
		{why(0.52, 0.51, 0.53), "published 0.495×, measured 0.52× (0.51 to 0.53, 95 %, 18 rounds): within 1.25× of the published ratio"},
		{why(0.72, 0.7, 0.75), "published 0.495×, measured 0.72× (0.70 to 0.75, 95 %, 18 rounds): below 1 as claimed, by less than published"},
		{why(0.59, 0.55, 0.64), "published 0.495×, measured 0.59× (0.55 to 0.64, 95 %, 18 rounds): below 1 as claimed, by about as much as published or less"},
		{why(0.42, 0.38, 0.45), "published 0.495×, measured 0.42× (0.38 to 0.45, 95 %, 18 rounds): below 1 as claimed, by about as much as published or more"},
		{why(0.5, 0.36, 0.65), "published 0.495×, measured 0.50× (0.36 to 0.65, 95 %, 18 rounds): below 1 as claimed, by less than published, as much or more"},
		{why(0.2, 0.19, 0.21), "published 0.495×, measured 0.20× (0.19 to 0.21, 95 %, 18 rounds): below 1 as claimed, and the difference is larger than published"},
		{why(1.25, 1.2, 1.3), "published 0.495×, measured 1.25× (1.20 to 1.30, 95 %, 18 rounds): not below 1 as claimed, but the other side"},
		{why(1, 0.97, 1.04), "published 0.495×, measured 1.00× (0.97 to 1.04, 95 %, 18 rounds): within 5 % of 1, where 10 % or more was claimed"},
		{why(0.95, 0.91, 0.97), "published 0.495×, measured 0.95× (0.91 to 0.97, 95 %, 18 rounds): within what the control shows here (±10 %); the direction is open, but it is not the published size: all of the interval is more than 1.25× away from it"},
		{why(0.95, 0.8, 1.1), "published 0.495×, measured 0.95× (0.80 to 1.10, 95 %, 18 rounds): more rounds are needed; the direction is open, but it is not the published size: all of the interval is more than 1.25× away from it"},
	} {
		if c.got != c.want {
			t.Errorf(" got %q\nwant %q", c.got, c.want)
		}
	}
}

func TestClaimsNotAnsweredByARatio(t *testing.T) {
	met := row(0.52, 0.51, 0.53)
	few := row(0.52, 0, 0)
	few.Rounds = 4
	trap := published(93901, 60437, "")
	trap.Contender = "trap"
	wrong := tare.Finding{Check: "wrong-answer", Severity: tare.Void, Contender: "trap", Workload: "w", Message: "64 of 64 answers are wrong"}
	for _, c := range []struct {
		name       string
		claim      tare.Claim
		cs         []tare.Comparison
		findings   []tare.Finding
		notWeighed []tare.NotWeighed
		expect     []string
		want       tare.Outcome
		why        string
		evidence   string
	}{
		{"left out", published(2, 1, ""), nil, nil, []tare.NotWeighed{{What: "contender lean", Why: "not measured at this budget"}}, nil,
			tare.NotMeasured, "contender lean: not measured at this budget", "none"},
		{"workload left out", published(2, 1, ""), []tare.Comparison{met}, nil, []tare.NotWeighed{{What: "workload w", Why: "not measured at this budget"}}, nil,
			tare.NotMeasured, "workload w: not measured at this budget", "none"},
		{"void", published(2, 1, ""), []tare.Comparison{met}, []tare.Finding{{Check: "build", Severity: tare.Void, Contender: "lean", Message: "m"}}, nil, nil,
			tare.NotMeasured, "void by build: m", "check build"},
		{"baseline void", published(2, 1, ""), []tare.Comparison{met}, []tare.Finding{{Check: "trial", Severity: tare.Void, Contender: base, Message: "m"}}, nil, nil,
			tare.NotMeasured, "void by trial: m", "check trial"},
		{"no comparison", published(2, 1, ""), nil, nil, nil, nil, tare.NotMeasured, "lean has no time on w", "none"},
		{"too few rounds", published(2, 1, ""), []tare.Comparison{few}, nil, nil, nil,
			tare.ClaimOpen, "no interval after 4 rounds; it takes 6", "lean against encoding-json, time, 4 rounds"},
		{"trap", trap, nil, []tare.Finding{{Check: "alloc-floor", Severity: tare.Void, Contender: "trap"}, wrong}, nil, []string{"wrong-answer"},
			tare.VoidAsPublished, "void by wrong-answer: 64 of 64 answers are wrong", "check wrong-answer"},
		{"trap void by something else", trap, nil, []tare.Finding{wrong}, nil, []string{"identity"},
			tare.NotMeasured, "void by wrong-answer: 64 of 64 answers are wrong", "check wrong-answer"},
		{"trap not void", trap, nil, nil, nil, []string{"wrong-answer"}, tare.NotMeasured, "trap is a trap, and traps are not compared", "none"},
	} {
		d := asking()
		d.Contenders[4].Expect.Void = c.expect
		d.Study.Claims = []tare.Claim{c.claim}
		r := Claims(d, c.cs, nil, c.findings, c.notWeighed)[0]
		if r.Outcome != c.want || r.Why != c.why || r.Evidence != c.evidence {
			t.Errorf("%s: %s, %q, %q\nwant %s, %q, %q", c.name, r.Outcome, r.Why, r.Evidence, c.want, c.why, c.evidence)
		}
	}
	d := asking()
	d.Contenders = d.Contenders[:3]
	d.Study.Claims = []tare.Claim{published(2, 1, "")}
	if r := Claims(d, nil, nil, nil, nil)[0]; r.Outcome != tare.NotMeasured || r.Why != "lean was not measured" {
		t.Errorf("absent contender: %+v", r)
	}
}

func TestClaimsAboutZero(t *testing.T) {
	value := func(id string, v float64) tare.Value {
		return tare.Value{Contender: id, Workload: "w", Metric: "allocs", Value: v, Low: v, High: v, Unit: "allocs/op", Rounds: 8}
	}
	for _, c := range []struct {
		own, base float64
		claim     tare.Claim
		want      tare.Outcome
	}{
		{0, 602, published(602, 202, ""), tare.DirectionHolds},
		{0, 602, published(202, 602, ""), tare.Refuted},
		{0, 0, published(602, 202, ""), tare.Refuted},
		{0, 0, published(100, 98, ""), tare.Tie},
		{3, 0, published(100, 200, ""), tare.DirectionHolds},
	} {
		d := asking()
		c.claim.Metric = "allocs"
		d.Study.Claims = []tare.Claim{c.claim}
		r := Claims(d, nil, []tare.Value{value("lean", c.own), value(base, c.base)}, nil, nil)[0]
		if r.Outcome != c.want || !strings.Contains(r.Why, "allocs/op, encoding-json has ") {
			t.Errorf("%v against %v: %s, want %s: %s", c.own, c.base, r.Outcome, c.want, r.Why)
		}
	}
}

// TestEveryKindOfClaimIsJudged: a kind that can be written can be answered. Statements and
// what is only reported are answered before contenders are asked for.
func TestEveryKindOfClaimIsJudged(t *testing.T) {
	judges := claimJudges()
	for kind, claim := range map[tare.ClaimKind]tare.Claim{
		tare.ClaimRatio: {Workload: "w", Metric: "time", Side: "lower"}, tare.ClaimCount: {Value: 3}, tare.ClaimShare: {Workload: "w", Metric: "time", Value: 0.5},
		tare.ClaimTrend:  {Workloads: []string{"a", "b", "c"}, Metric: "time", Side: "lower"},
		tare.ClaimGrowth: {Workloads: []string{"a", "b", "c"}, Metric: "time"}, tare.ClaimRate: {Workloads: []string{"a"}, Value: 1},
		tare.ClaimCause: {Decomposition: "d", Causes: []string{"x"}},
	} {
		claim.ID, claim.Kind, claim.Contender, claim.Statement = "F", kind, "lean", "It is so."
		if err := claim.Validate(); err != nil {
			t.Errorf("%s: %v", kind, err)
		}
		if judges[kind] == nil {
			t.Errorf("nothing judges %s", kind)
		}
		delete(judges, kind)
	}
	if len(judges) > 0 {
		t.Errorf("%d kinds are judged and not tried here", len(judges))
	}
}
