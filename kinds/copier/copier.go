// Package copier is the kind of contenders that copy C structs into Go values. All contenders start
// from the same C memory and must produce equal values. The input of a workload has a seed per
// body, from which each contender fills C memory.
package copier

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"os"
	"slices"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/contender/copier"
	"github.com/tarebench/tare/contender/fixture"
	"github.com/tarebench/tare/contender/wire"
	"github.com/tarebench/tare/internal/build"
	"github.com/tarebench/tare/internal/pool"
	"github.com/tarebench/tare/internal/trial"
	"github.com/tarebench/tare/lab"
)

// Size of a pool: defaultPool bodies, or as many as fit in poolBytes, but at least 2. So a pool of
// small structs fits in a processor's cache.
const (
	defaultPool = 64
	poolBytes   = 1 << 20
)

// Kind is the copier kind. The zero value works.
type Kind struct {
	Rust string // name or path of the Rust compiler; "" means rustc
}

var _ lab.Describer = Kind{}

// New returns the copier kind.
func New() Kind { return Kind{} }

// Input writes the inputs of w into dir, one seed per line. It returns the workload for contenders.
func (k Kind) Input(w tare.Workload, _, dir string) (wire.Workload, error) {
	in, err := k.makeInput(w, dir)
	if err != nil {
		return in, fmt.Errorf("workload %q: %w", w.ID, err)
	}
	return in, nil
}

func (k Kind) makeInput(w tare.Workload, dir string) (wire.Workload, error) {
	if w.File != "" {
		return wire.Workload{}, fmt.Errorf("C memory is filled from fixtures, not from %s; known: %v", w.File, copier.Fixtures())
	}
	shape, err := copier.ShapeOf(w.Fixture, w.N)
	if err != nil {
		return wire.Workload{}, err
	}
	if err := shape.Check(w.Op); err != nil {
		return wire.Workload{}, err
	}
	for key := range w.Set {
		if key != copier.SetNames && key != copier.SetProducer {
			return wire.Workload{}, fmt.Errorf("unknown word %q under set; known: %s, %s", key, copier.SetNames, copier.SetProducer)
		}
	}
	names, err := copier.NamesOf(w.Set[copier.SetNames])
	if err != nil {
		return wire.Workload{}, err
	}
	spec, err := k.producerSpec(w.Set[copier.SetProducer], shape, dir)
	if err != nil {
		return wire.Workload{}, err
	}
	size := w.Pool
	if size == 0 {
		const anySeed = 0 // enough for an estimate
		bodyBytes, err := copier.CBytes(shape, names, anySeed)
		if err != nil {
			return wire.Workload{}, err
		}
		size = int(min(defaultPool, max(2, poolBytes/bodyBytes)))
	}
	bodies, err := makeSeeds(w, size)
	if err != nil {
		return wire.Workload{}, err
	}
	in, err := pool.Write(dir, "input-", bodies, 0o644)
	in.ID, in.Fixture, in.N, in.Op, in.Heap, in.Set, in.Spec = w.ID, w.Fixture, w.N, w.Op, w.Heap, w.Set, spec
	return in, err
}

// makeSeeds returns size bodies with seeds. They do not depend on the operation, so that all
// operations on a fixture copy the same values.
func makeSeeds(w tare.Workload, size int) ([][]byte, error) {
	bodies := make([][]byte, size)
	for i := range bodies {
		items := max(1, w.N) // N is 0 if the workload sets none
		sum := sha256.Sum256(fmt.Appendf(nil, "%s %d %s %d", w.Fixture, items, w.Set[copier.SetNames], i))
		text, err := json.Marshal(copier.Body{Seed: binary.BigEndian.Uint64(sum[:])})
		if err != nil {
			return nil, err
		}
		bodies[i] = text
	}
	return bodies, nil
}

type copyInput struct {
	shape copier.Shape
	names copier.Names
	seeds []uint64 // one for each body
}

func readInput(in wire.Workload) (copyInput, error) {
	var q copyInput
	var err error
	if q.shape, err = copier.ShapeOf(in.Fixture, in.N); err != nil {
		return q, err
	}
	if q.names, err = copier.NamesOf(in.Set[copier.SetNames]); err != nil {
		return q, err
	}
	file, err := os.ReadFile(in.Input)
	if err != nil {
		return q, err
	}
	for _, line := range fixture.Lines(file) {
		var b copier.Body
		if err := json.Unmarshal(line, &b); err != nil {
			return q, fmt.Errorf("%s: %w", in.Input, err)
		}
		q.seeds = append(q.seeds, b.Seed)
	}
	return q, nil
}

// Describe adds to w the bytes of C memory, and the members and nested levels of the struct.
func (k Kind) Describe(w tare.Workload, in wire.Workload) (tare.Workload, error) {
	q, err := readInput(in)
	if err != nil {
		return w, fmt.Errorf("workload %q: %w", w.ID, err)
	}
	w.Bytes = 0
	for _, seed := range q.seeds {
		n, err := copier.CBytes(q.shape, q.names, seed)
		if err != nil {
			return w, fmt.Errorf("workload %q: %w", w.ID, err)
		}
		w.Bytes += n
	}
	w.Members, w.Levels, err = copier.MadeOf(q.shape)
	return w, err
}

// Open starts a process of a contender. It has one processor, because a copier works on one thread.
func (k Kind) Open(ctx context.Context, p build.Program, spec trial.Spec) (trial.Conn, error) {
	return lab.StartProgram(ctx, p, spec)
}

// Launches returns the ways to run contenders.
func (Kind) Launches() []tare.Launch { return lab.SpokenLaunches() }

// Compare returns a line for each answer of a contender that differs from the values in C memory.
func (k Kind) Compare(in wire.Workload, answers []wire.Answer) ([]string, error) {
	q, err := readInput(in)
	if err != nil {
		return nil, fmt.Errorf("workload %q: %w", in.ID, err)
	}
	var wrong []string
	for _, a := range answers {
		if a.Case < 0 || a.Case >= len(q.seeds) {
			return nil, fmt.Errorf("workload %q: answer for case %d, which was not requested", in.ID, a.Case)
		}
		if a.Error != "" {
			wrong = append(wrong, fmt.Sprintf("case %d: returned the error %q", a.Case, a.Error))
			continue
		}
		want, err := copier.Expected(q.shape, q.names, in.Op, q.seeds[a.Case])
		if err != nil {
			return nil, fmt.Errorf("workload %q: case %d: %w", in.ID, a.Case, err)
		}
		if diff := Diff(want, a.Output); diff != "" {
			wrong = append(wrong, fmt.Sprintf("case %d: %s", a.Case, diff))
		}
	}
	return wrong, nil
}

// Diff returns the first difference of two outputs in one line, or "".
func Diff(want, got []byte) string {
	if slices.Equal(want, got) {
		return ""
	}
	offset := 0
	for offset < min(len(want), len(got)) && want[offset] == got[offset] {
		offset++
	}
	return fmt.Sprintf("at byte %d: want %s, got %s", offset, excerptAround(want, offset), excerptAround(got, offset))
}

func excerptAround(text []byte, offset int) string {
	const before, after = 24, 32 // bytes
	start, end := max(0, offset-before), min(len(text), offset+after)
	excerpt := fmt.Sprintf("%q", text[start:end])
	if start > 0 {
		excerpt = "…" + excerpt
	}
	if end < len(text) {
		excerpt += "…"
	}
	return excerpt
}
