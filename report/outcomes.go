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
	out := slices.DeleteFunc(slices.Clone(claims), isUnmeasured)
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
		g := ClaimGroup{Outcome: o, Mark: markOfOutcome(o), Heading: signOfOutcome(o) + " " + upperFirst(string(o)), Section: Section{Key: KeyClaims, Heading: string(o)}}
		var t Table
		for _, r := range results {
			own := slices.DeleteFunc(slices.Clone(r.Claims), func(c tare.ClaimResult) bool { return c.Outcome != o })
			rows := newClaimRows(r, own)
			for i := range rows.Rows {
				rows.Rows[i].Cells[4].Text = r.Study + " " + rows.Rows[i].Cells[4].Text
			}
			t.Columns, t.Rows = rows.Columns, append(t.Rows, rows.Rows...)
			g.Claims = append(g.Claims, own...)
		}
		if len(g.Claims) > 0 {
			g.Section.addTable("claims", "", t.dropColumns("outcome"))
			out = append(out, g)
		}
	}
	return out
}

// ClaimsHeadline returns how many of the measured claims are refuted, and how many are void as published.
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
	return fmt.Sprintf("%d of %s %s refuted, %d %s void as published.", n, strings.Replace(countNoun(weighed, "claim"), " ", " weighed ", 1), chooseForm(n, "is", "are"), void, chooseForm(void, "is", "are"))
}

// isUnmeasured reports whether a run of other contenders or workloads would measure the claim.
func isUnmeasured(c tare.ClaimResult) bool {
	return c.Outcome == tare.NotMeasured && c.Kind != tare.ClaimReported
}

// newClaimRows returns a row per claim, in their order: statement, outcome, both values, and the id. A reason
// that several claims share is printed once.
func newClaimRows(r *tare.Result, claims []tare.ClaimResult) Table {
	t := Table{Columns: []Column{{Name: "published"}, {Name: "outcome"}, {Name: "said", Right: true}, {Name: "found", Right: true}, {Name: "id"}}}
	for i, c := range claims {
		about := []string{claimSubject(r, c, ", ")}
		if c.Metric != "" {
			about = append(about, claimMeasure(c))
		}
		row := Row{Cells: []Field{
			{Text: c.Statement + " (" + strings.Join(about, ", ") + ")"}, {signOfOutcome(c.Outcome) + " " + outcomeText(c), markOfOutcome(c.Outcome)},
			{Text: formatPublished(c)}, formatMeasured(c), {c.ID, Dim},
		}}
		if p := c.Shares; p != nil {
			row.Notes = append(row.Notes, fmt.Sprintf("Of %s %s (%s): said %s, found %s.", formatRate(p.Whole), p.Unit, p.WholeOf, formatDigits(100*p.Published/p.Whole, 2)+" %", formatDigits(100*p.Measured/p.Whole, 2)+" %"))
		}
		row.Notes = append(row.Notes, upperFirst(claimReason(claims, i)))
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

// addOrderedClaims adds the claims by outcome, and the number of those that another run would measure.
func (s *Section) addOrderedClaims(r *tare.Result) {
	if len(r.Claims) == 0 {
		return
	}
	s.addText(Dim, explainClaims(r))
	sources := listDistinct(r.Claims, func(c tare.ClaimResult) string { return c.Source })
	s.addText(Dim, "Published in: "+strings.Join(sources, "; ")+".")
	s.addTable("claims", "", newClaimRows(r, OrderedClaims(r.Claims)))
	if hasShareClaims(r) {
		s.addText(Dim, sharesMean)
		s.addTable("", "parts of a whole", newWholeTable(r))
	}
	s.addText(Plain, describeUnmeasured(r))
}

// describeUnmeasured counts the claims that another run would measure, with the command. It returns "" if
// there are none.
func describeUnmeasured(r *tare.Result) string {
	var ids []string
	for _, c := range r.Claims {
		if isUnmeasured(c) {
			ids = append(ids, c.ID)
		}
	}
	if len(ids) == 0 {
		return ""
	}
	return fmt.Sprintf("%d more were not measured in this run; tare run %s --budget full may: %s.", len(ids), r.Study, joinNames(ids))
}
