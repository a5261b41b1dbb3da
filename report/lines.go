package report

import (
	"strings"

	"github.com/tarebench/tare/internal/lazyregexp"
)

// continuationIndent is the additional indent of continued lines.
const continuationIndent = 2

// escapeSequence matches escape sequences of a [Style], e.g. ESC[1m for bold.
var escapeSequence = lazyregexp.New("\x1b\\[[0-9;]*m")

// WrapLines breaks lines of more than width columns at spaces, because a terminal would break words. A width of 0
// means that there is no terminal.
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
		for start := indent; ; start = len(continuation) { // index of the text after the indent
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

// findBreak returns the index of the space at which to break a line, or -1. The text of the line begins at start.
// Without a space inside of width, it is the first space after.
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

// visibleWidth returns the terminal columns of a text with escape sequences.
func visibleWidth(text string) int { return textWidth(escapeSequence.ReplaceAllString(text, "")) }
