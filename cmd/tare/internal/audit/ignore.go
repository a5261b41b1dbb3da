package audit

import (
	"fmt"
	"slices"
	"strings"
)

const ignoreMark = "tare:ignore"

// Ignore is a comment that switches a rule off at its place: "tare:ignore RULE reason".
type Ignore struct {
	Rule   string
	Reason string
}

// ParseIgnore parses a comment without its delimiters. For other comments ok is false. known has
// the IDs of all rules. After an error the comment has no effect.
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
		return i, true, fmt.Errorf("%s names no rule; write: %s RULE reason", ignoreMark, ignoreMark)
	case !slices.Contains(known, rule):
		return i, true, fmt.Errorf("%s: there is no rule %q; tare audit --rules lists them", ignoreMark, rule)
	case i.Reason == "":
		return i, true, fmt.Errorf("%s %s gives no reason; write: %s %s reason", ignoreMark, rule, ignoreMark, rule)
	}
	return i, true, nil
}
