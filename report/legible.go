package report

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The texts of a result come from contenders and authors of studies. They may contain escape sequences, characters
// that change the direction of writing, or invalid UTF-8. Reports print such a character as its name: ⟨U+001B⟩, or
// ⟨ff⟩ for an invalid byte.

// oneLine returns text in one line of printable characters, without repeated spaces.
func oneLine(text string) string {
	return strings.Join(strings.Fields(nameUnprintable(text, unicode.IsSpace)), " ")
}

// showLiteral returns text in one line. Spaces stay; other white space is shown by name.
func showLiteral(text string) string {
	return nameUnprintable(text, func(r rune) bool { return r == ' ' })
}

// nameUnprintable replaces unprintable characters by their names. isKept selects characters that stay.
func nameUnprintable(text string, isKept func(rune) bool) string {
	var b strings.Builder
	for i, size := 0, 0; i < len(text); i += size {
		var r rune
		r, size = utf8.DecodeRuneInString(text[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, "⟨%02x⟩", text[i])
		case isKept(r) || unicode.IsPrint(r):
			b.WriteRune(r)
		default:
			fmt.Fprintf(&b, "⟨%U⟩", r)
		}
	}
	return b.String()
}

func upperFirst(text string) string {
	first, size := utf8.DecodeRuneInString(text)
	if size == 0 || first == utf8.RuneError {
		return text
	}
	return string(unicode.ToUpper(first)) + text[size:]
}

// guardFormula puts an apostrophe before a text that a spreadsheet could run.
func guardFormula(text string) string {
	if text != "" && strings.ContainsRune("=+-@", rune(text[0])) {
		return "'" + text
	}
	return text
}
