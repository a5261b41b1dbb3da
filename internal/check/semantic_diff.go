package check

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tarebench/tare"
)

const maxDifferences = 4 // that a finding spells out

// semanticDiff reads the semantics test: answers to edge cases, compared with those of the
// reference.
func semanticDiff() Check {
	return Check{
		ID:       "semantic-diff",
		Severity: tare.Warn,
		Summary: "Before it is timed, each contender gets edge cases: tiny and exact floats, big integers, HTML, invalid UTF-8, duplicate keys, nil and empty, " +
			"times, broken syntax. The check warns if a contender outputs another value than the reference, or accepts what the reference refuses or the reverse; another spelling of the same value is noted. " +
			"The result has the table.",
		Why: "jsoniter's ConfigFastest was published as a drop-in replacement that is twice as fast, except for the precision of floats. It writes these with six digits, so that 1.5e-9 becomes 0; " +
			"it also does not escape HTML or sort map keys.",
		Advice: "read the table of differences and find out which of them your data can meet; the ratios do not contain them",
		Run: func(in Input) []tare.Finding {
			var out []tare.Finding
			for _, s := range in.Semantics {
				if len(s.Differences) > 0 {
					out = append(out, describeDifferences(s))
				}
			}
			return out
		},
	}
}

// describeDifferences returns the finding about one contender. It names the most severe differences
// first.
func describeDifferences(s tare.Semantics) tare.Finding {
	f := tare.Finding{Contender: s.Contender, Severity: tare.Note}
	var sentences []string
	for _, class := range tare.DifferenceClasses() {
		for _, d := range s.Differences {
			if d.Class != class {
				continue
			}
			if class != tare.DiffersInForm {
				f.Severity = tare.Warn
			}
			if !slices.Contains(sentences, d.Says) { // one mistake can show in several cases
				sentences = append(sentences, d.Says)
			}
		}
	}
	rest := ""
	if n := len(sentences) - maxDifferences; n > 0 {
		sentences, rest = sentences[:maxDifferences], fmt.Sprintf("; and %d more", n)
	}
	f.Message = fmt.Sprintf("%d of %d answers are not %s's: it %s%s", len(s.Differences), s.Cases, s.Reference, strings.Join(sentences, "; "), rest)
	return f
}
