// Command memcpy copies bytes as they lie in C memory: the floor. What comes of
// it has the C struct's layout, with texts as arrays.
package main

import (
	"unsafe"

	"github.com/tarebench/tare/contender/copier"
	"github.com/tarebench/tare/contender/copier/cmem"
)

// The C structs' layout.
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
		"BenchPerson": of[person](),
		"GameObject":  of[object](),
		"AudioBuffer": of[copier.AudioBuffer](),
		"Flat2":       of[copier.Flat2](),
		"Flat16":      of[copier.Flat16](),
		"Flat128":     of[copier.Flat128](),
		"Flat1024":    of[copier.Flat1024](),
		"Flat8192":    of[copier.Flat8192](),
		"Nest1":       of[copier.Nest1](),
		"Nest3":       of[copier.Nest3](),
		"Nest5":       of[copier.Nest5](),
		"Nest9":       of[copier.Nest9](),
		"Fields1":     of[copier.Fields1](),
		"Fields4":     of[copier.Fields4](),
		"Fields16":    of[copier.Fields16](),
		"Fields64":    of[copier.Fields64](),
	}})
}

func of[T any]() copier.Copies {
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
