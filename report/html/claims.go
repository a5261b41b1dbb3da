package html

import (
	"bytes"
	"fmt"
	"html/template"
	"io"
	"strconv"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/plot"
	"github.com/tarebench/tare/report"
)

// This file writes a page with published claims. A claim is a published statement that a study tests.

// Linked is a result with the address of its page.
type Linked struct {
	Result *tare.Result
	Page   string // "" if there is no page
}

// claimsPage is the data of templates/claims.html.
type claimsPage struct {
	Title, Headline, Means string

	Policy   string
	Style    template.CSS
	Marks    template.HTML // definitions of marks in drawings
	Studies  []study
	Outcomes template.HTML // bar of all outcomes
	Counts   []count
	Groups   []group
}

type study struct{ Name, Question, Headline, Page string }

type count struct {
	Class, Text string
}

type group struct {
	ID, Heading string
	Fold        bool // hidden at first: the claims were not measured
	Grid        *grid
}

// WriteClaims writes all published claims of results as one page, by outcome. It links to the pages of the
// studies. The page has no script.
func WriteClaims(w io.Writer, results []Linked) error {
	t, err := template.New("page").Funcs(templateFuncs()).ParseFS(templates, "templates/*.html")
	if err != nil {
		return fmt.Errorf("write claims: %w", err)
	}
	p := &claimsPage{Title: report.ClaimsHeading, Means: report.ClaimsMean, Marks: plot.MarkSymbols()}
	var tables []*grid
	var all []*tare.Result
	total := 0
	for _, l := range results {
		all = append(all, l.Result)
		total += len(l.Result.Claims)
		top := report.NewSummary(l.Result)
		p.Studies = append(p.Studies, study{
			Name: report.Legible(l.Result.Study), Question: top.Question, Headline: top.Headline, Page: l.Page,
		})
	}
	p.Headline = report.ClaimsHeadline(all)
	var parts []plot.Part
	for i, g := range report.ClaimGroups(all) {
		outcome := group{ID: "outcome-" + strconv.Itoa(i+1), Heading: fmt.Sprintf("%s: %d", g.Heading, len(g.Claims)), Fold: g.Outcome == tare.NotMeasured}
		x := g.Section.Blocks[0]
		outcome.Grid = newGrid(g.Section, x, *x.Table)
		drawClaims(outcome.Grid, "c"+strconv.Itoa(i+1), g.Claims)
		tables = append(tables, outcome.Grid)
		p.Groups = append(p.Groups, outcome)
		class := "o" + strconv.Itoa(i)
		parts = append(parts, plot.Part{Class: class, Share: float64(len(g.Claims)) / float64(total)})
		p.Counts = append(p.Counts, count{class, outcome.Heading})
	}
	p.Outcomes = plot.Stack(parts)
	style := styleText() + labelColumns(tables)
	p.Policy, p.Style = Policy(style, ""), template.CSS(style) //nolint:gosec // compiled in, and quoted by quoteCSS
	var out bytes.Buffer
	if err := t.ExecuteTemplate(&out, "claims.html", p); err != nil {
		return fmt.Errorf("write claims: %w", err)
	}
	if _, err := w.Write(out.Bytes()); err != nil {
		return fmt.Errorf("write claims: %w", err)
	}
	return nil
}
