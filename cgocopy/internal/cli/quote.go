package cli

import "strings"

// quoteWords returns a command line as one line, with quotes around words that a shell would change.
func quoteWords(words []string) string {
	out := make([]string, len(words))
	for i, w := range words {
		if out[i] = w; w == "" || strings.ContainsAny(w, " \t'\"`\\$&|;<>*?()[]{}#~!") {
			out[i] = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
	}
	return strings.Join(out, " ")
}

// unquoteWords splits the output of quoteWords into words again.
func unquoteWords(line string) []string {
	var words []string
	var word strings.Builder
	inQuotes, isQuoted := false, false // isQuoted: the word, which may be empty, has quotes or a backslash
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case c == '\'':
			inQuotes, isQuoted = !inQuotes, true
		case c == '\\' && !inQuotes && i+1 < len(line):
			i++
			word.WriteByte(line[i])
			isQuoted = true
		case c == ' ' && !inQuotes:
			if isQuoted || word.Len() > 0 {
				words = append(words, word.String())
			}
			word.Reset()
			isQuoted = false
		default:
			word.WriteByte(c)
		}
	}
	if isQuoted || word.Len() > 0 {
		words = append(words, word.String())
	}
	return words
}
