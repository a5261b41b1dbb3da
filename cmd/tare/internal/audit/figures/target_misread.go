package figures

import (
	"fmt"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/audit"
	"github.com/tarebench/tare/internal/lazyregexp"
)

// targetMisread finds results that do not exceed their target as stated. For example, "exceeds the
// 3-4x target with 3.1x" is wrong.
func targetMisread() rule {
	return rule{Rule: audit.Rule{
		ID: "target-misread", Severity: tare.Warn,
		Title:   "The text says that a result exceeds its target, but the result is not above the target.",
		Why:     "A result at the lower end of a target just meets the target, and the next run may miss it.",
		Do:      "say that the result meets the target, by how much, and give the interval",
		Command: benchCommand,
		Bad:     "The new parser exceeds the 3-4x target, achieving 3.1x speedup.\n",
		Good:    "The new parser meets the 3-4x target, achieving 3.1x speedup.\n",
		Seen:    []string{"json-encode"},
	}, find: findTargetMisread}
}

// exceededTargetRE matches "exceeds the 2-3x target with 2.5x". The groups are 2, 3 and 2.5. For
// "exceeded 3x, our goal: 3.5x" the second group is "".
var exceededTargetRE = lazyregexp.New(`(?i)\bexceed\w*\b\*{0,2}[^.]{0,20}?` +
	`(\d+(?:\.\d+)?)(?:\s*[-–]\s*(\d+(?:\.\d+)?))?x\b` +
	`[^.]{0,40}\b(?:target|goal)\b[^\d]{0,40}(\d+(?:\.\d+)?)x`)

// allMeetRE matches "All four meet the objective of 50 ms at p99". The groups are 50, ms and p99.
var allMeetRE = lazyregexp.New(`(?i)\b(?:all|each|every)\b(?: of (?:them|these|the \w+))?(?: (?:\d+|` + numberWords + `))?(?: [a-z]+)? ` + // all four
	`(?:meets?|stays?|remains?|are|is|keeps?|lies?)\b[^.;\d]{0,30}?\b(?:objective|limit|target|budget|goal|below|under|within)\b[^.;\d]{0,15}?` + // meet the objective of
	aTime + `[^.;]{0,20}?\b(p\d\d\d?(?:\.\d+)?|median)\b`) // 50 ms at p99

// findUnmetTarget reports a row of the table before a sentence that does not meet what all are said to meet.
func (d *document) findUnmetTarget(s sentence, report reportFunc) {
	m := allMeetRE.FindStringSubmatch(s.text)
	index := d.tableBefore(s)
	if m == nil || index < 0 || negationRE.MatchString(s.text) {
		return
	}
	limit, _, ok := parseQuantity(m[1] + " " + m[2])
	for _, f := range d.figures {
		isOfQuantile := f.origin == index && f.kind == timeKind && parseQuantileName(f.header) == parseQuantileName(m[3])
		if !ok || !isOfQuantile || f.value <= limit.value {
			continue
		}
		report(f.line, fmt.Sprintf("%s of %s is %s, and line %d says that all meet %s", m[3], quote(f.label), formatValue(f.quantity), s.line, formatTime(limit.value)))
	}
}

// findTargetMisread reports results that are not above the upper end of the target.
func findTargetMisread(d *document, report reportFunc) {
	for _, s := range d.sentences {
		d.findUnmetTarget(s, report)
		m := exceededTargetRE.FindStringSubmatch(stripMarks(s.text))
		if m == nil {
			continue
		}
		lowText, highText, resultText := m[1], m[2], m[3]
		low, _, _, _ := parseNumber(lowText) // cannot fail: the groups are numbers
		high, _, _, hasHigh := parseNumber(highText)
		if !hasHigh {
			high = low
		}
		result, _, _, _ := parseNumber(resultText)
		isTarget := low <= high // "4-3x" is something else
		if isTarget && result <= high {
			report(s.line, fmt.Sprintf("%sx does not exceed a target of %s", resultText, formatRange(lowText, highText)))
		}
	}
}

// formatRange returns 3–4x, or 3x if high is "".
func formatRange(low, high string) string {
	if high == "" {
		return low + "x"
	}
	return low + "–" + high + "x"
}
