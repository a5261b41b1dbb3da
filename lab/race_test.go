package lab_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/lab"
)

// A short budget spends its last rounds on those that may still be the best: a
// contender that three others are proven faster than leaves after a look, with
// the interval it has then. A claim about it keeps it in.
func TestSlowContendersLeave(t *testing.T) {
	s := script()
	race := tare.Study{
		ID: "race", Question: "Which is fastest?", Kind: "codec", Baseline: "base",
		Contenders: []tare.Entry{{ID: "base"}}, Metrics: []string{"time"},
		Workloads: []tare.Workload{{ID: "w", Fixture: "x", Op: "marshal"}},
	}
	for i := range 6 {
		id := fmt.Sprintf("c%d", i)
		act := s.Contenders["lean"]
		act.NSPerOp = 20000 * float64(1+i)
		s.Contenders[id] = act
		race.Contenders = append(race.Contenders, tare.Entry{ID: id})
	}
	o := options(t, s)
	o.Quick = true
	r, err := lab.Run(context.Background(), race, o)
	if err != nil {
		t.Fatal(err)
	}
	last := map[string]int{}
	for _, tr := range r.Trials {
		last[tr.Contender] = max(last[tr.Contender], tr.Round)
	}
	if last["c5"] >= r.RoundsDone || last["c0"] != r.RoundsDone || last["base"] != r.RoundsDone {
		t.Errorf("rounds: slowest %d, fastest %d, baseline %d of %d; want only the slowest to leave", last["c5"], last["c0"], last["base"], r.RoundsDone)
	}
	for _, c := range r.Comparisons {
		if c.Contender == "c5" && (c.Low <= 0 || c.High <= 0) {
			t.Errorf("the slowest has no interval: %+v", c)
		}
	}
	race.Claims = []tare.Claim{{ID: "F", Source: "s", Kind: tare.ClaimRatio, Contender: "c5", Workload: "w", Metric: "time", Baseline: 1, Value: 3, Statement: "slow"}}
	race.Contenders = []tare.Entry{race.Contenders[0], race.Contenders[1], race.Contenders[2], race.Contenders[3], race.Contenders[6]}
	race.Criteria = []tare.Criterion{{Contender: "c0", Metric: "time", Ratio: "<= 1.5"}, {Contender: "c1", Metric: "time", Ratio: "<= 1.5"}, {Contender: "c2", Metric: "time", Ratio: "<= 1.5"}}
	if r, err = lab.Run(context.Background(), race, freshDir(t, o)); err != nil {
		t.Fatal(err)
	}
	if len(r.Plan.Retired) != 0 {
		t.Errorf("%v left, and a claim is about them", r.Plan.Retired)
	}
}

func freshDir(t *testing.T, o lab.Options) lab.Options {
	o.Dir = t.TempDir()
	return o
}
