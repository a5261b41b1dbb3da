package figures

import (
	"fmt"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/audit"
	"github.com/tarebench/tare/internal/lazyregexp"
)

// targetMisread returns the audit rule that finds targets called exceeded that are not.
func targetMisread() rule {
	return rule{Rule: audit.Rule{
		ID: "target-misread", Severity: tare.Warn,
		Title:   "A target is exceeded according to the text, and the figure is within it or below.",
		Why:     "A figure at the lower end of the target just meets it: the next run may miss it.",
		Do:      "say that it was met, by how much, and give the interval",
		Command: benchCommand,
		Bad:     "The new parser exceeds the 3-4x target, achieving 3.1x speedup.\n",
		Good:    "The new parser meets the 3-4x target, achieving 3.1x speedup.\n",
		Seen:    []string{"json-encode"},
	}, find: findTargetMisread}
}

// exceededTargetRE matches "exceeds the 2-3x target with 2.5x". The groups are 2 and 3, the ends of the
// target, and 2.5, the result. The second group is "" if the target is one number.
var exceededTargetRE = lazyregexp.New(`(?i)\bexceed\w*\b\*{0,2}[^.]{0,20}?(\d+(?:\.\d+)?)(?:\s*[-–]\s*(\d+(?:\.\d+)?))?x\b[^.]{0,40}\b(?:target|goal)\b[^\d]{0,40}(\d+(?:\.\d+)?)x`)

// findTargetMisread reports results that are not above the upper end of the target.
func findTargetMisread(d *document, report reportFunc) {
	for _, s := range d.sentences {
		m := exceededTargetRE.FindStringSubmatch(stripMarks(s.text))
		if m == nil {
			continue
		}
		low, _, _, _ := parseNumber(m[1])
		high := low
		if m[2] != "" {
			high, _, _, _ = parseNumber(m[2])
		}
		isRange := high >= low // else the text is not a range of targets
		if result, _, _, _ := parseNumber(m[3]); result <= high && isRange {
			report(s.line, fmt.Sprintf("%sx does not exceed a target of %s", m[3], formatRange(m[1], m[2])))
		}
	}
}

// formatRange returns a target, e.g. 3–4x. high is "" if the target is one number.
func formatRange(low, high string) string {
	if high == "" {
		return low + "x"
	}
	return low + "–" + high + "x"
}
