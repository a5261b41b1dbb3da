package ffi

import (
	"encoding/json"
	"testing"
	"unsafe"

	"github.com/tarebench/tare/cgocopy"
)

func alice() SimplePerson {
	return SimplePerson{ID: 42, Name: "Alice Johnson", Balance: 12345.67, Active: 1}
}

func player() GameObject {
	return GameObject{
		ID: 1001, Name: "Player One", Position: Point3D{X: 100.5, Y: 200.25, Z: 50.75}, Velocity: Point3D{X: 1.5, Y: -0.5}, Health: 87.5, Level: 15,
	}
}

// TestCopies: all ways come to what C holds.
func TestCopies(t *testing.T) {
	var p SimplePerson
	if err := p.FromC(CPerson()); err != nil || p != alice() {
		t.Errorf("%+v, %v", p, err)
	}
	var o GameObject
	if err := o.FromC(CObject()); err != nil || o != player() {
		t.Errorf("%+v, %v", o, err)
	}
	if got := HandPerson(CPerson()); *got != alice() {
		t.Errorf("by hand: %+v", got)
	}
	if got := HandObject(CObject()); *got != player() {
		t.Errorf("by hand: %+v", got)
	}
	if got, err := trip(player()); err != nil || *got != player() {
		t.Errorf("JSON: %+v, %v", got, err)
	}
}

// trip is the round trip through JSON.
func trip[T any](from T) (*T, error) {
	text, err := json.Marshal(from)
	if err != nil {
		return nil, err
	}
	into := new(T)
	return into, json.Unmarshal(text, into)
}

func BenchmarkCgocopy_SimplePerson(b *testing.B) { copied[SimplePerson](b, CPerson()) }

func BenchmarkJSON_SimplePerson(b *testing.B) { viaJSON(b, alice()) }

func BenchmarkCgocopy_GameObject(b *testing.B) { copied[GameObject](b, CObject()) }

func BenchmarkJSON_GameObject(b *testing.B) { viaJSON(b, player()) }

func BenchmarkFromC_SimplePerson(b *testing.B) {
	fresh(b, CPerson(), (*SimplePerson).FromC)
}

func BenchmarkFromC_GameObject(b *testing.B) {
	fresh(b, CObject(), (*GameObject).FromC)
}

func BenchmarkHand_SimplePerson(b *testing.B) { byHand(b, CPerson(), HandPerson) }

func BenchmarkHand_GameObject(b *testing.B) { byHand(b, CObject(), HandObject) }

// The same value filled again: its text is still the same and is kept.

func BenchmarkAgain_SimplePerson(b *testing.B) {
	again(b, CPerson(), (*SimplePerson).FromC)
}

func BenchmarkAgain_GameObject(b *testing.B) {
	again(b, CObject(), (*GameObject).FromC)
}

// copied makes a new value each time, through cgocopy.Copy.
func copied[T any, P cgocopy.From[T]](b *testing.B, p unsafe.Pointer) {
	b.ReportAllocs()
	var kept T
	for b.Loop() {
		v, err := cgocopy.Copy[T, P](p)
		if err != nil {
			b.Fatal(err)
		}
		kept = v
	}
	_ = kept
}

// byHand makes a new value on the heap each time.
func byHand[T any](b *testing.B, p unsafe.Pointer, copy func(unsafe.Pointer) *T) {
	b.ReportAllocs()
	var kept *T
	for b.Loop() {
		kept = copy(p)
	}
	_ = kept
}

// fresh makes a new value on the heap each time.
func fresh[T any](b *testing.B, p unsafe.Pointer, fill func(*T, unsafe.Pointer) error) {
	b.ReportAllocs()
	var kept *T
	for b.Loop() {
		v := new(T)
		if err := fill(v, p); err != nil {
			b.Fatal(err)
		}
		kept = v
	}
	_ = kept
}

func again[T any](b *testing.B, p unsafe.Pointer, fill func(*T, unsafe.Pointer) error) {
	b.ReportAllocs()
	kept := new(T)
	for b.Loop() {
		if err := fill(kept, p); err != nil {
			b.Fatal(err)
		}
	}
}

func viaJSON[T any](b *testing.B, from T) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := trip(from); err != nil {
			b.Fatal(err)
		}
	}
}
