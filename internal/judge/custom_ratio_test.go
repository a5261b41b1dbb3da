package judge

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/evidence"
)

// slowed is a study of two workloads, of which wide takes everybody times as long.
func slowed(times float64, f fake) evidence.Evidence {
	f.workloads, f.slices, f.cost = []string{"narrow", "wide"}, 2, map[string]float64{"lean": 900}
	return scaled(f.data(seeded(5)), func(s tare.Slice) float64 {
		if s.Workload == "wide" {
			return times
		}
		return 1
	})
}

func TestOwnRatio(t *testing.T) {
	quiet := fake{rounds: 12, roundSD: 0.005}
	for _, c := range []struct {
		name            string
		times           float64
		f               fake
		baseline, value float64
		contender       string
		want            tare.Outcome
		size            bool
		why             string
	}{
		{"six times", 6, quiet, 1, 6, "lean", tare.Holds, false, "published 6×, measured 6.0"},
		{"of the baseline itself", 6, quiet, 1, 6, base, tare.Holds, false, "within 1.25× of the published ratio"},
		{"less", 4, quiet, 1, 6, "lean", tare.DirectionHolds, false, "above 1 as claimed"},
		{"much less", 2, quiet, 1, 6, "lean", tare.DirectionHolds, true, "more than 2× away"},
		{"the same, ten times was", 10, quiet, 1, 1, "lean", tare.Refuted, false, "where equality was claimed"},
		{"the same", 1, quiet, 1, 1, "lean", tare.Tie, false, "within 5 % of 1"},
		{"other side", 0.5, quiet, 1, 6, "lean", tare.Refuted, false, "but the other side"},
		{"too few", 6, fake{rounds: 4, roundSD: 0.005}, 1, 6, "lean", tare.ClaimOpen, false, "no interval after 4 rounds"},
	} {
		d := slowed(c.times, c.f)
		d.Study.Claims = []tare.Claim{{
			ID: "F1.4", Kind: tare.ClaimRatio, Contender: c.contender, Workload: "wide", Metric: "time", Of: tare.ClaimOf{Workload: "narrow", Metric: "time"},
			Baseline: c.baseline, Value: c.value, Unit: "times", Statement: "s", Source: "src",
		}}
		r := claimed(d)
		if r.Outcome != c.want || r.SizeRefuted != c.size || !strings.Contains(r.Why, c.why) {
			t.Errorf("%s: %s (size refuted %v), %q, want %s, …%q", c.name, r.Outcome, r.SizeRefuted, r.Why, c.want, c.why)
		}
		if !strings.Contains(r.Evidence, c.contender+", time on wide over time on narrow") {
			t.Errorf("%s: evidence %q", c.name, r.Evidence)
		}
	}
	d := slowed(6, quiet)
	d.Study.Claims = []tare.Claim{{ID: "F", Kind: tare.ClaimRatio, Contender: "lean", Workload: "wide", Metric: "time", Of: tare.ClaimOf{Workload: "gone", Metric: "time"}, Baseline: 1, Value: 6, Statement: "s"}}
	if r := claimed(d, tare.NotWeighed{What: "workload gone", Why: "left out"}); r.Outcome != tare.NotMeasured || r.Why != "workload gone: left out" {
		t.Errorf("%+v", r)
	}
}

// TestSideWithoutFigures: a claim of a direction holds, or is refuted, as soon as the
// interval is clear of 1 or within 5 % of it.
func TestSideWithoutFigures(t *testing.T) {
	for _, c := range []struct {
		name   string
		side   string
		lo, hi float64
		want   tare.Outcome
		why    string
	}{
		{"higher", "higher", 1.1, 1.3, tare.Holds, "published higher without a figure, measured 1.20× (1.10 to 1.30, 95 %, 18 rounds): above 1 as claimed"},
		{"lower", "lower", 0.5, 0.7, tare.Holds, "below 1 as claimed"},
		{"other side", "higher", 0.5, 0.7, tare.Refuted, "but the other side"},
		{"nothing there", "higher", 0.98, 1.03, tare.Refuted, "within 5 % of 1"},
		{"open", "higher", 0.98, 1.3, tare.ClaimOpen, "more rounds are needed"},
		{"within noise", "higher", 1.005, 1.06, tare.ClaimOpen, "within what the control shows"},
	} {
		d := asking()
		d.Study.Claims = []tare.Claim{{ID: "F2.9", Kind: tare.ClaimRatio, Contender: "lean", Workload: "w", Metric: "time", Side: c.side, Statement: "s", Source: "src"}}
		r := Claims(d, []tare.Comparison{row((c.lo+c.hi)/2, c.lo, c.hi), controlRow(1/1.04, 1.04)}, nil, nil, nil)[0]
		if r.Outcome != c.want || !strings.Contains(r.Why, c.why) || r.Published != 0 || r.SizeRefuted {
			t.Errorf("%s: %s, %q, want %s, …%q", c.name, r.Outcome, r.Why, c.want, c.why)
		}
	}
}

func TestRate(t *testing.T) {
	claim := func(d evidence.Evidence, value float64, workloads ...string) tare.ClaimResult {
		d.Study.Claims = []tare.Claim{{ID: "F4.11", Kind: tare.ClaimRate, Contender: "lean", Workloads: workloads, Value: value, Statement: "s", Source: "src"}}
		return claimed(d)
	}
	// 800 ns more are 1 % of a core at 12,500 a second.
	for _, c := range []struct {
		name  string
		cost  float64
		value float64
		want  tare.Outcome
		why   string
	}{
		{"far below", 200, 10, tare.Holds, "published 10 a second; encoding-json takes 1 % of a core more at 12,"},
		{"above", 200, 20_000, tare.Refuted, "published 20,000 a second"},
		{"at it", 200, 12_500, tare.ClaimOpen, "more rounds are needed"},
		{"it takes less", 2000, 1e9, tare.Holds, "encoding-json takes more than lean on none of the workloads"},
	} {
		r := claim(shaped(c.cost, 18), c.value, "wide", "narrow")
		if r.Outcome != c.want || !strings.Contains(r.Why, c.why) {
			t.Errorf("%s: %s, %q, want %s, …%q", c.name, r.Outcome, r.Why, c.want, c.why)
		}
	}
	if r := claim(shaped(200, 18), 10, "wide", "elsewhere"); r.Outcome != tare.NotMeasured {
		t.Errorf("%+v", r)
	}
}

