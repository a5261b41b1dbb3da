// Package cgocopy2 stands in for the published library, so that the contender compiles without a clone of
// it. It contains only the functions that the contender calls. Members must have the same representation in
// C and Go. No bundled study measures it.
package cgocopy2

import (
	"errors"
	"fmt"
	"reflect"
	"sync"
	"unsafe"
)

// ErrNotRegistered is the error for a type that is not registered.
var ErrNotRegistered = errors.New("type not registered")

// CFieldInfo describes a member of a struct in C.
type CFieldInfo struct {
	Name, Type         string
	Offset, Size       uintptr
	IsPointer, IsArray bool
	ArrayLen           int
}

// CStructInfo describes a struct in C.
type CStructInfo struct {
	Name   string
	Size   uintptr
	Fields []CFieldInfo
}

var registered sync.Map // CStructInfo by reflect.Type

// PrecompileWithC registers T, which has the members of c in the same order.
func PrecompileWithC[T any](c CStructInfo) error {
	if t := reflect.TypeFor[T](); t.Kind() != reflect.Struct || t.NumField() != len(c.Fields) {
		return fmt.Errorf("%v is not a struct with the members of %s", t, c.Name)
	}
	registered.Store(reflect.TypeFor[T](), c)
	return nil
}

// Copy returns a copy of the C value at p.
func Copy[T any](p unsafe.Pointer) (T, error) {
	var v T
	err := fillStruct(reflect.ValueOf(&v).Elem(), p)
	return v, err
}

// fillStruct copies the members of the C struct at p into v.
func fillStruct(v reflect.Value, p unsafe.Pointer) error {
	c, ok := registered.Load(v.Type())
	if !ok {
		return fmt.Errorf("copy %v: %w", v.Type(), ErrNotRegistered)
	}
	for i, f := range c.(CStructInfo).Fields {
		member := unsafe.Add(p, f.Offset)
		if v.Field(i).Kind() == reflect.Struct {
			if err := fillStruct(v.Field(i), member); err != nil {
				return err
			}
			continue
		}
		v.Field(i).Set(reflect.NewAt(v.Field(i).Type(), member).Elem())
	}
	return nil
}
