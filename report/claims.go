package report

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/format"
)

// A claim is a statement of a publication that a study tests by measuring.

// addClaims adds a table of claims. Claims about parts of a total get a second table.
func (s *Section) addClaims(r *tare.Result) {
	if len(r.Claims) == 0 {
		return
	}
	means := []string{explainClaims(r)}
	sources := listDistinct(r.Claims, func(c tare.ClaimResult) string { return c.Source })
	if len(sources) == 1 {
		means = append(means, "Published in: "+sources[0]+".")
	}
	s.addOnly(forText, func() {
		s.addText(Dim, means...)
		s.addSpace()
		s.addTable("claims", "", newClaimTable(r, sources))
	})
	s.addOnly(forMarkdown, func() {
		s.addText(Dim, strings.Join(means, " "))
		s.addTable("", "", newWideClaimTable(r, sources))
	})
	if hasShareClaims(r) {
		s.addSpace()
		s.addText(Dim, sharesMean)
		s.addSpace()
		s.addTable("", "parts of a whole", newTotalTable(r))
	}
}

// newClaimTable returns a row per claim, with its statement in a note. The note names the publication if there are
// several.
func newClaimTable(r *tare.Result, sources []string) Table {
	t := Table{Columns: []Column{
		{Name: "claim"}, {Name: "outcome"}, {Name: "measure"},
		{Name: "published", Unit: "ratio"}, {Name: "measured", Unit: "ratio [interval]"},
	}}
	for i, c := range r.Claims {
		statement := fmt.Sprintf("%s (%s)", c.Statement, orDefault(claimSubject(r, c, ", "), noValue))
		if len(sources) > 1 {
			statement += ", " + c.Source
		}
		t.Rows = append(t.Rows, Row{
			Cells: []Field{
				{Text: c.ID}, {outcomeText(c), markOfOutcome(c.Outcome)}, {Text: claimMeasure(c)},
				{Text: formatPublished(c)}, formatMeasured(c),
			},
			Notes: slices.Concat([]string{statement, claimReason(r.Claims, i)}, describeShown(c)),
		})
	}
	return t
}

// ClaimsMarkdown writes the claims of r as a table in Markdown. Below is a list of public code that shows how the
// published values were measured. The error is the writer's.
func ClaimsMarkdown(w io.Writer, r *tare.Result) error {
	s := &markdownDocument{}
	s.writeTable(newWideClaimTable(r, nil))
	var written []string // lines of code in the list
	for _, c := range r.Claims {
		for _, code := range c.Shown {
			key := code.URL() + code.Says
			if slices.Contains(written, key) {
				continue
			}
			if len(written) == 0 {
				s.writeBlock("Public code that shows it:")
			}
			written = append(written, key)
			fmt.Fprintf(&s.b, "- %s: [%s](%s): %s\n", escapeText(c.ID), escapeText(whereShown(code)), code.URL(), escapeText(code.Says))
		}
	}
	if len(written) > 0 {
		s.b.WriteString("\n")
	}
	return writeText(w, Style{}, s.b.String())
}

func describeShown(c tare.ClaimResult) (lines []string) {
	for _, code := range c.Shown {
		lines = append(lines, "shown by "+whereShown(code)+": "+code.Says)
	}
	return lines
}

// whereShown names a line of public code, e.g. "github.com/owner/name@1f5fff2, main.go:12".
func whereShown(s tare.Shown) string {
	return fmt.Sprintf("%s@%.7s, %s:%d", s.Repository, s.Commit, s.Path, s.Line)
}

// newWideClaimTable returns a row per claim, with its statement in a column, for formats without notes.
func newWideClaimTable(r *tare.Result, sources []string) Table {
	t := Table{Columns: []Column{
		{Name: "claim"}, {Name: "it said, in our words"}, {Name: "of"}, {Name: "outcome"}, {Name: "measure"},
		{Name: "published", Unit: "ratio: figures"}, {Name: "measured", Unit: "ratio [interval]"}, {Name: "why"},
	}}
	hasPlaces := slices.ContainsFunc(r.Claims, func(c tare.ClaimResult) bool { return c.Place != "" || c.SourceURL != "" })
	if hasPlaces {
		t.Columns = slices.Insert(t.Columns, 2, Column{Name: "where"})
	}
	for i, c := range r.Claims {
		statement := c.Statement
		if len(sources) > 1 {
			statement += ", " + c.Source
		}
		cells := []Field{
			{Text: c.ID}, {Text: statement}, {Text: claimSubject(r, c, " on ")}, {Text: outcomeText(c)}, {Text: claimMeasure(c)},
			{Text: formatPublished(c) + formatSources(c)}, formatMeasured(c), {Text: strings.TrimPrefix(claimReason(r.Claims, i), "why: ")},
		}
		if hasPlaces {
			cells = slices.Insert(cells, 2, linkField(orDefault(c.Place, c.Source), c.SourceURL))
		}
		t.Rows = append(t.Rows, Row{Cells: cells})
	}
	return t
}

func claimSubject(r *tare.Result, c tare.ClaimResult, separator string) string {
	subject := contenderTitle(r, c.Contender)
	if c.Workload != "" {
		subject += separator + c.Workload
	}
	return subject
}

func outcomeText(c tare.ClaimResult) string {
	if c.Kind == tare.ClaimReported {
		return "reported, " + string(c.Outcome)
	}
	return string(c.Outcome)
}

