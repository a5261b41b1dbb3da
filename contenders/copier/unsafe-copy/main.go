// Command unsafe-copy takes the C memory for a Go struct of the same layout,
// written down by hand: a cast, an assignment, then the texts. Nothing says so
// when the header changes.
package main

import (
	"bytes"
	"unsafe"

	"github.com/tarebench/tare/contender/copier"
	"github.com/tarebench/tare/contender/copier/cmem"
)

type cPerson struct {
	ID      int32
	Name    [64]byte
	Balance float64
	Active  int32
}

type cObject struct {
	ID                 int32
	Name               [64]byte
	Position, Velocity copier.Point3D
	Health             float32
	Level              int32
}

func main() {
	copier.Main(copier.Impl{Memory: cmem.New, Types: map[string]copier.Copies{
		"BenchPerson": copier.Of(copier.Type[copier.Person]{Fill: person, Slice: persons}),
		"GameObject":  copier.Of(copier.Type[copier.GameObject]{Fill: object, Slice: objects}),
		"AudioBuffer": flat[copier.AudioBuffer](),
		"Flat2":       flat[copier.Flat2](),
		"Flat16":      flat[copier.Flat16](),
		"Flat128":     flat[copier.Flat128](),
		"Flat1024":    flat[copier.Flat1024](),
		"Flat8192":    flat[copier.Flat8192](),
	}})
}

func text(chars *[64]byte) string {
	if n := bytes.IndexByte(chars[:], 0); n >= 0 {
		return string(chars[:n])
	}
	return string(chars[:])
}

func person(dst *copier.Person, p unsafe.Pointer) error {
	c := (*cPerson)(p)
	*dst = copier.Person{ID: c.ID, Name: text(&c.Name), Balance: c.Balance, Active: c.Active}
	return nil
}

func persons(dst []copier.Person, p unsafe.Pointer, n int) ([]copier.Person, error) {
	if dst == nil {
		dst = make([]copier.Person, n)
	}
	list := unsafe.Slice((*cPerson)(p), n)
	for i := range list {
		c := &list[i]
		dst[i] = copier.Person{ID: c.ID, Name: text(&c.Name), Balance: c.Balance, Active: c.Active}
	}
	return dst, nil
}

func (c *cObject) value() copier.GameObject {
	return copier.GameObject{ID: c.ID, Name: text(&c.Name), Position: c.Position, Velocity: c.Velocity, Health: c.Health, Level: c.Level}
}

func object(dst *copier.GameObject, p unsafe.Pointer) error {
	*dst = (*cObject)(p).value()
	return nil
}

func objects(dst []copier.GameObject, p unsafe.Pointer, n int) ([]copier.GameObject, error) {
	if dst == nil {
		dst = make([]copier.GameObject, n)
	}
	list := unsafe.Slice((*cObject)(p), n)
	for i := range list {
		dst[i] = list[i].value()
	}
	return dst, nil
}

// flat is for what Go lays out as C does.
func flat[T any]() copier.Copies {
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
