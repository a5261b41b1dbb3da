package history

import (
	"math"
	"testing"

	"github.com/tarebench/tare"
)

func TestPairsBesidesTheBaseline(t *testing.T) {
	r := measured(0, 0.5, 0.1)
	r.Rounds = []tare.Effects{
		{Workload: "w", Metric: "time", A: "new", B: "third", Effects: []float64{-1.4, -1.4, -1.4, -1.4, -1.4, -1.4, -1.4, -1.4}},
		{Workload: "w", Metric: "time", A: "new", B: "old", Effects: []float64{0}}, // a comparison stands for it
		{Workload: "w", Metric: "cpu", A: "new", B: "third", Effects: []float64{1000}},
	}
	for against, want := range map[string]float64{"third": math.Exp(-1.4), "new": math.Exp(1.4)} {
		trend := trendOf(t, Query{Against: against, Contenders: []string{"new", "third"}}, r)
		if len(trend.Machines) != 1 || len(trend.Machines[0].Series) != 1 {
			t.Fatalf("%s: %+v", against, trend)
		}
		p := trend.Machines[0].Series[0].Last
		if math.Abs(p.Ratio-want) > 1e-12 || !(p.Low <= p.Ratio && p.Ratio <= p.High && p.Low > 0) {
			t.Errorf("against %s: %+v, want %v", against, p, want)
		}
	}
}
