package counts

import (
	"slices"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/stats"
)

// Alpha is the error level of the interval of each count in a result.
const Alpha = 0.01

// MinDifference is the number of instructions by which an operation can differ between two builds
// of the same code. The addresses of data decide how copies and searches run.
const MinDifference = 1.0

// CompareWork compares the counts of every contender with those of against, by intervals at level
// alpha. Each count has few repeats, so all together estimate their variance.
func CompareWork(work []tare.Work, against string, alpha float64) []tare.Comparison {
	metric := tare.MetricFor(tare.MetricInstructions)
	var rows []tare.Comparison
	var repeats []stats.Repeats
	for _, w := range work {
		base := slices.IndexFunc(work, func(b tare.Work) bool { return b.Workload == w.Workload && b.Contender == against })
		if w.Contender == against || base < 0 {
			continue
		}
		r := stats.Repeats{Base: work[base].PerOp, Head: w.PerOp}
		repeats = append(repeats, r)
		rows = append(rows, tare.Comparison{
			Workload: w.Workload, Contender: w.Contender, Against: against, Metric: metric.Name, Unit: metric.Unit, Level: 1 - alpha,
			Rounds:       min(len(r.Base), len(r.Head)),
			AgainstValue: stats.Median(r.Base), Value: stats.Median(r.Head), Exploratory: true,
		})
	}
	usualVariance := stats.RepeatVariance(repeats)
	for i, r := range repeats {
		row := &rows[i]
		if base, head, ok := r.Exact(); ok {
			row.AgainstValue, row.Value, row.Exact = base, head, true
			row.Ratio = head / base
			row.Low, row.High = row.Ratio, row.Ratio
		} else {
			row.Ratio, row.Low, row.High = r.Compare(usualVariance, MinDifference, alpha)
		}
	}
	return rows
}

// AddToResult adds the counter, the counts and their comparisons to a result.
func (c *Counter) AddToResult(r *tare.Result, work []tare.Work, rows []tare.Comparison) {
	if len(work) == 0 {
		return
	}
	metric := tare.MetricFor(tare.MetricInstructions)
	counter := c.Counter
	r.Counter = &counter
	r.Metrics = append(r.Metrics[:len(r.Metrics):len(r.Metrics)], metric.Name)
	r.Work = append(r.Work, work...)
	for _, w := range work {
		value := stats.Median(w.PerOp)
		for _, row := range rows {
			switch {
			case row.Workload != w.Workload || !row.Exact:
			case row.Contender == w.Contender:
				value = row.Value
			case row.Against == w.Contender:
				value = row.AgainstValue
			}
		}
		r.Values = append(r.Values, tare.Value{
			Workload: w.Workload, Contender: w.Contender, Metric: metric.Name, Unit: metric.Unit, Rounds: len(w.PerOp),
			Value: value, Low: slices.Min(w.PerOp), High: slices.Max(w.PerOp),
		})
	}
	r.Comparisons = append(r.Comparisons, rows...)
}
