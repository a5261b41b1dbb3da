// Package cgocopy copies text, slices and counts from C memory, for code that the command of the same name
// generates.
//
// The command reads a C header with the user's own compiler. It writes Go types with methods that fill
// them:
//
//	//go:generate go run github.com/tarebench/tare/cgocopy/cmd/cgocopy gen -type Person person.h
//
//	var p Person
//
//	err := p.FromC(unsafe.Pointer(C.find_person(7)))
//
// The package uses no reflection and does not import "C". The memory may come from cgo, from a library that
// was loaded without cgo, or from a file.
//
// During a copy nothing else may write the memory: that would be a data race that no tool can detect.
// Copies never free the memory. If a tag names the C function that frees it, the generated method TakeFromC
// copies and frees.
package cgocopy

import "unsafe"

// From is the constraint of [Copy]: a pointer to a type with a generated method FromC.
type From[T any] interface {
	*T
	FromC(p unsafe.Pointer) error
}

// Copy returns a new T, filled from the C value that p points to. After an error it may be filled in
// part.
func Copy[T any, P From[T]](p unsafe.Pointer) (T, error) {
	var t T
	err := P(&t).FromC(p)
	return t, err
}

// FromSlice is the constraint of [CopySlice]: a pointer to a type with a generated method SliceFromC.
type FromSlice[T any] interface {
	*T
	SliceFromC(dst []T, p unsafe.Pointer, n int) ([]T, error)
}

// CopySlice returns a new slice of n values, filled from the C array at p.
func CopySlice[T any, P FromSlice[T]](p unsafe.Pointer, n int) ([]T, error) {
	return P(nil).SliceFromC(nil, p, n)
}
