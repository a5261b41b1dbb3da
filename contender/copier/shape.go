package copier

import (
	"fmt"
	"slices"
)

// Settings of a copier, in a workload's set.
const (
	SetNames    = "names"    // length and alphabet of names: see NamesOf
	SetProducer = "producer" // language of the library that fills the memory: c or rust; c by default
)

// Names is the length and alphabet of random names.
type Names int

// Values of Names.
const (
	NamesUsual Names = iota // 4 to 24 bytes
	NamesEdges              // 0, 1, 62, 63 or 64 bytes; 64 fill a char[64] without a NUL
	NamesBytes              // 60 bytes of any value but 0: almost never UTF-8
)

// NamesOf returns the names that a workload selects: usual, edges or bytes. "" is usual.
func NamesOf(word string) (Names, error) {
	switch word {
	case "", "usual":
		return NamesUsual, nil
	case "edges":
		return NamesEdges, nil
	case "bytes":
		return NamesBytes, nil
	}
	return 0, fmt.Errorf("unknown names %q; known: usual, edges, bytes", word)
}

// Shape defines C memory for one body, e.g. an array of 100 BenchPerson.
type Shape struct {
	C     string // name of the C type
	Count int    // number of values of the type, as an array
	Items int    // number of elements of each list in a value
	Array bool   // Count may be more than 1: the shape supports batches
}

// Fixtures returns the names of fixtures for workloads.
func Fixtures() []string {
	return []string{"person", "object", "audio", "devices", "flat", "nested", "deep", "fields"}
}

// ShapeOf returns the shape of a fixture with n items. The meaning of n depends on the fixture:
//
//	person, object, audio  an array of n structs
//	devices                a struct with a list of n devices
//	flat                   a struct of n numbers
//	nested                 a struct of n levels with 16 bytes each
//	deep                   a struct of n levels with 144 bytes in all
//	fields                 a struct of n members
func ShapeOf(fixture string, n int) (Shape, error) {
	n = max(1, n)
	if n > 1<<20 {
		return Shape{}, fmt.Errorf("n is %d, at most 2²⁰", n)
	}
	switch fixture {
	case "person":
		return Shape{C: "BenchPerson", Count: n, Array: true}, nil
	case "object":
		return Shape{C: "GameObject", Count: n, Array: true}, nil
	case "audio":
		return Shape{C: "AudioBuffer", Count: n, Array: true}, nil
	case "devices":
		return Shape{C: "DeviceList", Count: 1, Items: n}, nil
	case "flat":
		return sizedShape(fixture, "Flat", n, 2, 16, 128, 1024, 8192)
	case "nested":
		return sizedShape(fixture, "Nest", n, 1, 2, 3, 4, 5, 6, 7, 8, 9)
	case "deep":
		return sizedShape(fixture, "Deep", n, 1, 2, 3, 6, 9)
	case "fields":
		return sizedShape(fixture, "Fields", n, 1, 4, 16, 64)
	}
	return Shape{}, fmt.Errorf("unknown fixture %q; known: %v", fixture, Fixtures())
}

// sizedShape returns the shape of prefix and n, such as Flat16. known lists every n.
func sizedShape(fixture, prefix string, n int, known ...int) (Shape, error) {
	if !slices.Contains(known, n) {
		return Shape{}, fmt.Errorf("fixture %s has n of %d only, not %d", fixture, known, n)
	}
	return Shape{C: fmt.Sprint(prefix, n), Count: 1}, nil
}

// Check returns an error if the shape does not support the operation.
func (s Shape) Check(op string) error {
	switch op {
	case OpSingle, OpValue, OpInto:
		if s.Count > 1 {
			return fmt.Errorf("op %s is of one value, n is %d; ask for %s", op, s.Count, OpBatch)
		}
	case OpBatch, OpBatchInto, OpFrame:
		if !s.Array {
			return fmt.Errorf("op %s is of an array, which %s is not", op, s.C)
		}
	default:
		return fmt.Errorf("unknown op %q; a copier supports %v", op, Ops())
	}
	return nil
}

func isListOp(op string) bool { return op == OpBatch || op == OpBatchInto || op == OpFrame }
