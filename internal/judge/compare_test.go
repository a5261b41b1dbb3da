package judge

import (
	"fmt"
	"math"
	"testing"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/stats"
)

func TestCompareFillsTheRow(t *testing.T) {
	d := fake{workloads: []string{"w"}, cost: map[string]float64{"lean": 500, "fat": 2000}, rounds: 18, slices: 4, roundSD: 0.02}.data(seeded(2))
	cs := Compare(d, Effects(d))
	c := pick(cs, "lean", "w", "time")
	if c.Against != base || c.Rounds != 18 || c.Unit != "ns/op" || c.Exploratory || c.Exact {
		t.Errorf("row = %+v", c)
	}
	if !(c.Low < c.Ratio && c.Ratio < c.High) || math.Abs(c.Ratio-0.5) > 0.03 || math.Abs(c.SumsRatio-0.5) > 0.03 {
		t.Errorf("ratio %v (%v to %v), by sums %v; want about 0.5", c.Ratio, c.Low, c.High, c.SumsRatio)
	}
	if math.Abs(c.Value-500) > 20 || math.Abs(c.AgainstValue-1000) > 40 {
		t.Errorf("values %v and %v, want about 500 and 1000", c.Value, c.AgainstValue)
	}
	if c.Level != 0.95 {
		t.Errorf("level %v, want 0.95 for a single workload", c.Level)
	}
	self := pick(cs, base, "w", "time")
	if self.Against != base || self.Ratio != 1 || self.Low != 1 || self.High != 1 {
		t.Errorf("the baseline's own row = %+v", self)
	}
	if pick(cs, tare.NullID, "w", "time").Rounds != 0 {
		t.Error("the null contender is compared")
	}
	if pick(cs, tare.ControlID, "w", "time").Rounds != 18 {
		t.Error("the control is not compared")
	}
	for id, want := range map[string]struct {
		rank    int
		letters string
	}{"lean": {1, "a"}, base: {2, "b"}, "fat": {3, "c"}, tare.ControlID: {0, ""}} {
		c := pick(cs, id, "w", "time")
		if c.RankLow != want.rank || c.RankHigh != want.rank || c.Letters != want.letters {
			t.Errorf("%s: rank %d–%d %q, want %d %q", id, c.RankLow, c.RankHigh, c.Letters, want.rank, want.letters)
		}
	}
}

func TestCompareIntervalIsTheLookLevels(t *testing.T) {
	f := fake{workloads: []string{"w"}, cost: map[string]float64{"lean": 1000}, rounds: 18, slices: 2, roundSD: 0.05}
	d := f.data(seeded(3))
	for _, looks := range [][]int{{18}, {8, 12, 18, 27}} {
		d.Plan.Looks = looks
		effects := Effects(d)
		e, _ := tare.EffectsOf(effects, "w", "time", "lean", base)
		lo, hi, _ := stats.Interval(e.Effects, stats.LookLevel(0.05, len(looks)))
		c := pick(Compare(d, effects), "lean", "w", "time")
		if c.Low != math.Exp(lo) || c.High != math.Exp(hi) || c.Level != 0.95 {
			t.Errorf("%d looks: %v to %v at %v, want %v to %v", len(looks), c.Low, c.High, c.Level, math.Exp(lo), math.Exp(hi))
		}
	}
}

func TestCompareTooFewRounds(t *testing.T) {
	d := fake{workloads: []string{"w"}, cost: map[string]float64{"lean": 500}, rounds: 5, slices: 2, roundSD: 0.02}.data(seeded(4))
	c := pick(Compare(d, Effects(d)), "lean", "w", "time")
	if c.Low != 0 || c.High != 0 || c.Rounds != 5 || c.Ratio == 0 {
		t.Errorf("after 5 rounds: %+v, want a ratio and no interval", c)
	}
	if c.RankLow != 0 || c.RankHigh != 0 || c.Letters != "" {
		t.Errorf("rank %d–%d %q, want none: five rounds cannot tell a pair apart", c.RankLow, c.RankHigh, c.Letters)
	}
}

