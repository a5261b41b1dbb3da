package figures

import (
	"fmt"
	"slices"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/audit"
	"github.com/tarebench/tare/internal/lazyregexp"
)

// successNotCounted finds "zero errors" on pages that count no errors.
func successNotCounted() rule {
	return rule{Rule: audit.Rule{
		ID: "success-not-counted", Severity: tare.Note,
		Title:   "All requests succeed according to the text, and no figure counts failures.",
		Why:     "A benchmark that drops errors has none: what failed was as fast as what worked, or faster.",
		Do:      "count answers by status next to each rate, and check their content",
		Command: loadCommand,
		Bad:     "| operation | ns/op |\n|---|---|\n| create | 101000 |\n| read | 45000 |\n\nAll servers keep a 100% success rate under load.\n",
		Good:    "| operation | ns/op | errors |\n|---|---|---|\n| create | 101000 | 0 |\n| read | 45000 | 0 |\n\nAll servers keep a 100% success rate under load.\n",
		Seen:    []string{"users"},
	}, find: findSuccessNotCounted}
}

var (
	// allSucceedRE matches "100% success" and the like.
	allSucceedRE = lazyregexp.New(`(?i)\b100\s?%\s+success|\bzero (?:errors|failures)\b|\bno (?:errors|failed requests)\b|\b0\s?% (?:error|failure)`)
	// countsErrorsRE matches words of a table with counted failures.
	countsErrorsRE = lazyregexp.New(`(?i)\berrors?\b|fail|success|non-2xx|status|✓`)
	// countingToolRE matches a load generator. They all count errors.
	countingToolRE = lazyregexp.New(`^(?:wrk2?|ab|hey|oha|vegeta|k6|ghz)\b`)
)

// findSuccessNotCounted reports the first statement that no request failed, unless a table, a
// command or a report on the page counts errors.
func findSuccessNotCounted(d *document, report reportFunc) {
	if len(d.figures) < 2 || len(d.reports) > 0 {
		return
	}
	usesTool := slices.ContainsFunc(d.commands, func(c command) bool { return countingToolRE.MatchString(c.text) })
	if usesTool || slices.ContainsFunc(d.tables, func(t *table) bool { return t.hasText(countsErrorsRE) }) {
		return
	}
	for _, s := range d.sentences {
		if m := allSucceedRE.FindString(s.text); m != "" {
			report(s.line, fmt.Sprintf("%s: no column or output on the page counts errors", quote(m)))
			return
		}
	}
}
