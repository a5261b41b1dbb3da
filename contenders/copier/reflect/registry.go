package main

import (
	"bytes"
	"fmt"
	"reflect"
	"sync"
	"unsafe"
)

// registry knows how types are laid out in C.
type registry struct {
	mu    sync.RWMutex
	types map[reflect.Type]*description
}

// description is a struct's layout in C.
type description struct {
	size    uintptr // in C
	members []member
}

// member is one member of a struct: where Go has it, and where C.
type member struct {
	index  int
	offset uintptr
	chars  uintptr      // a char array of so many bytes that becomes a text; zero: none
	nested *description // a struct
	typ    reflect.Type // laid out alike
}

// unregisteredError says that a type is not known.
type unregisteredError struct {
	Type               reflect.Type
	Op, Registry, Hint string
}

func (e *unregisteredError) Error() string {
	return fmt.Sprintf("%s %v: type not registered in %s; %s", e.Op, e.Type, e.Registry, e.Hint)
}

// register makes T known, which C lays out as Go does C.
func register[T, C any](r *registry) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.types[reflect.TypeFor[T]()] = describe(reflect.TypeFor[T](), reflect.TypeFor[C]())
}

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

// find is the description of what dst points to.
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

// copy fills what dst points to from the C value at p.
func (r *registry) copy(dst any, p unsafe.Pointer) error {
	d, err := r.find(dst)
	if err != nil {
		return err
	}
	d.fill(reflect.ValueOf(dst).Elem(), p)
	return nil
}

func (d *description) fill(v reflect.Value, p unsafe.Pointer) {
	for i := range d.members {
		m := &d.members[i]
		f, at := v.Field(m.index), unsafe.Add(p, m.offset)
		switch {
		case m.chars > 0:
			b := unsafe.Slice((*byte)(at), m.chars)
			if end := bytes.IndexByte(b, 0); end >= 0 {
				b = b[:end]
			}
			f.SetString(string(b))
		case m.nested != nil:
			m.nested.fill(f, at)
		default:
			f.Set(reflect.NewAt(m.typ, at).Elem())
		}
	}
}
