package history

import (
	"math"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/stats"
)

// Pair is a contender against another on one workload and metric of one run.
type Pair struct {
	Workload  string
	Metric    string
	Contender string
	Against   string
	Ratio     float64 // contender / against
	Low       float64 // zero, as High: too few rounds for an interval
	High      float64
	Level     float64 // confidence, simultaneous over looks
	Rounds    int
	Void      bool // a check voided a side
}

// alpha is the error level of an interval that is not in the document.
const alpha = 0.05

// PairsOf are the pairs that a result tells about: its comparisons, and every
// other pair whose rounds it holds, with the interval that a comparison of its
// own has (see the package documentation of stats).
func PairsOf(r *tare.Result) []Pair {
	var out []Pair
	type key struct{ workload, metric, a, b string }
	seen := map[key]bool{}
	void := func(p Pair) bool {
		return len(r.VoidsMetric(p.Contender, p.Workload, p.Metric)) > 0 || len(r.VoidsMetric(p.Against, p.Workload, p.Metric)) > 0
	}
	for _, c := range r.Comparisons {
		if !(c.Ratio > 0) || math.IsInf(c.Ratio, 0) {
			continue
		}
		seen[key{c.Workload, c.Metric, c.Contender, c.Against}] = true
		p := Pair{Workload: c.Workload, Metric: c.Metric, Contender: c.Contender, Against: c.Against, Ratio: c.Ratio, Low: c.Low, High: c.High, Level: c.Level, Rounds: c.Rounds}
		p.Void = void(p)
		out = append(out, p)
	}
	level := stats.LookLevel(alpha, max(1, len(r.Plan.Looks)))
	for _, e := range r.Rounds {
		if seen[key{e.Workload, e.Metric, e.A, e.B}] || seen[key{e.Workload, e.Metric, e.B, e.A}] || !usable(e.Effects) {
			continue
		}
		p := Pair{Workload: e.Workload, Metric: e.Metric, Contender: e.A, Against: e.B, Ratio: math.Exp(stats.HodgesLehmann(e.Effects)), Level: 1 - alpha, Rounds: len(e.Effects)}
		if lo, hi, ok := stats.Interval(e.Effects, level); ok {
			p.Low, p.High = math.Exp(lo), math.Exp(hi)
		}
		p.Void = void(p)
		out = append(out, p)
	}
	return out
}

// usable reports whether arithmetic can be done on effects from a file.
func usable(effects []float64) bool {
	for _, x := range effects {
		if math.IsNaN(x) || math.Abs(x) > 100 {
			return false
		}
	}
	const most = 1000 // an interval takes time and memory with their square
	return len(effects) > 0 && len(effects) <= most
}

// Turned is the pair the other way round.
func (p Pair) Turned() Pair {
	p.Contender, p.Against, p.Ratio = p.Against, p.Contender, 1/p.Ratio
	if p.Low > 0 && p.High > 0 {
		p.Low, p.High = 1/p.High, 1/p.Low
	}
	return p
}