func TestCompareStepsDown(t *testing.T) {
	// Three workloads on which lean is twice as fast leave at 5 %/4; the
	// fourth, where it is the same, then stands alone at 5 %.
	d := fake{workloads: []string{"a", "b", "c", "same"}, cost: map[string]float64{"lean": 500}, rounds: 18, slices: 2, roundSD: 0.02}.data(seeded(5))
	for i := range d.Slices {
		if s := &d.Slices[i]; s.Workload == "same" && s.Contender == "lean" {
			s.WallNS *= 2
		}
	}
	cs := Compare(d, Effects(d))
	for _, w := range []string{"a", "b", "c"} {
		if c := pick(cs, "lean", w, "time"); !near(c.Level, 1-0.05/4) {
			t.Errorf("%s left at level %v, want %v", w, c.Level, 1-0.05/4)
		}
		if c := pick(cs, tare.ControlID, w, "time"); !near(c.Level, 1-0.05/4) {
			t.Errorf("the control on %s has level %v, want %v", w, c.Level, 1-0.05/4)
		}
	}
	if c := pick(cs, "lean", "same", "time"); !near(c.Level, 0.95) {
		t.Errorf("the last stands at %v, want 0.95", c.Level)
	}
	// A criterion whose limit lies inside an interval keeps it in the family.
	limit := pick(cs, "lean", "a", "time").Ratio
	d.Study.Criteria = []tare.Criterion{{Workload: "a", Metric: "time", Ratio: fmt.Sprint("<= ", limit)}}
	cs = Compare(d, Effects(d))
	if c := pick(cs, "lean", "same", "time"); !near(c.Level, 1-0.05/2) {
		t.Errorf("with an open criterion elsewhere the last stands at %v, want %v", c.Level, 1-0.05/2)
	}
}

func TestCompareFurtherMetrics(t *testing.T) {
	f := fake{workloads: []string{"v", "w"}, cost: map[string]float64{"lean": 500, "fat": 2000}, rounds: 12, slices: 2, roundSD: 0.02, metrics: []string{"time", "cpu", "allocs"}}
	f.claims = []tare.Claim{{ID: "F", Kind: tare.ClaimRatio, Contender: "lean", Workload: "w", Metric: "allocs", Baseline: 602, Value: 202}}
	f.criteria = []tare.Criterion{{Contender: "lean", Metric: "cpu", Ratio: "<= 0.9"}}
	d := f.data(seeded(6))
	sampled(&d, "allocs_per_op", func(_ int, id string) float64 {
		return map[string]float64{"lean": 202, "fat": 700}[id] + map[bool]float64{true: 602}[id == base || id == tare.ControlID]
	})
	cs := Compare(d, Effects(d))
	for _, want := range []struct {
		id, workload, metric string
		exploratory          bool
		level                float64
	}{
		{"lean", "w", "allocs", false, 0.95}, // the only one asked for
		{"lean", "v", "allocs", true, 0.95},
		{"fat", "w", "allocs", true, 0.95},
		{"lean", "w", "cpu", false, 0.975}, // asked for on both
		{"fat", "w", "cpu", true, 0.95},
		{tare.ControlID, "w", "cpu", true, 0.95},
	} {
		c := pick(cs, want.id, want.workload, want.metric)
		if c.Exploratory != want.exploratory || !near(c.Level, want.level) {
			t.Errorf("%s %s %s: exploratory %v at %v, want %v at %v", want.id, want.workload, want.metric, c.Exploratory, c.Level, want.exploratory, want.level)
		}
	}
	c := pick(cs, "lean", "w", "allocs")
	if !c.Exact || !near(c.Ratio, 202.0/602) || c.Low != c.High || c.SumsRatio != 0 || c.Letters != "" {
		t.Errorf("exact metric: %+v", c)
	}
}

