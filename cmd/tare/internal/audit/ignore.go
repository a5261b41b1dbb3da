package audit

import (
	"fmt"
	"slices"
	"strings"
)

// ignoreMark begins a comment that switches a rule off.
const ignoreMark = "tare:ignore"

// Ignore is a comment "tare:ignore RULE reason" in an audited file. It switches a rule off at its place.
type Ignore struct {
	Rule   string // ID of the rule
	Reason string
}

// ParseIgnore parses a comment without its delimiters. ok is false if it is not a tare:ignore comment.
// known has the IDs of all rules. ParseIgnore returns an error if the comment names none of them or
// gives no reason; the caller must then ignore the comment.
func ParseIgnore(comment string, known []string) (i Ignore, ok bool, err error) {
	rest, hasMark := strings.CutPrefix(strings.TrimSpace(comment), ignoreMark)
	isLongerWord := rest != "" && !strings.ContainsAny(rest[:1], " \t") // e.g. tare:ignored
	if !hasMark || isLongerWord {
		return Ignore{}, false, nil
	}
	rule, reason, _ := strings.Cut(strings.TrimSpace(rest), " ")
	i = Ignore{Rule: rule, Reason: strings.TrimSpace(reason)}
	switch {
	case rule == "":
		return i, true, fmt.Errorf("%s names no rule; right is: %s RULE reason", ignoreMark, ignoreMark)
	case !slices.Contains(known, rule):
		return i, true, fmt.Errorf("%s: there is no rule %q; tare audit --rules lists them", ignoreMark, rule)
	case i.Reason == "":
		return i, true, fmt.Errorf("%s %s gives no reason; right is: %s %s reason", ignoreMark, rule, ignoreMark, rule)
	}
	return i, true, nil
}
