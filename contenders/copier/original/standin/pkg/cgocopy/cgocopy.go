// Package cgocopy2 stands in for the published library, so that the contender
// can be compiled and tested where there is no clone of it. It has as much of
// the interface as the contender calls, and copies members that lie in C as
// they do in Go. No bundled study measures it.
package cgocopy2

import (
	"errors"
	"fmt"
	"reflect"
	"sync"
	"unsafe"
)

// ErrNotRegistered says that nothing is known of a type.
var ErrNotRegistered = errors.New("type not registered")

// CFieldInfo is one member in C.
type CFieldInfo struct {
	Name, Type         string
	Offset, Size       uintptr
	IsPointer, IsArray bool
	ArrayLen           int
}

// CStructInfo is a struct in C.
type CStructInfo struct {
	Name   string
	Size   uintptr
	Fields []CFieldInfo
}

var known sync.Map // CStructInfo by reflect.Type

// PrecompileWithC makes T known, whose members are those of c in their order.
func PrecompileWithC[T any](c CStructInfo) error {
	if t := reflect.TypeFor[T](); t.Kind() != reflect.Struct || t.NumField() != len(c.Fields) {
		return fmt.Errorf("%v is not a struct with the members of %s", t, c.Name)
	}
	known.Store(reflect.TypeFor[T](), c)
	return nil
}

// Copy is a T with what lies at p.
func Copy[T any](p unsafe.Pointer) (T, error) {
	var v T
	err := fill(reflect.ValueOf(&v).Elem(), p)
	return v, err
}

func fill(v reflect.Value, p unsafe.Pointer) error {
	c, ok := known.Load(v.Type())
	if !ok {
		return fmt.Errorf("copy %v: %w", v.Type(), ErrNotRegistered)
	}
	for i, f := range c.(CStructInfo).Fields {
		at := unsafe.Add(p, f.Offset)
		if v.Field(i).Kind() == reflect.Struct {
			if err := fill(v.Field(i), at); err != nil {
				return err
			}
			continue
		}
		v.Field(i).Set(reflect.NewAt(v.Field(i).Type(), at).Elem())
	}
	return nil
}
