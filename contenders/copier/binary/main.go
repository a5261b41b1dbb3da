// Command binary lets encoding/binary read the bytes that C.GoBytes copied out
// of C memory, padding written down by hand.
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

// The C structs with their padding, which encoding/binary does not know of.
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
		"BenchPerson": of(func(dst *copier.Person, c *cPerson) {
			*dst = copier.Person{ID: c.ID, Name: text(&c.Name), Balance: c.Balance, Active: c.Active}
		}),
		"GameObject": of(func(dst *copier.GameObject, c *cObject) {
			*dst = copier.GameObject{ID: c.ID, Name: text(&c.Name), Position: c.Position, Velocity: c.Velocity, Health: c.Health, Level: c.Level}
		}),
		"AudioBuffer": same[copier.AudioBuffer](),
		"Flat2":       same[copier.Flat2](),
		"Flat16":      same[copier.Flat16](),
		"Flat128":     same[copier.Flat128](),
		"Flat1024":    same[copier.Flat1024](),
		"Flat8192":    same[copier.Flat8192](),
	}})
}

func text(chars *[64]byte) string {
	b, _, _ := bytes.Cut(chars[:], []byte{0})
	return string(b)
}

// same is for structs without padding or texts.
func same[T any]() copier.Copies { return of(func(dst, c *T) { *dst = *c }) }

// of reads a C as a raw struct, and makes a T of that.
func of[T, C any](convert func(dst *T, c *C)) copier.Copies {
	fill := func(dst *T, p unsafe.Pointer) error {
		var c C
		b := take(p, int(unsafe.Sizeof(c)))
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
			b := take(p, n*int(unsafe.Sizeof(list[0])))
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

// take copies n bytes out of C memory.
func take(p unsafe.Pointer, n int) []byte { return C.GoBytes(p, C.int(n)) }
