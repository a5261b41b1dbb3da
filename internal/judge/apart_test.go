package judge

import (
	"strings"
	"testing"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/evidence"
)

// aparts is a study in which other stands apart and lean does not.
func aparts(claims []tare.Claim, criteria ...tare.Criterion) evidence.Evidence {
	d := fake{
		workloads: []string{"w"}, cost: map[string]float64{"lean": 900, "fat": 1300, "other": 400}, rounds: 12, slices: 8, roundSD: 0.01, sliceSD: 0.01,
		criteria: criteria, claims: claims,
	}.data(seeded(3))
	for i := range d.Contenders {
		if d.Contenders[i].ID == "other" {
			d.Contenders[i].Role = tare.RoleApart
		}
	}
	return d
}

func TestWhoStandsApart(t *testing.T) {
	d := aparts([]tare.Claim{
		{ID: "half", Kind: tare.ClaimShare, Contender: "other", Workload: "w", Metric: "time", Value: 0.5, Statement: "s"},
		{ID: "ratio", Kind: tare.ClaimRatio, Contender: "other", Workload: "w", Metric: "time", Baseline: 10, Value: 4, Statement: "s"},
	}, tare.Criterion{Contender: "other", Metric: "time", Ratio: "<= 0.5"}, tare.Criterion{Metric: "time", Ratio: "<= 2"})
	effects := Effects(d)
	cs := Compare(d, effects)
	c := pick(cs, "other", "w", "time")
	if !(c.Low > 0.35) || !(c.High < 0.45) || c.Against != base {
		t.Fatalf("it is not compared with the baseline: %+v", c)
	}
	if c.RankLow != 0 || c.RankHigh != 0 || c.Letters != "" {
		t.Errorf("it is ranked: %+v", c)
	}
	if lean := pick(cs, "lean", "w", "time"); lean.RankLow != 1 || lean.RankHigh != 1 {
		t.Errorf("the fastest of those that are ranked has the rank %d to %d", lean.RankLow, lean.RankHigh)
	}
	for _, e := range effects {
		if (e.A == "other" || e.B == "other") && e.A != base && e.B != base {
			t.Errorf("it is compared with another than the baseline: %s and %s", e.A, e.B)
		}
	}
	var asked, stated int
	for _, v := range Verdicts(d, cs, nil) {
		if v.Contender != "other" {
			if strings.Contains(v.Sentence, "apart") {
				t.Errorf("%s", v.Sentence)
			}
			continue
		}
		if !strings.HasSuffix(v.Sentence, " (apart: answers by status only).") {
			t.Errorf("it is not said that it stands apart: %s", v.Sentence)
		}
		switch v.Criterion {
		case "":
			stated++
		case "time ratio <= 0.5":
			if asked++; v.Verdict != tare.Met {
				t.Errorf("%+v", v)
			}
		default:
			t.Errorf("a criterion on all covers it: %+v", v)
		}
	}
	if asked != 1 || stated != 1 {
		t.Errorf("%d criteria are ruled on and %d differences stated", asked, stated)
	}
	for _, r := range Claims(d, cs, nil, nil, nil) {
		if r.Outcome != tare.Holds || !strings.HasSuffix(r.Evidence, "; apart: answers by status only") {
			t.Errorf("%+v", r)
		}
	}
	for _, cost := range Costs([]string{"time"}, d.Contenders, cs, nil, 0) {
		if cost.Contender == "other" {
			t.Errorf("its cost is advice: %+v", cost)
		}
	}
}

// A step of a decomposition may lead over contenders that stand apart.
func TestDecomposeOverWhoStandsApart(t *testing.T) {
	d := aparts(nil)
	d.Study.Decompose = []tare.Decompose{{ID: "x", Workload: "w", From: "other", Steps: []tare.DecomposeStep{{To: "lean", Cause: "one"}, {To: base, Cause: "two"}}}}
	effects := Effects(d)
	got := Decompose(d, effects, Compare(d, effects), nil)
	if len(got) != 1 || len(got[0].Steps) != 2 || got[0].Steps[0].From != "other" || !(got[0].Steps[0].Share > 0.7) || !(got[0].Whole.Low > 2) {
		t.Errorf("%+v", got)
	}
}

func TestShares(t *testing.T) {
	claim := tare.Claim{ID: "F", Kind: tare.ClaimShare, Contender: "lean", Workload: "w", Metric: "time", Value: 0.5, Statement: "s", Source: "src"}
	for _, c := range []struct {
		lo, hi float64
		want   tare.Outcome
		why    string
	}{
		{0.36, 0.40, tare.Holds, "claimed 50 % or more, measured 62 % (60 to 64 %, 95 %, 18 rounds) of what encoding-json takes"},
		{0.4, 0.5, tare.Holds, "claimed 50 % or more, measured 55 % (50 to 60 %, 95 %, 18 rounds) of what encoding-json takes"},
		{0.4, 0.6, tare.ClaimOpen, "claimed 50 % or more, measured 50 % (40 to 60 %, 95 %, 18 rounds) of what encoding-json takes: more rounds are needed"},
		{0.6, 0.8, tare.Refuted, "claimed 50 % or more, measured 30 % (20 to 40 %, 95 %, 18 rounds) of what encoding-json takes"},
		{1.1, 1.3, tare.Refuted, "claimed 50 % or more, measured −20 % (−30 to −10 %, 95 %, 18 rounds) of what encoding-json takes"},
		{0, 0, tare.ClaimOpen, "no interval after 18 rounds; it takes 6"},
	} {
		d := asking()
		d.Study.Claims = []tare.Claim{claim}
		r := Claims(d, []tare.Comparison{row((c.lo+c.hi)/2, c.lo, c.hi)}, nil, nil, nil)[0]
		if r.Outcome != c.want || r.Why != c.why || r.Published != 0.5 {
			t.Errorf("%g to %g: %s, published %g, %s\nwant %s, %s", c.lo, c.hi, r.Outcome, r.Published, r.Why, c.want, c.why)
		}
	}
	d := asking()
	d.Study.Claims = []tare.Claim{claim}
	void := []tare.Finding{{Check: "delivered", Severity: tare.Void, Contender: "lean", Message: "lost"}}
	if r := Claims(d, []tare.Comparison{row(0.4, 0.4, 0.4)}, nil, void, nil)[0]; r.Outcome != tare.NotMeasured || r.Why != "void by delivered: lost" {
		t.Errorf("of a void one: %+v", r)
	}
	if r := Claims(d, nil, nil, nil, nil)[0]; r.Outcome != tare.NotMeasured {
		t.Errorf("without a ratio: %+v", r)
	}
	e := decisionEdges(evidence.Evidence{Study: tare.Study{Claims: []tare.Claim{claim}}}, "lean", "w", "time")
	if len(e) != 2 || e[1] > -0.69 || e[1] < -0.70 {
		t.Errorf("the edges are %v, want 0 and ln 0.5", e)
	}
}