// TestOwnRatioBehindARelay: its delay is the study's own and makes the ratio, so that the
// ratio does not answer the claim. Without one what voids a comparison is the reason.
func TestOwnRatioBehindARelay(t *testing.T) {
	for _, delay := range []time.Duration{0, 20 * time.Millisecond} {
		d := slowed(6, fake{rounds: 12, roundSD: 0.005})
		d.Study.Workloads[1].Traffic = &tare.Traffic{Connections: 1, Delay: delay}
		d.Study.Claims = []tare.Claim{{
			ID: "F1.4", Kind: tare.ClaimRatio, Contender: "lean", Workload: "wide", Metric: "time", Of: tare.ClaimOf{Workload: "narrow", Metric: "time"},
			Baseline: 1, Value: 6, Statement: "s", Source: "src",
		}}
		void := []tare.Finding{{Check: "generator-headroom", Severity: tare.Void, Contender: "lean", Workload: "wide", Metric: "time", Message: "m"}}
		want := map[bool]string{true: "the delay and the bandwidth of wide are chosen here", false: "void by generator-headroom"}[delay > 0]
		if r := Claims(d, Compare(d, Effects(d)), Values(d), void, nil)[0]; r.Outcome != tare.NotMeasured || !strings.HasPrefix(r.Why, want) {
			t.Errorf("delay %v: %s, %q, want %q", delay, r.Outcome, r.Why, want)
		}
	}
}

// TestRatioToAnother: a claim may be about two contenders neither of which is the
// baseline, and about two metrics together.
func TestRatioToAnother(t *testing.T) {
	f := fake{workloads: []string{"w"}, metrics: []string{"time", "bytes", "allocs"}, rounds: 12, roundSD: 0.005, slices: 2, cost: map[string]float64{"lean": 500, "fat": 2000}}
	d := f.data(seeded(5))
	for i := range d.Trials {
		d.Trials[i].Samples = map[string]tare.Sample{"w": {"bytes_per_op": map[string]float64{"lean": 30, "fat": 50}[d.Trials[i].Contender], "allocs_per_op": 10}}
	}
	ask := func(c tare.Claim) tare.ClaimResult {
		c.ID, c.Kind, c.Contender, c.Workload, c.Statement = "F", tare.ClaimRatio, "lean", "w", "s"
		d.Study.Claims = []tare.Claim{c}
		return claimed(d)
	}
	r := ask(tare.Claim{Metric: "time", Of: tare.ClaimOf{Contender: "fat", Workload: "w", Metric: "time"}, Baseline: 4, Value: 1})
	if r.Outcome != tare.Holds || math.Abs(r.Measured-0.25) > 0.02 || !strings.HasPrefix(r.Evidence, "lean against fat, time, ") {
		t.Errorf("%+v", r)
	}
	r = ask(tare.Claim{Metric: "bytes", Plus: "allocs", Of: tare.ClaimOf{Contender: "fat", Workload: "w", Metric: "bytes"}, Baseline: 6, Value: 4})
	if math.Abs(r.Measured-40.0/60) > 1e-9 || !strings.Contains(r.Evidence, "bytes and allocs together") {
		t.Errorf("%+v", r)
	}
	r = ask(tare.Claim{Metric: "time", Of: tare.ClaimOf{Contender: "gone", Workload: "w", Metric: "time"}, Baseline: 4, Value: 1})
	if r.Outcome != tare.NotMeasured || r.Why != "gone was not measured" {
		t.Errorf("%+v", r)
	}
}

// TestFloorOfOwnRatio: the noise floor of a claim is that of the rounds in which the claim's ratio was
// measured, whether its denominator is a workload or a contender.
func TestFloorOfOwnRatio(t *testing.T) {
	for _, of := range []tare.ClaimOf{{Workload: "narrow", Metric: "time"}, {Contender: "fat", Workload: "wide", Metric: "time"}} {
		d := fake{workloads: []string{"narrow", "wide"}, rounds: 24, slices: 2, roundSD: 0.001, cost: map[string]float64{"lean": 500, "fat": 1000}}.data(seeded(5))
		d.Slices = slices.DeleteFunc(d.Slices, func(s tare.Slice) bool { return s.Contender == "lean" && s.Round > 12 })
		for i := range d.Slices { // the machine is disturbed in the rounds without lean
			if s := &d.Slices[i]; s.Round > 12 && s.Workload == "wide" && s.Contender == tare.ControlID {
				s.WallNS *= 10
			}
		}
		c := tare.Claim{Kind: tare.ClaimRatio, Contender: "lean", Workload: "wide", Metric: "time", Of: of}
		j := &judge{evidence: d.Indexed()}
		var rounds []int
		for round := range j.customRatiosByRound(c, "lean", cmp.Or(of.Contender, "lean")) {
			rounds = append(rounds, round)
		}
		differences := j.controlDifferences(c, rounds)
		if len(rounds) != 12 || len(differences) != 12 || slices.Max(differences) > 0.1 {
			t.Errorf("of %+v: the ratio has %d rounds, its noise floor %.2f", of, len(rounds), differences)
		}
	}
}
