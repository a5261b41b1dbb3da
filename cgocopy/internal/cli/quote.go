package cli

import "strings"

// quoteWords returns a command line on one line.
func quoteWords(words []string) string {
	out := make([]string, len(words))
	for i, w := range words {
		if out[i] = w; w == "" || strings.ContainsAny(w, " \t'\"`\\$&|;<>*?()[]{}#~!") {
			out[i] = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
	}
	return strings.Join(out, " ")
}

// unquoteWords splits the output of quoteWords.
func unquoteWords(line string) []string {
	var words []string
	var word strings.Builder
	in, any := false, false
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case c == '\'':
			in, any = !in, true
		case c == '\\' && !in && i+1 < len(line):
			i++
			word.WriteByte(line[i])
			any = true
		case c == ' ' && !in:
			if any || word.Len() > 0 {
				words = append(words, word.String())
			}
			word.Reset()
			any = false
		default:
			word.WriteByte(c)
		}
	}
	if any || word.Len() > 0 {
		words = append(words, word.String())
	}
	return words
}
