package lab_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/plan"
	"github.com/tarebench/tare/lab"
	"github.com/tarebench/tare/lab/labtest"
)

// benchmarks is a study of n benchmarks on two sides, as tare bench makes it, and what
// each of them is expected to take. Those in ratio take so many times as long.
func benchmarks(n int, act labtest.Act, ratio map[string]float64) (tare.Study, labtest.Script, []tare.Pilot) {
	s := tare.Study{ID: "bench", Question: "Which?", Kind: "codec", Baseline: "base", Contenders: []tare.Entry{{ID: "base"}, {ID: "head"}}, Metrics: []string{"time"}}
	act.Ratio = ratio
	script := labtest.Script{Contenders: map[string]labtest.Act{"base": act, "head": act, "null": {NSPerOp: 1}}}
	var expected []tare.Pilot
	for i := range n {
		w := tare.Workload{ID: fmt.Sprintf("w%d", i), Fixture: "x", Op: "marshal", Slice: 4 * time.Millisecond}
		s.Workloads = append(s.Workloads, w)
		ns := act.NSPerOp
		if by, ok := ratio[w.ID]; ok {
			ns *= by
		}
		for _, id := range []string{"base", tare.ControlID, "head"} {
			expected = append(expected, tare.Pilot{Contender: id, Workload: w.ID, NSPerOp: ns, UntimedNS: act.UntimedNS, AroundNS: act.AroundNS, SetupNS: 20e6})
		}
		expected = append(expected, tare.Pilot{Contender: tare.NullID, Workload: w.ID, NSPerOp: 1})
	}
	return s, script, expected
}

// limited are options with a budget that is a limit.
func limited(t *testing.T, s labtest.Script, budget time.Duration, expected []tare.Pilot) lab.Options {
	o := options(t, s)
	o.Quick, o.User, o.Budget, o.Limit, o.Most, o.Expected = false, true, budget, budget, 16, expected
	return o
}

// A budget that is a limit holds, however far off the forecast is: no round starts that
// would end past it, and what there is by then is judged.
func TestLimitHolds(t *testing.T) {
	for _, act := range []labtest.Act{
		{NSPerOp: 1000, AroundNS: 2e6},
		{NSPerOp: 1000, AroundNS: 2e6, Pace: 3},
		{NSPerOp: 1000, AroundNS: 2e6, Pace: 10},
		{NSPerOp: 50, UntimedNS: 100e3, AroundNS: 2e6},
		{NSPerOp: 50, UntimedNS: 100e3, AroundNS: 2e6, Pace: 5},
		{NSPerOp: 1000, AroundNS: 30e6},
	} {
		s, script, expected := benchmarks(3, act, nil)
		for i := range s.Workloads {
			s.Workloads[i].Slice = time.Duration(float64(s.Workloads[i].Slice) * tare.Pilot{NSPerOp: act.NSPerOp, UntimedNS: act.UntimedNS}.TimedShare())
		}
		o := limited(t, script, 15*time.Second, expected)
		began := o.Now()
		r, err := lab.Run(context.Background(), s, o)
		if err != nil {
			t.Errorf("%+v: %v", act, err)
			continue
		}
		if took := o.Now().Sub(began); took > o.Limit || r.RoundsDone == 0 {
			t.Errorf("%+v: %d rounds in %v", act, r.RoundsDone, took)
		}
		if act.Pace == 0 && r.RoundsDone < plan.MinRounds {
			t.Errorf("%+v: %d rounds, although all is as forecast", act, r.RoundsDone)
		}
		if r.Plan.Stretched {
			t.Errorf("%+v: the plan was stretched", act)
		}
	}
}

// Where rounds are three times as slow as forecast, a quick budget is exceeded for the fewest rounds with
// intervals only, because somebody waits; a full one for twelve.
func TestSlowRoundsExceedABudget(t *testing.T) {
	for _, isQuick := range []bool{true, false} {
		s, script, expected := benchmarks(3, labtest.Act{NSPerOp: 1000, AroundNS: 2e6, Pace: 3}, nil)
		o := options(t, script)
		o.Quick, o.Budget, o.Most, o.Expected = isQuick, 15*time.Second, 16, expected
		r, err := lab.Run(context.Background(), s, o)
		if err != nil {
			t.Fatal(err)
		}
		want := plan.MinRounds
		if isQuick {
			want = plan.LeastRounds(len(r.Plan.Slices), len(r.Plan.Looks))
		}
		if r.RoundsDone != want || !r.Plan.Stretched {
			t.Errorf("quick %v: %d rounds, stretched %v; want %d", isQuick, r.RoundsDone, r.Plan.Stretched, want)
		}
	}
}

