package report

import (
	"math"

	"github.com/tarebench/tare"
)

// A trial is one process of a contender in one round. A sample has its values on one workload, by key.

// listSamples returns the samples of a contender's successful trials on a workload.
func listSamples(r *tare.Result, contender, workload string) []tare.Sample {
	var out []tare.Sample
	for _, t := range r.Trials {
		if s, ok := t.Samples[workload]; ok && t.Contender == contender && t.Error == nil {
			out = append(out, s)
		}
	}
	return out
}

// sampleReader reads one value of a sample. It returns false if there is no valid value.
type sampleReader func(tare.Sample) (float64, bool)

// readKey returns a reader of the value with this key. Negative and infinite values are invalid.
func readKey(key string) sampleReader {
	return func(s tare.Sample) (float64, bool) {
		x, ok := s[key]
		return x, ok && x >= 0 && !math.IsInf(x, 0)
	}
}

// readBusy returns a reader of CPU time as a percentage of the cores' time. cpu and cores are keys.
func readBusy(cpu, cores string) sampleReader {
	return func(s tare.Sample) (float64, bool) {
		used, ok := readKey(cpu)(s)
		percent := used / (s[tare.KeyWall] * s[cores]) * 100 // NaN or infinite without a key
		return percent, ok && percent >= 0 && !math.IsInf(percent, 0)
	}
}

// sumSamples returns false if no sample has the value.
func sumSamples(samples []tare.Sample, read sampleReader) (sum float64, ok bool) {
	for _, s := range samples {
		if x, isValid := read(s); isValid {
			sum, ok = sum+x, true
		}
	}
	return sum, ok
}

// findRange returns false if no sample has the value.
func findRange(samples []tare.Sample, read sampleReader) (least, greatest float64, ok bool) {
	least, greatest = math.Inf(1), math.Inf(-1)
	for _, s := range samples {
		if x, isValid := read(s); isValid {
			least, greatest, ok = min(least, x), max(greatest, x), true
		}
	}
	return least, greatest, ok
}

// formatSpan prints a range, 3–5, or one number if both print alike.
func formatSpan(least, greatest float64, print func(float64) string) string {
	from, to := print(least), print(greatest)
	if from == to {
		return from
	}
	return from + "–" + to
}
