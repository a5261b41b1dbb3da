package report

import (
	"math"

	"github.com/tarebench/tare"
)

// listSamples returns the samples of a contender's successful trials on a workload, in the order of the
// rounds.
func listSamples(r *tare.Result, contender, workload string) []tare.Sample {
	var out []tare.Sample
	for _, t := range r.Trials {
		if s, ok := t.Samples[workload]; ok && t.Contender == contender && t.Error == nil {
			out = append(out, s)
		}
	}
	return out
}

// sampleReader reads one value of a sample and reports whether it is there.
type sampleReader func(tare.Sample) (float64, bool)

// readKey returns the reader of a key.
func readKey(key string) sampleReader {
	return func(s tare.Sample) (float64, bool) {
		x, ok := s[key]
		return x, ok && x >= 0 && !math.IsInf(x, 0)
	}
}

// readBusy returns the reader of CPU time as a percentage of the capacity of the cores while the sample was
// measured.
func readBusy(cpu, cores string) sampleReader {
	return func(s tare.Sample) (float64, bool) {
		used, ok := readKey(cpu)(s)
		x := used / (s[tare.KeyWall] * s[cores]) * 100
		return x, ok && x >= 0 && !math.IsInf(x, 0)
	}
}

// sumSamples adds up a value over samples. It returns false if no sample has it.
func sumSamples(samples []tare.Sample, of sampleReader) (sum float64, ok bool) {
	for _, s := range samples {
		if x, there := of(s); there {
			sum, ok = sum+x, true
		}
	}
	return sum, ok
}

// findRange returns the least and greatest value over samples. It returns false if no sample has it.
func findRange(samples []tare.Sample, of sampleReader) (least, most float64, ok bool) {
	least, most = math.Inf(1), math.Inf(-1)
	for _, s := range samples {
		if x, there := of(s); there {
			least, most, ok = min(least, x), max(most, x), true
		}
	}
	return least, most, ok
}

// formatSpan prints a range, or one number if both ends print alike.
func formatSpan(least, most float64, print func(float64) string) string {
	a, b := print(least), print(most)
	if a == b {
		return a
	}
	return a + "–" + b
}
