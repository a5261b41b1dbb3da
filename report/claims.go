package report

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/format"
)

func (s *Section) claims(r *tare.Result) {
	if len(r.Claims) == 0 {
		return
	}
	means, sources := []string{claimsMean(r)}, distinct(r.Claims, func(c tare.ClaimResult) string { return c.Source })
	if len(sources) == 1 {
		means = append(means, "Published in: "+sources[0]+".")
	}
	s.only(forText, func() {
		s.say(Dim, means...)
		s.space()
		s.show("claims", "", claimTable(r, sources))
	})
	s.only(forMarkdown, func() {
		s.say(Dim, strings.Join(means, " "))
		s.show("", "", claimSentences(r, sources))
	})
	if parted(r) {
		s.space()
		s.say(Dim, sharesMean)
		s.space()
		s.show("", "parts of a whole", ofWhole(r))
	}
}

// claimTable is a row for every claim, with what it said beneath it.
func claimTable(r *tare.Result, sources []string) Table {
	t := Table{Columns: []Column{
		{Name: "claim"}, {Name: "outcome"}, {Name: "measure"},
		{Name: "published", Unit: "ratio"}, {Name: "measured", Unit: "ratio [interval]"},
	}}
	for i, c := range r.Claims {
		statement := fmt.Sprintf("%s (%s)", c.Statement, or(claimedOf(r, c, ", "), nothing))
		if len(sources) > 1 {
			statement += ", " + c.Source
		}
		t.Rows = append(t.Rows, Row{
			Cells: []Field{
				{Text: c.ID}, {became(c), outcomeMark(c.Outcome)}, {Text: measure(c)},
				{Text: published(c)}, measuredClaim(c),
			},
			Notes: slices.Concat([]string{statement, reason(r.Claims, i)}, shownBy(c)),
		})
	}
	return t
}

// ClaimsMarkdown writes the claims of r as a table in Markdown, each with what it
// said and why it came out as it did. The error is the writer's.
func ClaimsMarkdown(w io.Writer, r *tare.Result) error {
	s := &sheet{}
	s.table(claimSentences(r, nil))
	var seen []string
	for _, c := range r.Claims {
		for _, code := range c.Shown {
			line := fmt.Sprintf("- %s: [%s](%s): %s", plain(c.ID), plain(whereShown(code)), code.URL(), plain(code.Says))
			if key := code.URL() + code.Says; !slices.Contains(seen, key) {
				if len(seen) == 0 {
					s.block("Public code that shows it:")
				}
				seen = append(seen, key)
				s.b.WriteString(line + "\n")
			}
		}
	}
	if len(seen) > 0 {
		s.b.WriteString("\n")
	}
	return send(w, Style{}, s.b.String())
}

// shownBy are lines about the public code that shows how a claim came about.
func shownBy(c tare.ClaimResult) (lines []string) {
	for _, code := range c.Shown {
		lines = append(lines, "shown by "+whereShown(code)+": "+code.Says)
	}
	return lines
}

// whereShown names a line of public code, as go names a version: "github.com/owner/name@1f5fff2, main.go:12".
func whereShown(s tare.Shown) string {
	return fmt.Sprintf("%s@%.7s, %s:%d", s.Repository, s.Commit, s.Path, s.Line)
}

// claimSentences is a row for every claim with what it said in the row, where
// notes have no place beneath it.
func claimSentences(r *tare.Result, sources []string) Table {
	t := Table{Columns: []Column{
		{Name: "claim"}, {Name: "it said, in our words"}, {Name: "of"}, {Name: "outcome"}, {Name: "measure"},
		{Name: "published", Unit: "ratio: figures"}, {Name: "measured", Unit: "ratio [interval]"}, {Name: "why"},
	}}
	placed := slices.ContainsFunc(r.Claims, func(c tare.ClaimResult) bool { return c.Place != "" || c.SourceURL != "" })
	if placed {
		t.Columns = slices.Insert(t.Columns, 2, Column{Name: "where"})
	}
	for i, c := range r.Claims {
		statement := c.Statement
		if len(sources) > 1 {
			statement += ", " + c.Source
		}
		cells := []Field{
			{Text: c.ID}, {Text: statement}, {Text: claimedOf(r, c, " on ")}, {Text: became(c)}, {Text: measure(c)},
			{Text: published(c) + ofFigures(c)}, measuredClaim(c), {Text: strings.TrimPrefix(reason(r.Claims, i), "why: ")},
		}
		if placed {
			cells = slices.Insert(cells, 2, linked(or(c.Place, c.Source), c.SourceURL))
		}
		t.Rows = append(t.Rows, Row{Cells: cells})
	}
	return t
}

// claimedOf is what a claim is about: a contender, as a rule on a workload;
// empty where it is about neither.
func claimedOf(r *tare.Result, c tare.ClaimResult, on string) string {
	about := title(r, c.Contender)
	if c.Workload != "" {
		about += on + c.Workload
	}
	return about
}

// became is the outcome of a claim in words.
func became(c tare.ClaimResult) string {
	if c.Kind == tare.ClaimReported {
		return "reported, " + string(c.Outcome)
	}
	return string(c.Outcome)
}

