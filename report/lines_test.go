package report

import (
	"strings"
	"testing"

	"github.com/tarebench/tare/internal/assert"
)

// TestWrapLines: a terminal of any width gets lines that fit, broken between words.
func TestWrapLines(t *testing.T) {
	for _, c := range []struct {
		text  string
		width int
		want  string
	}{
		{"one two three\n", 0, "one two three\n"},
		{"one two three\n", 13, "one two three\n"},
		{"one two three\n", 12, "one two\n  three\n"},
		{"  one two three four\nnext\n", 11, "  one two\n    three\n    four\nnext\n"},
		{"\x1b[31mone two\x1b[0m\n", 7, "\x1b[31mone two\x1b[0m\n"},
		{"a  \x1b[1mtable\x1b[0m   row\n", 12, "a  \x1b[1mtable\x1b[0m\n  row\n"},
		{"https://example.com/" + strings.Repeat("x", 30) + " is it\n", 20, "https://example.com/" + strings.Repeat("x", 30) + "\n  is it\n"},
		{"µµµ µµµ\r\nno end", 7, "µµµ µµµ\r\nno end"},
		{"word   \n", 4, "word   \n"},
		{"", 5, ""},
	} {
		assert.Equal(t, c.text, WrapLines(c.text, c.width), c.want)
	}
	for width := 20; width < 100; width += 7 {
		for line := range strings.Lines(WrapLines("    "+strings.Repeat("some words of a sentence ", 20)+"\n", width)) {
			if n := textWidth(strings.TrimRight(line, " \n")); n > width {
				t.Errorf("%d columns of %d: %q", n, width, line)
			}
		}
	}
}
