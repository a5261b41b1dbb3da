// Package codec is the kind of contenders that encode and decode. A contender is a program with one
// codec, which is measured against others. All contenders get the same bodies (JSON documents), the
// pool of a workload, and must produce the same values.
//
// A semantics test has edge cases, for which codecs are known to differ. It compares results with
// those of encoding/json.
package codec

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/contender/codec"
	"github.com/tarebench/tare/contender/fixture"
	"github.com/tarebench/tare/contender/wire"
	"github.com/tarebench/tare/internal/atomicfile"
	"github.com/tarebench/tare/internal/build"
	"github.com/tarebench/tare/internal/pool"
	"github.com/tarebench/tare/internal/trial"
	"github.com/tarebench/tare/lab"
)

// Ops returns the operations a codec workload can name.
func Ops() []string {
	return []string{codec.OpMarshal, codec.OpStream, codec.OpUnmarshal, codec.OpAny, codec.OpFields, codec.OpRoundTrip}
}

// Kind is the codec kind. It stores the pools that it wrote and the questions of semantics tests, to
// compare answers with them.
type Kind struct {
	mu        sync.Mutex
	pools     map[string][][]byte   // bodies by path of the pool
	questions map[string][]question // by examSpec.id
}

var _ lab.Describer = (*Kind)(nil)

// New returns the codec kind.
func New() *Kind { return &Kind{pools: map[string][][]byte{}, questions: map[string][]question{}} }

// Input writes the pool of w into dir, one canonical JSON body per line. It returns the workload
// for contenders.
func (k *Kind) Input(w tare.Workload, studyDir, dir string) (wire.Workload, error) {
	switch {
	case !slices.Contains(Ops(), w.Op):
		return wire.Workload{}, fmt.Errorf("workload %q: unknown op %q; a codec can %s", w.ID, w.Op, strings.Join(Ops(), ", "))
	case w.Op == codec.OpFields && fixture.FieldsTarget(w.Fixture) == nil:
		return wire.Workload{}, fmt.Errorf("workload %q: op %s picks fields out of a fixture: devices or events", w.ID, w.Op)
	}
	bodies, err := makePool(w, studyDir)
	if err != nil {
		return wire.Workload{}, fmt.Errorf("workload %q: %w", w.ID, err)
	}
	input, err := k.writePool(dir, bodies)
	if err != nil {
		return wire.Workload{}, fmt.Errorf("write input of workload %q: %w", w.ID, err)
	}
	input.ID = w.ID
	input.Fixture = w.Fixture
	input.N = w.N
	input.Op = w.Op
	input.Heap = w.Heap
	return input, nil
}

func (k *Kind) writePool(dir string, bodies [][]byte) (wire.Workload, error) {
	input, err := Pool(dir, bodies)
	if err != nil {
		return wire.Workload{}, err
	}
	k.mu.Lock()
	k.pools[input.Input] = bodies
	k.mu.Unlock()
	return input, nil
}

// Pool writes bodies without line ends into a file of dir, one per line. The name of the file
// contains a hash of its content. Only Input, Bodies and SHA256 of the returned workload are set.
func Pool(dir string, bodies [][]byte) (wire.Workload, error) {
	return pool.Write(dir, "input-", bodies, 0o644)
}

// Describe adds the bytes of the pool to w. For a fixture with ids it also adds the items, and the
// smallest number of different ids in a body.
func (k *Kind) Describe(w tare.Workload, input wire.Workload) (tare.Workload, error) {
	k.mu.Lock()
	bodies := k.pools[input.Input]
	k.mu.Unlock()
	w.Bytes = 0
	for _, b := range bodies {
		w.Bytes += int64(len(b))
	}
	distinct, hasIDs, err := fixture.Keys(w.Fixture, bodies)
	if err != nil {
		return w, fmt.Errorf("workload %q: %w", w.ID, err)
	}
	if hasIDs {
		w.Keys, w.DistinctKeys = itemCount(w), distinct
	}
	return w, nil
}

// itemCount returns the number of items in each generated body of w. Without a number, for which N
// is 0, this is 1.
func itemCount(w tare.Workload) int { return max(1, w.N) }

// makePool generates the bodies of w, or reads the documents of its file, whose path is relative to
// studyDir.
func makePool(w tare.Workload, studyDir string) ([][]byte, error) {
	if w.File == "" {
		return fixture.Pool(w.Fixture, itemCount(w), w.Pool)
	}
	path := w.File
	if !filepath.IsAbs(path) {
		path = filepath.Join(studyDir, path)
	}
	src, err := atomicfile.ReadFile(path, MaxRead)
	if err != nil {
		return nil, err
	}
	docs, _, err := Documents(path, src) // ignore the notes
	if err != nil {
		return nil, err
	}
	bodies := make([][]byte, len(docs))
	for i, d := range docs {
		if bodies[i], err = reencodeBody(w.Op, d.Body); err != nil {
			return nil, fmt.Errorf("%s: %w", d, err)
		}
	}
	return bodies, nil
}

// reencodeBody decodes a document into the Go value that contenders encode, and encodes it again.
// So numbers are rounded in the same way for all contenders.
func reencodeBody(op string, body []byte) ([]byte, error) {
	if op == codec.OpAny {
		var v any
		if err := json.Unmarshal(body, &v); err != nil {
			return nil, err
		}
		return json.Marshal(v)
	}
	v, err := fixture.Decode("", body)
	if err != nil {
		return nil, err
	}
	return json.Marshal(v)
}

// Open starts a process of the contender. It has one processor, because a codec needs no more.
func (k *Kind) Open(ctx context.Context, p build.Program, spec trial.Spec) (trial.Conn, error) {
	return lab.StartProgram(ctx, p, spec)
}

// Launches returns the ways to start contenders.
func (*Kind) Launches() []tare.Launch { return lab.SpokenLaunches() }

// Compare compares each output of a contender with the canonical body of its case. It returns one
// line for each wrong output. For OpFields it compares only the few fields that contenders pick.
func (k *Kind) Compare(w wire.Workload, answers []wire.Answer) ([]string, error) {
	k.mu.Lock()
	bodies := k.pools[w.Input]
	k.mu.Unlock()
	var wrong []string
	for _, a := range answers {
		if a.Case < 0 || a.Case >= len(bodies) {
			return nil, fmt.Errorf("workload %q: answer for case %d, which was not requested", w.ID, a.Case)
		}
		if a.Error != "" {
			wrong = append(wrong, fmt.Sprintf("case %d: returned the error %q", a.Case, a.Error))
			continue
		}
		want := bodies[a.Case]
		if w.Op == codec.OpFields {
			var err error
			if want, err = fixture.Fields(w.Fixture, want); err != nil {
				return nil, fmt.Errorf("workload %q: case %d: %w", w.ID, a.Case, err)
			}
		}
		if diff := Diff(want, a.Output); diff != "" {
			wrong = append(wrong, fmt.Sprintf("case %d: %s", a.Case, diff))
		}
	}
	return wrong, nil
}
