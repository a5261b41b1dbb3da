package users

import (
	"strings"
	"unicode/utf8"
)

// matchesText reports whether u's name or e-mail contains text, ignoring case. text must be in lower case.
func matchesText(u *User, text string) bool {
	return strings.Contains(u.Email, text) || containsFolded(u.Name, text)
}

// containsFolded is strings.Contains(strings.ToLower(s), text), without allocating for ASCII. text must be in
// lower case.
func containsFolded(s, text string) bool {
	if !isASCII(s) {
		return strings.Contains(strings.ToLower(s), text)
	}
	for i := 0; i+len(text) <= len(s); i++ {
		if hasFoldedPrefix(s[i:], text) {
			return true
		}
	}
	return false
}

// hasFoldedPrefix reports whether s begins with text, ignoring case. s must be ASCII and not shorter than text,
// which must be in lower case.
func hasFoldedPrefix(s, text string) bool {
	for i := range len(text) {
		c := s[i]
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		if c != text[i] {
			return false
		}
	}
	return true
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}
