package report

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// What a result holds was written by others: contenders, their authors, the
// authors of studies. It may hold line ends, the escape sequences of a
// terminal, marks that turn the direction of writing, or bytes that are no text
// at all. None of it reaches a reader as it is: what does not print is named,
// ⟨U+001B⟩ for a character and ⟨ff⟩ for a byte.

// oneLine is text in one line of characters that print. White space of any
// kind and length becomes one space.
func oneLine(text string) string {
	return strings.Join(strings.Fields(named(text, unicode.IsSpace)), " ")
}

// literal is text letter by letter, for answers: what white space there is
// shows too, but for spaces themselves.
func literal(text string) string { return named(text, func(r rune) bool { return r == ' ' }) }

// named is text in which every character has a name that neither prints nor is
// kept.
func named(text string, kept func(rune) bool) string {
	var b strings.Builder
	for i, size := 0, 0; i < len(text); i += size {
		var r rune
		r, size = utf8.DecodeRuneInString(text[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, "⟨%02x⟩", text[i])
		case kept(r) || unicode.IsPrint(r):
			b.WriteRune(r)
		default:
			fmt.Fprintf(&b, "⟨%U⟩", r)
		}
	}
	return b.String()
}

// capital is text that begins a sentence.
func capital(text string) string {
	first, size := utf8.DecodeRuneInString(text)
	if size == 0 || first == utf8.RuneError {
		return text
	}
	return string(unicode.ToUpper(first)) + text[size:]
}

// shortened is text of at most n characters.
func shortened(text string, n int) string {
	if utf8.RuneCountInString(text) <= n {
		return text
	}
	return string([]rune(text)[:n-1]) + "…"
}

// unspreadable is text as a field that no spreadsheet takes for a formula: an
// apostrophe stands before what could start one.
func unspreadable(text string) string {
	if text != "" && strings.ContainsRune("=+-@", rune(text[0])) {
		return "'" + text
	}
	return text
}
