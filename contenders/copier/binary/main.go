// Command binary copies with C.GoBytes and decodes the bytes with encoding/binary into
// structs whose padding was written by hand.
package main

// The preamble is empty: C.GoBytes needs no declaration.

import "C"

import (
	"bytes"
	"encoding/binary"
	"unsafe"

	"github.com/tarebench/tare/contender/copier"
	"github.com/tarebench/tare/contender/copier/cmem"
)

// Structs with the members and the padding of the C structs. encoding/binary adds no padding.
type (
	cPerson struct {
		ID      int32
		Name    [64]byte
		_       [4]byte
		Balance float64
		Active  int32
		_       [4]byte
	}
	cObject struct {
		ID                 int32
		Name               [64]byte
		_                  [4]byte
		Position, Velocity copier.Point3D
		Health             float32
		Level              int32
	}
)

func main() {
	copier.Main(copier.Impl{Memory: cmem.New, Types: map[string]copier.Copies{
		"BenchPerson": newCopies(func(dst *copier.Person, c *cPerson) {
			*dst = copier.Person{ID: c.ID, Name: readText(&c.Name), Balance: c.Balance, Active: c.Active}
		}),
		"GameObject": newCopies(func(dst *copier.GameObject, c *cObject) {
			*dst = copier.GameObject{ID: c.ID, Name: readText(&c.Name), Position: c.Position, Velocity: c.Velocity, Health: c.Health, Level: c.Level}
		}),
		"AudioBuffer": newSameCopies[copier.AudioBuffer](),
		"Flat2":       newSameCopies[copier.Flat2](),
		"Flat16":      newSameCopies[copier.Flat16](),
		"Flat128":     newSameCopies[copier.Flat128](),
		"Flat1024":    newSameCopies[copier.Flat1024](),
		"Flat8192":    newSameCopies[copier.Flat8192](),
	}})
}

// readText returns the bytes before the first zero byte, or all 64.
func readText(chars *[64]byte) string {
	b, _, _ := bytes.Cut(chars[:], []byte{0})
	return string(b)
}

// newSameCopies returns the copies of a struct without padding and texts.
func newSameCopies[T any]() copier.Copies { return newCopies(func(dst, c *T) { *dst = *c }) }

// newCopies returns copies that decode C memory into a C, and convert the C into a T.
func newCopies[T, C any](convert func(dst *T, c *C)) copier.Copies {
	fill := func(dst *T, p unsafe.Pointer) error {
		var c C
		b := copyBytes(p, int(unsafe.Sizeof(c)))
		if _, err := binary.Decode(b, binary.NativeEndian, &c); err != nil {
			return err
		}
		convert(dst, &c)
		return nil
	}
	return copier.Of(copier.Type[T]{
		Fill: fill,
		Slice: func(dst []T, p unsafe.Pointer, n int) ([]T, error) {
			list := make([]C, n)
			b := copyBytes(p, n*int(unsafe.Sizeof(list[0])))
			if _, err := binary.Decode(b, binary.NativeEndian, list); err != nil {
				return nil, err
			}
			if dst == nil {
				dst = make([]T, n)
			}
			for i := range list {
				convert(&dst[i], &list[i])
			}
			return dst, nil
		},
	})
}

func copyBytes(p unsafe.Pointer, n int) []byte { return C.GoBytes(p, C.int(n)) }
