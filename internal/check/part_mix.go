package check

import (
	"fmt"
	"math"
	"reflect"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/format"
	"github.com/tarebench/tare/stats"
)

// This file is a part of the check part-whole. An operation may consist of the operations of other
// workloads, its parts. Either it runs all of them, or it is a mix: each time it runs one of them.
// The times of the parts bound its time.

// timeBound is a bound on the time of a workload. For example, to encode 1,000 items must not take
// less time than to encode 10.
type timeBound struct {
	workload  string    // id
	logRatios []float64 // ln(time of the workload / bound), by round
	isUpper   bool      // the time must not be above the bound; if false, not below it
	text      string    // describes the bound, e.g. "one on small, which is a part of it"
}

func describePart(id string) string { return fmt.Sprintf("one on %s, which is a part of it", id) }

// findViolation returns a finding and ln(time / bound) if the bound is violated: the entire interval
// of the ratio, at this error level, is beyond it by more than the tolerance. Otherwise it returns
// false.
func (b timeBound) findViolation(contender string, level float64) (f tare.Finding, logRatio float64, ok bool) {
	lo, hi, hasInterval := stats.Interval(b.logRatios, level)
	limit := math.Log1p(tolerance)
	isBeyond := hi < -limit
	if b.isUpper {
		isBeyond = lo > limit
	}
	if !hasInterval || !isBeyond {
		return f, 0, false
	}
	logRatio = stats.HodgesLehmann(b.logRatios)
	return tare.Finding{
		Contender: contender, Workload: b.workload,
		Message: fmt.Sprintf("an operation takes %.3g× the time of %s (%.3g to %.3g, %s)",
			math.Exp(logRatio), b.text, math.Exp(lo), math.Exp(hi), format.Count(len(b.logRatios), "round")),
	}, logRatio, true
}

func boundReasons(bounds []timeBound) (out []voidReason) {
	for _, b := range bounds {
		c := belowLimit(b.logRatios, -math.Log1p(tolerance))
		if b.isUpper {
			c = aboveLimit(b.logRatios, math.Log1p(tolerance))
		}
		c.level = strictLevel / float64(len(bounds))
		out = append(out, voidReason{c})
	}
	return out
}

func findOutsideParts(workloads []tare.Workload, times map[subjectRound]float64, contender string) (out []tare.Finding) {
	bounds := allBounds(workloads, times, contender)
	for _, b := range bounds {
		if f, _, isViolated := b.findViolation(contender, strictLevel/float64(len(bounds))); isViolated {
			out = append(out, f)
		}
	}
	return out
}

func allBounds(workloads []tare.Workload, times map[subjectRound]float64, contender string) (out []timeBound) {
	for _, w := range workloads {
		out = append(out, boundsOf(w, workloads, times, contender)...)
	}
	return out
}

// boundsOf returns the bounds on the time of w. Each part that is a workload of the study gives a
// lower bound. A mix has a lower and an upper bound, but only if the study has all of its parts.
func boundsOf(w tare.Workload, workloads []tare.Workload, times map[subjectRound]float64, contender string) (out []timeBound) {
	parts := make([]tare.Workload, len(w.Parts))
	found := 0
	for i, p := range w.Parts {
		for _, other := range workloads {
			if other.Op == p.Op && sameSetup(other, w) {
				parts[i] = other
				found++
				break
			}
		}
	}
	if w.Mixed() {
		if found < len(parts) {
			return nil
		}
		return mixBounds(w, parts, times, contender)
	}
	for i, p := range parts {
		if p.ID == "" { // not in the study
			continue
		}
		b := timeBound{workload: w.ID, text: describePart(p.ID)}
		for _, r := range roundsOf(times, w.ID, contender) {
			if t := times[usualRound(r, p.ID, contender)] * w.Parts[i].Times; t > 0 {
				b.logRatios = append(b.logRatios, math.Log(times[usualRound(r, w.ID, contender)]/t))
			}
		}
		out = append(out, b)
	}
	return out
}

func mixBounds(w tare.Workload, parts []tare.Workload, times map[subjectRound]float64, contender string) []timeBound {
	lower := timeBound{workload: w.ID, text: "the cheapest of the operations that it is a mix of"}
	upper := timeBound{workload: w.ID, isUpper: true, text: "the dearest of the operations that it is a mix of"}
	for _, r := range roundsOf(times, w.ID, contender) {
		minTime, maxTime := math.Inf(1), 0.0 // of the parts
		for _, p := range parts {
			t := times[usualRound(r, p.ID, contender)]
			minTime, maxTime = min(minTime, t), max(maxTime, t)
		}
		if minTime > 0 { // a part that was not measured has time 0
			t := times[usualRound(r, w.ID, contender)]
			lower.logRatios = append(lower.logRatios, math.Log(t/minTime))
			upper.logRatios = append(upper.logRatios, math.Log(t/maxTime))
		}
	}
	return []timeBound{lower, upper}
}

// sameSetup reports whether a and b differ only in their operations. It returns false if a has a
// given rate, because the times then do not show the cost of an operation.
func sameSetup(a, b tare.Workload) bool {
	hasRate := a.Traffic != nil && a.Traffic.Rate != 0
	sameInput := a.Fixture == b.Fixture && a.N == b.N && a.Heap == b.Heap
	return !hasRate && sameInput && sameSet(a.Set, b.Set) && reflect.DeepEqual(a.Traffic, b.Traffic)
}

// sameSet reports whether two settings are equal. It takes nil for empty.
func sameSet(a, b map[string]string) bool {
	return len(a) == 0 && len(b) == 0 || reflect.DeepEqual(a, b)
}
