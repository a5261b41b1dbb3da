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
	fmt.Fprintln(tw, "  claim\tpublished ×\tmeasured here ×\toutcome\tit said")
	for _, c := range all {
		said, measured := "-", "-"
		if c.Kind != tare.ClaimStatement { // which has no figures
			said = fmt.Sprintf("%.3g", c.Published)
		}
		switch {
		case c.Measured > 0 && c.Low == 0 && c.High == 0:
			measured = fmt.Sprintf("%.3g, no interval yet", c.Measured)
		case c.Measured > 0:
			measured = fmt.Sprintf("%.3g (%.3g … %.3g)", c.Measured, c.Low, c.High)
		}
		fmt.Fprintf(tw, "  %s\t%s\t%s\t%s\t%s\n", c.ID, said, measured, c.Outcome, c.Statement)
	}
	return tw.Flush()
}
