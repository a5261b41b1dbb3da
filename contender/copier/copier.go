// Package copier is for contenders (programs to measure) that turn C memory into Go values. An author
// defines how to copy each C type and calls [Main]:
//
//	func main() {
//		copier.Main(copier.Impl{Memory: cmem.New, Types: map[string]copier.Copies{
//			"BenchPerson": copier.Of(copier.Type[Person]{Fill: (*Person).FromC}),
//		}})
//	}
//
// Operations, as studies name them:
//
//	single      copies a C value into a new Go value on the heap
//	value       copies a C value into a new Go value in memory of the caller
//	into        copies a C value into the Go value of its previous copy
//	batch       copies a C array into a new slice
//	batch-into  copies a C array into the slice of its previous copy
//	frame       calls C, which returns an array, and then does batch-into
//
// All start from the same C memory, package cmem. Round trips of codecs are an exception. Their Memory is
// nil, and they get pointers to equal Go values.
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
	Seeds   []uint64 // a seed for each body
	Library string   // path of a shared library that fills the memory; "" for package cmem
}

// Spec is the specification of a copier in [wire.Workload.Spec].
type Spec struct {
	Library string `json:"library,omitempty"` // see Source
}

// Impl is a copier.
type Impl struct {
	// Memory fills the C memory to copy; usually it is cmem.New. nil means that the copier starts from Go
	// values.
	Memory func(from Source) (Memory, error)

	// Types has the copies of each C type, such as BenchPerson. The copier does not support others.
	Types map[string]Copies

	// Blind means that the copier ignores errors of operations, as a published benchmark does.
	Blind bool

	null bool // the copier of Null
}

// Main runs this process as one copier, and exits.
func Main(i Impl) { contender.Main(newProgram(i)) }

// Null returns a copier that does nothing: its cost is that of the timed loop. It generates correct values for
// answers.
func Null() Impl { return Impl{null: true} }

func newProgram(i Impl) contender.Program {
	var current Memory // memory of the prepared workload; may be nil
	return contender.Program{Kind: Kind, Prepare: func(_ string, w wire.Workload, bodies [][]byte) (contender.Work, error) {
		if current != nil {
			current.Free()
			current = nil
		}
		work, memory, err := i.prepareOp(w, bodies)
		current = memory
		return work, err
	}}
}

// Body is a body of a workload: the seed of the values in C memory.
type Body struct {
	Seed uint64 `json:"seed"`
}

// input has a seed and a pointer for each body.
type input struct {
	shape        Shape
	names        Names
	seeds        []uint64
	memory       Memory           // nil if it starts from Go values
	pointers     []unsafe.Pointer // the first value of each body
	ignoreErrors bool             // see Impl.Blind
}

// prepareOp returns the work of w, whose bodies are JSON of Body. The caller must free the memory, which is
// nil if the copier starts from Go values.
func (i Impl) prepareOp(w wire.Workload, bodies [][]byte) (contender.Work, Memory, error) {
	if !slices.Contains(Ops(), w.Op) {
		return contender.Work{}, nil, contender.ErrUnsupported
	}
	in, err := parseInput(w, bodies)
	if err != nil {
		return contender.Work{}, nil, err
	}
	in.ignoreErrors = i.Blind
	if i.null {
		return in.newNull(w.Op), nil, nil
	}
	copies, ok := i.Types[in.shape.C]
	if !ok {
		return contender.Work{}, nil, contender.ErrUnsupported
	}
	if i.Memory != nil {
		library, err := parseLibrary(w)
		if err != nil {
			return contender.Work{}, nil, err
		}
		if in.memory, err = i.Memory(Source{Shape: in.shape, Names: in.names, Seeds: in.seeds, Library: library}); err != nil {
			return contender.Work{}, nil, err
		}
		for k := range in.seeds {
			p, _ := in.memory.At(k) // every body has shape.Count values
			in.pointers = append(in.pointers, p)
		}
	}
	work, err := copies.newWork(w.Op, in)
	return work, in.memory, err
}

// parseInput returns the input that a workload and its bodies define. It sets neither memory nor pointers.
func parseInput(w wire.Workload, bodies [][]byte) (in input, err error) {
	if in.shape, err = ShapeOf(w.Fixture, w.N); err != nil {
		return in, err
	}
	if in.names, err = NamesOf(w.Set[SetNames]); err != nil {
		return in, err
	}
	for k, text := range bodies {
		var b Body
		if err := json.Unmarshal(text, &b); err != nil {
			return in, fmt.Errorf("body %d: %w", k, err)
		}
		in.seeds = append(in.seeds, b.Seed)
	}
	return in, nil
}

// parseLibrary returns the library that fills the memory, or "".
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

// newNull returns work that does nothing, with correct output.
func (in input) newNull(op string) contender.Work {
	return contender.Work{
		Do: func(int) (int, error) { return 0, nil },
		Answer: func(k int) (contender.Answered, error) {
			out, err := Expected(in.shape, in.names, op, in.seeds[k])
			return contender.Answered{Output: out}, err
		},
	}
}
