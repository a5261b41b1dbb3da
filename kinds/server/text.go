package server

import (
	"strings"
	"unicode"
)

// oneLine makes foreign text fit for a message: one line of printable
// characters, at most 200.
func oneLine(s string) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return ' '
		}
		if !unicode.IsPrint(r) {
			return unicode.ReplacementChar
		}
		return r
	}, strings.ToValidUTF8(strings.TrimSpace(s), "\uFFFD"))
	if r := []rune(s); len(r) > 200 {
		s = string(r[:200]) + "…"
	}
	return s
}
