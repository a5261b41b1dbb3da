package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/report"
)

// outcomes is the order in which outcomes are counted.
func outcomes() []tare.Outcome {
	return []tare.Outcome{tare.Holds, tare.DirectionHolds, tare.Tie, tare.Refuted, tare.VoidAsPublished, tare.ClaimOpen, tare.NotMeasured}
}

// claims writes every published claim that the results answer, in one table.
func claims(w io.Writer, results []*tare.Result, st report.Style) error {
	var all []tare.ClaimResult
	count := map[tare.Outcome]int{}
	for _, r := range results {
		for _, c := range r.Claims {
			all = append(all, c)
			count[c.Outcome]++
		}
	}
	if len(all) == 0 {
		return nil
	}
	var parts []string
	for _, o := range outcomes() {
		if count[o] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", count[o], o))
		}
	}
	fmt.Fprintf(w, "%s %s\n", paint(st.Bold, "The published claims:"), strings.Join(parts, ", "))
	slices.SortStableFunc(all, func(a, b tare.ClaimResult) int { return strings.Compare(a.Source, b.Source) })
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tw, "  claim\tpublished\tmeasured here\toutcome\tit said")
	for _, c := range all {
		said, measured, outcome := "-", "-", string(c.Outcome)
		if c.Kind == tare.ClaimReported {
			outcome = "reported"
		}
		if c.Published > 0 || c.Kind == tare.ClaimGrowth { // statements and trends have no figure
			said = fmt.Sprintf("%.3g%s", inUnit(c, c.Published), unitOf(c))
		}
		switch {
		case c.Kind == tare.ClaimCount && c.Measured > 0:
			measured = fmt.Sprintf("%.0f%s", c.Measured, unitOf(c))
		case c.Measured != 0 && c.Low == 0 && c.High == 0:
			measured = fmt.Sprintf("%.3g%s, no interval yet", inUnit(c, c.Measured), unitOf(c))
		case c.Measured != 0:
			measured = fmt.Sprintf("%.3g%s (%.3g … %.3g)", inUnit(c, c.Measured), unitOf(c), inUnit(c, c.Low), inUnit(c, c.High))
		}
		fmt.Fprintf(tw, "  %s\t%s\t%s\t%s\t%s\n", c.ID, said, measured, outcome, c.Statement)
	}
	return tw.Flush()
}

// unitOf is what follows a claim's figure.
func unitOf(c tare.ClaimResult) string {
	switch c.Kind {
	case tare.ClaimCount:
		return " modules"
	case tare.ClaimShare:
		return " %"
	case tare.ClaimGrowth:
		return " (exponent)"
	case tare.ClaimReported:
		return " " + c.Unit
	}
	return "×"
}

// inUnit is a claim's figure as it is printed: a share in per cent.
func inUnit(c tare.ClaimResult, figure float64) float64 {
	if c.Kind == tare.ClaimShare {
		return 100 * figure
	}
	return figure
}
