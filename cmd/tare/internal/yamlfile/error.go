package yamlfile

import (
	"fmt"
)

// Error is an error at a position in a file: What is wrong and, as Hint, what would be right.
// Line and column count from 1; columns are characters.
type Error struct {
	File string
	Line int
	Col  int
	What string
	Hint string // may be ""
}

// Error is one line: file:line:col: what; hint.
func (e *Error) Error() string {
	s := fmt.Sprintf("%s:%d:%d: %s", e.File, e.Line, e.Col, e.What)
	if e.Hint != "" {
		s += "; " + e.Hint
	}
	return s
}
