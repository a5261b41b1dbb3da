package report

import (
	"slices"
	"strings"
	"unicode"
)

// markdownDocument collects the blocks of a Markdown document, with tables and ~~struck~~ text. Pass text from a
// result through [escapeText] or [formatCode] first.
type markdownDocument struct{ b strings.Builder }

func (s *markdownDocument) writeBlock(lines ...string) {
	if len(lines) == 0 {
		return
	}
	if s.b.Len() > 0 {
		s.b.WriteByte('\n')
	}
	for _, line := range lines {
		s.b.WriteString(line)
		s.b.WriteByte('\n')
	}
}

func (s *markdownDocument) writeHeading(level int, text string) {
	s.writeBlock(strings.Repeat("#", level) + " " + text)
}

func (s *markdownDocument) writeList(texts ...string) {
	var lines []string
	for _, text := range texts {
		if text != "" {
			lines = append(lines, "- "+text)
		}
	}
	s.writeBlock(lines...)
}

// writeTable adds a table without notes, for which Markdown has no syntax.
func (s *markdownDocument) writeTable(t Table) {
	head, rule := "|", "|"
	for _, c := range t.Columns {
		name := c.Name
		switch {
		case c.Unit == "": // only the name
		case strings.HasSuffix(name, ","), strings.HasPrefix(c.Unit, "("):
			name += " " + c.Unit
		default:
			name += ", " + c.Unit
		}
		head += " " + escapePipes(escapeText(name)) + " |"
		if c.Right {
			rule += "---:|"
		} else {
			rule += "---|"
		}
	}
	lines := []string{head, rule}
	for _, r := range t.Rows {
		line := "|"
		for i := range t.Columns {
			var c Field
			if i < len(r.Cells) {
				c = r.Cells[i]
			}
			line += " " + escapePipes(formatField(c)) + " |"
		}
		lines = append(lines, line)
	}
	s.writeBlock(lines...)
}

func formatField(f Field) string {
	switch text := escapeText(f.Text); {
	case text == "":
		return ""
	case f.Text == likeReference: // = needs no escape in a cell
		return f.Text
	case f.Mark == Struck:
		return "~~" + text + "~~"
	case f.Mark == Bold:
		return "**" + text + "**"
	case f.Mark == Code:
		return formatCode(f.Text)
	case strings.HasPrefix(string(f.Mark), address):
		return "[" + text + "](" + string(f.Mark) + ")"
	default:
		return text
	}
}

// escapeText returns text as Markdown that shows it letter by letter.
func escapeText(text string) string { return escapeMarkdown(oneLine(text)) }

// escapeMarkdown escapes one line. It puts a backslash before markup, and noLink after each @, so that no user is
// mentioned.
func escapeMarkdown(text string) string {
	runes := []rune(text)
	var b strings.Builder
	at := func(i int) rune {
		if i < 0 || i >= len(runes) {
			return ' '
		}
		return runes[i]
	}
	for i, r := range runes {
		next := at(i + 1)
		isMarkup := false
		switch r {
		case '\\', '`', '*', '~', '$':
			isMarkup = true
		case '_': // is no markup inside a word
			isMarkup = !isWordRune(at(i-1)) || !isWordRune(next)
		case '<': // opens a tag
			isMarkup = unicode.IsLetter(next) || next == '/' || next == '!' || next == '?'
		case '&': // opens an entity
			isMarkup = unicode.IsLetter(next) || next == '#'
		case ']': // ends the text of a link
			isMarkup = next == '(' || next == '['
		case '#', '!': // # starts a heading, #1 and !1 name an issue or a merge request, ![ begins an image
			isMarkup = r == '#' && i == 0 || unicode.IsDigit(next) || r == '!' && next == '['
		case '+', '-', '>', '[', '=', '/': // starts another kind of block, or a command of GitLab
			isMarkup = i == 0
		case '.', ')': // "1. " and "1) " start a numbered list; www. becomes a link
			isMarkup = i > 0 && isDigits(runes[:i]) && next == ' ' || r == '.' && i >= 3 && strings.EqualFold(string(runes[i-3:i]), "www")
		case ':': // :// becomes a link
			isMarkup = next == '/'
		}
		if isMarkup {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
		if r == '@' { // must not notify a user
			b.WriteString(noLink)
		}
	}
	return b.String()
}

// noLink is a space without width, at which a link ends.
const noLink = "\u200b"

// formatCode returns text as a code span, in which no character is markup. The span is between fences of more
// backquotes than text has in a row.
func formatCode(text string) string {
	text = oneLine(text)
	if !strings.Contains(text, "`") {
		return "`" + text + "`"
	}
	fence := "``"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	return fence + " " + text + " " + fence
}

// escapePipes escapes the bars of a cell.
func escapePipes(markdown string) string { return strings.ReplaceAll(markdown, `|`, `\|`) }

func isWordRune(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

func isDigits(runes []rune) bool {
	return !slices.ContainsFunc(runes, func(r rune) bool { return r < '0' || r > '9' })
}
