package figures

import (
	"fmt"
	"strings"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/audit"
	"github.com/tarebench/tare/internal/lazyregexp"
)

// criterionCannotFail returns the rule criterion-cannot-fail, which findCriterionCannotFail applies.
func criterionCannotFail() rule {
	return rule{Rule: audit.Rule{
		ID: "criterion-cannot-fail", Severity: tare.Warn,
		Title:   "A target is so far from what is measured that nothing could miss it.",
		Why:     "A limit a thousand times above all figures decides nothing: it would hold for any of the sides, and for a much worse one.",
		Do:      "derive the limit from what a request may cost, and say what would have missed it",
		Command: "tare run routing",
		Bad:     "Target: overhead below 5 ms.\n\n| router | time |\n|---|---|\n| a | 1210 ns |\n| b | 1105 ns |\n",
		Good:    "Target: overhead below 500 ns.\n\n| router | time |\n|---|---|\n| a | 1210 ns |\n| b | 1105 ns |\n",
		Seen:    []string{"routing"},
	}, find: findCriterionCannotFail}
}

const (
	// maxMeasuredRatio is the ratio from which a limit is too far above the figure that it limits.
	maxMeasuredRatio = 100
	// maxLongestRatio is the ratio from which a limit in the text is too far above the
	// longest time of its section: the figure that it limits is not known.
	maxLongestRatio = 1000
)

// limited matches a target with the limit of a time.
var limited = lazyregexp.New(`(?i)\b(?:target|goal|threshold|criteri\w+|requirements?|budget|acceptable|acceptance|limit|slo|sla|objective|must|shall)\b[^.|]{0,60}?(?:<|≤|&lt;|below|under|less than|within|at most|no more than)\s*(\d[\d,]*(?:\.\d+)?)\s*(ns|µs|us|μs|ms|s|sec|seconds|milliseconds)\b`)

// findCriterionCannotFail reports limits of k6, of tables and of sentences that are far
// above the measured times.
func findCriterionCannotFail(d *document, report reportFunc) {
	limits := d.limits
	for _, t := range d.tables {
		limits = append(limits, t.limits()...)
	}
	for _, l := range limits {
		if l.measured > 0 && l.value >= maxMeasuredRatio*l.measured {
			report(l.line, fmt.Sprintf("the limit of %s for %s is %s times what was measured, %s", formatTime(l.value), l.name, formatNumber(l.value/l.measured), formatTime(l.measured)))
		}
	}
	longest := map[int]measure{} // by section: a page may have several studies
	for _, m := range d.measured {
		if m.kind == timeKind && m.origin >= 0 && m.value > longest[m.section].value {
			longest[m.section] = m
		}
	}
	reported := map[int]bool{}
	for _, s := range d.sentences {
		top := longest[s.section]
		if !(top.value > 0) || reported[s.section] {
			continue
		}
		m := limited.FindStringSubmatch(stripMarks(s.text))
		if m == nil {
			continue
		}
		limit, _, ok := parseQuantity(m[1] + " " + m[2])
		if ok && limit.kind == timeKind && limit.value >= maxLongestRatio*top.value {
			report(s.line, fmt.Sprintf("the limit of %s is %s times the longest time on the page, %s (line %d)", formatTime(limit.value), formatNumber(limit.value/top.value), formatTime(top.value), top.line))
			reported[s.section] = true
		}
	}
}

var (
	targetHeader = lazyregexp.New(`(?i)^(?:target|goal|threshold|limit|requirement|objective|slo|sla|budget)s?$`)
	actualHeader = lazyregexp.New(`(?i)^(?:actual|result|measured|achieved|value|observed|current)s?$`)
)

// limits returns the upper limits of times in a table with a column of targets such as
// "< 5 ms" and a column of results. It returns nil for other tables.
func (t *table) limits() []limit {
	target, actual := -1, -1
	for i, header := range t.header {
		switch header = strings.TrimSpace(header); {
		case targetHeader.MatchString(header):
			target = i
		case actualHeader.MatchString(header) && actual < 0:
			actual = i
		}
	}
	if target < 0 || actual < 0 {
		return nil
	}
	var out []limit
	for _, row := range t.rows {
		if max(target, actual) >= len(row.cells) {
			continue
		}
		text := strings.TrimSpace(row.cells[target])
		bound := strings.TrimLeft(text, "<≤= ")
		isUpperLimit := bound != text
		upper, ok := parseCell(bound)
		got, okGot := parseCell(row.cells[actual])
		if ok && okGot && isUpperLimit && upper.kind == timeKind && got.kind == timeKind {
			out = append(out, limit{line: row.line, name: quote(row.cells[0]), value: upper.value, measured: got.value})
		}
	}
	return out
}
