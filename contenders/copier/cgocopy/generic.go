//go:build generic

package main

import (
	"unsafe"

	"github.com/tarebench/tare/cgocopy"
	"github.com/tarebench/tare/contender/copier"
)

type generated[T any] interface {
	cgocopy.From[T]
	cgocopy.FromSlice[T]
}

// newCopies returns copies for the variant that measures cgocopy's generic functions. Only copies into new
// memory can call them. Copies into an existing value or slice call FromC of P, and slice. Its namesake in
// methods.go has the same parameters. The first only lets the compiler infer T and P.
func newCopies[T any, P generated[T]](_ func(P, unsafe.Pointer) error, slice func([]T, unsafe.Pointer, int) ([]T, error)) copier.Copies {
	return copier.Of(copier.Type[T]{
		Fill:  func(dst *T, p unsafe.Pointer) error { return P(dst).FromC(p) },
		New:   newValue[T, P],
		Value: cgocopy.Copy[T, P],
		Slice: func(dst []T, p unsafe.Pointer, n int) ([]T, error) {
			if dst == nil {
				return cgocopy.CopySlice[T, P](p, n)
			}
			return slice(dst, p, n)
		},
	})
}

// newValue returns a copy on the heap, or nil after an error.
func newValue[T any, P cgocopy.From[T]](p unsafe.Pointer) (*T, error) {
	v, err := cgocopy.Copy[T, P](p)
	if err != nil {
		return nil, err
	}
	return &v, nil
}
