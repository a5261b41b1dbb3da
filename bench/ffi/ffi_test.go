package ffi

import (
	"encoding/json"
	"testing"
	"unsafe"

	"github.com/tarebench/tare/cgocopy"
)

// alice returns the value of CPerson.
func alice() SimplePerson {
	return SimplePerson{ID: 42, Name: "Alice Johnson", Balance: 12345.67, Active: 1}
}

// player returns the value of CObject.
func player() GameObject {
	return GameObject{
		ID:       1001,
		Name:     "Player One",
		Position: Point3D{X: 100.5, Y: 200.25, Z: 50.75},
		Velocity: Point3D{X: 1.5, Y: -0.5},
		Health:   87.5,
		Level:    15,
	}
}

// TestCopies checks that all ways of copying give the values in C memory.
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
	if got, err := roundTrip(player()); err != nil || *got != player() {
		t.Errorf("JSON: %+v, %v", got, err)
	}
}

// roundTrip encodes value as JSON and decodes the result.
func roundTrip[T any](value T) (*T, error) {
	text, err := json.Marshal(value)
	if err != nil {
		return nil, err
	}
	decoded := new(T)
	return decoded, json.Unmarshal(text, decoded)
}

func BenchmarkCgocopy_SimplePerson(b *testing.B) { benchmarkCopy[SimplePerson](b, CPerson()) }

func BenchmarkJSON_SimplePerson(b *testing.B) { benchmarkJSON(b, alice()) }

func BenchmarkCgocopy_GameObject(b *testing.B) { benchmarkCopy[GameObject](b, CObject()) }

func BenchmarkJSON_GameObject(b *testing.B) { benchmarkJSON(b, player()) }

func BenchmarkFromC_SimplePerson(b *testing.B) {
	benchmarkNew(b, CPerson(), (*SimplePerson).FromC)
}

func BenchmarkFromC_GameObject(b *testing.B) {
	benchmarkNew(b, CObject(), (*GameObject).FromC)
}

func BenchmarkHand_SimplePerson(b *testing.B) { benchmarkHand(b, CPerson(), HandPerson) }

func BenchmarkHand_GameObject(b *testing.B) { benchmarkHand(b, CObject(), HandObject) }

// The Again benchmarks fill the same value again. Its text is equal, so that FromC does not copy it.

func BenchmarkAgain_SimplePerson(b *testing.B) {
	benchmarkRefill(b, CPerson(), (*SimplePerson).FromC)
}

func BenchmarkAgain_GameObject(b *testing.B) {
	benchmarkRefill(b, CObject(), (*GameObject).FromC)
}

// benchmarkCopy makes a new value in each iteration, with cgocopy.Copy.
func benchmarkCopy[T any, P cgocopy.From[T]](b *testing.B, p unsafe.Pointer) {
	b.ReportAllocs()
	var result T
	for b.Loop() {
		v, err := cgocopy.Copy[T, P](p)
		if err != nil {
			b.Fatal(err)
		}
		result = v
	}
	_ = result
}

// benchmarkHand makes a new value on the heap in each iteration, with copy.
func benchmarkHand[T any](b *testing.B, p unsafe.Pointer, copy func(unsafe.Pointer) *T) {
	b.ReportAllocs()
	var result *T
	for b.Loop() {
		result = copy(p)
	}
	_ = result
}

// benchmarkNew fills a new value on the heap in each iteration.
func benchmarkNew[T any](b *testing.B, p unsafe.Pointer, fill func(*T, unsafe.Pointer) error) {
	b.ReportAllocs()
	var result *T
	for b.Loop() {
		v := new(T)
		if err := fill(v, p); err != nil {
			b.Fatal(err)
		}
		result = v
	}
	_ = result
}

// benchmarkRefill fills the same value in each iteration.
func benchmarkRefill[T any](b *testing.B, p unsafe.Pointer, fill func(*T, unsafe.Pointer) error) {
	b.ReportAllocs()
	result := new(T)
	for b.Loop() {
		if err := fill(result, p); err != nil {
			b.Fatal(err)
		}
	}
}

// benchmarkJSON sends value through JSON in each iteration.
func benchmarkJSON[T any](b *testing.B, value T) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := roundTrip(value); err != nil {
			b.Fatal(err)
		}
	}
}
