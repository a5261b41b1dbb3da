package users

import (
	"strings"
	"unicode/utf8"
)

// matches reports whether text, in lower case, is a part of name or e-mail.
func matches(u *User, text string) bool {
	return strings.Contains(u.Email, text) || foldedContains(u.Name, text)
}

// foldedContains is strings.Contains(strings.ToLower(s), text) for a text in
// lower case, without a copy of s where that is ASCII.
func foldedContains(s, text string) bool {
	if !isASCII(s) {
		return strings.Contains(strings.ToLower(s), text)
	}
	for i := 0; i+len(text) <= len(s); i++ {
		if foldedPrefix(s[i:], text) {
			return true
		}
	}
	return false
}

func foldedPrefix(s, text string) bool {
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
