package report

import "strings"

const bodyIndent = 2

// page collects the lines of a text report.
type page struct {
	style Style
	b     strings.Builder
	width int
}

func (p *page) blank() { p.b.WriteByte('\n') }

func (p *page) line(text string) {
	p.b.WriteString(text)
	p.b.WriteByte('\n')
}

// heading starts a section.
func (p *page) heading(title string) {
	p.blank()
	p.line(p.style.paint(Bold, oneLine(title)))
}

// wrap prints text in the page's width, the first line indented by first
// columns and the others by rest. Each line is painted by itself.
func (p *page) wrap(first, rest int, text string, m Mark) {
	indent := first
	for _, line := range fold(text, p.width-first, p.width-rest) {
		p.line(strings.Repeat(" ", indent) + p.style.paint(m, line))
		indent = rest
	}
}

// labelled prints label and then text, which goes on beneath itself.
func (p *page) labelled(label string, labelWidth int, m Mark, text string) {
	label = oneLine(label)
	at := bodyIndent + labelWidth + gap
	lines := fold(text, p.width-at, p.width-at)
	pad := strings.Repeat(" ", max(labelWidth-columns(label), 0)+gap)
	for i, line := range lines {
		if i == 0 {
			p.line(strings.Repeat(" ", bodyIndent) + p.style.paint(m, label) + pad + line)
			continue
		}
		p.line(strings.Repeat(" ", at) + line)
	}
}

// words splits text where a line may break, not between a figure and its %, and
// names what does not print.
func words(text string) []string {
	var out []string
	for _, word := range strings.Fields(oneLine(text)) {
		if len(out) > 0 && word[0] == '%' {
			out[len(out)-1] += " " + word
			continue
		}
		out = append(out, word)
	}
	return out
}

// fold breaks text between words into lines of at most first columns for the
// first and rest for the others; a longer word has a line to itself.
func fold(text string, first, rest int) []string {
	var lines []string
	line, limit := "", first
	for _, word := range words(text) {
		switch {
		case line == "":
			line = word
		case columns(line)+1+columns(word) <= limit:
			line += " " + word
		default:
			lines = append(lines, line)
			line, limit = word, rest
		}
	}
	if line != "" {
		lines = append(lines, line)
	}
	return lines
}
