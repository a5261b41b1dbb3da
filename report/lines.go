package report

import (
	"regexp"
	"strings"
)

// hang is the number of columns by which further lines are indented more.
const hang = 2

// colour matches the escape sequences of a [Style], which take no columns.
var colour = regexp.MustCompile("\x1b\\[[0-9;]*m")

// WrapLines breaks the lines of a text that have more than width columns, at spaces. A
// terminal would break them within words. A width of 0, if there is no terminal,
// leaves the text as it is.
func WrapLines(text string, width int) string {
	if width <= 0 {
		return text
	}
	var b strings.Builder
	for line := range strings.Lines(text) {
		end := line[len(strings.TrimRight(line, "\r\n")):]
		line = strings.TrimSuffix(line, end)
		indent := len(line) - len(strings.TrimLeft(line, " "))
		further := strings.Repeat(" ", min(indent+hang, width/2))
		for from := indent; ; from = len(further) {
			at := breakAt(line, from, width)
			if at < 0 {
				break
			}
			b.WriteString(strings.TrimRight(line[:at], " ") + "\n")
			line = further + strings.TrimLeft(line[at:], " ")
		}
		b.WriteString(line + end)
	}
	return b.String()
}

// breakAt returns the byte of the last space, after the first from bytes, up to which a line has at most width
// columns, otherwise of the first space. It returns -1 if the line fits, or has no space.
func breakAt(line string, from, width int) int {
	if textWidth(colour.ReplaceAllString(strings.TrimRight(line, " "), "")) <= width {
		return -1
	}
	last := -1
	for i := from; i < len(line); i++ {
		if line[i] != ' ' || strings.TrimSpace(line[from:i]) == "" {
			continue
		}
		if textWidth(colour.ReplaceAllString(line[:i], "")) > width && last >= 0 {
			break
		}
		if last = i; textWidth(colour.ReplaceAllString(line[:i], "")) > width {
			break
		}
	}
	if last >= 0 && strings.TrimSpace(line[last:]) == "" {
		return -1
	}
	return last
}
