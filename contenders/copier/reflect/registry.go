package main

import (
	"bytes"
	"fmt"
	"reflect"
	"sync"
	"unsafe"
)

// registry contains the layouts of types in C.
type registry struct {
	mu    sync.RWMutex
	types map[reflect.Type]*description
}

// description is the layout of a struct in C.
type description struct {
	size    uintptr // bytes in C
	members []member
}

// member is one member of a struct.
type member struct {
	index  int          // index of the field in Go
	offset uintptr      // offset in C in bytes
	chars  uintptr      // length of a char array that becomes a string; 0 for other members
	nested *description // layout of a nested struct; nil for other members
	typ    reflect.Type // type of the member with the layout in C
}

// unregisteredError is the error for a type that is not registered.
type unregisteredError struct {
	Type               reflect.Type
	Op, Registry, Hint string
}

func (e *unregisteredError) Error() string {
	return fmt.Sprintf("%s %v: type not registered in %s; %s", e.Op, e.Type, e.Registry, e.Hint)
}

// register registers T. Its layout in C is the layout of the type parameter C in Go.
func register[T, C any](r *registry) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.types[reflect.TypeFor[T]()] = describe(reflect.TypeFor[T](), reflect.TypeFor[C]())
}

// describe returns the layout of t in C, which is the layout of c in Go. It panics if c lacks a member.
func describe(t, c reflect.Type) *description {
	d := &description{size: c.Size()}
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
			m.nested = describe(t.Field(i).Type, f.Type)
		}
		d.members = append(d.members, m)
	}
	return d
}

// find returns the description of the type that dst points to. It returns an error if the type is not
// registered.
func (r *registry) find(dst any) (*description, error) {
	t := reflect.TypeOf(dst).Elem()
	r.mu.RLock()
	d := r.types[t]
	r.mu.RUnlock()
	if d == nil {
		return nil, &unregisteredError{Type: t, Op: "copy", Registry: "the registry", Hint: "register it first"}
	}
	return d, nil
}

// copy copies the C value at p into the value that dst points to.
func (r *registry) copy(dst any, p unsafe.Pointer) error {
	d, err := r.find(dst)
	if err != nil {
		return err
	}
	d.fill(reflect.ValueOf(dst).Elem(), p)
	return nil
}

// fill copies the members of the C struct at p into v.
func (d *description) fill(v reflect.Value, p unsafe.Pointer) {
	for i := range d.members {
		m := &d.members[i]
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
