package audit

import (
	"fmt"
	"slices"
	"strings"
)

// ignoreMark begins a comment that switches a rule off.
const ignoreMark = "tare:ignore"

// Ignore is a comment "tare:ignore RULE reason".
type Ignore struct {
	Rule   string
	Reason string
}

// ParseIgnore reads a comment without its delimiters. ok is false if the comment
// is about something else. An error says what the comment lacks; such a comment
// switches nothing off. known holds the ids of all rules.
func ParseIgnore(comment string, known []string) (i Ignore, ok bool, err error) {
	rest, ok := strings.CutPrefix(strings.TrimSpace(comment), ignoreMark)
	if !ok || rest != "" && !strings.ContainsAny(rest[:1], " \t") {
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
