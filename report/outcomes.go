package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/format"
)

// A claim is a published statement that a study tests. Its outcome is the result of the test.

// outcomeOrder returns the outcomes in the order of a page: contradictions first.
func outcomeOrder() []tare.Outcome {
	return []tare.Outcome{tare.Refuted, tare.VoidAsPublished, tare.ClaimOpen, tare.Tie, tare.DirectionHolds, tare.Holds, tare.NotMeasured}
}

// OrderedClaims returns the measured claims sorted by outcome, the refuted first. Claims with the same reason are
// adjacent.
func OrderedClaims(claims []tare.ClaimResult) []tare.ClaimResult {
	out := slices.DeleteFunc(slices.Clone(claims), isUnmeasured)
	first := map[string]int{} // first claim with each heading
	for i, c := range out {
		if _, isKnown := first[claimHeading(c)]; !isKnown {
			first[claimHeading(c)] = i
		}
	}
	slices.SortStableFunc(out, func(a, b tare.ClaimResult) int {
		return cmp.Or(
			slices.Index(outcomeOrder(), a.Outcome)-slices.Index(outcomeOrder(), b.Outcome),
			first[claimHeading(a)]-first[claimHeading(b)],
		)
	})
	return out
}

// claimHeading returns the outcome of a claim with its reason: "✕ refuted: not below 1 as claimed, but the other
// side".
func claimHeading(c tare.ClaimResult) string {
	text := signOfOutcome(c.Outcome) + " " + outcomeText(c)
	if c.SizeRefuted && c.Outcome == tare.DirectionHolds {
		text += ", not the published size"
	}
	reason, _, _ := splitReason(c)
	return text + ": " + reason
}

// splitReason splits a reason such as "published 0.5×, measured 1.2× (1.1 to 1.3, 95 %, 12 rounds): not below 1 as
// claimed, but the other side". It returns the text after the figures, the level and the rounds. It returns another reason unchanged.
func splitReason(c tare.ClaimResult) (reason, level, rounds string) {
	reason = orDefault(c.Why, c.Evidence)
	figures, after, hasFigures := strings.Cut(reason, "): ")
	_, span, hasSpan := strings.Cut(figures, " (")
	parts := strings.Split(span, ", ")
	if !hasFigures || !hasSpan || !strings.HasPrefix(figures, "published ") || len(parts) != 3 {
		return reason, "", ""
	}
	return after, parts[1], parts[2]
}

