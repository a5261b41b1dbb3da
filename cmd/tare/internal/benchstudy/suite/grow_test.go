package suite

import (
	"context"
	"testing"
	"time"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/contender/wire"
	"github.com/tarebench/tare/internal/trial"
)

// modelled is a benchmark whose runs take as long as a formula says, so that no
// test of them depends on the machine.
type modelled func(ops int64) time.Duration

func (m modelled) Do(_ context.Context, q wire.Request) (wire.Reply, error) {
	return wire.Reply{Counts: wire.Counts{WallNS: int64(m(q.Ops))}}, nil
}

func (modelled) Close(context.Context) tare.Evidence { return tare.Evidence{} }

var _ trial.Conn = modelled(nil)

// A benchmark is cut into slices if its time is proportional to its iterations,
// measured in whole runs if it is not, and left out if it has no loop.
func TestGrow(t *testing.T) {
	const iteration = 100 * time.Nanosecond
	interrupted := 0
	for name, tt := range map[string]struct {
		takes         modelled
		grows, around bool
		why           string
	}{
		"proportional": {takes: func(n int64) time.Duration { return time.Duration(n) * iteration }},
		"interrupted": {takes: func(n int64) time.Duration { // one run in three
			interrupted++
			return time.Duration(n)*iteration + time.Duration(interrupted%3/2)*5*time.Millisecond
		}},
		"longer and longer":               {takes: func(n int64) time.Duration { return time.Duration(n*n) * iteration / 2000 }, grows: true},
		"around the loop":                 {takes: func(n int64) time.Duration { return 3*time.Millisecond + time.Duration(n)*iteration }, around: true},
		"little around a loop of nothing": {takes: func(n int64) time.Duration { return 300*time.Microsecond + time.Duration(n*3/10) }, around: true},
		"without a loop":                  {takes: func(int64) time.Duration { return 10 * time.Millisecond }, around: true, why: noLoop},
		"without a loop, interrupted": {takes: func(int64) time.Duration { // every other run
			interrupted++
			return 10*time.Millisecond + time.Duration(interrupted%2)*15*time.Millisecond
		}, around: true, why: noLoop},
		"without a loop, slower for once": {takes: func(n int64) time.Duration { // while the longest runs are done
			if n == maxRunOps {
				return 130 * time.Microsecond
			}
			return 60 * time.Microsecond
		}, around: true, why: noLoop},
		"nothing": {takes: func(int64) time.Duration { // a nanosecond more or less
			interrupted++
			return 40 + time.Duration(interrupted/4%2)
		}, why: noLoop},
	} {
		t.Run(name, func(t *testing.T) {
			d := discovery{conn: tt.takes, runTime: 500 * time.Millisecond, sliceTime: func(Benchmark) time.Duration { return 4 * time.Millisecond }}
			b := Benchmark{Name: "BenchmarkX", NSPerOp: float64(iteration)}
			why, err := d.checkGrowth(t.Context(), &b)
			if err != nil || why != tt.why || (b.Growth > 0) != tt.grows || (b.OutsideLoop > 0) != tt.around {
				t.Errorf("%q, %v, %+v", why, err, b)
			}
			if whole := (tt.grows || tt.around) && why == ""; (b.RunIterations > 0) != whole {
				t.Errorf("whole runs of %d iterations", b.RunIterations)
			} else if took := tt.takes(b.RunIterations); whole && (took < d.runTime/4 || took > 4*d.runTime) {
				t.Errorf("a whole run takes %v, want about %v", took, d.runTime)
			}
		})
	}
}

// The runs that show how a benchmark grows are as long with what is not timed as those of
// others.
func TestGrowCountsAllTime(t *testing.T) {
	const timed, untimed = 50 * time.Nanosecond, 100 * time.Microsecond
	for name, fixed := range map[string]time.Duration{"in proportion": 0, "around the loop": time.Millisecond} {
		var most, all int64
		takes := modelled(func(n int64) time.Duration {
			most, all = max(most, n), all+n
			return fixed + time.Duration(n)*timed
		})
		d := discovery{conn: takes, runTime: 500 * time.Millisecond, sliceTime: func(b Benchmark) time.Duration {
			return time.Duration(b.TimedShare() * float64(48*time.Millisecond))
		}}
		b := Benchmark{Name: "BenchmarkX", NSPerOp: float64(timed), UntimedNS: float64(untimed)}
		if why, err := d.checkGrowth(t.Context(), &b); err != nil || why != "" || (b.OutsideLoop > 0) != (fixed > 0) {
			t.Errorf("%s: %q, %v, %+v", name, why, err, b)
		}
		if longest, sum := time.Duration(most)*untimed, time.Duration(all)*untimed; longest > 4*d.runTime || sum > 10*d.runTime {
			t.Errorf("%s: runs of up to %v, %v in all", name, longest, sum)
		}
	}
}

// What an iteration takes while the timer is stopped, and what testing does once a run,
// are told by a run of one iteration and one of many.
func TestSplit(t *testing.T) {
	for _, tt := range []struct{ timed, untimed, around time.Duration }{
		{100 * time.Nanosecond, 0, time.Millisecond},
		{100 * time.Nanosecond, 0, 150 * time.Millisecond},
		{50 * time.Nanosecond, 100 * time.Microsecond, time.Millisecond},
		{20 * time.Millisecond, 30 * time.Millisecond, 5 * time.Millisecond},
		{20 * time.Millisecond, time.Millisecond, 5 * time.Millisecond}, // within chance
	} {
		const ops = 1000
		b := Benchmark{NSPerOp: float64(tt.timed), Overhead: tt.around + tt.timed + tt.untimed}
		b.splitTime(wire.Reply{Counts: wire.Counts{Ops: ops, WallNS: ops * int64(tt.timed), UntimedNS: int64(2*tt.around + (ops+1)*tt.untimed + tt.timed)}})
		want := float64(tt.untimed)
		if tt.untimed < tt.timed/4 {
			want, tt.around = 0, tt.around+tt.untimed
		}
		if off := b.UntimedNS - want; off > 0.01*want+1 || off < -0.01*want-1 {
			t.Errorf("%+v: %v ns are not timed", tt, b.UntimedNS)
		}
		if off := b.Overhead - tt.around; off > tt.around/50 || off < -tt.around/50 {
			t.Errorf("%+v: %v around", tt, b.Overhead)
		}
	}
}
