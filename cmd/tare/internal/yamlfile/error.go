package yamlfile

import (
	"fmt"
	"strings"
)

// Error says where a file is wrong, what is wrong there, and what would be
// right. Line and column count from 1; columns are characters.
type Error struct {
	File string
	Line int
	Col  int
	What string
	Hint string // may be empty
}

// Error is one line: file:line:col: what; hint.
func (e *Error) Error() string {
	s := fmt.Sprintf("%s:%d:%d: %s", e.File, e.Line, e.Col, e.What)
	if e.Hint != "" {
		s += "; " + e.Hint
	}
	return s
}

// oneLine makes text from elsewhere fit into a message.
func oneLine(s string) string {
	return strings.Join(strings.FieldsFunc(s, func(r rune) bool { return r < ' ' || r == 0x7f || r == 0x2028 || r == 0x2029 }), " ")
}
