//go:build cgo

// Package cmem is the C memory that copiers start from. It is filled by C, from
// a seed, and is the same for all of them. Of all that contenders are made with
// only this needs a C compiler.
//
// fixtures.h has the types; a contender that names them says
//
//	#cgo CFLAGS: -I${SRCDIR}/../../../contender/copier/cmem
package cmem

/*
#cgo CFLAGS: -O2
#include <stdlib.h>
#include "fill.h"
*/
import "C"

import (
	"fmt"
	"unsafe"

	"github.com/tarebench/tare/contender/copier"
)

// memory is an array of values for each seed.
type memory struct {
	ctype  *C.char
	table  *C.Place
	places []C.Place // the same memory
}

// New fills C memory: for each seed the values that shape says.
func New(shape copier.Shape, names copier.Names, seeds []uint64) (copier.Memory, error) {
	m := &memory{ctype: C.CString(shape.C)}
	m.table = (*C.Place)(C.calloc(C.size_t(len(seeds)+1), C.size_t(unsafe.Sizeof(C.Place{}))))
	m.places = unsafe.Slice(m.table, len(seeds))
	for i, seed := range seeds {
		p := C.fixture_make(m.ctype, C.int(names), C.int(shape.Count), C.int(shape.Items), C.uint64_t(seed))
		if p == nil {
			m.Free()
			return nil, fmt.Errorf("no C memory for %d of %s", shape.Count, shape.C)
		}
		m.places[i] = C.Place{first: p, n: C.int(shape.Count)}
	}
	return m, nil
}

// At asks C where the values of seed i are, and how many.
func (m *memory) At(i int) (unsafe.Pointer, int) {
	place := C.fixture_at(m.table, C.int(i))
	return place.first, int(place.n)
}

// Free gives all of it back.
func (m *memory) Free() {
	for _, place := range m.places {
		C.fixture_free(m.ctype, place.first, place.n)
	}
	C.free(unsafe.Pointer(m.table))
	C.free(unsafe.Pointer(m.ctype))
	m.places, m.table, m.ctype = nil, nil, nil
}

// SizeOf is sizeof of a C type, in bytes; zero: there is none of that name.
func SizeOf(ctype string) int {
	name := C.CString(ctype)
	defer C.free(unsafe.Pointer(name))
	return int(C.fixture_size(name))
}