// claimsMean says what the ratios of the claims are.
func claimsMean(r *tare.Result) string {
	text := "Each ratio is the contender's figure over that of " + r.Baseline() + ": as published, and as measured here."
	if claimed(r.Claims, tare.ClaimTrend) {
		text += " Of a trend it is the factor by which that ratio moves from the first workload to the last, 1 where it stays."
	}
	if claimed(r.Claims, tare.ClaimGrowth) {
		text += " Of a growth it is the exponent with which the contender's own time grows with size: 0 where it stays, 1 where it is proportional, 2 where twice the size takes four times."
	}
	if claimed(r.Claims, tare.ClaimCount) {
		text += " A count is of the modules that the contender adds to those of " + r.Baseline() + "."
	}
	if claimed(r.Claims, tare.ClaimShare) {
		text += " A share is how much of what " + r.Baseline() + " takes the contender does without."
	}
	if claimed(r.Claims, tare.ClaimRate) {
		text += " A rate is how many operations a second make " + r.Baseline() + " take 1 % of a core more than the contender."
	}
	if claimed(r.Claims, tare.ClaimCause) {
		text += " A cause is all of a difference that is taken apart above: the shares of the other steps answer it."
	}
	if claimed(r.Claims, tare.ClaimReported) {
		text += " What is only reported was published, and nothing here measures it."
	}
	if claimed(r.Claims, tare.ClaimStatement) {
		text += " A claim without a figure is a statement, which a check answers."
	}
	return text
}

// claimed reports whether any of claims is of that kind.
func claimed(claims []tare.ClaimResult, kind tare.ClaimKind) bool {
	return slices.ContainsFunc(claims, func(c tare.ClaimResult) bool { return c.Kind == kind })
}

// measure is what a claim is measured by.
func measure(c tare.ClaimResult) string {
	switch {
	case c.Kind == tare.ClaimCount:
		return "modules"
	case c.Kind == tare.ClaimTrend && c.Metric != "":
		return c.Metric + ", trend"
	case c.Kind == tare.ClaimGrowth && c.Metric != "":
		return c.Metric + ", growth"
	case c.Kind == tare.ClaimShare && c.Metric != "":
		return c.Metric + ", share"
	case c.Kind == tare.ClaimRate:
		return "rate"
	}
	return or(c.Metric, nothing)
}

// published is the published figure of a claim.
func published(c tare.ClaimResult) string {
	switch {
	case c.Kind == tare.ClaimCount:
		return plural(int(c.Published), "module")
	case c.Kind == tare.ClaimShare:
		return percent(c.Published)
	case c.Kind == tare.ClaimGrowth:
		return "^" + number(c.Published)
	case c.Kind == tare.ClaimRate:
		return number(c.Published) + "/s"
	case c.Kind == tare.ClaimRatio && c.Published == 0:
		return nothing
	case c.Kind == tare.ClaimReported && c.Published > 0:
		return number(c.Published) + " " + c.Unit
	}
	return format.Ratio(c.Published)
}

// measuredClaim is the measured side of a claim. Where the claim is void as
// published the figure, if any, answers another question.
func measuredClaim(c tare.ClaimResult) Field {
	switch {
	case c.Kind == tare.ClaimCount && c.Outcome != tare.NotMeasured:
		return Field{Text: plural(int(c.Measured), "module")}
	case c.Measured == 0:
		return Field{Text: nothing}
	case c.Kind == tare.ClaimGrowth && c.Low == 0 && c.High == 0:
		return Field{Text: "^" + fixed(c.Measured, 2) + " [no interval yet]"}
	case c.Kind == tare.ClaimGrowth:
		return Field{Text: "^" + fixed(c.Measured, 2) + " [" + fixed(c.Low, 2) + ", " + fixed(c.High, 2) + "]"}
	case c.Kind == tare.ClaimShare && c.Low == 0 && c.High == 0:
		return Field{Text: percent(c.Measured) + " [no interval yet]"}
	case c.Kind == tare.ClaimShare:
		return Field{Text: percent(c.Measured) + " [" + percent(c.Low) + ", " + percent(c.High) + "]"}
	case c.Kind == tare.ClaimRate && c.Low < c.High:
		return Field{Text: perSecond(c.Measured) + "/s [" + perSecond(c.Low) + ", " + perSecond(c.High) + "]"}
	case c.Kind == tare.ClaimRate:
		return Field{Text: perSecond(c.Measured) + "/s"}
	case c.Outcome == tare.VoidAsPublished:
		return crossed(format.Ratio(c.Measured))
	case c.Low == c.Measured && c.High == c.Measured:
		return Field{Text: exactly(c.Measured)}
	}
	return Field{Text: format.Ratio(c.Measured) + " " + interval(c.Low, c.High)}
}

// reason is why claim i came out as it did. Several claims may fall for one
// reason; it is printed once.
func reason(claims []tare.ClaimResult, i int) string {
	c := claims[i]
	label := "why: "
	if c.SizeRefuted && c.Outcome == tare.DirectionHolds {
		label = "not the published size: "
	}
	why := c.Why
	if why == "" {
		why = c.Evidence
	}
	for _, earlier := range claims[:i] {
		if earlier.Why == c.Why && c.Why != "" {
			why = "as for " + earlier.ID
			break
		}
	}
	return label + why
}

func outcomeMark(o tare.Outcome) Mark {
	switch o {
	case tare.Holds, tare.MoreThanPublished, tare.DirectionHolds:
		return Good
	case tare.Refuted, tare.VoidAsPublished:
		return Bad
	}
	return Warned
}

// distinct lists the values of key in the order in which they first appear.
func distinct(claims []tare.ClaimResult, key func(tare.ClaimResult) string) []string {
	var out []string
	for _, c := range claims {
		if k := key(c); !slices.Contains(out, k) {
			out = append(out, k)
		}
	}
	return out
}
