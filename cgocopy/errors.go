package cgocopy

import (
	"errors"
	"fmt"
)

// Errors of copies. Compare with [errors.Is].
var (
	// ErrNilPointer is the error if the address of the C value is nil.
	ErrNilPointer = errors.New("nil pointer")
	// ErrTooLong is the error if a text has no NUL within its limit.
	ErrTooLong = errors.New("text without an end within its limit")
	// ErrUTF8 is the error if a text is not UTF-8 and its tag demands UTF-8.
	ErrUTF8 = errors.New("text is not UTF-8")
	// ErrDepth is the error if more pointers follow each other than their tag permits. They may form a
	// cycle.
	ErrDepth = errors.New("pointers follow each other too far")
)

// BadCountError is the error of an impossible number of elements: a member that counts others has it.
type BadCountError struct {
	Field string // the counting member, e.g. DeviceList.items_count
	N     int64  // its value
	Max   int64  // the largest permitted value
	Nil   bool   // the pointer to the counted elements is nil
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

// Is reports whether target is [ErrBadCount].
func (e *BadCountError) Is(target error) bool { return target == ErrBadCount }

// ErrBadCount matches every [BadCountError].
var ErrBadCount = errors.New("bad count")

// UnionError is the error of a union whose discriminant selects no member.
type UnionError struct {
	Field string // the discriminant, e.g. Event.kind
	N     int64  // its value
}

// Error returns the error in one line.
func (e *UnionError) Error() string {
	return fmt.Sprintf("%s is %d, for which the union has no member", e.Field, e.N)
}

// FieldError names the member in which a copy failed.
type FieldError struct {
	Field string // the member, e.g. Person.name
	Err   error  // why the copy failed
}

// Error returns the member and the reason.
func (e *FieldError) Error() string { return e.Field + ": " + e.Err.Error() }

// Unwrap returns the reason.
func (e *FieldError) Unwrap() error { return e.Err }

// In returns err as a [FieldError] of a member, or nil if err is nil.
func In(field string, err error) error {
	if err == nil {
		return nil
	}
	return &FieldError{field, err}
}

// CodeError is the error code that a C function returned.
type CodeError struct {
	Func string // name of the C function
	Code int64  // result of the function
	Text string // the library's text for the code; may be ""
}

// Error returns the error in one line.
func (e *CodeError) Error() string {
	if e.Text != "" {
		return fmt.Sprintf("%s: %s (%d)", e.Func, e.Text, e.Code)
	}
	return fmt.Sprintf("%s returned %d", e.Func, e.Code)
}
