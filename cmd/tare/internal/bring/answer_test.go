package bring

import (
	"fmt"
	"testing"

	"github.com/tarebench/tare"
)

// timed is a result of benchmarks with their ratios and intervals; the control
// differs by 2 %.
func timed(ratios ...[3]float64) *tare.Result {
	r := &tare.Result{}
	for i, x := range ratios {
		id := fmt.Sprint("Benchmark", i)
		r.Workloads = append(r.Workloads, tare.Workload{ID: id})
		r.Comparisons = append(r.Comparisons,
			tare.Comparison{Workload: id, Contender: tare.ControlID, Metric: "time", Against: Base, Ratio: 1, Low: 0.98, High: 1.02},
			tare.Comparison{Workload: id, Contender: Head, Metric: "time", Against: Base, Ratio: x[0], Low: x[1], High: x[2]})
	}
	return r
}

func TestAnswer(t *testing.T) {
	same, within, faster, slower := [3]float64{1.01, 0.95, 1.07}, [3]float64{1.01, 1.005, 1.015}, [3]float64{0.5, 0.45, 0.55}, [3]float64{1.2, 1.1, 1.3}
	void := timed(same, faster)
	void.Findings = []tare.Finding{{Check: "wrong-answer", Severity: tare.Void, Contender: Head, Workload: "Benchmark1"}}
	for name, c := range map[string]struct {
		r    *tare.Result
		want string
	}{
		"none":   {timed(same, within), "No change in time was shown in 2 benchmarks; this run could have shown changes beyond 2 % to 6.1 %."},
		"one":    {timed(same), "No change in time was shown in 1 benchmark; this run could have shown changes beyond 6.1 %."},
		"some":   {timed(slower, same, faster), "2 of 3 benchmarks changed in time: Benchmark2 takes 0.5× (0.45 to 0.55) the time of base; Benchmark0 takes 1.2× (1.1 to 1.3) the time of base. In the others this run could have shown changes beyond 6.1 %."},
		"many":   {timed(slower, slower, slower, slower, faster), "5 of 5 benchmarks changed in time: Benchmark4 takes 0.5× (0.45 to 0.55) the time of base; Benchmark0 takes 1.2× (1.1 to 1.3) the time of base; Benchmark1 takes 1.2× (1.1 to 1.3) the time of base; Benchmark2 takes 1.2× (1.1 to 1.3) the time of base; 1 more changed."},
		"void":   {void, "No change in time was shown in 1 benchmark; this run could have shown changes beyond 6.1 %. Void: 1."},
		"rounds": {timed([3]float64{0.5, 0, 0}), "No benchmark has a result: too few rounds, or void."},
	} {
		if got := answer(c.r); got != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", name, got, c.want)
		}
	}
}
