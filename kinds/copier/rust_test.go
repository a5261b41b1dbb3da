//go:build cgo

package copier_test

import (
	"encoding/json"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"unsafe"

	sdk "github.com/tarebench/tare/contender/copier"
	"github.com/tarebench/tare/contender/copier/cmem"
	"github.com/tarebench/tare/kinds/copier"
)

// What the structs look like from Go, member for member.
type (
	person struct {
		ID      int32
		Name    [64]byte
		Balance float64
		Age     int32
	}
	object struct {
		ID                 int32
		Name               [64]byte
		Position, Velocity sdk.Point3D
		Health             float32
		Level              int32
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

// TestRustFillsAsC: what Rust lays out and fills is what Go says C holds.
func TestRustFillsAsC(t *testing.T) {
	if _, err := exec.LookPath("rustc"); err != nil {
		t.Skip("there is no rustc here")
	}
	in, err := copier.New().Input(fromRust("person", "single"), "", t.TempDir())
	if err != nil && strings.Contains(err.Error(), "compiles here") {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	var spec sdk.Spec
	if err := json.Unmarshal(in.Spec, &spec); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		fixture string
		n       int
		show    func(p unsafe.Pointer, n int) any
	}{
		{"person", 7, func(p unsafe.Pointer, n int) any { return unsafe.Slice((*person)(p), n) }},
		{"object", 7, func(p unsafe.Pointer, n int) any { return unsafe.Slice((*object)(p), n) }},
		{"devices", 5, func(p unsafe.Pointer, _ int) any {
			d := (*devices)(p)
			list := sdk.DeviceList{Owner: text(d.Owner), Tags: unsafe.Slice(d.Tags, d.TagCount)}
			for _, one := range unsafe.Slice(d.Devices, d.Count) {
				list.Devices = append(list.Devices, sdk.Device{ID: one.ID, Name: text(one.Name), Reading: one.Reading})
			}
			return list
		}},
	} {
		shape, err := sdk.ShapeOf(c.fixture, c.n)
		if err != nil {
			t.Fatal(err)
		}
		for _, names := range []sdk.Names{sdk.NamesUsual, sdk.NamesEdges, sdk.NamesBytes} {
			seeds := []uint64{3, 1 << 63}
			m, err := cmem.New(sdk.Source{Shape: shape, Names: names, Seeds: seeds, Library: spec.Library})
			if err != nil {
				t.Fatal(err)
			}
			for i, seed := range seeds {
				op := sdk.OpSingle
				if shape.Array {
					op = sdk.OpBatch
				}
				want, err := sdk.Expected(shape, names, op, seed)
				if err != nil {
					t.Fatal(err)
				}
				p, n := m.At(i)
				if got := sdk.Show(c.show(p, n)); n != shape.Count || string(got) != string(want) {
					t.Errorf("%d of %s, names %v, seed %d:\nRust %.300s\nGo   %.300s", n, shape.C, names, seed, got, want)
				}
			}
			m.Free()
		}
	}
	if runtime.GOOS != "linux" { // elsewhere other words are said of other files
		return
	}
	for path, want := range map[string]string{spec.Library + ".not": "cannot open", "libm.so.6": "it lacks fixture_make"} {
		_, err := cmem.New(sdk.Source{Shape: sdk.Shape{C: "BenchPerson", Count: 1}, Seeds: []uint64{1}, Library: path})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", path, err, want)
		}
	}
}
