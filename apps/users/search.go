package users

import (
	"strings"
	"unicode/utf8"
)

// matchesText reports whether the name or e-mail of u contains text, ignoring case. text must be in lower
// case, as e-mails are.
func matchesText(u *User, text string) bool {
	return strings.Contains(u.Email, text) || containsFolded(u.Name, text)
}

// containsFolded reports the same as strings.Contains(strings.ToLower(s), text). It does not allocate
// if s is ASCII. text must be in lower case.
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

// hasFoldedPrefix reports whether s in lower case begins with text. s must be ASCII, and not shorter than
// text.
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

// isASCII reports whether s has only ASCII characters.
func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}