// newReasonedTable returns a row per claim, in this order. Above claims with the same outcome and reason, a row
// names both.
func newReasonedTable(r *tare.Result, claims []tare.ClaimResult) Table {
	all := newClaimRows(r, claims).dropColumns("outcome")
	t := Table{Columns: all.Columns}
	const foundCell = 2 // measured value
	last := ""
	for i, c := range claims {
		if heading := claimHeading(c); heading != last {
			t.Rows = append(t.Rows, Row{Cells: []Field{{heading, markOfOutcome(c.Outcome)}}})
			last = heading
		}
		row := all.Rows[i]
		row.Notes = row.Notes[:len(row.Notes)-1] // without the reason
		_, level, rounds := splitReason(c)
		if level != "" {
			row.Cells[foundCell].Text += " at " + level
		}
		if rounds != "" && rounds != countNoun(r.RoundsDone, "round") {
			row.Cells[foundCell].Text += ", " + rounds
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// ClaimGroup has the claims of all results with the same outcome.
type ClaimGroup struct {
	Outcome tare.Outcome
	Mark    Mark
	Heading string // sign and name of the outcome
	Claims  []tare.ClaimResult
	Section Section // has the table of claims
}

// ClaimGroups returns the claims of all results grouped by outcome, the refuted first.
func ClaimGroups(results []*tare.Result) []ClaimGroup {
	var out []ClaimGroup
	for _, o := range outcomeOrder() {
		g := ClaimGroup{
			Outcome: o, Mark: markOfOutcome(o), Heading: signOfOutcome(o) + " " + upperFirst(string(o)),
			Section: Section{Key: KeyClaims, Heading: string(o)},
		}
		var t Table
		for _, r := range results {
			claims := slices.DeleteFunc(slices.Clone(r.Claims), func(c tare.ClaimResult) bool { return c.Outcome != o })
			part := newClaimRows(r, claims)
			for _, row := range part.Rows {
				row.Cells[claimIDCell].Text = r.Study + " " + row.Cells[claimIDCell].Text
			}
			t.Columns, t.Rows = part.Columns, append(t.Rows, part.Rows...)
			g.Claims = append(g.Claims, claims...)
		}
		if len(g.Claims) > 0 {
			g.Section.addTable("claims", "", t.dropColumns("outcome"))
			out = append(out, g)
		}
	}
	return out
}

// ClaimsHeadline counts measured claims, and those refuted or void as published.
func ClaimsHeadline(results []*tare.Result) string {
	measured, count := 0, map[tare.Outcome]int{}
	for _, r := range results {
		for _, c := range r.Claims {
			count[c.Outcome]++
			if c.Outcome != tare.NotMeasured {
				measured++
			}
		}
	}
	if measured == 0 {
		return "No measured result answers a published claim."
	}
	refuted, void := count[tare.Refuted], count[tare.VoidAsPublished]
	return fmt.Sprintf("%d of %s %s refuted, %d %s void as published.",
		refuted, countNoun(measured, "weighed claim"), format.Choose(refuted, "is", "are"), void, format.Choose(void, "is", "are"))
}

// isUnmeasured reports whether only another run would measure the claim.
func isUnmeasured(c tare.ClaimResult) bool {
	return c.Outcome == tare.NotMeasured && c.Kind != tare.ClaimReported
}

// claimIDCell is the cell with the id.
const claimIDCell = 4

// newClaimRows returns a row per claim, in this order. Its last note is the reason or refers to an earlier claim.
func newClaimRows(r *tare.Result, claims []tare.ClaimResult) Table {
	t := Table{Columns: []Column{{Name: "published"}, {Name: "outcome"}, {Name: "said", Right: true}, {Name: "found", Right: true}, {Name: "id"}}}
	for i, c := range claims {
		scope := claimSubject(r, c, ", ")
		if c.Metric != "" {
			scope += ", " + claimMeasure(c)
		}
		row := Row{Cells: []Field{
			{Text: c.Statement + " (" + scope + ")"},
			{signOfOutcome(c.Outcome) + " " + outcomeText(c), markOfOutcome(c.Outcome)},
			{Text: formatPublished(c)},
			formatMeasured(c),
			claimIDCell: {Text: c.ID},
		}}
		if s := c.Shares; s != nil {
			percentOf := func(x float64) string { return format.Digits(100*x/s.Whole, 2) + " %" }
			row.Notes = append(row.Notes, fmt.Sprintf("Of %s %s (%s): said %s, found %s.", formatRate(s.Whole), s.Unit, s.WholeOf, percentOf(s.Published), percentOf(s.Measured)))
		}
		row.Notes = append(row.Notes, upperFirst(claimReason(claims, i)))
		t.Rows = append(t.Rows, row)
	}
	return t
}

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

// addOrderedClaims adds the claims of OrderedClaims, and the number of unmeasured ones.
func (s *Section) addOrderedClaims(r *tare.Result) {
	if len(r.Claims) == 0 {
		return
	}
	s.addText(Dim, explainClaims(r))
	sources := listDistinct(r.Claims, func(c tare.ClaimResult) string { return c.Source })
	s.addText(Dim, "Published in: "+strings.Join(sources, "; ")+".")
	s.addTable("claims", "", newReasonedTable(r, OrderedClaims(r.Claims)))
	if hasShareClaims(r) {
		s.addText(Dim, sharesMean)
		s.addTable("", "parts of a whole", newTotalTable(r))
	}
	s.addText(Plain, describeUnmeasured(r))
}

// describeUnmeasured counts the unmeasured claims, with a command that measures them.
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
