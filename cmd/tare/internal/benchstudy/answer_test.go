package benchstudy

import (
	"fmt"
	"strings"
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
	counted := timed(same)
	counted.Comparisons = append(counted.Comparisons, tare.Comparison{Workload: "Benchmark0", Contender: Head, Metric: tare.MetricInstructions, Against: Base, Ratio: 1.1, Low: 1.1, High: 1.1, Exact: true})
	for name, c := range map[string]struct {
		r    *tare.Result
		want string
	}{
		"none":    {timed(same, within), "No change in time shown in 2 benchmarks. Changes in time of 2 % (6.1 % in the noisiest benchmark) or more would have been shown."},
		"one":     {timed(same), "No change in time shown in 1 benchmark. Changes in time of 6.1 % or more would have been shown."},
		"some":    {timed(slower, same, faster), "2 of 3 benchmarks changed in time: 1 slower, 1 faster. Time, head ÷ base: Benchmark2 0.50× (0.45–0.55); Benchmark0 1.20× (1.10–1.30). In the others changes of 6.1 % or more would have been shown."},
		"many":    {timed(slower, slower, slower, slower, faster), "5 of 5 benchmarks changed in time: 4 slower, 1 faster. Time, head ÷ base: Benchmark4 0.50× (0.45–0.55); Benchmark0 1.20× (1.10–1.30); Benchmark1 1.20× (1.10–1.30); 2 more."},
		"void":    {void, "No change in time shown in 1 benchmark; 1 void. Changes in time of 6.1 % or more would have been shown."},
		"counted": {counted, "No change in time shown in 1 benchmark. Changes in time of 6.1 % or more would have been shown. Benchmark0 does 10.0 % more work (instructions)."},
		"untimed": {&tare.Result{Measured: tare.Measured{Work: make([]tare.Work, 1)}}, "No benchmark was timed: code and counts are the same on both sides. "},
		"rounds":  {timed([3]float64{0.5, 0, 0}), "No answer: no benchmark has a result in time. "},
	} {
		setAnswer(c.r)
		if got := c.r.Answer + " " + c.r.Figures; got != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", name, got, c.want)
		}
		if n := len(strings.Fields(c.r.Answer)); n > 15 {
			t.Errorf("%s: %d words: %s", name, n, c.r.Answer)
		}
	}
}
