package main

import (
	"fmt"
	"io"
	"maps"
	"math"
	"slices"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/stats"
)

const (
	// errorLevel is the error rate of an interval after a fixed number of rounds.
	errorLevel = 0.05
	// power is the required share of studies that find a difference.
	power = 0.90
	// minRounds is the least number of rounds with an interval at errorLevel.
	minRounds = 6
	// maxJoined limits the studies that are joined into one, whose rounds are tried in steps of
	// joinStep.
	maxJoined = 6
	joinStep  = 4
)

func writeBaseTable(w io.Writer, base string, lines map[uint64]Line) {
	all := sortLines(lines)
	if len(all) == 0 {
		fmt.Fprintf(w, "\n**%s base**: not measured yet; run `make calibrate`.\n", base)
		return
	}
	var pressure []float64
	seconds := 0.0
	for _, l := range all {
		pressure = append(pressure, l.Pressure)
		seconds += l.Seconds
	}
	fmt.Fprintf(w, "\n**%s base**: %d studies of %d rounds, seeds %d–%d, %.0f s each on average; CPU pressure median %.0f %%, highest %.0f %%.\n\n",
		base, len(all), rounds, all[0].Seed, all[len(all)-1].Seed, seconds/float64(len(all)), 100*stats.Median(pressure), 100*slices.Max(pressure))
	fmt.Fprintln(w, "| contender | truth | interval excludes 1 | published as a difference | share, 95 % interval | median ratio | median half-width | rounds for 90 % |")
	fmt.Fprintln(w, "|---|---|---|---|---|---|---|---|")
	for _, c := range []struct{ id, truth string }{{tare.ControlID, "equal"}, {"twin", "equal"}, {"plus2", "+2 %"}, {"plus5", "+5 %"}} {
		excluded, published := 0, 0
		var ratios, widths []float64
		for _, l := range all {
			excludes, isPublished := differsAfter(l, c.id, rounds, errorLevel)
			if excludes {
				excluded++
			}
			if isPublished {
				published++
			}
			lo, hi, _ := stats.Interval(l.Effects[c.id], errorLevel)
			ratios = append(ratios, math.Exp(stats.HodgesLehmann(l.Effects[c.id])))
			widths = append(widths, (hi-lo)/2)
		}
		lo, hi := stats.ClopperPearson(published, len(all), errorLevel)
		need := "–"
		if c.truth != "equal" {
			_, need = roundsFor(all, c.id, rounds, errorLevel)
		}
		fmt.Fprintf(w, "| %s | %s | %d of %d | %d of %d | %.0f %% to %.0f %% | %.4f | ±%.2f %% | %s |\n",
			c.id, c.truth, excluded, len(all), published, len(all), 100*lo, 100*hi, stats.Median(ratios), 100*stats.Median(widths), need)
	}
}

// differsAfter reports whether the interval of contender id excludes 1 after n rounds. published
// also requires a difference above the half-width of the control's interval.
func differsAfter(l Line, id string, n int, level float64) (excludes, published bool) {
	excludes, beyond := stats.Differs(l.Effects[id][:n], l.Effects[tare.ControlID][:n], level)
	return excludes, excludes && (beyond || id == tare.ControlID)
}

// roundsFor returns the number of rounds after which 90 % of the studies publish the difference of
// contender id, and its description. The number is 0 if it is greater than can be tried. For more
// rounds than one study has, consecutive studies are joined.
func roundsFor(all []Line, id string, rounds int, level float64) (int, string) {
	for n := minRounds; n <= rounds; n++ {
		if shareFinding(all, id, n, level) >= power {
			return n, fmt.Sprint(n)
		}
	}
	for join := 2; join <= maxJoined; join++ {
		joined := joinLines(all, join)
		for n := (join-1)*rounds + joinStep; n <= join*rounds; n += joinStep {
			if shareFinding(joined, id, n, level) >= power {
				return n, fmt.Sprintf("about %d (from %d studies, each %d joined into one)", n, len(all), join)
			}
		}
	}
	return 0, fmt.Sprintf("more than %d", maxJoined*rounds)
}

func shareFinding(all []Line, id string, n int, level float64) float64 {
	found := 0
	for _, l := range all {
		_, isPublished := differsAfter(l, id, n, level)
		isSlower := stats.HodgesLehmann(l.Effects[id][:n]) > 0
		if isPublished && isSlower {
			found++
		}
	}
	return float64(found) / float64(len(all))
}

// joinLines joins every k consecutive studies into one. It drops the remainder.
func joinLines(all []Line, k int) []Line {
	var out []Line
	for i := 0; i+k <= len(all); i += k {
		l := Line{Effects: map[string][]float64{}}
		for _, part := range all[i : i+k] {
			for id, x := range part.Effects {
				l.Effects[id] = append(l.Effects[id], x...)
			}
		}
		out = append(out, l)
	}
	return out
}

func sortLines(lines map[uint64]Line) []Line {
	var out []Line
	for _, seed := range slices.Sorted(maps.Keys(lines)) {
		out = append(out, lines[seed])
	}
	return out
}
