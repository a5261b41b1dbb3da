package check

import (
	"fmt"
	"strings"
)

// markdown returns docs/checks.md: every check with what it looks at, the mistake
// it exists to catch, and what to do about a finding.
func markdown() string {
	var b strings.Builder
	b.WriteString("<!-- Generated from package check by `go generate ./internal/check`; do not edit. -->\n\n# Checks\n\n")
	b.WriteString("A check reads what a study recorded and yields findings. **void**: the trial or verdict does not count, and its numbers are struck through. " +
		"**warn**: the numbers stand, with this in mind. **note**: worth knowing. Where the evidence a check needs is missing it says nothing. " +
		"`tare explain CHECK` prints one of these.\n\n" +
		"A trap names the checks that must void it. A check that had all the evidence it needs and found nothing has missed the trap, and the run fails. " +
		"Until then the evidence is not enough, which is noted with the number of rounds that would do.\n\n")
	b.WriteString("| check | at worst | what it looks at |\n|---|---|---|\n")
	for _, c := range All() {
		fmt.Fprintf(&b, "| [%s](#%s) | %s | %s |\n", c.ID, c.ID, c.Severity, firstSentence(c.Summary))
	}
	for _, c := range All() {
		fmt.Fprintf(&b, "\n## %s\n\n%s\n\n*Why.* %s\n\n*What to do.* %s.\n", c.ID, c.Summary, c.Why, upperFirst(c.Advice))
		if c.Expectable() {
			fmt.Fprintf(&b, "\n*Traps.* %s\n", c.Traps())
		}
	}
	return b.String()
}

func firstSentence(s string) string {
	if i := strings.Index(s, ". "); i >= 0 {
		return s[:i+1]
	}
	return s
}

func upperFirst(s string) string { return strings.ToUpper(s[:1]) + s[1:] }
