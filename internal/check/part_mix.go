package check

import (
	"fmt"
	"math"
	"reflect"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/format"
	"github.com/tarebench/tare/stats"
)

// partBound is a workload whose operation consists of others, with one bound on its time from
// these.
type partBound struct {
	whole string
	log   []float64 // ln(time of the workload / bound), by round
	above bool      // the time must not be above the bound; else not below
	words string    // the bound in words, to follow "an operation takes 0.8× the time of"
}

// findOutsideParts finds the workloads on which contender takes less time for an
// operation than for a part of it, or for a mix of operations less than for the
// cheapest of them, or more than for the dearest.
func findOutsideParts(workloads []tare.Workload, times map[span]float64, contender string) []tare.Finding {
	bounds := allBounds(workloads, times, contender)
	var out []tare.Finding
	for _, b := range bounds {
		lo, hi, ok := stats.Interval(b.log, strict/float64(len(bounds)))
		limit := math.Log1p(tolerance)
		if !ok || b.above && lo <= limit || !b.above && hi >= -limit {
			continue
		}
		out = append(out, tare.Finding{
			Contender: contender, Workload: b.whole,
			Message: fmt.Sprintf("an operation takes %.3g× the time of %s (%.3g to %.3g, %s)",
				math.Exp(stats.HodgesLehmann(b.log)), b.words, math.Exp(lo), math.Exp(hi), format.Count(len(b.log), "round")),
		})
	}
	return out
}

// partSuspects returns the suspicions that findOutsideParts could confirm.
func partSuspects(workloads []tare.Workload, times map[span]float64, contender string) (out []suspicion) {
	bounds := allBounds(workloads, times, contender)
	for _, b := range bounds {
		c := belowLimit(b.log, -math.Log1p(tolerance))
		if b.above {
			c = aboveLimit(b.log, math.Log1p(tolerance))
		}
		c.level = strict / float64(len(bounds))
		out = append(out, suspicion{c})
	}
	return out
}

// allBounds returns the bounds of every workload.
func allBounds(workloads []tare.Workload, times map[span]float64, contender string) (out []partBound) {
	for _, w := range workloads {
		out = append(out, boundsOf(w, workloads, times, contender)...)
	}
	return out
}

// boundsOf returns the bounds to what w takes, as far as its parts are workloads of
// the study. Of a mix all of them have to be.
func boundsOf(w tare.Workload, workloads []tare.Workload, times map[span]float64, contender string) (out []partBound) {
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
	rounds := roundsOf(times, w.ID, contender)
	if w.Mixed() {
		if found < len(parts) {
			return nil
		}
		low := partBound{whole: w.ID, words: "the cheapest of the operations that it is a mix of"}
		high := partBound{whole: w.ID, above: true, words: "the dearest of the operations that it is a mix of"}
		for _, r := range rounds {
			least, most := math.Inf(1), 0.0
			for _, p := range parts {
				t := times[span{r, 1, p.ID, contender}]
				least, most = min(least, t), max(most, t)
			}
			if least > 0 {
				t := times[span{r, 1, w.ID, contender}]
				low.log, high.log = append(low.log, math.Log(t/least)), append(high.log, math.Log(t/most))
			}
		}
		return []partBound{low, high}
	}
	for i, p := range parts {
		if p.ID == "" {
			continue
		}
		b := partBound{whole: w.ID, words: fmt.Sprintf("one on %s, which is a part of it", p.ID)}
		for _, r := range rounds {
			if t := times[span{r, 1, p.ID, contender}] * w.Parts[i].Times; t > 0 {
				b.log = append(b.log, math.Log(times[span{r, 1, w.ID, contender}]/t))
			}
		}
		out = append(out, b)
	}
	return out
}

// sameSetup reports whether a and b send requests in the same way, to anything.
func sameSetup(a, b tare.Workload) bool {
	return a.Fixture == b.Fixture && a.N == b.N && a.Heap == b.Heap && sameSet(a.Set, b.Set) && reflect.DeepEqual(a.Traffic, b.Traffic) &&
		(a.Traffic == nil || a.Traffic.Rate == 0)
}

func sameSet(a, b map[string]string) bool {
	return len(a) == 0 && len(b) == 0 || reflect.DeepEqual(a, b)
}
