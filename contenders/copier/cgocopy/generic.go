//go:build generic

package main

import (
	"unsafe"

	"github.com/tarebench/tare/cgocopy"
	"github.com/tarebench/tare/contender/copier"
)

// generated is a pointer to a type that cgocopy generated.
type generated[T any] interface {
	cgocopy.From[T]
	cgocopy.FromSlice[T]
}

// of copies by cgocopy's generic functions. There are none that fill a value or a
// slice that is there: those are filled by what was generated for T.
func of[T any, P generated[T]](_ func(P, unsafe.Pointer) error, slice func([]T, unsafe.Pointer, int) ([]T, error)) copier.Copies {
	return copier.Of(copier.Type[T]{
		Fill:  func(dst *T, p unsafe.Pointer) error { return P(dst).FromC(p) },
		New:   fresh[T, P],
		Value: cgocopy.Copy[T, P],
		Slice: func(dst []T, p unsafe.Pointer, n int) ([]T, error) {
			if dst == nil {
				return cgocopy.CopySlice[T, P](p, n)
			}
			return slice(dst, p, n)
		},
	})
}

// fresh is a new T on the heap. On an error there is none.
func fresh[T any, P cgocopy.From[T]](p unsafe.Pointer) (*T, error) {
	v, err := cgocopy.Copy[T, P](p)
	if err != nil {
		return nil, err
	}
	return &v, nil
}
