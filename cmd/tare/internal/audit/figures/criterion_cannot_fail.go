package figures

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/audit"
)

// criterionCannotFail returns the rule about this mistake: a target is so far from what is measured that nothing could miss it.
func criterionCannotFail() rule {
	return rule{audit.Rule{
		ID: "criterion-cannot-fail", Severity: tare.Warn, Title: "A target is so far from what is measured that nothing could miss it.",
		Why:     "A limit a thousand times above all figures decides nothing: it would hold for any of the sides, and for a much worse one.",
		Do:      "derive the limit from what a request may cost, and say what would have missed it",
		Command: "tare run routing", Lang: "text",
		Bad:  "Target: overhead below 5 ms.\n\n| router | time |\n|---|---|\n| a | 1210 ns |\n| b | 1105 ns |\n",
		Good: "Target: overhead below 500 ns.\n\n| router | time |\n|---|---|\n| a | 1210 ns |\n| b | 1105 ns |\n",
		Seen: []string{"routing"},
	}, findCriterionCannotFail}
}

// farAbove is from which ratio of a limit and the very figure that it limits nothing near the
// limit was measured.
const farAbove = 100

// tooFar is from which ratio of limit and figure a target decides nothing.
const tooFar = 1000

var limited = regexp.MustCompile(`(?i)\b(?:target|goal|threshold|criteri\w+|requirements?|budget|acceptable|acceptance|limit|slo|sla|objective|must|shall)\b[^.|]{0,60}?(?:<|≤|&lt;|below|under|less than|within|at most|no more than)\s*(\d[\d,]*(?:\.\d+)?)\s*(ns|µs|us|μs|ms|s|sec|seconds|milliseconds)\b`)

func findCriterionCannotFail(d *document, report reportFunc) {
	limits := d.limits
	for _, t := range d.tables {
		limits = append(limits, t.limits()...)
	}
	for _, l := range limits {
		if l.measured > 0 && l.value >= farAbove*l.measured {
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
		text := stripMarks(s.text)
		most := longest[s.section]
		if !(most.value > 0) || reported[s.section] {
			continue
		}
		m := limited.FindStringSubmatch(text)
		if m == nil {
			continue
		}
		limit, _, ok := parseQuantity(m[1] + " " + m[2])
		if ok && limit.kind == timeKind && limit.value >= tooFar*most.value {
			report(s.line, fmt.Sprintf("the limit of %s is %s times the longest time on the page, %s (line %d)", formatTime(limit.value), formatNumber(limit.value/most.value), formatTime(most.value), most.line))
			reported[s.section] = true
		}
	}
}

var (
	targetHeader = regexp.MustCompile(`(?i)^(?:target|goal|threshold|limit|requirement|objective|slo|sla|budget)s?$`)
	actualHeader = regexp.MustCompile(`(?i)^(?:actual|result|measured|achieved|value|observed|current)s?$`)
)

// limits returns the limits of times in a table that has a column of targets and one of results.
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
		most, ok := parseCell(bound)
		got, okGot := parseCell(row.cells[actual])
		if ok && okGot && bound != text && most.kind == timeKind && got.kind == timeKind {
			out = append(out, limit{row.line, quote(row.cells[0]), most.value, got.value})
		}
	}
	return out
}
