// Command reflect copies by reflection with a registry of types, as the published library does. With the
// build tag unregistered it does what the published benchmark measured. Then no type is registered, every
// copy fails, and the error is ignored.
package main

import (
	"reflect"
	"unsafe"

	"github.com/tarebench/tare/contender/copier"
	"github.com/tarebench/tare/contender/copier/cmem"
)

// Structs with the memory layout of C, for Go types with another layout.
type (
	cPerson struct {
		ID      int32
		Name    [64]byte
		Balance float64
		Active  int32
	}
	cObject struct {
		ID                 int32
		Name               [64]byte
		Position, Velocity copier.Point3D
		Health             float32
		Level              int32
	}
)

func main() {
	r := &registry{types: map[reflect.Type]*layout{}}
	ignoreErrors := !registered
	copier.Main(copier.Impl{Memory: cmem.New, Blind: ignoreErrors, Types: map[string]copier.Copies{
		"BenchPerson": newCopies[copier.Person, cPerson](r),
		"GameObject":  newCopies[copier.GameObject, cObject](r),
		"AudioBuffer": newCopies[copier.AudioBuffer, copier.AudioBuffer](r),
		"Flat2":       newCopies[copier.Flat2, copier.Flat2](r),
		"Flat16":      newCopies[copier.Flat16, copier.Flat16](r),
		"Flat128":     newCopies[copier.Flat128, copier.Flat128](r),
		"Flat1024":    newCopies[copier.Flat1024, copier.Flat1024](r),
		"Flat8192":    newCopies[copier.Flat8192, copier.Flat8192](r),
		"Nest1":       newCopies[copier.Nest1, copier.Nest1](r),
		"Nest3":       newCopies[copier.Nest3, copier.Nest3](r),
		"Nest5":       newCopies[copier.Nest5, copier.Nest5](r),
		"Nest9":       newCopies[copier.Nest9, copier.Nest9](r),
		"Deep1":       newCopies[copier.Deep1, copier.Deep1](r),
		"Deep2":       newCopies[copier.Deep2, copier.Deep2](r),
		"Deep3":       newCopies[copier.Deep3, copier.Deep3](r),
		"Deep6":       newCopies[copier.Deep6, copier.Deep6](r),
		"Deep9":       newCopies[copier.Deep9, copier.Deep9](r),
		"Fields1":     newCopies[copier.Fields1, copier.Fields1](r),
		"Fields4":     newCopies[copier.Fields4, copier.Fields4](r),
		"Fields16":    newCopies[copier.Fields16, copier.Fields16](r),
		"Fields64":    newCopies[copier.Fields64, copier.Fields64](r),
	}})
}

// newCopies returns the copies of a C struct into T. C is a Go struct with the memory layout of the C
// struct. Without registered types only the function New is set.
func newCopies[T, C any](r *registry) copier.Copies {
	if registered {
		register[T, C](r)
	}
	t := copier.Type[T]{New: func(p unsafe.Pointer) (*T, error) { return newValue[T](r, p) }}
	if registered {
		t.Fill = func(dst *T, p unsafe.Pointer) error { return r.copy(dst, p) }
		t.Slice = func(dst []T, p unsafe.Pointer, n int) ([]T, error) { return copySlice(r, dst, p, n) }
	}
	return copier.Of(t)
}

func newValue[T any](r *registry, p unsafe.Pointer) (*T, error) {
	if _, err := r.find((*T)(nil)); err != nil {
		return nil, err
	}
	v := new(T)
	return v, r.copy(v, p)
}

// copySlice copies the n values of the C array at p into dst, or into a new slice if dst is nil.
func copySlice[T any](r *registry, dst []T, p unsafe.Pointer, n int) ([]T, error) {
	l, err := r.find((*T)(nil))
	if err != nil {
		return nil, err
	}
	if dst == nil {
		dst = make([]T, n)
	}
	for i := range dst {
		if err := r.copy(&dst[i], unsafe.Add(p, i*int(l.size))); err != nil {
			return nil, err
		}
	}
	return dst, nil
}