func TestRanksSkipVoidAndTinyDifferences(t *testing.T) {
	d := fake{workloads: []string{"w"}, cost: map[string]float64{"lean": 500, "fat": 2000}, rounds: 18, slices: 4, roundSD: 0.02}.data(seeded(2))
	effects := Effects(d)
	cs := Compare(d, effects)
	values := Values(d)
	struckC, struckV := Strike(d, effects, cs, values, []tare.Finding{{Check: "wrong-answer", Severity: tare.Void, Contender: "lean", Workload: "w"}})
	if c := pick(struckC, "lean", "w", "time"); c.RankLow != 0 || c.Letters != "" {
		t.Errorf("a void contender is ranked %d %q", c.RankLow, c.Letters)
	}
	if c := pick(struckC, base, "w", "time"); c.RankLow != 1 || c.RankHigh != 1 || c.Letters != "a" {
		t.Errorf("without it the baseline ranks %d–%d %q, want 1 a", c.RankLow, c.RankHigh, c.Letters)
	}
	if c := pick(cs, "lean", "w", "time"); c.RankLow != 1 {
		t.Error("Strike changed what it was given")
	}
	for i, v := range struckV {
		if v.Struck != (v.Contender == "lean") || values[i].Struck {
			t.Errorf("%s struck: %v, before %v", v.Contender, v.Struck, values[i].Struck)
		}
	}

	// A difference that is certain but smaller than what the control shows
	// separates nobody.
	d = fake{workloads: []string{"w"}, cost: map[string]float64{"lean": 990}, rounds: 18, slices: 4}.data(seeded(2))
	for i := range d.Slices {
		if s := &d.Slices[i]; s.Contender == tare.ControlID {
			s.WallNS += int64(s.Round%2*60000 - 30000)
		}
	}
	cs = Compare(d, Effects(d))
	if c := pick(cs, "lean", "w", "time"); c.High >= 1 || c.RankHigh != 2 || c.Letters != "a" {
		t.Errorf("%v to %v: rank %d–%d %q, want no significant difference", c.Low, c.High, c.RankLow, c.RankHigh, c.Letters)
	}
}

// The part of the floor that comes of slices is what they would show alone.
func TestFloorOfOneBuild(t *testing.T) {
	for _, c := range []struct{ roundSD, sliceSD, least, most float64 }{
		{0.05, 0.02, 0.05, 0.45}, // between rounds 0.05, of 32 slices 0.0035
		{0, 0.05, 0.85, 1.01},    // slices alone: nothing but rounding of the exponential
	} {
		d := fake{workloads: []string{"w"}, cost: map[string]float64{"lean": 500}, rounds: 40, slices: 32, roundSD: c.roundSD, sliceSD: c.sliceSD}.data(seeded(8))
		d.Plan.Slices = []tare.Slicing{{Workload: "w", Count: 32, Block: 2}}
		cs := Compare(d, Effects(d))
		x, half := Resolution(d, cs)[0], pick(cs, tare.ControlID, "w", "time").HalfWidth()
		if part := x.Within / half; part < c.least || part > c.most {
			t.Errorf("rounds vary by %v, slices by %v: one build has %v of the half width", c.roundSD, c.sliceSD, part)
		}
	}
}

func TestResolution(t *testing.T) {
	d := fake{workloads: []string{"w"}, cost: map[string]float64{"lean": 500}, rounds: 12, slices: 4, roundSD: 0.02}.data(seeded(8))
	cs := Compare(d, Effects(d))
	rs := Resolution(d, cs)
	c := pick(cs, tare.ControlID, "w", "time")
	want := math.Sqrt(c.High/c.Low) - 1
	if len(rs) != 1 || rs[0].Workload != "w" || rs[0].Metric != "time" || !near(rs[0].HalfWidth, want) {
		t.Errorf("resolution = %+v, want half width %v", rs, want)
	}
	if rs[0].Within != 0 { // slices of a round are all the same
		t.Errorf("within rounds ±%v, want none", rs[0].Within)
	}
	if rs[0].Seconds != 6 { // 12 rounds of trials that run side by side for ½ s
		t.Errorf("seconds = %v, want 6", rs[0].Seconds)
	}
	d.Plan.Isolation = tare.TrialWise
	if s := Resolution(d, cs)[0].Seconds; s != 24 {
		t.Errorf("one trial after another: %v s, want 24", s)
	}
	d.Trials = nil
	if s := Resolution(d, cs)[0].Seconds; s != 6 {
		t.Errorf("from the plan: %v s, want 6", s)
	}
	few := upTo(d, 4)
	if rs := Resolution(few, Compare(few, Effects(few))); rs != nil {
		t.Errorf("without an interval: %+v", rs)
	}
}
