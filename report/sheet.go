package report

import (
	"strings"
	"unicode"
)

// sheet collects the blocks of a Markdown document (the dialect of GitHub and
// GitLab: tables and ~~struck~~ text). What blocks are given is Markdown;
// text from elsewhere goes through [plain] or [code] before.
type sheet struct{ b strings.Builder }

// block adds lines with an empty line before them.
func (s *sheet) block(lines ...string) {
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

func (s *sheet) heading(level int, text string) { s.block(strings.Repeat("#", level) + " " + text) }

// list adds one item per text; empty ones are left out.
func (s *sheet) list(texts ...string) {
	var lines []string
	for _, text := range texts {
		if text != "" {
			lines = append(lines, "- "+text)
		}
	}
	s.block(lines...)
}

// table adds a table without its notes, which have no place in Markdown's.
func (s *sheet) table(t Table) {
	head, rule := "|", "|"
	for _, c := range t.Columns {
		name := c.Name
		switch {
		case c.Unit == "":
		case strings.HasSuffix(name, ","), strings.HasPrefix(c.Unit, "("):
			name += " " + c.Unit
		default:
			name += ", " + c.Unit
		}
		head += " " + piped(plain(name)) + " |"
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
			line += " " + piped(marked(c)) + " |"
		}
		lines = append(lines, line)
	}
	s.block(lines...)
}

// marked is what stands in a table, with its mark.
func marked(f Field) string {
	switch text := plain(f.Text); {
	case text == "":
		return ""
	case f.Text == likeReference: // alone it starts no other kind of block
		return f.Text
	case f.Mark == Struck:
		return "~~" + text + "~~"
	case f.Mark == Bold:
		return "**" + text + "**"
	case f.Mark == Code:
		return code(f.Text)
	case strings.HasPrefix(string(f.Mark), address):
		return "[" + text + "](" + string(f.Mark) + ")"
	default:
		return text
	}
}

// plain is text as Markdown that shows it letter by letter, in one line.
func plain(text string) string { return escapedMarkdown(oneLine(text)) }

// escapedMarkdown is plain for a text that is in one line.
func escapedMarkdown(text string) string {
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
		marks := false
		switch r {
		case '\\', '`', '*', '~', '$':
			marks = true
		case '_': // inside a word it is a letter
			marks = !wordy(at(i-1)) || !wordy(next)
		case '<': // opens a tag
			marks = unicode.IsLetter(next) || next == '/' || next == '!' || next == '?'
		case '&': // opens an entity
			marks = unicode.IsLetter(next) || next == '#'
		case ']': // ends the text of a link
			marks = next == '(' || next == '['
		case '#', '!': // starts a heading; names an issue or a merge request; begins an image
			marks = r == '#' && i == 0 || unicode.IsDigit(next) || r == '!' && next == '['
		case '+', '-', '>', '[', '=', '/': // starts another kind of block, or a command of GitLab
			marks = i == 0
		case '.', ')': // starts a numbered list; makes a link of www.
			marks = i > 0 && digits(runes[:i]) && next == ' ' || r == '.' && i >= 3 && strings.EqualFold(string(runes[i-3:i]), "www")
		case ':': // makes a link
			marks = next == '/'
		}
		if marks {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
		if r == '@' { // calls nobody
			b.WriteString(noLink)
		}
	}
	return b.String()
}

// noLink is a space without width, which ends what would become a link.
const noLink = "\u200b"

// code is text as a code span, in which nothing is a mark. Its fence is longer
// than any in the text.
func code(text string) string {
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

// piped is a cell whose bars do not end it.
func piped(markdown string) string { return strings.ReplaceAll(markdown, `|`, `\|`) }

func wordy(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

func digits(runes []rune) bool {
	for _, r := range runes {
		if r < '0' || r > '9' {
			return false
		}
	}
	return true
}
