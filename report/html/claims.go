package html

import (
	"bytes"
	"fmt"
	"html/template"
	"io"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/report"
)

// Linked is a result and where its page lies, as a link from the page of claims;
// empty where there is none.
type Linked struct {
	Result *tare.Result
	Page   string
}

// claimsPage is what the template of the claims is given.
type claimsPage struct {
	Title, Heading, Count, Means string

	Policy  string
	Style   template.CSS
	Studies []study
	Parts   []part
}

// study is one that was measured.
type study struct{ Name, Question, Headline, Page string }

// WriteClaims writes every published claim that results answer as one page,
// with links to the pages of the studies that answer them. It has no script.
func WriteClaims(w io.Writer, results []Linked) error {
	t, err := template.New("page").Funcs(functions()).ParseFS(templates, "templates/*.html")
	if err != nil {
		return fmt.Errorf("write claims: %w", err)
	}
	style := styleText()
	p := &claimsPage{Title: report.ClaimsHeading, Heading: report.ClaimsHeading, Means: report.ClaimsMean, Policy: Policy(style, ""), Style: template.CSS(style)} //nolint:gosec // compiled in
	var all []*tare.Result
	for _, l := range results {
		all = append(all, l.Result)
		p.Studies = append(p.Studies, study{report.Legible(l.Result.Study), report.Legible(l.Result.Question), first(report.Headline(l.Result)), l.Page})
	}
	p.Count = report.ClaimsCount(all)
	for i, s := range report.Claims(all) {
		of := part{ID: "source-" + short(float64(i+1)), Key: s.Key, Heading: s.Heading, Level: 2}
		for _, x := range s.Blocks {
			of.Blocks = append(of.Blocks, block{Grid: tabled(s, x)})
		}
		p.Parts = append(p.Parts, of)
	}
	var out bytes.Buffer
	if err := t.ExecuteTemplate(&out, "claims.html", p); err != nil {
		return fmt.Errorf("write claims: %w", err)
	}
	if _, err := w.Write(out.Bytes()); err != nil {
		return fmt.Errorf("write claims: %w", err)
	}
	return nil
}
