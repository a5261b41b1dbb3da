//go:build !generic

package main

import (
	"unsafe"

	"github.com/tarebench/tare/contender/copier"
)

// newCopies returns copies that call the code generated for T: fill copies one value, slice an array.
func newCopies[T any](fill func(*T, unsafe.Pointer) error, slice func([]T, unsafe.Pointer, int) ([]T, error)) copier.Copies {
	return copier.Of(copier.Type[T]{Fill: fill, Slice: slice})
}
