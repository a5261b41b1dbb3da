package judge

import (
	"math"
	"slices"
	"testing"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/evidence"
)

// small is two rounds of two slices of base, lean, control, null and a trap.
func small() evidence.Evidence {
	d := evidence.Evidence{
		Study: tare.Study{Baseline: base, Metrics: []string{"time", "cpu", "bytes"}, Workloads: []tare.Workload{{ID: "w"}}},
		Plan:  tare.Plan{Looks: []int{2}, Slices: []tare.Slicing{{Workload: "w", Block: 1}}},
		Contenders: []tare.Contender{
			{ID: base, Role: tare.RoleBaseline}, {ID: tare.ControlID, Role: tare.RoleControl}, {ID: tare.NullID, Role: tare.RoleNull},
			{ID: "lean", Role: tare.RoleContender}, {ID: "fat", Role: tare.RoleContender}, {ID: "trap", Role: tare.RoleTrap},
		},
		Rounds: 2,
	}
	wall := map[string][2]int64{base: {1000, 3000}, tare.ControlID: {1000, 3000}, tare.NullID: {10, 10}, "lean": {500, 750}, "fat": {2000, 9000}, "trap": {1, 1}}
	idle := map[string]int64{tare.NullID: 20, "lean": 120, "fat": 5}
	for round := 1; round <= 2; round++ {
		for _, c := range d.Contenders {
			for i, ns := range wall[c.ID] {
				d.Slices = append(d.Slices, tare.Slice{
					Round: round, Index: i, Tau: 1, Workload: "w", Contender: c.ID,
					Ops: 10, WallNS: ns, CPUNS: ns, IdleCPUNS: idle[c.ID],
				})
			}
			d.Trials = append(d.Trials, tare.Trial{Round: round, Tau: 1, Contender: c.ID, Seconds: 1,
				Samples: map[string]tare.Sample{"w": {"bytes_per_op": float64(wall[c.ID][0])}}})
		}
	}
	return d
}

func effect(t *testing.T, d evidence.Evidence, metric, a, b string) tare.Effects {
	t.Helper()
	e, ok := tare.EffectsOf(Effects(d), "w", metric, a, b)
	if !ok {
		t.Fatalf("no effects of %s against %s on %s", a, b, metric)
	}
	return e
}

func near(a, b float64) bool { return math.Abs(a-b) <= 1e-12*math.Max(1, math.Abs(b)) }

func TestEffectsPairSlicesByIndex(t *testing.T) {
	d := small()
	slices.Reverse(d.Slices) // the order in which they were recorded says nothing
	e := effect(t, d, "time", "lean", base)
	// Blocks of one slice: ln ½ and ln ¼; Hodges–Lehmann of the two is their mean.
	want := (math.Log(0.5) + math.Log(0.25)) / 2
	if len(e.Effects) != 2 || !near(e.Effects[0], want) {
		t.Errorf("block effects = %v, want %v twice", e.Effects, want)
	}
	if sum := math.Log(1250.0 / 4000); !near(e.Sums[1], sum) {
		t.Errorf("sums = %v, want %v", e.Sums, sum)
	}
	if back := effect(t, d, "time", base, "lean"); back.Effects[0] != -e.Effects[0] || back.Sums[0] != -e.Sums[0] {
		t.Error("the reverse pair is not the negative")
	}
}

func TestEffectsUseBlocksOnlyWhereThePlanSaysSo(t *testing.T) {
	sum := math.Log(1250.0 / 4000)
	for name, change := range map[string]func(*evidence.Evidence){
		"one block":       func(d *evidence.Evidence) { d.Plan.Slices[0].Block = 2 },
		"ratio of sums":   func(d *evidence.Evidence) { d.Plan.Slices[0].RatioOfSums = true },
		"trial isolation": func(d *evidence.Evidence) { d.Plan.Isolation = tare.TrialWise },
	} {
		d := small()
		change(&d)
		if e := effect(t, d, "time", "lean", base); !near(e.Effects[0], sum) {
			t.Errorf("%s: effect %v, want the ratio of sums %v", name, e.Effects[0], sum)
		}
	}
}

func TestEffectsChargeIdleCPULessTheNulls(t *testing.T) {
	d := small()
	// lean: 120 ns off token less the null's 20; fat: 5 − 20 counts as 0.
	lean := (math.Log(600.0/1000) + math.Log(850.0/3000)) / 2
	if e := effect(t, d, "cpu", "lean", base); !near(e.Effects[0], lean) {
		t.Errorf("cpu effect %v, want %v", e.Effects[0], lean)
	}
	fat := (math.Log(2) + math.Log(3)) / 2
	if e := effect(t, d, "cpu", "fat", base); !near(e.Effects[0], fat) {
		t.Errorf("cpu effect %v, want %v", e.Effects[0], fat)
	}
}

