//go:build cgo

// Package cmemtest compares the memory of package cmem with the values that Go
// expects in it, whichever language filled it.
package cmemtest

import (
	"slices"
	"testing"
	"unsafe"

	"github.com/tarebench/tare/contender/copier"
	"github.com/tarebench/tare/contender/copier/cmem"
)

// What the C types look like from Go, member for member.
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

func text(p *byte) string {
	n := 0
	for *(*byte)(unsafe.Add(unsafe.Pointer(p), n)) != 0 {
		n++
	}
	return string(unsafe.Slice(p, n))
}

// read shows the first value of a list of devices.
func read(p unsafe.Pointer) any {
	d := (*devices)(p)
	list := copier.DeviceList{Owner: text(d.Owner), Tags: unsafe.Slice(d.Tags, d.TagCount)}
	for _, one := range unsafe.Slice(d.Devices, d.Count) {
		list.Devices = append(list.Devices, copier.Device{ID: one.ID, Name: text(one.Name), Reading: one.Reading})
	}
	return list
}

// Agree fails where one of the fixtures that library fills, or where that is empty
// C, is not what Go draws from the same seed, or does not lie where Go looks.
func Agree(t *testing.T, library string, fixtures ...string) {
	t.Helper()
	held := map[string]bool{}
	for _, c := range []struct {
		fixture string
		n       int
		size    int // of the C type
		show    func(p unsafe.Pointer, n int) any
	}{
		{"person", 7, 88, func(p unsafe.Pointer, n int) any { return unsafe.Slice((*person)(p), n) }},
		{"object", 7, 128, func(p unsafe.Pointer, n int) any { return unsafe.Slice((*object)(p), n) }},
		{"audio", 2, 4104, func(p unsafe.Pointer, n int) any { return unsafe.Slice((*copier.AudioBuffer)(p), n) }},
		{"devices", 5, 40, func(p unsafe.Pointer, _ int) any { return []any{read(p)}[0] }},
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
		held[c.fixture] = true
		shape, err := copier.ShapeOf(c.fixture, c.n)
		if err != nil {
			t.Fatal(err)
		}
		if got := cmem.SizeOf(shape.C); got != c.size {
			t.Errorf("%s has %d bytes, want %d", shape.C, got, c.size)
		}
		for _, names := range []copier.Names{copier.NamesUsual, copier.NamesEdges, copier.NamesBytes} {
			m, err := cmem.New(copier.Source{Shape: shape, Names: names, Seeds: []uint64{3, 1 << 63}, Library: library})
			if err != nil {
				t.Fatal(err)
			}
			for i, seed := range []uint64{3, 1 << 63} {
				op := copier.OpSingle
				if shape.Array {
					op = copier.OpBatch
				}
				want, err := copier.Expected(shape, names, op, seed)
				if err != nil {
					t.Fatal(err)
				}
				p, n := m.At(i)
				if n != shape.Count {
					t.Errorf("%s: %d values, want %d", shape.C, n, shape.Count)
				}
				if got := copier.Show(c.show(p, n)); string(got) != string(want) {
					t.Errorf("%s of %v from seed %d:\nheld %.300s\nGo   %.300s", shape.C, names, seed, got, want)
				}
			}
			m.Free()
		}
	}
	for _, fixture := range fixtures {
		if !held[fixture] {
			t.Errorf("no check looks at fixture %s", fixture)
		}
	}
}
