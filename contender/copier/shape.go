package copier

import "fmt"

// Words under which a workload can choose.
const (
	SetNames    = "names"    // how its names are drawn
	SetProducer = "producer" // who fills the memory: c or rust; c by default
)

// Names is the length and alphabet of names.
type Names int

// Names. All but NamesBytes are letters.
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

// Shape is the contents of C memory for one body.
type Shape struct {
	C     string // name of the C type
	Count int    // values of it in a row
	Items int    // elements of each list in it
	Array bool   // there can be several: it supports batches
}

// Fixtures returns the names of fixtures for workloads.
func Fixtures() []string {
	return []string{"person", "object", "audio", "devices", "flat", "nested", "deep", "fields"}
}

// ShapeOf returns the shape of a fixture with n items: for person, object and audio an array of n; for devices
// a list of n; for flat a struct of n numbers, for nested one of n levels with 16 bytes each, for deep one of
// n levels with 144 bytes in all, for fields one of n members.
func ShapeOf(fixture string, n int) (Shape, error) {
	n = max(1, n)
	sized := func(prefix string, known ...int) (Shape, error) {
		for _, k := range known {
			if n == k {
				return Shape{C: fmt.Sprint(prefix, n), Count: 1}, nil
			}
		}
		return Shape{}, fmt.Errorf("fixture %s has n of %d only, not %d", fixture, known, n)
	}
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
		return sized("Flat", 2, 16, 128, 1024, 8192)
	case "nested":
		return sized("Nest", 1, 2, 3, 4, 5, 6, 7, 8, 9)
	case "deep":
		return sized("Deep", 1, 2, 3, 6, 9)
	case "fields":
		return sized("Fields", 1, 4, 16, 64)
	}
	return Shape{}, fmt.Errorf("unknown fixture %q; known: %v", fixture, Fixtures())
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
		return fmt.Errorf("unknown op %q; a copier can be asked for %v", op, Ops())
	}
	return nil
}

// isListOp reports whether an operation makes a slice.
func isListOp(op string) bool { return op == OpBatch || op == OpBatchInto || op == OpFrame }
