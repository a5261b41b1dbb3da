package report

import (
	"math"

	"github.com/tarebench/tare"
)

// samples are what the trials of a contender recorded on a workload, those
// that could be carried through, in the order of the rounds.
func samples(r *tare.Result, contender, workload string) []tare.Sample {
	var out []tare.Sample
	for _, t := range r.Trials {
		if s, ok := t.Samples[workload]; ok && t.Contender == contender && t.Error == nil {
			out = append(out, s)
		}
	}
	return out
}

// gauge reads one figure off a sample, and reports whether it is there.
type gauge func(tare.Sample) (float64, bool)

// keyed is the gauge of a key.
func keyed(key string) gauge {
	return func(s tare.Sample) (float64, bool) {
		x, ok := s[key]
		return x, ok && x >= 0 && !math.IsInf(x, 0)
	}
}

// busy is CPU time as a percentage of what so many cores could have given
// while the sample was measured.
func busy(cpu, cores string) gauge {
	return func(s tare.Sample) (float64, bool) {
		used, ok := keyed(cpu)(s)
		x := used / (s[tare.KeyWall] * s[cores]) * 100
		return x, ok && x >= 0 && !math.IsInf(x, 0)
	}
}

// total adds a count up over samples; it reports false where it is in none.
func total(samples []tare.Sample, of gauge) (sum float64, ok bool) {
	for _, s := range samples {
		if x, there := of(s); there {
			sum, ok = sum+x, true
		}
	}
	return sum, ok
}

// extent is the least and the most of a gauge over samples; it reports false
// where it is in none.
func extent(samples []tare.Sample, of gauge) (least, most float64, ok bool) {
	least, most = math.Inf(1), math.Inf(-1)
	for _, s := range samples {
		if x, there := of(s); there {
			least, most, ok = min(least, x), max(most, x), true
		}
	}
	return least, most, ok
}

// reach prints an extent, one figure where both come out alike.
func reach(least, most float64, print func(float64) string) string {
	a, b := print(least), print(most)
	if a == b {
		return a
	}
	return a + "–" + b
}
