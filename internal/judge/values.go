package judge

import (
	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/evidence"
	"github.com/tarebench/tare/stats"
)

// This file computes the value of each program, such as the median time per operation over rounds.

// Values returns the value per operation of every contender, workload and metric. It is the median
// over rounds, with its 95 % order-statistic interval. Low and High equal the median if there are too
// few rounds. Values of traps and of contenders that could not be built are struck: reports cross
// them out.
func Values(d evidence.Evidence) []tare.Value {
	x := d.Index()
	var out []tare.Value
	for _, w := range d.Study.Workloads {
		for _, name := range evidence.MetricsOf(w, d.Study.Metrics) {
			for _, c := range d.Contenders {
				if v, ok := findValue(x, w.ID, name, c); ok {
					out = append(out, v)
				}
			}
		}
	}
	return out
}

func findValue(x *evidence.Index, workload, metric string, c tare.Contender) (v tare.Value, ok bool) {
	m, ok := tare.MetricNamed(metric)
	if !ok {
		return tare.Value{}, false
	}
	values := x.PerRound(m, workload, c.ID)
	if len(values) == 0 {
		return tare.Value{}, false
	}
	v = tare.Value{
		Workload: workload, Contender: c.ID, Metric: metric, Unit: m.Unit,
		Value: stats.Median(values), Rounds: len(values),
		Struck: c.Role == tare.RoleTrap || c.Error != "",
	}
	v.Low, v.High = v.Value, v.Value
	if lo, hi, ok := stats.OrderInterval(values, alpha); ok {
		v.Low, v.High = lo, hi
	}
	return v, true
}

// Strike applies the findings of the checks to copies of comparisons and values. It strikes the
// values that a finding voids, and ranks the other contenders again.
func Strike(d evidence.Evidence, effects []tare.Effects, comparisons []tare.Comparison, values []tare.Value, findings []tare.Finding) ([]tare.Comparison, []tare.Value) {
	struck := append([]tare.Value(nil), values...)
	for i := range struck {
		if len(tare.VoidsMetric(findings, struck[i].Contender, struck[i].Workload, struck[i].Metric)) > 0 {
			struck[i].Struck = true
		}
	}
	ranked := append([]tare.Comparison(nil), comparisons...)
	setRanks(d, effects, ranked, findings)
	return ranked, struck
}
