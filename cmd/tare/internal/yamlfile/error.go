package yamlfile

import (
	"fmt"
)

// Error is an error at a position in a file.
type Error struct {
	File string
	Line int    // from 1
	Col  int    // from 1, in characters
	What string // the problem
	Hint string // how to correct it; "" for no hint
}

// Error is one line: file:line:col: what; hint.
func (e *Error) Error() string {
	s := fmt.Sprintf("%s:%d:%d: %s", e.File, e.Line, e.Col, e.What)
	if e.Hint != "" {
		s += "; " + e.Hint
	}
	return s
}