func TestEffectsFallBackWhereABlockHasNoCPU(t *testing.T) {
	d := small()
	for i := range d.Slices {
		if s := &d.Slices[i]; s.Contender == "fat" && s.Index == 0 {
			s.CPUNS = 0
		}
	}
	want := math.Log(9000.0 / 4000)
	if e := effect(t, d, "cpu", "fat", base); !near(e.Effects[0], want) {
		t.Errorf("cpu effect %v, want the ratio of sums %v", e.Effects[0], want)
	}
}

func TestEffectsPairsWanted(t *testing.T) {
	count := map[string]int{}
	for _, e := range Effects(small()) {
		count[e.Metric]++
		for _, id := range []string{e.A, e.B} {
			if id == "trap" || id == tare.NullID {
				t.Errorf("%s is compared on %s", id, e.Metric)
			}
		}
		if e.Metric != "time" && e.B != base {
			t.Errorf("%s against %s on %s: only the baseline is needed", e.A, e.B, e.Metric)
		}
	}
	if count["time"] != 6 || count["cpu"] != 3 || count["bytes"] != 3 {
		t.Errorf("pairs per metric = %v, want all 6 of 4 on time and 3 on the others", count)
	}
}

func TestEffectsLeaveOut(t *testing.T) {
	d := small()
	d.Trials[3].Error = &tare.TrialError{Class: tare.ErrExit} // lean in round 1
	if e := effect(t, d, "time", "lean", base); len(e.Effects) != 1 {
		t.Errorf("a trial that failed gives an effect: %v", e.Effects)
	}
	if e := effect(t, d, "bytes", "lean", base); len(e.Effects) != 1 {
		t.Errorf("a trial that failed gives a ratio: %v", e.Effects)
	}
	d = small()
	for _, s := range d.Slices[:12] {
		s.Round, s.Tau = 9, 8
		d.Slices = append(d.Slices, s)
	}
	d.Trials = append(d.Trials, tare.Trial{Round: 9, Tau: 8, Contender: "lean", Samples: map[string]tare.Sample{"w": {"bytes_per_op": 1}}})
	if e := effect(t, d, "time", "lean", base); len(e.Effects) != 2 {
		t.Errorf("a long round is compared: %v", e.Effects)
	}
}

// Rounds that do not count for one contender do so for its pairs alone, and the
// effects say of which rounds they are.
func TestEffectsOfRoundsThatCount(t *testing.T) {
	d := fake{workloads: []string{"v", "w"}, cost: map[string]float64{"lean": 500, "fat": 2000}, rounds: 12, slices: 8, roundSD: 0.02, sliceSD: 0.02}.data(seeded(3))
	whole := Compare(d, Effects(d))
	for i := range d.Trials {
		switch tr := &d.Trials[i]; {
		case tr.Contender == "lean" && tr.Round == 4:
			tr.Error = &tare.TrialError{Class: tare.ErrExit}
		case tr.Contender == "lean" && tr.Round == 7:
			tr.Void = []tare.VoidPart{{Workload: "w", Why: "errors"}}
		}
	}
	effects := Effects(d)
	for _, c := range []struct {
		a, b, workload string
		lost           []int
	}{
		{"lean", base, "w", []int{4, 7}}, {"lean", base, "v", []int{4}}, {"lean", "fat", "w", []int{4, 7}},
		{"fat", base, "w", nil}, {tare.ControlID, base, "v", nil},
	} {
		e, ok := tare.EffectsOf(effects, c.workload, "time", c.a, c.b)
		if !ok || len(e.Effects) != 12-len(c.lost) || len(e.Sums) != len(e.Effects) || len(c.lost) == 0 && e.Of != nil || len(c.lost) > 0 && len(e.Of) != len(e.Effects) {
			t.Errorf("%s against %s on %s: %d effects of rounds %v", c.a, c.b, c.workload, len(e.Effects), e.Of)
		}
		for _, r := range c.lost {
			if slices.Contains(e.Of, r) {
				t.Errorf("%s against %s on %s has an effect of round %d", c.a, c.b, c.workload, r)
			}
		}
	}
	for i, c := range Compare(d, effects) {
		if c.Contender == "lean" {
			if want := map[string]int{"v": 11, "w": 10}[c.Workload]; c.Rounds != want || !c.Bounded() || c.RankLow != 1 || c.RankHigh != 1 {
				t.Errorf("%+v; want an interval and the first rank after %d rounds", c, want)
			}
		} else if c != whole[i] {
			t.Errorf("%+v was %+v before another lost rounds", c, whole[i])
		}
	}
}

