package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tarebench/tare"
)

// outcomeOrder is the order in which a page lists claims: the news first.
func outcomeOrder() []tare.Outcome {
	return []tare.Outcome{tare.Refuted, tare.VoidAsPublished, tare.ClaimOpen, tare.Tie, tare.DirectionHolds, tare.Holds, tare.NotMeasured}
}

// OrderedClaims returns claims by their outcome, the refuted first, without those
// that only another run can measure.
func OrderedClaims(claims []tare.ClaimResult) []tare.ClaimResult {
	out := slices.DeleteFunc(slices.Clone(claims), isLeft)
	slices.SortStableFunc(out, func(a, b tare.ClaimResult) int {
		return slices.Index(outcomeOrder(), a.Outcome) - slices.Index(outcomeOrder(), b.Outcome)
	})
	return out
}

// ClaimGroup is the claims of one outcome, over all results.
type ClaimGroup struct {
	Outcome tare.Outcome
	Mark    Mark
	Heading string // with its sign
	Claims  []tare.ClaimResult
	Section Section // with the table of the claims, a row each
}

// ClaimGroups returns all claims of results by their outcome, the refuted first.
func ClaimGroups(results []*tare.Result) []ClaimGroup {
	var out []ClaimGroup
	for _, o := range outcomeOrder() {
		g := ClaimGroup{Outcome: o, Mark: outcomeMark(o), Heading: signOfOutcome(o) + " " + capital(string(o)), Section: Section{Key: KeyClaims, Heading: string(o)}}
		var t Table
		for _, r := range results {
			own := slices.DeleteFunc(slices.Clone(r.Claims), func(c tare.ClaimResult) bool { return c.Outcome != o })
			rows := claimRows(r, own)
			for i := range rows.Rows {
				rows.Rows[i].Cells[4].Text = r.Study + " " + rows.Rows[i].Cells[4].Text
			}
			t.Columns, t.Rows = rows.Columns, append(t.Rows, rows.Rows...)
			g.Claims = append(g.Claims, own...)
		}
		if len(g.Claims) > 0 {
			g.Section.show("claims", "", t.without("outcome"))
			out = append(out, g)
		}
	}
	return out
}

// ClaimsHeadline says how many of the claims that were weighed are refuted, and how
// many are void as published.
func ClaimsHeadline(results []*tare.Result) string {
	weighed, count := 0, map[tare.Outcome]int{}
	for _, r := range results {
		for _, c := range r.Claims {
			if count[c.Outcome]++; c.Outcome != tare.NotMeasured {
				weighed++
			}
		}
	}
	if weighed == 0 {
		return "No result here answers a published claim."
	}
	n, void := count[tare.Refuted], count[tare.VoidAsPublished]
	return fmt.Sprintf("%d of %s %s refuted, %d %s void as published.", n, strings.Replace(plural(weighed, "claim"), " ", " weighed ", 1), verb(n, "is", "are"), void, verb(void, "is", "are"))
}

// isLeft reports whether a run of other contenders or workloads would measure the claim.
func isLeft(c tare.ClaimResult) bool {
	return c.Outcome == tare.NotMeasured && c.Kind != tare.ClaimReported
}

// claimRows is a row for each of claims, in their order: what was said, what came
// of it, both figures, and the id last. Whys that are alike are said once.
func claimRows(r *tare.Result, claims []tare.ClaimResult) Table {
	t := Table{Columns: []Column{{Name: "published"}, {Name: "outcome"}, {Name: "said", Right: true}, {Name: "found", Right: true}, {Name: "id"}}}
	for i, c := range claims {
		about := []string{claimedOf(r, c, ", ")}
		if c.Metric != "" {
			about = append(about, measure(c))
		}
		row := Row{Cells: []Field{
			{Text: c.Statement + " (" + strings.Join(about, ", ") + ")"}, {signOfOutcome(c.Outcome) + " " + became(c), outcomeMark(c.Outcome)},
			{Text: published(c)}, measuredClaim(c), {c.ID, Dim},
		}}
		if p := c.Shares; p != nil {
			row.Notes = append(row.Notes, fmt.Sprintf("Of %s %s (%s): said %s, found %s.", asRate(p.Whole), p.Unit, p.WholeOf, significant(100*p.Published/p.Whole, 2)+" %", significant(100*p.Measured/p.Whole, 2)+" %"))
		}
		row.Notes = append(row.Notes, capital(reason(claims, i)))
		t.Rows = append(t.Rows, row)
	}
	return t
}

// signOfOutcome returns the mark of an outcome.
func signOfOutcome(o tare.Outcome) string {
	switch o {
	case tare.Refuted, tare.VoidAsPublished:
		return "✕"
	case tare.Holds:
		return "✓"
	case tare.DirectionHolds, tare.Tie:
		return "≈"
	case tare.NotMeasured:
		return "–"
	}
	return "?"
}

// claimsOrdered adds the claims by their outcome, and how many another run would
// measure.
func (s *Section) claimsOrdered(r *tare.Result) {
	if len(r.Claims) == 0 {
		return
	}
	s.say(Dim, claimsMean(r))
	sources := distinct(r.Claims, func(c tare.ClaimResult) string { return c.Source })
	s.say(Dim, "Published in: "+strings.Join(sources, "; ")+".")
	s.show("claims", "", claimRows(r, OrderedClaims(r.Claims)))
	if parted(r) {
		s.say(Dim, sharesMean)
		s.show("", "parts of a whole", ofWhole(r))
	}
	s.say(Plain, claimsLeft(r))
}

// claimsLeft counts the claims that another run would measure, with the command; ""
// if there are none.
func claimsLeft(r *tare.Result) string {
	var ids []string
	for _, c := range r.Claims {
		if isLeft(c) {
			ids = append(ids, c.ID)
		}
	}
	if len(ids) == 0 {
		return ""
	}
	return fmt.Sprintf("%d more were not measured in this run; tare run %s --budget full may: %s.", len(ids), r.Study, inWords(ids))
}
