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

// findTargetMisread reports results that are not above the upper end of the target.
func findTargetMisread(d *document, report reportFunc) {
	for _, s := range d.sentences {
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
