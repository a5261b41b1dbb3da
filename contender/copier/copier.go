// Package copier is the kind of contender that turns C memory into Go values. An
// author defines how to copy each C type and calls [Main]:
//
//	func main() {
//		copier.Main(copier.Impl{Memory: cmem.New, Types: map[string]copier.Copies{
//			"BenchPerson": copier.Of(copier.Type[Person]{Fill: (*Person).FromC}),
//		}})
//	}
//
// Operations, as studies name them:
//
//	single      a new value on the heap, from one C value
//	value       a new value, in memory of the caller
//	into        the value that was made of the same C value before, again
//	batch       a new slice, from a C array
//	batch-into  the slice that was made of the same C array before, again
//	frame       batch-into after one call to C that returns the array
//
// Every copier starts from the same C memory, package cmem, but those that can
// only start from a Go value: a codec's round trip. They leave Memory nil and
// are given pointers to Go values that equal what C holds.
package copier

import (
	"encoding/json"
	"fmt"
	"slices"
	"unsafe"

	"github.com/tarebench/tare/contender"
	"github.com/tarebench/tare/contender/wire"
)

// Kind is the name of this kind of contender in studies.
const Kind = "copier"

// Operations of a copier.
const (
	OpSingle    = "single"
	OpValue     = "value"
	OpInto      = "into"
	OpBatch     = "batch"
	OpBatchInto = "batch-into"
	OpFrame     = "frame"
)

// Ops returns the operations.
func Ops() []string {
	return []string{OpSingle, OpValue, OpInto, OpBatch, OpBatchInto, OpFrame}
}

// Memory is C memory with an array of values for each body of a workload.
type Memory interface {
	// At calls C for the address of the values of body i and their number.
	At(i int) (unsafe.Pointer, int)
	// Free gives the memory back.
	Free()
}

// Source defines the contents of C memory, and the library that fills it.
type Source struct {
	Shape   Shape
	Names   Names
	Seeds   []uint64
	Library string // shared library that fills it instead of package cmem, or ""
}

// Spec is the kind's part of a workload in addition to its bodies.
type Spec struct {
	Library string `json:"library,omitempty"` // as in Source
}

// Impl is a copier.
type Impl struct {
	// Memory fills the C memory that is copied: cmem.New. Nil: the copier
	// starts from Go values, of the types of this package.
	Memory func(from Source) (Memory, error)

	// Types are the ways to copy by the name of the C type, e.g. BenchPerson.
	// What is not there is not supported.
	Types map[string]Copies

	// Blind means that Answer shows the result of an operation although it
	// returned an error, like the benchmark that is reproduced.
	Blind bool

	null bool
}

// Main serves the lab that started this process as one copier, and exits.
func Main(i Impl) { contender.Main(newProgram(i)) }

// Null returns the copier that does nothing: its measured cost is that of the harness.
// Its output is correct because it generates the same values.
func Null() Impl { return Impl{null: true} }

func newProgram(i Impl) contender.Program {
	var held Memory // the memory of the last workload
	return contender.Program{Kind: Kind, Prepare: func(_ string, w wire.Workload, bodies [][]byte) (contender.Work, error) {
		if held != nil {
			held.Free()
			held = nil
		}
		work, memory, err := i.prepareOp(w, bodies)
		held = memory
		return work, err
	}}
}

// Body is a body of a workload: the seed of C's values.
type Body struct {
	Seed uint64 `json:"seed"`
}

// input is the input of operations.
type input struct {
	shape        Shape
	names        Names
	seeds        []uint64
	memory       Memory // nil: Go values
	at           []unsafe.Pointer
	ignoreErrors bool
}

func (i Impl) prepareOp(w wire.Workload, bodies [][]byte) (contender.Work, Memory, error) {
	if !slices.Contains(Ops(), w.Op) {
		return contender.Work{}, nil, contender.ErrUnsupported
	}
	shape, err := ShapeOf(w.Fixture, w.N)
	if err != nil {
		return contender.Work{}, nil, err
	}
	names, err := NamesOf(w.Set[SetNames])
	if err != nil {
		return contender.Work{}, nil, err
	}
	g := input{shape: shape, names: names, ignoreErrors: i.Blind}
	for k, text := range bodies {
		var b Body
		if err := json.Unmarshal(text, &b); err != nil {
			return contender.Work{}, nil, fmt.Errorf("body %d: %w", k, err)
		}
		g.seeds = append(g.seeds, b.Seed)
	}
	if i.null {
		return g.newNull(w.Op), nil, nil
	}
	how, ok := i.Types[shape.C]
	if !ok {
		return contender.Work{}, nil, contender.ErrUnsupported
	}
	if i.Memory != nil {
		from := Source{Shape: shape, Names: names, Seeds: g.seeds}
		if from.Library, err = parseLibrary(w); err != nil {
			return contender.Work{}, nil, err
		}
		if g.memory, err = i.Memory(from); err != nil {
			return contender.Work{}, nil, err
		}
		for k := range g.seeds {
			p, _ := g.memory.At(k)
			g.at = append(g.at, p)
		}
	}
	work, err := how.newWork(w.Op, g)
	return work, g.memory, err
}

// parseLibrary returns the library that fills the memory of a workload, or "".
func parseLibrary(w wire.Workload) (string, error) {
	var s Spec
	if len(w.Spec) == 0 {
		return "", nil
	}
	if err := json.Unmarshal(w.Spec, &s); err != nil {
		return "", fmt.Errorf("spec: %w", err)
	}
	return s.Library, nil
}

// newNull returns an operation that does nothing, with correct output.
func (g input) newNull(op string) contender.Work {
	return contender.Work{
		Do: func(int) (int, error) { return 0, nil },
		Answer: func(k int) (contender.Answered, error) {
			out, err := Expected(g.shape, g.names, op, g.seeds[k])
			return contender.Answered{Output: out}, err
		},
	}
}
