package report

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/tarebench/tare"
)

// Totals writes the totals of several results in up to four lines. They are about criteria, published claims,
// noise, and further commands. The error is the writer's.
func Totals(w io.Writer, results []*tare.Result, s Style) error {
	p := &textPage{style: s, width: s.pageWidth()}
	p.writeBlank()
	counts := "Criteria: " + cmp.Or(countRulings(results), "none")
	caught, traps := 0, 0
	for _, r := range results {
		resultCaught, resultTraps := countTraps(r)
		caught += resultCaught
		traps += resultTraps
	}
	if traps > 0 {
		counts += fmt.Sprintf("; traps: %d of %d caught", caught, traps)
	}
	p.writeWrapped(0, 2, counts, Plain)
	p.writeWrapped(0, 2, countClaims(results), Plain)
	p.writeWrapped(0, 2, describeNoiseOf(results), Warned)
	p.writeWrapped(0, 2, "One in full, with its claims: tare report STUDY. All of it: tare run --all", Dim)
	return writeText(w, s, p.b.String())
}

func countRulings(results []*tare.Result) string {
	var parts []string
	for _, ruling := range []tare.Ruling{tare.Met, tare.NotMet, tare.Inconclusive, tare.VoidRuling} {
		n := 0
		for _, r := range results {
			for _, v := range listRulings(r) {
				if v.Verdict == ruling {
					n++
				}
			}
		}
		if n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, ruling))
		}
	}
	return strings.Join(parts, ", ")
}

func countClaims(results []*tare.Result) string {
	count := map[tare.Outcome]int{}
	for _, r := range results {
		for _, c := range r.Claims {
			count[c.Outcome]++
		}
	}
	count[tare.ClaimOpen] += count[tare.Tie] // a tie counts as open
	var parts []string
	for _, x := range []struct {
		outcome tare.Outcome
		words   string
	}{
		{tare.Refuted, "refuted"},
		{tare.VoidAsPublished, "void"},
		{tare.ClaimOpen, "open"},
		{tare.DirectionHolds, "in direction"},
		{tare.Holds, "hold"},
		{tare.NotMeasured, "not measured"},
	} {
		if n := count[x.outcome]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, x.words))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return "Claims: " + strings.Join(parts, ", ")
}

// describeNoiseOf returns the range of noise floors, and the number of disturbed runs. A noise floor is the
// difference between two measurements of the baseline.
func describeNoiseOf(results []*tare.Result) string {
	var floors []float64
	busy := 0
	for _, r := range results {
		for _, w := range r.Workloads {
			if floor := tare.NoiseFloor(r.Comparisons, w.ID, primaryMetric(r)); floor > 0 {
				floors = append(floors, math.Expm1(floor))
			}
		}
		if r.Machine.Noise.IsBusy() {
			busy++
		}
	}
	if len(floors) == 0 {
		return ""
	}
	text := "noise ±" + formatPercent(slices.Min(floors)) + " to ±" + formatPercent(slices.Max(floors))
	if busy > 0 {
		return fmt.Sprintf("! %s; the machine disturbed %d of %d studies: trust ratios", text, busy, len(results))
	}
	return text
}
