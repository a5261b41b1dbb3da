//go:build cgo

// Package cmemtest tests the memory that package cmem fills in C or another language. Its values must equal
// those that Go generates from the same seed.
package cmemtest

import (
	"slices"
	"testing"
	"unsafe"

	"github.com/tarebench/tare/contender/copier"
	"github.com/tarebench/tare/contender/copier/cmem"
)

// Go types with the memory layout of the C types. Package copier has the others, without texts.
type (
	person struct {
		ID      int32
		Name    [64]byte
		Balance float64
		Active  int32
	}
	object struct {
		ID       int32
		Name     [64]byte
		Position copier.Point3D
		Velocity copier.Point3D
		Health   float32
		Level    int32
	}
	device struct {
		ID      int32
		Name    *byte
		Reading float64
	}
	devices struct {
		Owner    *byte
		Count    int32
		Devices  *device
		TagCount int32
		Tags     *int32
	}
)

// goString returns the C string at p.
func goString(p *byte) string {
	n := 0
	for *(*byte)(unsafe.Add(unsafe.Pointer(p), n)) != 0 {
		n++
	}
	return string(unsafe.Slice(p, n))
}

func readDeviceList(p unsafe.Pointer) any {
	d := (*devices)(p)
	list := copier.DeviceList{Owner: goString(d.Owner), Tags: unsafe.Slice(d.Tags, d.TagCount)}
	for _, e := range unsafe.Slice(d.Devices, d.Count) {
		list.Devices = append(list.Devices, copier.Device{ID: e.ID, Name: goString(e.Name), Reading: e.Reading})
	}
	return list
}

// Agree checks the C memory of fixtures: the size of its type, and its values. They must equal those that Go
// generates. The shared library fills the memory, or fill.c if library is "".
func Agree(t *testing.T, library string, fixtures ...string) {
	t.Helper()
	checked := map[string]bool{} // by fixture
	for _, c := range []struct {
		fixture string
		n       int
		size    int                               // bytes of the C type
		read    func(p unsafe.Pointer, n int) any // returns the n C values at p
	}{
		{"person", 7, 88, func(p unsafe.Pointer, n int) any { return unsafe.Slice((*person)(p), n) }},
		{"object", 7, 128, func(p unsafe.Pointer, n int) any { return unsafe.Slice((*object)(p), n) }},
		{"audio", 2, 4104, func(p unsafe.Pointer, n int) any { return unsafe.Slice((*copier.AudioBuffer)(p), n) }},
		{"devices", 5, 40, func(p unsafe.Pointer, _ int) any { return readDeviceList(p) }},
		{"flat", 2, 16, func(p unsafe.Pointer, _ int) any { return (*copier.Flat2)(p) }},
		{"flat", 8192, 65536, func(p unsafe.Pointer, _ int) any { return (*copier.Flat8192)(p) }},
		{"nested", 1, 16, func(p unsafe.Pointer, _ int) any { return (*copier.Nest1)(p) }},
		{"nested", 9, 144, func(p unsafe.Pointer, _ int) any { return (*copier.Nest9)(p) }},
		{"deep", 1, 144, func(p unsafe.Pointer, _ int) any { return (*copier.Deep1)(p) }},
		{"deep", 9, 144, func(p unsafe.Pointer, _ int) any { return (*copier.Deep9)(p) }},
		{"fields", 1, 4, func(p unsafe.Pointer, _ int) any { return (*copier.Fields1)(p) }},
		{"fields", 4, 32, func(p unsafe.Pointer, _ int) any { return (*copier.Fields4)(p) }},
		{"fields", 64, 512, func(p unsafe.Pointer, _ int) any { return (*copier.Fields64)(p) }},
	} {
		if !slices.Contains(fixtures, c.fixture) {
			continue
		}
		checked[c.fixture] = true
		shape, err := copier.ShapeOf(c.fixture, c.n)
		if err != nil {
			t.Fatal(err)
		}
		if got := cmem.SizeOf(shape.C); got != c.size {
			t.Errorf("%s has %d bytes, want %d", shape.C, got, c.size)
		}
		for _, names := range []copier.Names{copier.NamesUsual, copier.NamesEdges, copier.NamesBytes} {
			source := copier.Source{Shape: shape, Names: names, Seeds: []uint64{3, 1 << 63}, Library: library}
			compareMemory(t, source, c.read)
		}
	}
	for _, fixture := range fixtures {
		if !checked[fixture] {
			t.Errorf("Agree has no case for fixture %s", fixture)
		}
	}
}

// compareMemory compares C memory of source with generated values, seed by seed. read returns the n C values
// at p.
func compareMemory(t *testing.T, source copier.Source, read func(p unsafe.Pointer, n int) any) {
	t.Helper()
	m, err := cmem.New(source)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Free()
	op := copier.OpSingle
	if source.Shape.Array {
		op = copier.OpBatch
	}
	for i, seed := range source.Seeds {
		want, err := copier.Expected(source.Shape, source.Names, op, seed)
		if err != nil {
			t.Fatal(err)
		}
		p, n := m.At(i)
		if n != source.Shape.Count {
			t.Errorf("%s: %d values, want %d", source.Shape.C, n, source.Shape.Count)
		}
		if got := copier.Show(read(p, n)); string(got) != string(want) {
			t.Errorf("%s with names %v from seed %d:\nC  %.300s\nGo %.300s", source.Shape.C, source.Names, seed, got, want)
		}
	}
}
