// Command agree compares two results of one study, e.g. of two runs, or of runs with
// timed slices of different lengths. It prints a Markdown table of the ratios that
// both have, and counts the contradictions:
//
//	agree FIRST.json SECOND.json
//
// It exits with 1 if the results contradict each other: one proves a ratio above 1, the
// other proves the same ratio below 1.
package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/tarebench/tare"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: agree FIRST.json SECOND.json")
		os.Exit(2)
	}
	a, errA := readResult(os.Args[1])
	b, errB := readResult(os.Args[2])
	if err := cmp.Or(errA, errB); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	if opposed := writeComparison(os.Stdout, a, b); opposed > 0 {
		os.Exit(1)
	}
}

// readResult reads a result document.
func readResult(path string) (*tare.Result, error) {
	src, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var r tare.Result
	if err := json.Unmarshal(src, &r); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return &r, nil
}

// relation is the relation of two intervals of one ratio.
type relation string

const (
	overlapping relation = ""         // some ratio is in both
	disjoint    relation = "disjoint" // no ratio is in both, but they are not opposite
	opposite    relation = "OPPOSITE" // one interval is completely above 1, the other completely below
)

// relateIntervals returns the relation of the intervals of a and b.
func relateIntervals(a, b tare.Comparison) relation {
	switch {
	case a.High < 1 && b.Low > 1 || a.Low > 1 && b.High < 1:
		return opposite
	case a.High < b.Low || b.High < a.Low:
		return disjoint
	}
	return overlapping
}

// writeComparison writes the table and a line with counts, and returns the number of opposite pairs.
// The counts include every ratio that has an interval in both results. The table has only ratios of
// timed metrics, such as time and CPU: all ratios to the baseline, and opposite ratios to any other
// contender.
func writeComparison(w io.Writer, a, b *tare.Result) (opposed int) {
	fmt.Fprintf(w, "| workload | contender | metric | %s, %d rounds, seed %s | %s, %d rounds, seed %s | |\n|---|---|---|---|---|---|\n",
		a.Plan.Isolation, a.RoundsDone, a.Seed, b.Plan.Isolation, b.RoundsDone, b.Seed)
	pairs, disjointPairs := 0, 0
	for _, x := range a.Comparisons {
		i := slices.IndexFunc(b.Comparisons, func(y tare.Comparison) bool {
			return y.Workload == x.Workload && y.Contender == x.Contender && y.Against == x.Against && y.Metric == x.Metric
		})
		if i < 0 || !hasInterval(x) || !hasInterval(b.Comparisons[i]) {
			continue
		}
		y := b.Comparisons[i]
		pairs++
		rel := relateIntervals(x, y)
		switch rel {
		case opposite:
			opposed++
		case disjoint:
			disjointPairs++
		}
		isTimed := tare.MetricFor(x.Metric).PerSlice
		baseline, _ := a.Contender(x.Against)
		if isTimed && (baseline.Role == tare.RoleBaseline || rel == opposite) {
			fmt.Fprintf(w, "| %s | %s / %s | %s | %s | %s | %s |\n", x.Workload, x.Contender, x.Against, x.Metric, formatRatio(x), formatRatio(y), rel)
		}
	}
	fmt.Fprintf(w, "\n%d ratios are in both: %d intervals are disjoint, %d pairs are proven in opposite directions.\n", pairs, disjointPairs, opposed)
	return opposed
}

// hasInterval reports whether c is a measured ratio with an interval.
func hasInterval(c tare.Comparison) bool { return !c.Exact && c.Low > 0 && c.High > c.Low }

// formatRatio returns the ratio of c with its interval.
func formatRatio(c tare.Comparison) string {
	return fmt.Sprintf("%.3f (%.3f to %.3f)", c.Ratio, c.Low, c.High)
}