func TestReportedClaims(t *testing.T) {
	d := asking()
	d.Study.Claims = []tare.Claim{
		{ID: "gae", Kind: tare.ClaimReported, Value: 407, Unit: "requests/s", Because: "runs elsewhere", Statement: "s"},
		{ID: "both", Kind: tare.ClaimReported, Contender: "lean", Because: "nobody knows", Statement: "s"},
	}
	rs := Claims(d, []tare.Comparison{row(0.4, 0.39, 0.41)}, nil, nil, nil)
	if r := rs[0]; r.Outcome != tare.NotMeasured || r.Published != 407 || r.Unit != "requests/s" || r.Why != "runs elsewhere" || r.Measured != 0 {
		t.Errorf("%+v", r)
	}
	if r := rs[1]; r.Outcome != tare.NotMeasured || r.Why != "nobody knows" || r.Measured != 0 {
		t.Errorf("%+v", r)
	}
	if Decided(nil, rs) {
		t.Error("a study that measures nothing is decided")
	}
}

// A contender whose programs are not there is not ruled on, and claims about it
// say why they are open.
func TestWhoIsNotInstalled(t *testing.T) {
	d := aparts([]tare.Claim{{ID: "F", Kind: tare.ClaimRatio, Contender: "peer", Workload: "w", Metric: "time", Baseline: 1, Value: 2, Statement: "s"},
		{ID: "G", Kind: tare.ClaimCount, Contender: "peer", Value: 3, Statement: "s"}},
		tare.Criterion{Contender: "peer", Metric: "time", Ratio: ">= 2"})
	d.Contenders = append(d.Contenders, tare.Contender{ID: "peer", Role: tare.RoleApart, Start: tare.Start{Launch: tare.LaunchCommand}, Error: tare.NotInstalled([]string{"peerd"})})
	d.Study.Decompose = []tare.Decompose{{ID: "x", Workload: "w", From: "peer", Steps: []tare.DecomposeStep{{To: base, Cause: "one"}}}}
	effects := Effects(d)
	cs := Compare(d, effects)
	for _, v := range Verdicts(d, cs, nil) {
		if v.Contender == "peer" {
			t.Errorf("%+v", v)
		}
	}
	for _, r := range Claims(d, cs, nil, nil, nil) {
		if r.Outcome != tare.NotMeasured || r.Why != "peer is not installed: peerd" {
			t.Errorf("%+v", r)
		}
	}
	if got := Decompose(d, effects, Compare(d, effects), nil)[0].Sentence; !strings.HasSuffix(got, ": peer is not installed: peerd.") {
		t.Error(got)
	}
}

// A statement that negative-probe answers holds where something was asked that
// must be refused, and was.
func TestRefusalsThatWereAskedFor(t *testing.T) {
	d := asking()
	d.Study.Claims = []tare.Claim{{ID: "F", Kind: tare.ClaimStatement, Contender: "lean", Check: "negative-probe", Statement: "s"}}
	if r := Claims(d, nil, nil, nil, nil)[0]; r.Outcome != tare.NotMeasured {
		t.Errorf("nobody was asked: %+v", r)
	}
	d.Conformance = []tare.Conformance{{Contender: "lean", Cases: 7}, {Contender: "lean", Cases: 4, Probe: true}, {Contender: base, Cases: 4, Probe: true}}
	if r := Claims(d, nil, nil, nil, nil)[0]; r.Outcome != tare.Holds || r.Why != "of this implementation: each of 4 probes has the same result as with the reference" {
		t.Errorf("%+v", r)
	}
	found := []tare.Finding{{Check: "negative-probe", Severity: tare.Void, Contender: "lean", Message: "it takes anything"}}
	if r := Claims(d, nil, nil, found, nil)[0]; r.Outcome != tare.Refuted || r.Why != "it takes anything" {
		t.Errorf("%+v", r)
	}
}

// Nobody is ruled on where they are not asked.
func TestWhoIsNotAsked(t *testing.T) {
	d := asking(tare.Criterion{Metric: "time", Ratio: "<= 0.5"})
	d.Study.Workloads[0].Contenders = []string{"other"}
	for _, v := range Verdicts(d, nil, nil) {
		if v.Contender == "lean" {
			t.Errorf("%+v", v)
		}
	}
}
