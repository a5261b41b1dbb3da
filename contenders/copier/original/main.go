// Command original copies with a clone of the published library github.com/shaban/cgocopy. A char[64]
// becomes an array, as in the published benchmark. For a string the library would interpret its bytes as an
// address. With the build tag unregistered, no types are registered, so that every copy fails, as in that
// benchmark.
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

// Structs in which texts are arrays.
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
	types, err := registerAll()
	if err != nil {
		fmt.Fprintln(os.Stderr, "original:", err)
		os.Exit(1)
	}
	ignoreErrors := !registered
	copier.Main(copier.Impl{Memory: cmem.New, Blind: ignoreErrors, Types: types})
}

// registerAll registers all types and returns their copies. Nested types come first.
func registerAll() (map[string]copier.Copies, error) {
	r := registration{types: map[string]copier.Copies{}}
	addType[copier.Point3D](&r, "Point3D")
	addType[person](&r, "BenchPerson")
	addType[object](&r, "GameObject")
	addType[copier.AudioBuffer](&r, "AudioBuffer")
	addType[copier.Flat2](&r, "Flat2")
	addType[copier.Flat16](&r, "Flat16")
	addType[copier.Flat128](&r, "Flat128")
	addType[copier.Flat1024](&r, "Flat1024")
	addType[copier.Flat8192](&r, "Flat8192")
	addType[copier.Nest1](&r, "Nest1")
	addType[copier.Nest2](&r, "Nest2")
	addType[copier.Nest3](&r, "Nest3")
	addType[copier.Nest4](&r, "Nest4")
	addType[copier.Nest5](&r, "Nest5")
	addType[copier.Nest6](&r, "Nest6")
	addType[copier.Nest7](&r, "Nest7")
	addType[copier.Nest8](&r, "Nest8")
	addType[copier.Nest9](&r, "Nest9")
	addType[copier.Deep1](&r, "Deep1")
	addType[copier.Deep2In1](&r, "Deep2In1")
	addType[copier.Deep2](&r, "Deep2")
	addType[copier.Deep3In1](&r, "Deep3In1")
	addType[copier.Deep3In2](&r, "Deep3In2")
	addType[copier.Deep3](&r, "Deep3")
	addType[copier.Deep6In1](&r, "Deep6In1")
	addType[copier.Deep6In2](&r, "Deep6In2")
	addType[copier.Deep6In3](&r, "Deep6In3")
	addType[copier.Deep6In4](&r, "Deep6In4")
	addType[copier.Deep6In5](&r, "Deep6In5")
	addType[copier.Deep6](&r, "Deep6")
	addType[copier.Deep9In1](&r, "Deep9In1")
	addType[copier.Deep9In2](&r, "Deep9In2")
	addType[copier.Deep9In3](&r, "Deep9In3")
	addType[copier.Deep9In4](&r, "Deep9In4")
	addType[copier.Deep9In5](&r, "Deep9In5")
	addType[copier.Deep9In6](&r, "Deep9In6")
	addType[copier.Deep9In7](&r, "Deep9In7")
	addType[copier.Deep9In8](&r, "Deep9In8")
	addType[copier.Deep9](&r, "Deep9")
	addType[copier.Fields1](&r, "Fields1")
	addType[copier.Fields4](&r, "Fields4")
	addType[copier.Fields16](&r, "Fields16")
	addType[copier.Fields64](&r, "Fields64")
	delete(r.types, "Point3D") // only nested
	return r.types, r.err
}

type registration struct {
	types map[string]copier.Copies // by the name of the C type
	err   error                    // first error of the library
}

// addType registers T, which has the same memory layout in Go and C, and adds its copies.
func addType[T any](r *registration, name string) {
	if registered && r.err == nil {
		r.err = published.PrecompileWithC[T](describeLayout(reflect.TypeFor[T](), name))
	}
	r.types[name] = copier.Of(copier.Type[T]{New: newValue[T], Value: published.Copy[T]})
}

// newValue returns a copy on the heap. After an error it does not allocate.
func newValue[T any](p unsafe.Pointer) (*T, error) {
	v, err := published.Copy[T](p)
	if err != nil {
		return nil, err
	}
	onHeap := v // only this variable escapes
	return &onHeap, nil
}

// describeLayout returns the description of a C struct that the library needs.
func describeLayout(t reflect.Type, name string) published.CStructInfo {
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