// Without the null in a round, what it did idle in the others is taken off.
func TestEffectsOfARoundThatTheNullLost(t *testing.T) {
	d := small()
	want := effect(t, d, "cpu", "lean", base)
	for i := range d.Trials {
		if tr := &d.Trials[i]; tr.Contender == tare.NullID && tr.Round == 1 {
			tr.Error = &tare.TrialError{Class: tare.ErrExit}
		}
	}
	if e := effect(t, d, "cpu", "lean", base); !slices.Equal(e.Effects, want.Effects) {
		t.Errorf("cpu effects %v, want %v", e.Effects, want.Effects)
	}
}

func TestEffectsOfTrialMetrics(t *testing.T) {
	d := small()
	e := effect(t, d, "bytes", "lean", base)
	if len(e.Effects) != 2 || !near(e.Effects[0], math.Log(0.5)) || e.Sums != nil {
		t.Errorf("bytes: %+v, want ln ½ twice and no sums", e)
	}
	d.Trials[3].Samples["w"]["bytes_per_op"] = 0 // lean in round 1
	if e, ok := tare.EffectsOf(Effects(d), "w", "bytes", "lean", base); ok {
		t.Errorf("a zero in one round leaves %v; the pair should be left out whole", e.Effects)
	}
	delete(d.Trials[3].Samples["w"], "bytes_per_op")
	if e := effect(t, d, "bytes", "lean", base); len(e.Effects) != 1 {
		t.Errorf("a round not measured leaves %v, want the other one", e.Effects)
	}
}

func TestValues(t *testing.T) {
	d := small()
	d.Contenders[4].Error = "no such package" // fat
	at := map[string]tare.Value{}
	for _, v := range Values(d) {
		at[v.Contender+" "+v.Metric] = v
	}
	if v := at["lean time"]; v.Value != 62.5 || v.Low != 62.5 || v.High != 62.5 || v.Rounds != 2 || v.Unit != "ns/op" || v.Struck {
		t.Errorf("lean time = %+v, want 62.5 ns/op with no interval after 2 rounds", v)
	}
	if v := at["null time"]; v.Value != 1 || v.Struck {
		t.Errorf("null time = %+v", v)
	}
	if v := at["lean cpu"]; v.Value != 72.5 {
		t.Errorf("lean cpu = %+v, want 72.5 with what it did off its token", v)
	}
	if v := at["base bytes"]; v.Value != 0 {
		t.Errorf("values of an unknown contender: %+v", v)
	}
	if !at["trap time"].Struck || !at["fat time"].Struck {
		t.Error("traps and contenders that could not be built are to be struck")
	}
}

func TestValuesInterval(t *testing.T) {
	d := fake{workloads: []string{"w"}, cost: map[string]float64{"lean": 500}, rounds: 9, slices: 2, roundSD: 0.1}.data(seeded(1))
	for _, v := range Values(d) {
		if !(v.Low < v.Value && v.Value < v.High) {
			t.Errorf("%s: %v not inside its interval %v to %v", v.Contender, v.Value, v.Low, v.High)
		}
	}
}

// Where the plan says so the baseline and the control stand for the baseline
// together: the effects of equal noise in all three have three quarters of the
// variance, the control's stay as they are, and older plans mean the baseline.
func TestEffectsAgainstBothCopies(t *testing.T) {
	f := fake{workloads: []string{"w"}, metrics: []string{"time"}, cost: map[string]float64{"lean": 1000}, rounds: 2000, slices: 2, roundSD: 0.05}
	alone := f.data(seeded(5))
	both := f.data(seeded(5))
	both.Plan.Reference = tare.BaselineAndControl
	variance := func(x []float64) (v float64) {
		mean := 0.0
		for _, e := range x {
			mean += e / float64(len(x))
		}
		for _, e := range x {
			v += (e - mean) * (e - mean)
		}
		return v
	}
	w := f.data(seeded(5)).Study.Workloads[0].ID
	one, two := computeEffects(alone.Index(), alone, w, "time", "lean", base), computeEffects(both.Index(), both, w, "time", "lean", base)
	against := computeEffects(alone.Index(), alone, w, "time", "lean", tare.ControlID)
	for i := range two.Effects {
		if !near(two.Effects[i], (one.Effects[i]+against.Effects[i])/2) {
			t.Fatalf("round %d: %v, of %v and %v", i+1, two.Effects[i], one.Effects[i], against.Effects[i])
		}
	}
	if got := variance(two.Effects) / variance(one.Effects); got < 0.6 || got > 0.9 {
		t.Errorf("%.2f of the variance, want about 0.75", got)
	}
	a, b := computeEffects(alone.Index(), alone, w, "time", tare.ControlID, base), computeEffects(both.Index(), both, w, "time", tare.ControlID, base)
	if !slices.Equal(a.Effects, b.Effects) {
		t.Error("the control's own effects changed")
	}
}
