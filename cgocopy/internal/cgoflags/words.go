package cgoflags

import (
	"fmt"
	"strings"
	"unicode"
)

// Split splits the text of a variable such as CC into words, as the go command does. A word may be in
// single or double quotes. Backslashes have no meaning.
func Split(text string) ([]string, error) {
	var words []string
	for {
		text = strings.TrimLeftFunc(text, unicode.IsSpace)
		switch {
		case text == "":
			return words, nil
		case text[0] == '"', text[0] == '\'':
			word, rest, closed := strings.Cut(text[1:], text[:1])
			if !closed {
				return nil, fmt.Errorf("%s: the quote is not closed", text)
			}
			words, text = append(words, word), rest
		default:
			end := strings.IndexFunc(text, unicode.IsSpace)
			if end < 0 {
				end = len(text)
			}
			words, text = append(words, text[:end]), text[end:]
		}
	}
}

// splitEscaped splits the output of pkg-config, which is quoted for shells. -DA=\"x\ y\" is the single word
// -DA="x y".
func splitEscaped(text string) ([]string, error) {
	var words []string
	var word strings.Builder
	var quote rune                 // the open quote, or 0
	escaped, begun := false, false // escaped: the last rune was a backslash; begun: a word has begun
	for _, r := range text {
		switch {
		case escaped:
			// In double quotes a backslash only escapes these four characters.
			if quote == '"' && r != '"' && r != '\\' && r != '$' && r != '`' {
				word.WriteByte('\\')
			}
			word.WriteRune(r)
			escaped = false
		case r == '\\' && quote != '\'':
			escaped, begun = true, true
		case quote != 0 && r == quote:
			quote = 0
		case quote == 0 && (r == '"' || r == '\''):
			quote, begun = r, true
		case quote == 0 && unicode.IsSpace(r):
			if begun {
				words = append(words, word.String())
			}
			word.Reset()
			begun = false
		default:
			word.WriteRune(r)
			begun = true
		}
	}
	if begun {
		words = append(words, word.String())
	}
	if quote != 0 || escaped {
		return nil, fmt.Errorf("pkg-config: %s: a quote is not closed", strings.TrimSpace(text))
	}
	return words, nil
}
