package load

import (
	"slices"
	"time"

	"github.com/tarebench/tare/stats"
)

// Drift is a steady change of a value over a phase. Its interval at 95 % is for that value only.
type Drift struct {
	Of     string  `json:"of"`     // latency_p50, latency_p99, errors or server_memory
	Unit   string  `json:"unit"`   // ns, share or bytes
	Level  float64 `json:"level"`  // median of the blocks
	Change float64 `json:"change"` // from the start to the end of the phase
	Low    float64 `json:"low"`    // interval of Change at 95 %, with High
	High   float64 `json:"high"`
	Shown  bool    `json:"shown"` // the interval excludes zero
}

// To find a drift, a phase is cut into blocks of several seconds. Consecutive seconds are correlated;
// blocks are much less so.
const (
	minBlockSeconds = 5 // shortest block, in seconds
	maxBlocks       = 40
	driftAlpha      = 0.05 // for an interval at 95 %
)

// DriftLeast is the shortest phase that is tested for drift.
const DriftLeast = 60 * time.Second

// listDrifts tests the latencies, the errors and the server's memory for a trend. memory is in bytes, by
// second. It returns nil if the phase is too short or its rate changes.
func listDrifts(seconds []Second, memory []int64, p Profile) []Drift {
	switch p.(type) {
	case nil, Constant, Poisson:
	default:
		return nil
	}
	n := len(seconds)
	if time.Duration(n)*time.Second < DriftLeast {
		return nil
	}
	out := []Drift{
		newDrift("latency_p50", "ns", n, func(i int) (float64, bool) { return float64(seconds[i].P50), seconds[i].Requests > 0 }),
		newDrift("latency_p99", "ns", n, func(i int) (float64, bool) { return float64(seconds[i].P99), seconds[i].Requests > 0 }),
	}
	if slices.ContainsFunc(seconds, func(s Second) bool { return s.Errors > 0 }) {
		out = append(out, newDrift("errors", "share", n, func(i int) (float64, bool) {
			all := max(seconds[i].Requests, seconds[i].Errors)
			return float64(seconds[i].Errors) / float64(max(all, 1)), all > 0
		}))
	}
	if slices.ContainsFunc(memory, func(bytes int64) bool { return bytes > 0 }) {
		out = append(out, newDrift("server_memory", "bytes", min(n, len(memory)), func(i int) (float64, bool) { return float64(memory[i]), memory[i] > 0 }))
	}
	return slices.DeleteFunc(out, func(d Drift) bool { return d.Of == "" })
}

// newDrift cuts n seconds into blocks. It compares each block of the first half with the block half a phase
// later. value returns the value in a second, or false without one. newDrift returns the zero Drift if
// there are too few values.
//
// Source: H. Theil, "A rank-invariant method of linear and polynomial regression analysis", Indag. Math. 12
// (1950) 85–91, the incomplete method. The interval is that of the signed-rank test of the pairs.
func newDrift(of, unit string, n int, value func(second int) (float64, bool)) Drift {
	pairs := min(n/minBlockSeconds, maxBlocks) / 2
	if pairs < 1 {
		return Drift{}
	}
	levels := make([]float64, 2*pairs)
	for b := range levels {
		var values []float64
		for i := b * n / len(levels); i < (b+1)*n/len(levels); i++ {
			if x, ok := value(i); ok {
				values = append(values, x)
			}
		}
		if len(values) == 0 {
			return Drift{}
		}
		if unit == "share" {
			levels[b] = computeMean(values)
		} else {
			levels[b] = computeMedian(values)
		}
	}
	changes := make([]float64, pairs)
	for i := range changes {
		changes[i] = 2 * (levels[i+pairs] - levels[i])
	}
	lo, hi, ok := stats.Interval(changes, driftAlpha)
	if !ok {
		return Drift{}
	}
	return Drift{Of: of, Unit: unit, Level: computeMedian(levels), Change: stats.HodgesLehmann(changes), Low: lo, High: hi, Shown: lo > 0 || hi < 0}
}

func computeMean(values []float64) float64 {
	sum := 0.0
	for _, x := range values {
		sum += x
	}
	return sum / float64(len(values))
}

// computeMedian returns the median of values, which must not be empty.
func computeMedian(values []float64) float64 {
	s := slices.Sorted(slices.Values(values))
	return (s[(len(s)-1)/2] + s[len(s)/2]) / 2
}