func explainClaims(r *tare.Result) string {
	text := "Each ratio is the contender's figure over that of " + r.Baseline() + ": as published, and as measured here."
	if hasClaimKind(r.Claims, tare.ClaimTrend) {
		text += " Of a trend it is the factor by which that ratio moves from the first workload to the last, 1 where it stays."
	}
	if hasClaimKind(r.Claims, tare.ClaimGrowth) {
		text += " Of a growth it is the exponent with which the contender's own time grows with size: 0 where it stays, 1 where it is proportional, 2 where twice the size takes four times."
	}
	if hasClaimKind(r.Claims, tare.ClaimCount) {
		text += " A count is of the modules that the contender adds to those of " + r.Baseline() + "."
	}
	if hasClaimKind(r.Claims, tare.ClaimShare) {
		text += " A share is how much of what " + r.Baseline() + " takes the contender does without."
	}
	if hasClaimKind(r.Claims, tare.ClaimRate) {
		text += " A rate is how many operations a second make " + r.Baseline() + " take 1 % of a core more than the contender."
	}
	if hasClaimKind(r.Claims, tare.ClaimCause) {
		text += " A cause is all of a difference that is taken apart above: the shares of the other steps answer it."
	}
	if hasClaimKind(r.Claims, tare.ClaimReported) {
		text += " What is only reported was published, and nothing here measures it."
	}
	if hasClaimKind(r.Claims, tare.ClaimStatement) {
		text += " A claim without a figure is a statement, which a check answers."
	}
	return text
}

func hasClaimKind(claims []tare.ClaimResult, kind tare.ClaimKind) bool {
	return slices.ContainsFunc(claims, func(c tare.ClaimResult) bool { return c.Kind == kind })
}

func claimMeasure(c tare.ClaimResult) string {
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
	return orDefault(c.Metric, noValue)
}

// formatPublished returns a published value with its unit or sign: 0.71, ^1.5, 30 %, 5000/s.
func formatPublished(c tare.ClaimResult) string {
	switch {
	case c.Kind == tare.ClaimCount:
		return countNoun(int(c.Published), "module")
	case c.Kind == tare.ClaimShare:
		return formatPercent(c.Published)
	case c.Kind == tare.ClaimGrowth:
		return "^" + formatNumber(c.Published)
	case c.Kind == tare.ClaimRate:
		return formatNumber(c.Published) + "/s"
	case c.Kind == tare.ClaimRatio && c.Published == 0:
		return noValue
	case c.Kind == tare.ClaimReported && c.Published > 0:
		return formatNumber(c.Published) + " " + c.Unit
	}
	return format.Ratio(c.Published)
}

// formatMeasured returns the measured value of a claim with its interval. The value is struck if the original
// measured something else.
func formatMeasured(c tare.ClaimResult) Field {
	hasInterval := c.Low != 0 || c.High != 0
	isExact := c.Low == c.Measured && c.High == c.Measured
	switch {
	case c.Kind == tare.ClaimCount && c.Outcome != tare.NotMeasured:
		return Field{Text: countNoun(int(c.Measured), "module")}
	case c.Measured == 0:
		return Field{Text: noValue}
	case c.Kind == tare.ClaimGrowth && !hasInterval:
		return Field{Text: "^" + format.Fixed(c.Measured, 2) + " [no interval yet]"}
	case c.Kind == tare.ClaimGrowth:
		return Field{Text: "^" + format.Fixed(c.Measured, 2) + " [" + format.Fixed(c.Low, 2) + ", " + format.Fixed(c.High, 2) + "]"}
	case c.Kind == tare.ClaimShare && !hasInterval:
		return Field{Text: formatPercent(c.Measured) + " [no interval yet]"}
	case c.Kind == tare.ClaimShare:
		return Field{Text: formatPercent(c.Measured) + " [" + formatPercent(c.Low) + ", " + formatPercent(c.High) + "]"}
	case c.Kind == tare.ClaimRate && c.Low < c.High:
		return Field{Text: formatPerSecond(c.Measured) + "/s [" + formatPerSecond(c.Low) + ", " + formatPerSecond(c.High) + "]"}
	case c.Kind == tare.ClaimRate:
		return Field{Text: formatPerSecond(c.Measured) + "/s"}
	case c.Outcome == tare.VoidAsPublished:
		return struckField(format.Ratio(c.Measured))
	case isExact:
		return Field{Text: formatExact(c.Measured)}
	}
	return Field{Text: format.Ratio(c.Measured) + " " + formatInterval(c.Low, c.High)}
}

// claimReason returns why claim i has its outcome. A repeated reason becomes a reference to the earlier claim.
func claimReason(claims []tare.ClaimResult, i int) string {
	c := claims[i]
	label := "why: "
	if c.SizeRefuted && c.Outcome == tare.DirectionHolds {
		label = "not the published size: "
	}
	why := orDefault(c.Why, c.Evidence)
	for _, earlier := range claims[:i] {
		if earlier.Why == c.Why && c.Why != "" {
			why = "as for " + earlier.ID
			break
		}
	}
	return label + why
}

func markOfOutcome(o tare.Outcome) Mark {
	switch o {
	case tare.Holds, tare.MoreThanPublished, tare.DirectionHolds:
		return Good
	case tare.Refuted, tare.VoidAsPublished:
		return Bad
	}
	return Warned
}

// listDistinct returns the distinct values of key, in order of first occurrence.
func listDistinct[T any, K comparable](items []T, key func(T) K) []K {
	var out []K
	for _, item := range items {
		out = appendNew(out, key(item))
	}
	return out
}

func appendNew[T comparable](list []T, value T) []T {
	if slices.Contains(list, value) {
		return list
	}
	return append(list, value)
}
