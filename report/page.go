package report

import "strings"

const bodyIndent = 2 // columns before the text of a section

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

func (p *textPage) writeHeading(title string) {
	p.writeBlank()
	p.writeLine(p.style.paintText(Bold, oneLine(title)))
}

// writeWrapped prints text in the width of the page. first and rest are indents. Each line is painted separately.
func (p *textPage) writeWrapped(first, rest int, text string, m Mark) {
	indent := first
	for _, line := range wrapWords(text, p.width-first, p.width-rest) {
		p.writeLine(strings.Repeat(" ", indent) + p.style.paintText(m, line))
		indent = rest
	}
}

// writeLabelled prints label in labelWidth columns, and then text. Further lines are indented like the first.
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

// splitWords splits text at spaces where a line may break. A number and its % stay together.
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

// wrapWords breaks text into lines of at most first or rest columns. A longer word has a line of its own.
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
