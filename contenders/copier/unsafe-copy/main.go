// Command unsafe-copy treats C memory as a Go struct whose layout was written by hand, and copies its
// members. If the C header changes, the compiler does not notice.
package main

import (
	"bytes"
	"unsafe"

	"github.com/tarebench/tare/contender/copier"
	"github.com/tarebench/tare/contender/copier/cmem"
)

// cPerson has the memory layout of BenchPerson in C.
type cPerson struct {
	ID      int32
	Name    [64]byte
	Balance float64
	Active  int32
}

// cObject has the memory layout of GameObject in C.
type cObject struct {
	ID                 int32
	Name               [64]byte
	Position, Velocity copier.Point3D
	Health             float32
	Level              int32
}

func main() {
	copier.Main(copier.Impl{Memory: cmem.New, Types: map[string]copier.Copies{
		"BenchPerson": copier.Of(copier.Type[copier.Person]{Fill: copyPerson, Slice: copyPersons}),
		"GameObject":  copier.Of(copier.Type[copier.GameObject]{Fill: copyObject, Slice: copyObjects}),
		"AudioBuffer": newFlatCopies[copier.AudioBuffer](),
		"Flat2":       newFlatCopies[copier.Flat2](),
		"Flat16":      newFlatCopies[copier.Flat16](),
		"Flat128":     newFlatCopies[copier.Flat128](),
		"Flat1024":    newFlatCopies[copier.Flat1024](),
		"Flat8192":    newFlatCopies[copier.Flat8192](),
	}})
}

// The functions such as copyPerson copy the C value at p into dst. Those with a plural, such as
// copyPersons, copy an array of n values. If dst is nil they make a new slice.

// readText returns the bytes before the first zero byte, or all 64.
func readText(chars *[64]byte) string {
	if n := bytes.IndexByte(chars[:], 0); n >= 0 {
		return string(chars[:n])
	}
	return string(chars[:])
}

func copyPerson(dst *copier.Person, p unsafe.Pointer) error {
	c := (*cPerson)(p)
	*dst = copier.Person{ID: c.ID, Name: readText(&c.Name), Balance: c.Balance, Active: c.Active}
	return nil
}

func copyPersons(dst []copier.Person, p unsafe.Pointer, n int) ([]copier.Person, error) {
	if dst == nil {
		dst = make([]copier.Person, n)
	}
	list := unsafe.Slice((*cPerson)(p), n)
	for i := range list {
		c := &list[i]
		dst[i] = copier.Person{ID: c.ID, Name: readText(&c.Name), Balance: c.Balance, Active: c.Active}
	}
	return dst, nil
}

func (c *cObject) toObject() copier.GameObject {
	return copier.GameObject{ID: c.ID, Name: readText(&c.Name), Position: c.Position, Velocity: c.Velocity, Health: c.Health, Level: c.Level}
}

func copyObject(dst *copier.GameObject, p unsafe.Pointer) error {
	*dst = (*cObject)(p).toObject()
	return nil
}

func copyObjects(dst []copier.GameObject, p unsafe.Pointer, n int) ([]copier.GameObject, error) {
	if dst == nil {
		dst = make([]copier.GameObject, n)
	}
	list := unsafe.Slice((*cObject)(p), n)
	for i := range list {
		dst[i] = list[i].toObject()
	}
	return dst, nil
}

// newFlatCopies returns the copies of a type with the same memory layout in Go and C.
func newFlatCopies[T any]() copier.Copies {
	return copier.Of(copier.Type[T]{
		Fill: func(dst *T, p unsafe.Pointer) error {
			*dst = *(*T)(p)
			return nil
		},
		Slice: func(dst []T, p unsafe.Pointer, n int) ([]T, error) {
			if dst == nil {
				dst = make([]T, n)
			}
			copy(dst, unsafe.Slice((*T)(p), n))
			return dst, nil
		},
	})
}
