package cgocopy

import (
	"errors"
	"fmt"
)

// Errors of copies. Compare with [errors.Is].
var (
	// ErrNilPointer: there is nothing to copy from.
	ErrNilPointer = errors.New("nil pointer")
	// ErrTooLong: a text had no NUL within its limit.
	ErrTooLong = errors.New("text without an end within its limit")
	// ErrUTF8: a text is not UTF-8, and its tag demands it.
	ErrUTF8 = errors.New("text is not UTF-8")
	// ErrDepth: pointers follow each other further than their tag allows; they
	// may go in a circle.
	ErrDepth = errors.New("pointers follow each other too far")
)

// BadCountError is the error of a member that counts others and cannot be correct.
type BadCountError struct {
	Field string // that counts, e.g. DeviceList.items_count
	N     int64
	Max   int64
	Nil   bool // what it counts is a nil pointer
}

// Error returns the error in one line.
func (e *BadCountError) Error() string {
	switch {
	case e.Nil:
		return fmt.Sprintf("%s is %d, and what it counts is a nil pointer", e.Field, e.N)
	case e.N < 0:
		return fmt.Sprintf("%s is %d", e.Field, e.N)
	}
	return fmt.Sprintf("%s is %d, at most %d are copied", e.Field, e.N, e.Max)
}

// Is makes every such error match [ErrBadCount].
func (e *BadCountError) Is(target error) bool { return target == ErrBadCount }

// ErrBadCount matches every [BadCountError].
var ErrBadCount = errors.New("bad count")

// UnionError is the error of a union whose discriminant selects no member.
type UnionError struct {
	Field string // e.g. Event.kind
	N     int64
}

// Error returns the error in one line.
func (e *UnionError) Error() string {
	return fmt.Sprintf("%s is %d, for which the union has no member", e.Field, e.N)
}

// FieldError names the member in which a copy failed.
type FieldError struct {
	Field string // e.g. Person.name
	Err   error
}

// Error returns member and reason.
func (e *FieldError) Error() string { return e.Field + ": " + e.Err.Error() }

// Unwrap returns the reason.
func (e *FieldError) Unwrap() error { return e.Err }

// In adds the name of a member to an error.
func In(field string, err error) error {
	if err == nil {
		return nil
	}
	return &FieldError{field, err}
}

// CodeError is the error code that a C function returned.
type CodeError struct {
	Func string // in C
	Code int64
	Text string // the library's text for the code; may be ""
}

// Error returns the error in one line.
func (e *CodeError) Error() string {
	if e.Text != "" {
		return fmt.Sprintf("%s: %s (%d)", e.Func, e.Text, e.Code)
	}
	return fmt.Sprintf("%s returned %d", e.Func, e.Code)
}
