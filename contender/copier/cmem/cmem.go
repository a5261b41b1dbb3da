//go:build cgo

// Package cmem makes the C memory that copiers (programs that turn C memory into Go values) start from.
// fill.c, or a shared library in any language, fills it with random values of a seed. Only this package of
// the SDK needs a C compiler.
//
// The C types are in fixtures.h. A contender that includes it needs
//
//	#cgo CFLAGS: -I${SRCDIR}/../../../contender/copier/cmem
package cmem

/*
#cgo CFLAGS: -O2
#cgo linux LDFLAGS: -ldl
#include <stdlib.h>
#include "fill.h"
#include "library.h"
*/
import "C"

import (
	"fmt"
	"unsafe"

	"github.com/tarebench/tare/contender/copier"
)

// memory has an array of values for each seed.
type memory struct {
	ctype   *C.char    // C type of the values
	library *C.Library // nil for fill.c
	table   *C.Place   // arrays, for C
	places  []C.Place  // table, for Go
}

// New fills C memory with the values of each seed.
func New(source copier.Source) (copier.Memory, error) {
	m := &memory{ctype: C.CString(source.Shape.C)}
	if source.Library != "" {
		if err := m.openLibrary(source.Library); err != nil {
			m.Free()
			return nil, err
		}
	}
	// One more than needed, so that the size is never 0.
	m.table = (*C.Place)(C.calloc(C.size_t(len(source.Seeds)+1), C.size_t(unsafe.Sizeof(C.Place{}))))
	m.places = unsafe.Slice(m.table, len(source.Seeds))
	for i, seed := range source.Seeds {
		p := m.newFilled(source, seed)
		if p == nil {
			m.Free()
			return nil, fmt.Errorf("no C memory for %d of %s", source.Shape.Count, source.Shape.C)
		}
		m.places[i] = C.Place{first: p, n: C.int(source.Shape.Count)}
	}
	return m, nil
}

// openLibrary loads the library at path.
func (m *memory) openLibrary(path string) error {
	name := C.CString(path)
	defer C.free(unsafe.Pointer(name))
	m.library = (*C.Library)(C.calloc(1, C.size_t(unsafe.Sizeof(C.Library{}))))
	if wrong := C.library_open(m.library, name); wrong != nil {
		return fmt.Errorf("open %s: %s", path, C.GoString(wrong))
	}
	return nil
}

// newFilled returns memory with the values of one seed, or nil if C cannot allocate it.
func (m *memory) newFilled(source copier.Source, seed uint64) unsafe.Pointer {
	names, count, items := C.int(source.Names), C.int(source.Shape.Count), C.int(source.Shape.Items)
	if m.library != nil {
		return C.library_make(m.library, m.ctype, names, count, items, C.uint64_t(seed))
	}
	return C.fixture_make(m.ctype, names, count, items, C.uint64_t(seed))
}

// At returns the values of seed i from C or from the library.
func (m *memory) At(i int) (unsafe.Pointer, int) {
	if m.library != nil {
		place := C.library_at(m.library, m.table, C.int(i))
		return place.first, int(place.n)
	}
	place := C.fixture_at(m.table, C.int(i))
	return place.first, int(place.n)
}

// Free frees the memory and everything that belongs to it.
func (m *memory) Free() {
	for _, place := range m.places {
		if m.library != nil {
			C.library_free(m.library, m.ctype, place.first, place.n)
		} else {
			C.fixture_free(m.ctype, place.first, place.n)
		}
	}
	C.free(unsafe.Pointer(m.table))
	C.free(unsafe.Pointer(m.library))
	C.free(unsafe.Pointer(m.ctype))
	m.places, m.table, m.library, m.ctype = nil, nil, nil, nil
}

// SizeOf returns sizeof of a C type, in bytes, or 0 for an unknown name.
func SizeOf(ctype string) int {
	name := C.CString(ctype)
	defer C.free(unsafe.Pointer(name))
	return int(C.fixture_size(name))
}
