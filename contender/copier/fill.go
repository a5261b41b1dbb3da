package copier

import (
	"fmt"
	"reflect"

	"github.com/tarebench/tare/contender/fixture"
)

// generator draws the random values of cmem/fill.c in Go, to compare copies with. Both draw member by member,
// in the order of declaration. Constants must equal those of cmem/fill.c.
type generator struct {
	fixture.Random
	names Names
	items int   // number of elements of each list
	base  int32 // id of the first value
}

func newGenerator(shape Shape, names Names, seed uint64) *generator {
	g := &generator{Random: fixture.Random(seed), names: names, items: shape.Items}
	g.base = g.drawInt()
	return g
}

func (g *generator) drawInt() int32 { return int32(g.Next() % 1e6) }

// drawText returns a name as g.names defines.
func (g *generator) drawText() string {
	n := 60 // length for NamesBytes
	switch g.names {
	case NamesUsual:
		n = 4 + int(g.Next()%21)
	case NamesEdges:
		n = []int{0, 1, 62, 63, 64}[g.Next()%5]
	}
	b := make([]byte, n)
	for i := range b {
		if g.names == NamesBytes {
			b[i] = byte(1 + g.Next()%255)
		} else {
			b[i] = byte('a' + g.Next()%26)
		}
	}
	return string(b)
}

const tagCount = 8

// fillValue fills v with random values. index is its position in a list.
func (g *generator) fillValue(v reflect.Value, index int) {
	switch v.Kind() {
	case reflect.Int32:
		v.SetInt(int64(g.drawInt()))
	case reflect.Int64:
		v.SetInt(int64(g.Next() >> 16))
	case reflect.Float64:
		v.SetFloat(float64(g.Next()%1e8) / 1024)
	case reflect.Float32:
		v.SetFloat(float64(g.Next()%65536) / 64)
	case reflect.String:
		v.SetString(g.drawText())
	case reflect.Array:
		for i := range v.Len() {
			g.fillValue(v.Index(i), i)
		}
	case reflect.Slice:
		n := tagCount
		if v.Type().Elem().Kind() == reflect.Struct {
			n = g.items
		}
		v.Set(reflect.MakeSlice(v.Type(), n, n))
		for i := range n {
			g.fillValue(v.Index(i), i)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			switch v.Type().Field(i).Name {
			case "ID":
				v.Field(i).SetInt(int64(g.base) + int64(index))
			case "Active": // a flag
				v.Field(i).SetInt(int64(g.drawInt() & 1))
			default:
				g.fillValue(v.Field(i), index)
			}
		}
	default:
		panic("no rule for a " + v.Kind().String())
	}
}

func newValues[T any](shape Shape, names Names, seed uint64) []T {
	values := make([]T, shape.Count)
	newGenerator(shape, names, seed).fillAll(reflect.ValueOf(values))
	return values
}

func (g *generator) fillAll(list reflect.Value) {
	for i := range list.Len() {
		g.fillValue(list.Index(i), i)
	}
}

// structTypes returns the Go types by the name of the C type.
func structTypes() map[string]reflect.Type {
	m := map[string]reflect.Type{"BenchPerson": reflect.TypeFor[Person]()}
	for _, v := range []any{
		GameObject{}, AudioBuffer{}, DeviceList{},
		Flat2{}, Flat16{}, Flat128{}, Flat1024{}, Flat8192{},
		Nest1{}, Nest2{}, Nest3{}, Nest4{}, Nest5{}, Nest6{}, Nest7{}, Nest8{}, Nest9{},
		Deep1{}, Deep2{}, Deep3{}, Deep6{}, Deep9{},
		Fields1{}, Fields4{}, Fields16{}, Fields64{},
	} {
		m[reflect.TypeOf(v).Name()] = reflect.TypeOf(v)
	}
	return m
}

// newValuesOf is newValues for the Go type of shape.C. It returns a slice.
func newValuesOf(shape Shape, names Names, seed uint64) (reflect.Value, error) {
	t, ok := structTypes()[shape.C]
	if !ok {
		return reflect.Value{}, fmt.Errorf("no C type %q", shape.C)
	}
	list := reflect.MakeSlice(reflect.SliceOf(t), shape.Count, shape.Count)
	newGenerator(shape, names, seed).fillAll(list)
	return list, nil
}

// Expected returns the correct output of an operation for one body, as Answer shows it.
func Expected(shape Shape, names Names, op string, seed uint64) ([]byte, error) {
	v, err := newValuesOf(shape, names, seed)
	if err != nil {
		return nil, err
	}
	if !isListOp(op) {
		v = v.Index(0)
	}
	return appendValue(nil, v), nil
}

// Sizes of C types in bytes, on 64-bit systems; see cmem/fixtures.h.
const (
	personBytes     = 88  // includes the name, a char[64]
	gameObjectBytes = 128 // includes the name, a char[64]
	deviceListBytes = 40
	deviceBytes     = 24
	tagBytes        = 4
)

// CBytes returns the size of one body in C memory, with the memory that structs point to.
func CBytes(shape Shape, names Names, seed uint64) (int64, error) {
	v, err := newValuesOf(shape, names, seed)
	if err != nil {
		return 0, err
	}
	count := int64(shape.Count)
	switch value := v.Index(0).Interface().(type) {
	case DeviceList:
		return value.countCBytes(), nil
	case Person:
		return personBytes * count, nil
	case GameObject:
		return gameObjectBytes * count, nil
	}
	return int64(v.Type().Elem().Size()) * count, nil // other types have the same size in Go
}

// countCBytes returns the size of the list in C, with all strings and lists.
func (l DeviceList) countCBytes() int64 {
	const nul = 1 // end of a string
	n := deviceListBytes + len(l.Owner) + nul
	n += deviceBytes*len(l.Devices) + tagBytes*len(l.Tags)
	for _, d := range l.Devices {
		n += len(d.Name) + nul
	}
	return int64(n)
}

// MadeOf counts the members of a shape's struct, with those of nested structs. levels is the depth of structs,
// 1 if none is nested. A list counts like one element.
func MadeOf(shape Shape) (members, levels int, err error) {
	t, ok := structTypes()[shape.C]
	if !ok {
		return 0, 0, fmt.Errorf("no C type %q", shape.C)
	}
	members, levels = countMembers(t)
	return members, levels, nil
}

func countMembers(t reflect.Type) (members, levels int) {
	switch {
	case t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Struct:
		return countMembers(t.Elem())
	case t.Kind() != reflect.Struct:
		return 1, 0
	}
	for i := range t.NumField() {
		m, l := countMembers(t.Field(i).Type)
		members, levels = members+m, max(levels, l)
	}
	return members, levels + 1
}
