package router

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// MostList is the maximum size of a list of routes in bytes.
const MostList = 32 << 20

// ListError is an error in a list of routes, with its position.
type ListError struct {
	File      string
	Line, Col int    // from 1; columns are characters
	What      string // the error and how to correct it
}

// Error returns one line.
func (e *ListError) Error() string {
	return fmt.Sprintf("%s:%d:%d: %s", e.File, e.Line, e.Col, e.What)
}

// ReadList parses a list of routes, a method and a path per line, such as GET /users/{id}. It skips
// empty lines and lines that begin with #. The error is a *[ListError].
func ReadList(name string, src []byte) ([]Written, error) {
	if len(src) > MostList {
		return nil, &ListError{name, 1, 1, fmt.Sprintf("a list of more than %d MiB", MostList>>20)}
	}
	var list []Written
	n := 0
	text := strings.TrimPrefix(string(src), "\ufeff")
	for line := range strings.SplitSeq(text, "\n") {
		n++
		words := strings.Fields(line)
		if len(words) == 0 || strings.HasPrefix(words[0], "#") {
			continue
		}
		before, _, _ := strings.Cut(line, words[0])
		col := utf8.RuneCountInString(before) + 1
		lineError := func(what string) error { return &ListError{File: name, Line: n, Col: col, What: what} }
		if strings.ContainsFunc(line, func(r rune) bool { return r == utf8.RuneError || unicode.IsControl(r) && !unicode.IsSpace(r) }) {
			return nil, lineError("this is no text in UTF-8; a line is a method and a path, e.g. GET /users/{id}")
		}
		if len(words) != 2 || !strings.HasPrefix(words[1], "/") {
			return nil, lineError(fmt.Sprintf("%q is not a method and a path, e.g. GET /users/{id}", clipText(strings.TrimSpace(line))))
		}
		if strings.ContainsFunc(words[0], func(r rune) bool { return (r < 'A' || r > 'Z') && (r < 'a' || r > 'z') }) {
			return nil, lineError(fmt.Sprintf("%q is not a method; want one of %s", clipText(words[0]), strings.Join(Methods(), ", ")))
		}
		list = append(list, Written{Method: strings.ToUpper(words[0]), Path: words[1], Line: n, Col: col})
	}
	if len(list) == 0 {
		return nil, &ListError{name, 1, 1, "there are no routes in it; write a method and a path to a line, e.g. GET /users/{id}"}
	}
	return list, nil
}
