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

// Linked is a result and the address of its page for links from the page of claims, or "".
type Linked struct {
	Result *tare.Result
	Page   string
}

// claimsPage is the data of the template of the claims.
type claimsPage struct {
	Title, Headline, Means string

	Policy   string
	Style    template.CSS
	Studies  []study
	Outcomes template.HTML // bar of all outcomes
	Counts   []count
	Groups   []group
}

// study is a measured study.
type study struct{ Name, Question, Headline, Page string }

type count struct {
	Class, Text string
}

// group is the claims of one outcome.
type group struct {
	ID, Heading string
	Fold        bool // claims that only another run can measure are folded
	Grid        *grid
}

// WriteClaims writes every published claim that results answer as one page, by
// outcome, with links to the pages of the studies. It has no script.
func WriteClaims(w io.Writer, results []Linked) error {
	t, err := template.New("page").Funcs(templateFuncs()).ParseFS(templates, "templates/*.html")
	if err != nil {
		return fmt.Errorf("write claims: %w", err)
	}
	style := styleText()
	p := &claimsPage{Title: report.ClaimsHeading, Means: report.ClaimsMean, Policy: Policy(style, ""), Style: template.CSS(style)} //nolint:gosec // compiled in
	var all []*tare.Result
	total := 0
	for _, l := range results {
		all = append(all, l.Result)
		total += len(l.Result.Claims)
		top := report.NewSummary(l.Result)
		p.Studies = append(p.Studies, study{report.Legible(l.Result.Study), top.Question, top.Headline, l.Page})
	}
	p.Headline = report.ClaimsHeadline(all)
	var parts []plot.Part
	for i, g := range report.ClaimGroups(all) {
		of := group{ID: "outcome-" + strconv.Itoa(i+1), Heading: fmt.Sprintf("%s: %d", g.Heading, len(g.Claims)), Fold: g.Outcome == tare.NotMeasured}
		x := g.Section.Blocks[0]
		of.Grid = newGrid(g.Section, x, *x.Table)
		drawClaims(of.Grid, g.Claims)
		p.Groups = append(p.Groups, of)
		class := "o" + strconv.Itoa(i)
		parts = append(parts, plot.Part{Class: class, Share: float64(len(g.Claims)) / float64(total)})
		p.Counts = append(p.Counts, count{class, of.Heading})
	}
	p.Outcomes = plot.Stack(parts)
	var out bytes.Buffer
	if err := t.ExecuteTemplate(&out, "claims.html", p); err != nil {
		return fmt.Errorf("write claims: %w", err)
	}
	if _, err := w.Write(out.Bytes()); err != nil {
		return fmt.Errorf("write claims: %w", err)
	}
	return nil
}
