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

// ClaimsHeading heads what was published, over all results.
const ClaimsHeading = "The published claims"

// ClaimsMean says how the tables of all claims are read.
const ClaimsMean = "Each row is a statement that was published: the ratio it named and the one measured here, with its interval, " +
	"both over the baseline of the study that measured it. tare explain THING says what an outcome, a check or a study is."

// ClaimsText prints every published claim that results answer, by publication: the
// outcome, the figures and the reason in a sentence. It prints nothing if there are none.
func ClaimsText(w io.Writer, results []*tare.Result, s Style) error {
	sources := sourcesOf(results)
	if len(sources) == 0 {
		return nil
	}
	p := &page{style: s, width: s.width()}
	p.line(s.paint(Bold, ClaimsHeading+": ") + ClaimsCount(results))
	p.wrap(0, 0, ClaimsMean, Dim)
	for _, source := range sources {
		p.heading(source)
		p.table(claimsFrom(results, source))
	}
	return send(w, s, p.b.String())
}

// ClaimsCount counts the outcomes of all claims: "3 holds, 1 refuted".
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

// sourcesOf lists the publications that claims of the results stand in.
func sourcesOf(results []*tare.Result) []string {
	var all []tare.ClaimResult
	for _, r := range results {
		all = append(all, r.Claims...)
	}
	sources := distinct(all, func(c tare.ClaimResult) string { return c.Source })
	slices.SortFunc(sources, func(a, b string) int { return byID(firstOf(all, a), firstOf(all, b)) })
	return sources
}

// firstOf is the first id, in their order, of a publication's claims.
func firstOf(all []tare.ClaimResult, source string) string {
	var ids []string
	for _, c := range all {
		if c.Source == source {
			ids = append(ids, c.ID)
		}
	}
	return slices.MinFunc(ids, byID)
}

// claimsFrom is a row for every claim of one publication, by their ids.
func claimsFrom(results []*tare.Result, source string) Table {
	var t Table
	type numbered struct {
		id  string
		row Row
	}
	var rows []numbered
	for _, r := range results {
		of := *r
		of.Claims = slices.DeleteFunc(slices.Clone(r.Claims), func(c tare.ClaimResult) bool { return c.Source != source })
		one := claimTable(&of, []string{source})
		t.Columns = one.Columns
		for i, line := range one.Rows {
			rows = append(rows, numbered{of.Claims[i].ID, line})
		}
	}
	slices.SortStableFunc(rows, func(a, b numbered) int { return byID(a.id, b.id) })
	for _, n := range rows {
		t.Rows = append(t.Rows, n.row)
	}
	return t
}

// byID orders ids by their numbers: F2.9 stands before F2.10.
func byID(a, b string) int {
	for a != "" && b != "" {
		numA, restA := leadingNumber(a)
		numB, restB := leadingNumber(b)
		if numA >= 0 && numB >= 0 {
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

// leadingNumber is the number that text begins with, -1 without one.
func leadingNumber(text string) (n int, rest string) {
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
