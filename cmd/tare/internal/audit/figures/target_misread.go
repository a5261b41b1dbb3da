package figures

import (
	"fmt"
	"regexp"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/audit"
)

// targetMisread returns the rule about this mistake: a target is said to be exceeded, and the figure lies within it or below.
func targetMisread() rule {
	return rule{audit.Rule{
		ID: "target-misread", Severity: tare.Warn, Title: "A target is said to be exceeded, and the figure lies within it or below.",
		Why:     "A figure at the lower end of the target just meets it: the next run may miss it.",
		Do:      "say that it was met, by how much, and give the interval",
		Command: benchCommand, Lang: "text",
		Bad:  "The new parser exceeds the 3-4x target, achieving 3.1x speedup.\n",
		Good: "The new parser meets the 3-4x target, achieving 3.1x speedup.\n",
		Seen: []string{"json-encode"},
	}, findTargetMisread}
}

var exceeded = regexp.MustCompile(`(?i)\bexceed\w*\b\*{0,2}[^.]{0,20}?(\d+(?:\.\d+)?)(?:\s*[-–]\s*(\d+(?:\.\d+)?))?x\b[^.]{0,40}\b(?:target|goal)\b[^\d]{0,40}(\d+(?:\.\d+)?)x`)

func findTargetMisread(d *document, report reportFunc) {
	for _, s := range d.sentences {
		m := exceeded.FindStringSubmatch(stripMarks(s.text))
		if m == nil {
			continue
		}
		low, _, _, _ := parseNumber(m[1])
		high := low
		if m[2] != "" {
			high, _, _, _ = parseNumber(m[2])
		}
		if got, _, _, _ := parseNumber(m[3]); got <= high && high >= low {
			report(s.line, fmt.Sprintf("%sx does not exceed a target of %s", m[3], formatRange(m[1], m[2])))
		}
	}
}

func formatRange(low, high string) string {
	if high == "" {
		return low + "x"
	}
	return low + "–" + high + "x"
}
