package load

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/load/loadtest"
)

// even returns the blocks of a phase with n responses in each; beyond is how many of them miss the
// limit, by block.
func even(n int64, beyond ...int64) []Block {
	list := make([]Block, blockCount)
	for i := range list {
		list[i] = Block{Sent: n, Answers: n, Sum: float64(n) * 1e6, Beyond: []int64{beyond[i%len(beyond)]}}
	}
	return list
}

// With equally many responses in each part the standard error is that of a mean of twelve values.
func TestRatioOfEvenParts(t *testing.T) {
	var x, n [blockCount]float64
	for k := range x {
		x[k], n[k] = float64(100+10*(k%2)), 1000
	}
	r, low, high, ok := ratioInterval(x, n, false)
	// Half of the shares is 0.100, half 0.110: their standard deviation is 0.005·√(12/11).
	half := studentT * 0.005 * math.Sqrt(12.0/11) / math.Sqrt(12)
	if !ok || math.Abs(r-0.105) > 1e-12 || math.Abs(low-(r-half)) > 1e-12 || math.Abs(high-(r+half)) > 1e-12 {
		t.Errorf("%v (%v to %v), want 0.105 ± %v", r, low, high, half)
	}
	if _, _, _, ok := ratioInterval([blockCount]float64{}, [blockCount]float64{}, true); ok {
		t.Error("there is an interval of no answers")
	}
}

// The interval contains the true share about as often as its level says, even if parts of the phase
// differ more than by chance.
func TestRatioHoldsTheShare(t *testing.T) {
	studies := 4000
	if testing.Short() {
		studies = 1000
	}
	for name, spread := range map[string]float64{"independent answers": 0, "answers that resemble their neighbours": 0.5} {
		rng := rand.New(rand.NewPCG(11, 12))
		held := 0
		for range studies {
			var x, n [blockCount]float64
			for k := range x {
				share := 0.01 * math.Exp(spread*rng.NormFloat64()-spread*spread/2)
				n[k] = 900 + float64(rng.IntN(200))
				for range int(n[k]) {
					if rng.Float64() < share {
						x[k]++
					}
				}
			}
			if _, low, high, _ := ratioInterval(x, n, true); low <= 0.01 && 0.01 <= high {
				held++
			}
		}
		if share := float64(held) / float64(studies); share < 0.93 || share > 0.99 {
			t.Errorf("%s: the interval holds the share in %.1f %%, want about 95", name, 100*share)
		}
	}
}

func TestAnIntervalDecides(t *testing.T) {
	failing := even(1000, 0)
	for i := range failing {
		failing[i].Errors = 1 // 0.1 %
	}
	slow := even(1000, 0)
	for i := range slow {
		slow[i].Sum *= 1 + float64(i%2) // the mean is 1 ms or 2 ms
	}
	for _, c := range []struct {
		name      string
		objective string
		list      []Block
		seen      bool
		undecided bool
	}{
		{"far fewer beyond p99's limit than may be", "p99<1ms", even(1000, 1, 2), true, false},
		{"far more", "p99<1ms", even(1000, 30, 31), true, false},
		{"about as many", "p99<1ms", even(1000, 9, 11), true, true},
		{"nobody, though two in a hundred may", "p98<1ms", even(1000, 0), true, false},
		{"nobody of few answers", "p99<1ms", even(8, 0), true, true},
		{"all in one part of the leg", "p99<1ms", even(1000, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 300), true, true},
		{"no error", "errors<=0.1%", even(100, 0), true, false},
		{"as many errors as may be", "errors<=0.1%", failing, true, true},
		{"far fewer errors", "errors<1%", failing, true, false},
		{"a mean around the limit", "mean<1.5ms", slow, true, true},
		{"a mean far below it", "mean<10ms", slow, true, false},
		{"the maximum has no interval", "max<1ms", even(1000, 1), false, false},
		{"a leg without parts", "p99<1ms", nil, false, false},
		{"an objective that the leg was not told of", "p99<1ms", []Block{}, false, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := Outcome{Objective: slo(t, c.objective)[0]}
			o.addInterval(c.list, 0)
			if o.Seen != c.seen || o.Undecided != c.undecided || o.Low > o.Share || o.High < o.Share {
				t.Errorf("%+v", o)
			}
			if (o.Interval() != "") != c.seen {
				t.Errorf("interval %q", o.Interval())
			}
		})
	}
}

