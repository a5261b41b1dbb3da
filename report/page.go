package report

import "strings"

const bodyIndent = 2 // columns before the text of a section

// textPage collects the lines of a report for a terminal.
type textPage struct {
	style Style
	b     strings.Builder
	width int
}

func (p *textPage) writeBlank() { p.b.WriteByte('\n') }

func (p *textPage) writeLine(text string) {
	p.b.WriteString(text)
	p.b.WriteByte('\n')
}

// writeHeading starts a section of the page.
func (p *textPage) writeHeading(title string) {
	p.writeBlank()
	p.writeLine(p.style.paintText(Bold, oneLine(title)))
}

// writeWrapped prints text in the width of the page, the first line indented by first columns and the others by rest.
// It paints each line separately.
func (p *textPage) writeWrapped(first, rest int, text string, m Mark) {
	indent := first
	for _, line := range wrapWords(text, p.width-first, p.width-rest) {
		p.writeLine(strings.Repeat(" ", indent) + p.style.paintText(m, line))
		indent = rest
	}
}

// writeLabelled prints label, in labelWidth columns and with mark m, and then text. Further lines of text are
// indented like the first.
func (p *textPage) writeLabelled(label string, labelWidth int, m Mark, text string) {
	label = oneLine(label)
	start := bodyIndent + labelWidth + columnGap // column of the text
	pad := strings.Repeat(" ", max(labelWidth-textWidth(label), 0)+columnGap)
	for i, line := range wrapWords(text, p.width-start, p.width-start) {
		if i == 0 {
			p.writeLine(strings.Repeat(" ", bodyIndent) + p.style.paintText(m, label) + pad + line)
		} else {
			p.writeLine(strings.Repeat(" ", start) + line)
		}
	}
}

// splitWords splits text at the spaces where a line may break, which excludes the one between a number and its %. It
// replaces unprintable characters by their names.
func splitWords(text string) []string {
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

// wrapWords breaks text between words into lines. The first line has at most first columns, others have at most rest.
// A longer word has a line of its own.
func wrapWords(text string, first, rest int) []string {
	var lines []string
	line, limit := "", first
	for _, word := range splitWords(text) {
		switch {
		case line == "":
			line = word
		case textWidth(line)+1+textWidth(word) <= limit:
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
