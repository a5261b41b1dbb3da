package main

import (
	"bytes"
	"fmt"
	"reflect"
	"sync"
	"unsafe"
)

// registry contains the memory layouts of C structs, by Go type.
type registry struct {
	mu    sync.RWMutex
	types map[reflect.Type]*layout
}

// layout is the memory layout of a C struct.
type layout struct {
	size    uintptr // bytes in C
	members []member
}

type member struct {
	index  int          // of the field in Go
	offset uintptr      // in C, in bytes
	chars  uintptr      // length of a char array that becomes a string, or 0
	nested *layout      // layout of a nested struct, or nil
	typ    reflect.Type // Go type with the memory layout of the member in C
}

type unregisteredError struct {
	Type               reflect.Type
	Op, Registry, Hint string
}

func (e *unregisteredError) Error() string {
	return fmt.Sprintf("%s %v: type not registered in %s; %s", e.Op, e.Type, e.Registry, e.Hint)
}

// register registers T. C is a Go struct with the memory layout of T's C struct.
func register[T, C any](r *registry) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.types[reflect.TypeFor[T]()] = newLayout(reflect.TypeFor[T](), reflect.TypeFor[C]())
}

// newLayout returns the layout of the C struct that is copied into t. c is a Go struct with that layout.
// newLayout panics if c lacks a member of t.
func newLayout(t, c reflect.Type) *layout {
	l := &layout{size: c.Size()}
	for i := range t.NumField() {
		f, ok := c.FieldByName(t.Field(i).Name)
		if !ok {
			panic(t.Field(i).Name + " is not in " + c.String())
		}
		m := member{index: i, offset: f.Offset, typ: f.Type}
		switch t.Field(i).Type.Kind() {
		case reflect.String:
			m.chars = f.Type.Size()
		case reflect.Struct:
			m.nested = newLayout(t.Field(i).Type, f.Type)
		}
		l.members = append(l.members, m)
	}
	return l
}

// find returns the layout for the type that dst points to.
func (r *registry) find(dst any) (*layout, error) {
	t := reflect.TypeOf(dst).Elem()
	r.mu.RLock()
	l := r.types[t]
	r.mu.RUnlock()
	if l == nil {
		return nil, &unregisteredError{Type: t, Op: "copy", Registry: "the registry", Hint: "register it first"}
	}
	return l, nil
}

// copy copies the C value at p into the value that dst points to.
func (r *registry) copy(dst any, p unsafe.Pointer) error {
	l, err := r.find(dst)
	if err != nil {
		return err
	}
	l.fill(reflect.ValueOf(dst).Elem(), p)
	return nil
}

func (l *layout) fill(v reflect.Value, p unsafe.Pointer) {
	for i := range l.members {
		m := &l.members[i]
		f, src := v.Field(m.index), unsafe.Add(p, m.offset)
		switch {
		case m.chars > 0:
			b := unsafe.Slice((*byte)(src), m.chars)
			if end := bytes.IndexByte(b, 0); end >= 0 {
				b = b[:end]
			}
			f.SetString(string(b))
		case m.nested != nil:
			m.nested.fill(f, src)
		default:
			f.Set(reflect.NewAt(m.typ, src).Elem())
		}
	}
}