func TestIntervalInWords(t *testing.T) {
	for want, o := range map[string]Outcome{
		"0.8 % to 1.2 % take longer than 50ms, 1 % may": {Objective: slo(t, "p99<50ms")[0], Seen: true, Low: 0.008, High: 0.012},
		"0 % to 0.05 % fail, 0.1% may":                  {Objective: slo(t, "errors<=0.1%")[0], Seen: true, High: 0.0005},
		"the mean is 1ms to 2ms":                        {Objective: slo(t, "mean<5ms")[0], Seen: true, Low: 1e6, High: 2e6},
	} {
		if got := o.Interval(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// A step is not met if one objective is certainly missed, even if another is undecided. It is
// inconclusive if no objective is missed and one is undecided.
func TestAStepInDoubt(t *testing.T) {
	missed := Outcome{Objective: slo(t, "p50<1ms")[0], Value: 2e6}
	doubtful := Outcome{Objective: slo(t, "p99<1ms")[0], Met: true, Seen: true, Undecided: true, Share: 0.01, Low: 0.009, High: 0.012}
	met := Outcome{Objective: slo(t, "mean<1ms")[0], Met: true}
	for _, c := range []struct {
		outcomes  []Outcome
		want      tare.Ruling
		undecided bool
	}{
		{[]Outcome{met}, tare.Met, false},
		{[]Outcome{doubtful, met}, tare.Inconclusive, true},
		{[]Outcome{doubtful, missed}, tare.NotMet, false},
		{[]Outcome{missed, doubtful}, tare.NotMet, false},
	} {
		s := SearchStep{Outcomes: c.outcomes}
		s.judge()
		if s.Ruling != c.want || s.Undecided != c.undecided {
			t.Errorf("%v (undecided: %v), want %v: %s", s.Ruling, s.Undecided, c.want, s.Why)
		}
		if Met(c.outcomes) != (c.want == tare.Met) {
			t.Errorf("Met says %v of a step that is %v", Met(c.outcomes), c.want)
		}
	}
}

// jittery is a model whose closed loop is undecided from some number of connections on.
type jittery struct {
	model
	from int
}

func (j *jittery) Run(ctx context.Context, t Trial) (*Result, Facts, error) {
	r, f, err := j.model.Run(ctx, t)
	r.Blocks = even(r.Sent/blockCount, r.Sent/blockCount/1000)
	if t.Rate == 0 && t.Connections >= j.from {
		r.Blocks = even(r.Sent/blockCount, r.Sent/blockCount/50)
	}
	return r, f, err
}

// If an objective is undecided at some number of connections, the search continues below it.
func TestSearchGoesOnBelowDoubt(t *testing.T) {
	j := &jittery{model: model{base: 2 * time.Millisecond, capacity: 5000, seconds: 60}, from: 8}
	got, err := Searching{SLO: slo(t, "p98<20ms")}.Run(t.Context(), j)
	if err != nil || got.Ruling != tare.Met || got.Connections >= 8 || got.Connections < 4 {
		t.Errorf("%v on %d connections: %s (%v)", got.Ruling, got.Connections, got.Sentence, err)
	}
	doubted := 0
	for _, s := range got.Steps {
		if s.Undecided {
			doubted++
		}
		if s.Intervals() == "" {
			t.Error("a step without its intervals")
		}
	}
	if doubted == 0 {
		t.Error("no step was in doubt")
	}
}

// The parts of a phase together count each of its requests once.
func TestPartsOfALeg(t *testing.T) {
	everyWay(t, func(t *testing.T, w way) {
		s := serve(t, w, loadtest.Plain, loadtest.Options{})
		defer s.Close()
		session := openTo(t, w, s, Options{Connections: 4, Threads: 2})
		defer session.Close()
		objectives := slo(t, "p99<1ns,mean<1s,errors<1%")
		r, err := session.Run(context.Background(), Leg{Duration: 240 * time.Millisecond, Hold: objectives})
		if err != nil || len(r.Blocks) != blockCount {
			t.Fatalf("%d parts, %v", len(r.Blocks), err)
		}
		var sum Block
		sum.Beyond = make([]int64, len(objectives))
		for _, b := range r.Blocks {
			sum.addBlock(b)
		}
		if sum.Answers != int64(r.Latency.Count()) || sum.Errors != 0 || sum.Beyond[0] != sum.Answers || sum.Beyond[1] != 0 {
			t.Errorf("%+v, of %d answers", sum, r.Latency.Count())
		}
		if mean := sum.Sum / float64(sum.Answers); math.Abs(mean/r.Latency.Mean()-1) > 0.01 {
			t.Errorf("the parts' mean is %v, the leg's %v", mean, r.Latency.Mean())
		}
		outcomes := objectives.Hold(r)
		if !outcomes[0].Seen || outcomes[0].Undecided || outcomes[0].Met || !Met(outcomes[2:]) {
			t.Errorf("%+v", outcomes)
		}
		if without, err := session.Run(context.Background(), Leg{Duration: 50 * time.Millisecond}); err != nil || without.Blocks != nil {
			t.Errorf("a leg without objectives has %d parts, %v", len(without.Blocks), err)
		}
	})
}
