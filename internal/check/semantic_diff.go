package check

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tarebench/tare"
)

// maxDifferences is the number of differences that a finding spells out.
const maxDifferences = 4

func semanticDiff() Check {
	return Check{
		ID:       "semantic-diff",
		Severity: tare.Warn,
		Summary: "Before it is timed each contender is asked for odd values and odd documents: tiny and exact floats, big integers, HTML, invalid UTF-8, duplicate keys, nil and empty, " +
			"times, broken syntax. Where it puts out another value than the reference, or accepts what the reference refuses or the reverse, it warns; another spelling of the same value is noted. " +
			"The result has the table.",
		Why: "jsoniter's ConfigFastest was published as a drop-in replacement that is twice as fast, but for the precision of floats. It writes these with six digits, so that 1.5e-9 becomes 0; " +
			"it also leaves HTML as it is and map keys in any order.",
		Advice: "read the table of differences and ask which of them your data can meet; none of them is in the ratios",
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

// describeDifferences returns the finding about one contender. Its gravest differences come first.
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
