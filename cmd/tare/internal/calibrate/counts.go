package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/stats"
)

// This file calibrates counts of instructions. It counts pairs of revisions whose true ratio is
// known, while all processors are busy.

const (
	countStudies = 10  // studies of each pair
	firstCounted = 801 // first seed
)

var countedPairs = []string{"bench-same", "bench-reordered", "bench-dead", "bench-slower", "bench-alloc", "bench-loops", "bench-shapes"}

// CountLine is the stored result of the counts of one study.
type CountLine struct {
	Seed      uint64              `json:"seed"`         // chooses the orders of functions
	Pressure  float64             `json:"cpu_pressure"` // see Line
	Counter   string              `json:"counter"`
	Benchmark map[string]CountRow `json:"benchmarks"` // by short name
}

// CountRow is the ratio of the instructions of head to those of base, and its interval.
type CountRow struct {
	Ratio float64 `json:"ratio"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
	Base  float64 `json:"base,omitempty"`  // instructions of an operation of base; 0 if not stored
	Exact bool    `json:"exact,omitempty"` // all counts of a side are the same integer
}

func (r CountRow) isDifferent() bool { return r.Low > 1 || r.High < 1 }

// runCounts runs the missing studies of each counted pair, and writes the table. Meanwhile a loop
// keeps each processor busy.
func runCounts(ctx context.Context, bin, dir string, table, stderr io.Writer) error {
	if bin != "" {
		defer keepBusy()()
	}
	var found foundCounts
	fmt.Fprint(table, "\n| series | benchmark | truth | reported as different | median ratio | median half-width | furthest from the truth | interval holds the truth |\n|---|---|---|---|---|---|---|---|\n")
	for _, p := range pairs {
		if !slices.Contains(countedPairs, p.name) {
			continue
		}
		path := filepath.Join(dir, "counts-"+strings.TrimPrefix(p.name, "bench-")+".ndjson")
		lines, err := readLines(path, func(l CountLine) uint64 { return l.Seed })
		if err != nil {
			return err
		}
		if err := p.countMissing(ctx, bin, path, lines, stderr); err != nil {
			return fmt.Errorf("counts of %s: %w", p.name, err)
		}
		p.writeCounts(table, lines)
		found.addLines(p, lines)
	}
	found.writeTotals(table)
	return nil
}

func keepBusy() (stop func()) {
	var stopped atomic.Bool
	var wg sync.WaitGroup
	for range runtime.NumCPU() {
		wg.Go(func() {
			for !stopped.Load() {
			}
		})
	}
	return func() {
		stopped.Store(true)
		wg.Wait()
	}
}

// foundCounts are the rows of all pairs together.
type foundCounts struct {
	differ, found, close int // rows with a difference: all, reported, and close to the truth
	equal, wrong         int // rows without a difference: all, and reported
}

const maxDeviation = 0.003 // difference of two ratios

func (f *foundCounts) addLines(p pair, lines map[uint64]CountLine) {
	for _, l := range lines {
		for id, row := range l.Benchmark {
			truth, hasDifference := p.truths[id]
			switch {
			case !hasDifference:
				f.equal++
				if row.isDifferent() {
					f.wrong++
				}
				continue
			case row.isDifferent():
				f.found++
			}
			f.differ++
			if math.Abs(row.Ratio-truth) <= maxDeviation {
				f.close++
			}
		}
	}
}

func (f *foundCounts) writeTotals(w io.Writer) {
	if f.differ+f.equal > 0 {
		fmt.Fprintf(w, "\nOf %d rows with a difference %d are reported as different, and %d are within %g points of the truth. Of %d rows without one %d are reported as different.\n",
			f.differ, f.found, f.close, 100*maxDeviation, f.equal, f.wrong)
	}
}

// countMissing counts the studies that lines lacks, and adds them to lines and to the file at path.
// It runs nothing if bin is "".
func (p pair) countMissing(ctx context.Context, bin, path string, lines map[uint64]CountLine, stderr io.Writer) error {
	if bin == "" || len(lines) >= countStudies {
		return nil
	}
	return p.withRepository(ctx, bin, func(bin, repo string) error {
		measure := func(seed uint64) (CountLine, error) { return p.runCounted(ctx, bin, repo, seed) }
		return addMissing(path, lines, firstCounted, countStudies, measure, func(l CountLine) {
			fmt.Fprintf(stderr, "counts of %s: seed %d, %d of %d, pressure %.0f %%\n", p.name, l.Seed, len(lines), countStudies, 100*l.Pressure)
		})
	})
}

func (p pair) runCounted(ctx context.Context, bin, repo string, seed uint64) (CountLine, error) {
	out, err := runCommand(ctx, repo, bin, "bench", "--base", "HEAD~1", "--head", "HEAD", "--bench", p.bench,
		"--rounds", "1", "--counts", "valgrind", "--seed", fmt.Sprint(seed), "--format", "json", "--quiet")
	if err != nil {
		return CountLine{}, err
	}
	var r tare.Result
	if err := json.Unmarshal(out, &r); err != nil {
		return CountLine{}, err
	}
	return newCountLine(&r, seed)
}

func newCountLine(r *tare.Result, seed uint64) (CountLine, error) {
	if err := checkCounted(r); err != nil {
		return CountLine{}, err
	}
	l := CountLine{Seed: seed, Pressure: r.Machine.Noise.CPUPressure, Counter: r.Counter.String(), Benchmark: map[string]CountRow{}}
	for _, c := range r.Comparisons {
		if c.Metric == tare.MetricInstructions {
			l.Benchmark[shortName(c.Workload)] = newCountRow(c)
		}
	}
	return l, nil
}

func checkCounted(r *tare.Result) error {
	if r.Counter != nil {
		return nil
	}
	for _, f := range r.Findings {
		if f.Check == "not-counted" {
			return errors.New(f.Message)
		}
	}
	return errors.New("nothing was counted")
}

func newCountRow(c tare.Comparison) CountRow {
	x := roundAll([]float64{c.Ratio, c.Low, c.High, c.AgainstValue})
	return CountRow{Ratio: x[0], Low: x[1], High: x[2], Base: x[3], Exact: c.Exact}
}

func (p pair) writeCounts(w io.Writer, lines map[uint64]CountLine) {
	series := strings.TrimPrefix(p.name, "bench-")
	if len(lines) == 0 {
		fmt.Fprintf(w, "| %s | not counted yet; run `make calibrate-counts` | | | | | | |\n", series)
		return
	}
	for _, id := range strings.Split(p.bench, "|") {
		truth, text := 1.0, "equal"
		if r, ok := p.truths[id]; ok {
			truth, text = r, fmt.Sprintf("%+.1f %%", 100*(r-1))
		}
		differ, isInside, furthest := 0, 0, 0.0
		var ratios, widths []float64
		for _, seed := range slices.Sorted(maps.Keys(lines)) {
			row, ok := lines[seed].Benchmark[id]
			if !ok {
				continue
			}
			if row.isDifferent() {
				differ++
			}
			if row.Low <= truth && truth <= row.High {
				isInside++
			}
			furthest = max(furthest, math.Abs(row.Ratio-truth))
			ratios, widths = append(ratios, row.Ratio), append(widths, (row.High-row.Low)/2)
		}
		if len(ratios) == 0 {
			continue
		}
		fmt.Fprintf(w, "| %s | %s | %s | %d of %d | %.4f | ±%.2f %% | %.2f points | %d of %[5]d |\n", series, id, text, differ, len(ratios),
			stats.Median(ratios), 100*stats.Median(widths), 100*furthest, isInside)
	}
}