// What the caller spent of a budget is not there to measure.
func TestSpentCounts(t *testing.T) {
	s, script, expected := benchmarks(1, labtest.Act{NSPerOp: 1000, AroundNS: 2e6}, nil)
	o := limited(t, script, 20*time.Second, expected)
	o.Spent = 12 * time.Second
	began := o.Now()
	r, err := lab.Run(context.Background(), s, o)
	if took := o.Now().Sub(began); err != nil || took > 9*time.Second || r.Seconds < 12 {
		t.Errorf("measured for %v and %v s, %v", took, r.Seconds, err)
	}
}

// Not one round of what takes longer than the limit: that is an error with a budget that
// would do, at once if it is known, else after the slice that runs when the limit comes.
func TestLimitWithoutARound(t *testing.T) {
	for _, c := range []struct {
		act  labtest.Act
		most time.Duration
	}{
		{labtest.Act{NSPerOp: 1000, AroundNS: 3e9}, 10 * time.Second},
		{labtest.Act{NSPerOp: 1000, AroundNS: 5e6, Pace: 200}, 23 * time.Second},
	} {
		s, script, expected := benchmarks(1, c.act, nil)
		o := limited(t, script, 20*time.Second, expected)
		began := o.Now()
		_, err := lab.Run(context.Background(), s, o)
		var short *plan.BudgetError
		if !errors.As(err, &short) || short.Least <= o.Limit || !strings.Contains(err.Error(), "a budget of 20s has no time for a round of w0") {
			t.Errorf("%+v: %v", c.act, err)
		}
		if took := o.Now().Sub(began); took > c.most {
			t.Errorf("%+v: told after %v", c.act, took)
		}
	}
}

// What takes longest is left out first, so that as much as possible is measured.
func TestLongestIsLeftOut(t *testing.T) {
	s, script, expected := benchmarks(5, labtest.Act{NSPerOp: 1000, AroundNS: 2e6}, map[string]float64{"w0": 2e6, "w2": 1e6})
	r, err := lab.Run(context.Background(), s, limited(t, script, 20*time.Second, expected))
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, l := range r.NotWeighed {
		out = append(out, l.What)
	}
	if slices.Sort(out); !slices.Equal(out, []string{"workload w0", "workload w2"}) {
		t.Errorf("left out: %q", out)
	}
}

// Benchmarks that were left out come back once the rounds show that there is time for
// them, and have intervals. Those that are really too long stay out.
func TestLeftOutComesBack(t *testing.T) {
	for _, off := range []float64{1, 3} {
		s, script, expected := benchmarks(10, labtest.Act{NSPerOp: 1000, AroundNS: 5e6}, nil)
		for i := range expected {
			expected[i].SetupNS *= off * off // and what is known of pilots is as wrong
			expected[i].AroundNS *= off
		}
		o := limited(t, script, 20*time.Second, expected)
		before := -1
		progress := func(e lab.Event) {
			if e.Phase == "plan" {
				before = len(e.Plan.LeftOut)
			}
		}
		o.Progress = progress
		r, err := lab.Run(context.Background(), s, o)
		if err != nil {
			t.Fatal(err)
		}
		after := len(r.NotWeighed)
		if before <= 0 || after != len(r.Plan.LeftOut) || len(r.Workloads) != len(s.Workloads)-after || r.Seconds > 21 {
			t.Errorf("off by %v: %d left out before and %d after (%d by the plan), %d measured in %v s", off, before, after, len(r.Plan.LeftOut), len(r.Workloads), r.Seconds)
		}
		if off > 1 && after >= before {
			t.Errorf("forecast too long by %v: %d left out before, %d after", off, before, after)
		}
		for _, w := range r.Workloads {
			i := slices.IndexFunc(r.Comparisons, func(c tare.Comparison) bool { return c.Workload == w.ID && c.Contender == "head" })
			if i < 0 || !(r.Comparisons[i].Low > 0) {
				t.Errorf("off by %v: %s has no interval after %d rounds", off, w.ID, r.RoundsDone)
			}
		}
	}
}
