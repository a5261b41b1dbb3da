//go:build !generic

package main

import (
	"unsafe"

	"github.com/tarebench/tare/contender/copier"
)

// of copies by what was generated for T.
func of[T any](fill func(*T, unsafe.Pointer) error, slice func([]T, unsafe.Pointer, int) ([]T, error)) copier.Copies {
	return copier.Of(copier.Type[T]{Fill: fill, Slice: slice})
}
