package main

import (
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/tarebench/tare/stats"
)

// maxP is the p value below which benchstat reports a difference.
const maxP = 0.05

func (p pair) writeTable(w io.Writer, lines map[uint64]BenchLine) {
	if len(lines) == 0 {
		fmt.Fprintf(w, "\n**%s**: not measured yet; run `make calibrate`.\n", p.name)
		return
	}
	var all []BenchLine
	var pressure, rounds, seconds []float64
	for _, seed := range slices.Sorted(maps.Keys(lines)) {
		l := lines[seed]
		all = append(all, l)
		pressure, rounds = append(pressure, l.Pressure), append(rounds, float64(l.Rounds))
		seconds = append(seconds, l.Seconds)
	}
	fmt.Fprintf(w, "\n**%s** (%s): `tare bench --bench '%s' --budget %s`, %d times, seeds %d–%d; %.0f rounds (median; %.0f to %.0f) in %.0f s; CPU pressure median %.0f %%, highest %.0f %%.\n\n",
		p.name, p.truth, p.bench, p.budget, len(all), all[0].Seed, all[len(all)-1].Seed, stats.Median(rounds), slices.Min(rounds), slices.Max(rounds),
		stats.Median(seconds), 100*stats.Median(pressure), 100*slices.Max(pressure))
	header := "| benchmark | truth | interval excludes 1 | said to differ | median ratio | median half-width | allocations, base → head |"
	rule := "|---|---|---|---|---|---|---|"
	if p.truths != nil {
		header, rule = header+" interval holds the truth |", rule+"---|"
	}
	if p.blocks > 0 {
		header, rule = header+" benchstat: p < 0.05 |", rule+"---|"
	}
	if p.blocks > 0 && p.truths != nil {
		header, rule = header+" benchstat: ratios |", rule+"---|"
	}
	fmt.Fprintln(w, header)
	fmt.Fprintln(w, rule)
	for _, id := range strings.Split(p.bench, "|") {
		p.writeRow(w, id, all)
	}
	p.writeFalseReports(w, all)
	if len(p.truths) == 1 {
		for id := range p.truths {
			p.writeNeeded(w, id, all)
		}
	}
}

func (p pair) writeRow(w io.Writer, id string, all []BenchLine) {
	ratio, truth := 1.0, "equal"
	if r, ok := p.truths[id]; ok {
		ratio, truth = r, fmt.Sprintf("%+.1f %%", 100*(r-1))
	}
	// Numbers of studies. withBlocks, and found by benchstat, are those with blocks of go test.
	var measured, excluded, contained, reported, withBlocks, found int
	var ratios, widths, blocks []float64
	allocs := map[[2]float64]int{} // numbers of studies
	for _, l := range all {
		b := l.Benchmark[id]
		if !(b.Low > 0) {
			continue // void or skipped in this study
		}
		measured++
		if b.Low > 1 || b.High < 1 && b.High > 0 {
			excluded++
		}
		if b.Said != "" {
			reported++
		}
		if l.InBlocks > 0 {
			withBlocks, blocks = withBlocks+1, append(blocks, b.Blocks)
			if b.P < maxP {
				found++
			}
		}
		if b.Low <= ratio && ratio <= b.High {
			contained++
		}
		allocs[b.Allocs]++
		ratios = append(ratios, math.Exp(stats.HodgesLehmann(b.Effects)))
		widths = append(widths, math.Log(b.High/b.Low)/2)
	}
	fmt.Fprintf(w, "| %s | %s | %d of %d | %d of %d | %.4f | ±%.2f %% | %s |", id, truth, excluded, measured, reported, measured,
		stats.Median(ratios), 100*stats.Median(widths), formatAllocs(allocs, measured))
	if p.truths != nil {
		fmt.Fprintf(w, " %d of %d |", contained, measured)
	}
	if p.blocks > 0 {
		fmt.Fprintf(w, " %d of %d |", found, withBlocks)
	}
	if p.blocks > 0 && p.truths != nil {
		fmt.Fprintf(w, " %s |", formatRatios(blocks))
	}
	fmt.Fprintln(w)
}

// formatAllocs returns e.g. "20 → 21 in 19 of 20", the most frequent allocations first.
func formatAllocs(allocs map[[2]float64]int, measured int) string {
	var counts []string
	for _, pair := range slices.SortedFunc(maps.Keys(allocs), func(a, b [2]float64) int { return allocs[b] - allocs[a] }) {
		counts = append(counts, fmt.Sprintf("%g → %g in %d of %d", pair[0], pair[1], allocs[pair], measured))
	}
	return strings.Join(counts, ", ")
}

func formatRatios(ratios []float64) string {
	var text []string
	for _, r := range slices.Sorted(slices.Values(ratios)) {
		text = append(text, fmt.Sprintf("%.3f", r))
	}
	return strings.Join(text, ", ")
}

func (p pair) countBenchmarks() int { return strings.Count(p.bench, "|") + 1 }

// writeFalseReports writes how often tare and benchstat report a difference that does not exist. It
// writes nothing if all benchmarks of the pair differ.
func (p pair) writeFalseReports(w io.Writer, all []BenchLine) {
	if p.countBenchmarks() <= len(p.truths) {
		return
	}
	wrong, wrongBlocks := 0, 0
	var seconds []float64
	for _, l := range all {
		isWrong, isWrongByBlocks := false, false
		for id, b := range l.Benchmark {
			if _, differs := p.truths[id]; differs {
				continue
			}
			isWrong = isWrong || b.Said != ""
			isWrongByBlocks = isWrongByBlocks || b.P < maxP
		}
		if l.InBlocks > 0 {
			seconds = append(seconds, l.InBlocks)
			if isWrongByBlocks {
				wrongBlocks++
			}
		}
		if isWrong {
			wrong++
		}
	}
	lo, hi := stats.ClopperPearson(wrong, len(all), errorLevel)
	fmt.Fprintf(w, "\nRuns that report at least one difference that does not exist: %d of %d (%.0f %% to %.0f %%)", wrong, len(all), 100*lo, 100*hi)
	if len(seconds) > 0 {
		lo, hi = stats.ClopperPearson(wrongBlocks, len(seconds), errorLevel)
		fmt.Fprintf(w, "; by benchstat, of `go test -count=%d` of base and then of head, %.0f s together: %d of %d (%.0f %% to %.0f %%)", p.blocks, stats.Median(seconds), wrongBlocks, len(seconds), 100*lo, 100*hi)
	}
	fmt.Fprintln(w, ".")
}

// writeNeeded writes the number of rounds after which 90 % of the studies find the planted
// difference.
func (p pair) writeNeeded(w io.Writer, planted string, all []BenchLine) {
	var lines []Line
	rounds := math.MaxInt // rounds that all studies have
	var secondsPerRound []float64
	for _, l := range all {
		b := l.Benchmark[planted]
		rounds = min(rounds, len(b.Effects), len(b.Control))
		secondsPerRound = append(secondsPerRound, l.Seconds/float64(l.Rounds))
	}
	for _, l := range all {
		b := l.Benchmark[planted]
		lines = append(lines, Line{Effects: map[string][]float64{planted: b.Effects[:rounds], "control": b.Control[:rounds]}})
	}
	level := errorLevel / float64(p.countBenchmarks()) // the rows of a table share its error level
	n, text := roundsFor(lines, planted, rounds, level)
	fmt.Fprintf(w, "\nRounds after which 90 %% of the runs find it: %s", text)
	if n > 0 {
		fmt.Fprintf(w, ", %.0f s", float64(n)*stats.Median(secondsPerRound))
	}
	fmt.Fprintln(w, ".")
}
