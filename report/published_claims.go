package report

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/tarebench/tare"
)

// A claim is a published statement that a study tests. This file writes the claims of several results.

// ClaimsHeading is the heading above these claims.
const ClaimsHeading = "The published claims"

// ClaimsMean explains the tables of claims.
const ClaimsMean = "Each row is a statement that was published: the ratio it named and the one measured here, with its interval, " +
	"both over the baseline of the study that measured it. tare explain THING says what an outcome, a check or a study is."

// ClaimsText writes a table of claims per publication, with outcome, published and measured values, and the
// reason. It writes nothing without claims. The error is the writer's.
func ClaimsText(w io.Writer, results []*tare.Result, s Style) error {
	sources := listSources(results)
	if len(sources) == 0 {
		return nil
	}
	p := &textPage{style: s, width: s.pageWidth()}
	p.writeLine(s.paintText(Bold, ClaimsHeading+": ") + ClaimsCount(results))
	p.writeWrapped(0, 0, ClaimsMean, Dim)
	for _, source := range sources {
		p.writeHeading(source)
		p.writeTable(newSourceTable(results, source))
	}
	return writeText(w, s, p.b.String())
}

// ClaimsCount counts the claims of all results by outcome: "3 holds, 1 refuted".
func ClaimsCount(results []*tare.Result) string {
	count := map[tare.Outcome]int{}
	for _, r := range results {
		for _, c := range r.Claims {
			count[c.Outcome]++
		}
	}
	var parts []string
	for _, o := range tare.Outcomes() {
		if count[o] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", count[o], o))
		}
	}
	return strings.Join(parts, ", ")
}

// listSources returns the publications, sorted by their smallest claim id.
func listSources(results []*tare.Result) []string {
	var all []tare.ClaimResult
	for _, r := range results {
		all = append(all, r.Claims...)
	}
	sources := listDistinct(all, func(c tare.ClaimResult) string { return c.Source })
	slices.SortFunc(sources, func(a, b string) int { return compareIDs(firstClaimID(all, a), firstClaimID(all, b)) })
	return sources
}

func firstClaimID(all []tare.ClaimResult, source string) string {
	var ids []string
	for _, c := range all {
		if c.Source == source {
			ids = append(ids, c.ID)
		}
	}
	return slices.MinFunc(ids, compareIDs)
}

// newSourceTable returns a row per claim of a publication, sorted by id.
func newSourceTable(results []*tare.Result, source string) Table {
	var t Table
	for _, r := range results {
		part := *r
		part.Claims = slices.DeleteFunc(slices.Clone(r.Claims), func(c tare.ClaimResult) bool { return c.Source != source })
		table := newClaimTable(&part, []string{source})
		t.Columns, t.Rows = table.Columns, append(t.Rows, table.Rows...)
	}
	const idCell = 0 // of newClaimTable
	slices.SortStableFunc(t.Rows, func(a, b Row) int { return compareIDs(a.Cells[idCell].Text, b.Cells[idCell].Text) })
	return t
}

// compareIDs compares ids of claims, with numbers by value: F2.9 is before F2.10.
func compareIDs(a, b string) int {
	for a != "" && b != "" {
		numA, restA := parseLeadingNumber(a)
		numB, restB := parseLeadingNumber(b)
		if bothNumbers := numA >= 0 && numB >= 0; bothNumbers {
			if c := cmp.Compare(numA, numB); c != 0 {
				return c
			}
			a, b = restA, restB
			continue
		}
		if c := cmp.Compare(a[0], b[0]); c != 0 {
			return c
		}
		a, b = a[1:], b[1:]
	}
	return cmp.Compare(len(a), len(b))
}

// parseLeadingNumber returns the number at the start of text and the rest. Without a usable number, n is -1.
func parseLeadingNumber(text string) (n int, rest string) {
	end := strings.IndexFunc(text, func(c rune) bool { return c < '0' || c > '9' })
	if end < 0 {
		end = len(text)
	}
	n, err := strconv.Atoi(text[:end])
	if err != nil {
		return -1, text
	}
	return n, text[end:]
}
