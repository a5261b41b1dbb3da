package report

import (
	"strings"

	"github.com/tarebench/tare/internal/lazyregexp"
)

// continuationIndent is the number of columns by which a continued line is indented more than its start.
const continuationIndent = 2

// escapeSequence matches the escape sequences of a [Style], such as ESC[1m for bold, which take no columns.
var escapeSequence = lazyregexp.New("\x1b\\[[0-9;]*m")

// WrapLines breaks the lines of a text that have more than width columns at spaces, because
// a terminal would break them within words. It returns the text as it is if width is 0,
// which means that there is no terminal.
func WrapLines(text string, width int) string {
	if width <= 0 {
		return text
	}
	var b strings.Builder
	for line := range strings.Lines(text) {
		end := line[len(strings.TrimRight(line, "\r\n")):]
		line = strings.TrimSuffix(line, end)
		indent := len(line) - len(strings.TrimLeft(line, " "))
		continuation := strings.Repeat(" ", min(indent+continuationIndent, width/2))
		for start := indent; ; start = len(continuation) { // start is the index of the text after the indent
			space := findBreak(line, start, width)
			if space < 0 {
				break
			}
			b.WriteString(strings.TrimRight(line[:space], " ") + "\n")
			line = continuation + strings.TrimLeft(line[space:], " ")
		}
		b.WriteString(line + end)
	}
	return b.String()
}

// findBreak returns the index of the space at which to break a line whose text begins at index start. This is the
// last space before which the line has at most width columns or, without such a space, the first space. It returns -1
// if the line fits, or if no text follows that space.
func findBreak(line string, start, width int) int {
	if visibleWidth(strings.TrimRight(line, " ")) <= width {
		return -1
	}
	last := -1
	for i := start; i < len(line); i++ {
		if isBreak := line[i] == ' ' && strings.TrimSpace(line[start:i]) != ""; !isBreak { // not at leading spaces
			continue
		}
		fits := visibleWidth(line[:i]) <= width
		if fits || last < 0 {
			last = i
		}
		if !fits {
			break
		}
	}
	if last >= 0 && strings.TrimSpace(line[last:]) == "" {
		return -1
	}
	return last
}

// visibleWidth returns the number of terminal columns of a text with escape sequences.
func visibleWidth(text string) int { return textWidth(escapeSequence.ReplaceAllString(text, "")) }
