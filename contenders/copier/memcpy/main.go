// Command memcpy copies the bytes in C memory unchanged, which no other copier can do
// faster. The result has the layout of the C struct, in which texts are arrays.
package main

import (
	"unsafe"

	"github.com/tarebench/tare/contender/copier"
	"github.com/tarebench/tare/contender/copier/cmem"
)

// Structs with the memory layout of BenchPerson and GameObject in C.
type (
	person struct {
		ID      int32
		Name    [64]byte
		Balance float64
		Active  int32
	}
	object struct {
		ID                 int32
		Name               [64]byte
		Position, Velocity copier.Point3D
		Health             float32
		Level              int32
	}
)

func main() {
	copier.Main(copier.Impl{Memory: cmem.New, Types: map[string]copier.Copies{
		"BenchPerson": newCopies[person](),
		"GameObject":  newCopies[object](),
		"AudioBuffer": newCopies[copier.AudioBuffer](),
		"Flat2":       newCopies[copier.Flat2](),
		"Flat16":      newCopies[copier.Flat16](),
		"Flat128":     newCopies[copier.Flat128](),
		"Flat1024":    newCopies[copier.Flat1024](),
		"Flat8192":    newCopies[copier.Flat8192](),
		"Nest1":       newCopies[copier.Nest1](),
		"Nest3":       newCopies[copier.Nest3](),
		"Nest5":       newCopies[copier.Nest5](),
		"Nest9":       newCopies[copier.Nest9](),
		"Fields1":     newCopies[copier.Fields1](),
		"Fields4":     newCopies[copier.Fields4](),
		"Fields16":    newCopies[copier.Fields16](),
		"Fields64":    newCopies[copier.Fields64](),
	}})
}

// newCopies returns the copies of a type with the same memory layout in Go and C.
func newCopies[T any]() copier.Copies {
	return copier.Of(copier.Type[T]{
		Fill: func(dst *T, p unsafe.Pointer) error {
			*dst = *(*T)(p)
			return nil
		},
		Value: func(p unsafe.Pointer) (T, error) { return *(*T)(p), nil },
		Slice: func(dst []T, p unsafe.Pointer, n int) ([]T, error) {
			if dst == nil {
				dst = make([]T, n)
			}
			copy(dst, unsafe.Slice((*T)(p), n))
			return dst, nil
		},
	})
}
