// Command original copies with the published library, from a clone of it. A
// char[64] becomes an array, as in the published benchmark: bound to a text the
// library takes its bytes for an address. Built with the tag unregistered it
// registers nothing.
package main

import (
	"fmt"
	"os"
	"reflect"
	"unsafe"

	published "github.com/shaban/cgocopy/pkg/cgocopy"

	"github.com/tarebench/tare/contender/copier"
	"github.com/tarebench/tare/contender/copier/cmem"
)

// Structs whose texts are arrays.
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
	types, err := all()
	if err != nil {
		fmt.Fprintln(os.Stderr, "original:", err)
		os.Exit(1)
	}
	copier.Main(copier.Impl{Memory: cmem.New, Blind: !registered, Types: types})
}

// all is every type it copies. What is nested is registered first.
func all() (map[string]copier.Copies, error) {
	r := registration{types: map[string]copier.Copies{}}
	of[copier.Point3D](&r, "Point3D")
	of[person](&r, "BenchPerson")
	of[object](&r, "GameObject")
	of[copier.AudioBuffer](&r, "AudioBuffer")
	of[copier.Flat2](&r, "Flat2")
	of[copier.Flat16](&r, "Flat16")
	of[copier.Flat128](&r, "Flat128")
	of[copier.Flat1024](&r, "Flat1024")
	of[copier.Flat8192](&r, "Flat8192")
	of[copier.Nest1](&r, "Nest1")
	of[copier.Nest2](&r, "Nest2")
	of[copier.Nest3](&r, "Nest3")
	of[copier.Nest4](&r, "Nest4")
	of[copier.Nest5](&r, "Nest5")
	of[copier.Nest6](&r, "Nest6")
	of[copier.Nest7](&r, "Nest7")
	of[copier.Nest8](&r, "Nest8")
	of[copier.Nest9](&r, "Nest9")
	of[copier.Deep1](&r, "Deep1")
	of[copier.Deep2In1](&r, "Deep2In1")
	of[copier.Deep2](&r, "Deep2")
	of[copier.Deep3In1](&r, "Deep3In1")
	of[copier.Deep3In2](&r, "Deep3In2")
	of[copier.Deep3](&r, "Deep3")
	of[copier.Deep6In1](&r, "Deep6In1")
	of[copier.Deep6In2](&r, "Deep6In2")
	of[copier.Deep6In3](&r, "Deep6In3")
	of[copier.Deep6In4](&r, "Deep6In4")
	of[copier.Deep6In5](&r, "Deep6In5")
	of[copier.Deep6](&r, "Deep6")
	of[copier.Deep9In1](&r, "Deep9In1")
	of[copier.Deep9In2](&r, "Deep9In2")
	of[copier.Deep9In3](&r, "Deep9In3")
	of[copier.Deep9In4](&r, "Deep9In4")
	of[copier.Deep9In5](&r, "Deep9In5")
	of[copier.Deep9In6](&r, "Deep9In6")
	of[copier.Deep9In7](&r, "Deep9In7")
	of[copier.Deep9In8](&r, "Deep9In8")
	of[copier.Deep9](&r, "Deep9")
	of[copier.Fields1](&r, "Fields1")
	of[copier.Fields4](&r, "Fields4")
	of[copier.Fields16](&r, "Fields16")
	of[copier.Fields64](&r, "Fields64")
	delete(r.types, "Point3D")
	return r.types, r.err
}

// registration gathers types, and the first error of the library's.
type registration struct {
	types map[string]copier.Copies
	err   error
}

// of adds T, which C lays out as Go does.
func of[T any](r *registration, name string) {
	if registered && r.err == nil {
		r.err = published.PrecompileWithC[T](layout(reflect.TypeFor[T](), name))
	}
	r.types[name] = copier.Of(copier.Type[T]{New: fresh[T], Value: published.Copy[T]})
}

// fresh is a new T on the heap. On an error nothing is.
func fresh[T any](p unsafe.Pointer) (*T, error) {
	v, err := published.Copy[T](p)
	if err != nil {
		return nil, err
	}
	kept := v
	return &kept, nil
}

// layout is what the library is told of a struct in C.
func layout(t reflect.Type, name string) published.CStructInfo {
	c := published.CStructInfo{Name: name, Size: t.Size()}
	for i := range t.NumField() {
		f := t.Field(i)
		m := published.CFieldInfo{Name: f.Name, Type: f.Type.Kind().String(), Offset: f.Offset, Size: f.Type.Size()}
		if f.Type.Kind() == reflect.Array {
			m.Type, m.IsArray, m.ArrayLen = f.Type.Elem().Kind().String(), true, f.Type.Len()
		}
		c.Fields = append(c.Fields, m)
	}
	return c
}
