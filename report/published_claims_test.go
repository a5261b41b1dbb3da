package report

import (
	"slices"
	"strings"
	"testing"

	"github.com/tarebench/tare"
)

func TestClaimsOfSeveralResults(t *testing.T) {
	of := func(study string, claims ...tare.ClaimResult) *tare.Result {
		return &tare.Result{Study: study, Judged: tare.Judged{Claims: claims}}
	}
	claim := func(id, source string, o tare.Outcome) tare.ClaimResult {
		return tare.ClaimResult{ID: id, Source: source, Statement: "it is " + id, Outcome: o, Why: "because of " + id}
	}
	results := []*tare.Result{
		of("one", claim("F2.10", "later", tare.Refuted), claim("F0.1", "first", tare.Holds)),
		of("none"),
		of("two", claim("F2.9", "later", tare.NotMeasured), claim("F2.9/b", "later", tare.Refuted)),
	}
	if got, want := ClaimsCount(results), "1 holds, 2 refuted, 1 not measured"; got != want {
		t.Errorf("count %q, want %q", got, want)
	}
	var sources, ids []string
	for _, source := range listSources(results) {
		sources = append(sources, source)
		for _, r := range newSourceTable(results, source).Rows {
			ids = append(ids, r.Cells[0].Text)
			if notes := strings.Join(r.Notes, " "); !strings.Contains(notes, "it is "+r.Cells[0].Text) || !strings.Contains(notes, "because of "+r.Cells[0].Text) {
				t.Errorf("%s: %q", r.Cells[0].Text, notes)
			}
		}
	}
	if !slices.Equal(sources, []string{"first", "later"}) || !slices.Equal(ids, []string{"F0.1", "F2.9", "F2.9/b", "F2.10"}) {
		t.Errorf("%v, %v", sources, ids)
	}
	var out strings.Builder
	if err := ClaimsText(&out, results, Style{}); err != nil || !strings.HasPrefix(out.String(), "The published claims: 1 holds, 2 refuted, 1 not measured\n") {
		t.Errorf("%v\n%s", err, out.String())
	}
	out.Reset()
	if err := ClaimsText(&out, results[1:2], Style{}); err != nil || out.Len() > 0 {
		t.Errorf("%v: %q", err, out.String())
	}
}

// If a study names the place of a claim and the code that explains it, tables link to both.
func TestPlacesOfClaims(t *testing.T) {
	c := tare.ClaimResult{
		ID: "F1", Source: "somebody", SourceURL: "https://example.com/README.md", Place: "Results", Statement: "it is fast", Outcome: tare.VoidAsPublished, Why: "void",
		Shown: []tare.Shown{{Repository: "example.com/o/n", Commit: "0123456789", Path: "a.go", Line: 7, Says: "the error is dropped"}},
	}
	r := &tare.Result{Judged: tare.Judged{Claims: []tare.ClaimResult{c}}}
	var out strings.Builder
	if err := ClaimsMarkdown(&out, r); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"| claim | it said, in our words | where | of |", "| F1 | it is fast | [Results](https://example.com/README.md) |",
		"- F1: [example.com/o/n@" + noLink + "0123456, a.go:7](https://example.com/o/n/blob/0123456789/a.go#L7): the error is dropped\n",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
	out.Reset()
	if err := ClaimsText(&out, []*tare.Result{r}, Style{}); err != nil || !strings.Contains(out.String(), "shown by example.com/o/n@0123456, a.go:7: the error is dropped") {
		t.Errorf("%v\n%s", err, out.String())
	}
}

// An exponent is printed with two decimals.
func TestExponentsOfClaims(t *testing.T) {
	c := tare.ClaimResult{Kind: tare.ClaimGrowth, Measured: 0.16888741373741703, Low: 0.12022502646630834, High: 0.2138}
	if got := formatMeasured(c).Text; got != "^0.17 [0.12, 0.21]" {
		t.Errorf("measured %q", got)
	}
}
