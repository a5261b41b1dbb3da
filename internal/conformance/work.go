package conformance

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"time"

	"github.com/tarebench/tare/contender/codec"
	"github.com/tarebench/tare/contender/fixture"
	"github.com/tarebench/tare/contender/wire"
)

// Codecs returns the suite of codecs. Every answer must be JSON that means the same as the body, or for
// operation fields as the requested fields of the body.
func Codecs() Kind {
	return Kind{
		ops:     []string{codec.OpMarshal, codec.OpStream, codec.OpUnmarshal, codec.OpAny, codec.OpFields, codec.OpRoundTrip},
		fixture: "devices",
		compare: func(op string, body, answer []byte) error {
			if op == codec.OpFields {
				fields, err := fixture.Fields("devices", body)
				if err != nil {
					return err
				}
				body = fields
			}
			return SameJSON(body, answer)
		},
		hasOutput: func(op string) bool { return op == codec.OpMarshal || op == codec.OpStream || op == codec.OpRoundTrip },
		needsSize: func(op string) bool { return op == codec.OpRoundTrip },
	}
}

// SameJSON checks that answer is JSON that means the same as body.
func SameJSON(body, answer []byte) error {
	var want, have any
	if err := json.Unmarshal(body, &want); err != nil {
		return err
	}
	if err := json.Unmarshal(answer, &have); err != nil {
		return fmt.Errorf("not JSON: %w", err)
	}
	if !reflect.DeepEqual(have, want) {
		return errors.New("other JSON than requested")
	}
	return nil
}

// checkWork sends a prepared workload every kind of request that a lab sends, and checks the replies.
// fresh reports whether w was declared to return new memory for each operation.
func (s Subject) checkWork(p *Process, k Kind, w wire.Workload, bodies [][]byte, fresh bool) error {
	sizes, err := s.checkAnswers(p, k, w, bodies)
	if err != nil {
		return fmt.Errorf("%s: %w", w.ID, err)
	}
	second := int64(time.Second)
	for _, q := range []wire.Request{
		{Op: wire.OpWarm, MinGC: 3, MinNS: second / 50, CapNS: second},
		{Op: wire.OpSlice, Until: "ops", Ops: 1},
		{Op: wire.OpSlice, Until: "ops", Ops: 37, Lead: 5},
		{Op: wire.OpSlice, Until: "ops", Ops: 1 << 50, CapNS: second / 100, CapOps: 3},
		{Op: wire.OpSlice, Until: "gc", Ops: 50, Lead: 3, MinNS: second / 1000, CapNS: second / 20, CapOps: 10},
		{Op: wire.OpStats, Ops: 20},
	} {
		q.On = w.ID
		a, err := p.OK(q)
		if s.Trap {
			a.Errors = 0 // a trap may fail on purpose
		}
		if err == nil {
			err = CheckReply(q, a, fresh)
		}
		if err == nil && q.Op == wire.OpStats && k.hasOutput(w.Op) && !s.Trap {
			err = checkSizes(a, sizes)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", w.ID, err)
		}
	}
	return nil
}

// checkAnswers requests and compares the answer to every case. It returns the number of output bytes of
// each case.
func (s Subject) checkAnswers(p *Process, k Kind, w wire.Workload, bodies [][]byte) ([]int64, error) {
	cases := []int{len(bodies) - 1} // the last one first: the order must not matter
	for i := range bodies {
		cases = append(cases, i)
	}
	a, err := p.OK(wire.Request{Op: wire.OpAnswer, On: w.ID, Cases: cases})
	if err != nil {
		return nil, err
	}
	if len(a.Answers) != len(cases) {
		return nil, fmt.Errorf("%d answers to %d cases", len(a.Answers), len(cases))
	}
	sizes := make([]int64, len(bodies))
	for i, answer := range a.Answers {
		if answer.Case != cases[i] {
			return nil, fmt.Errorf("answer %d is to case %d, asked was %d", i, answer.Case, cases[i])
		}
		if s.Trap {
			continue
		}
		if answer.Error != "" {
			return nil, fmt.Errorf("case %d: error %s", answer.Case, answer.Error)
		}
		if err := k.compare(w.Op, bodies[answer.Case], answer.Output); err != nil {
			return nil, fmt.Errorf("case %d: %w\n got %.300s\nasked of %.300s", answer.Case, err, answer.Output, bodies[answer.Case])
		}
		size := answer.Size
		if size == 0 && !k.needsSize(w.Op) {
			size = int64(len(answer.Output))
		}
		if size <= 0 {
			return nil, fmt.Errorf("case %d: size %d: the answer does not say how many bytes were put out", answer.Case, answer.Size)
		}
		sizes[answer.Case] = size
	}
	return sizes, nil
}

// checkSizes compares the number of output bytes in stats with the sum of the sizes of the answers:
// operations use the bodies one after another. BytesOut is 0 if the contender does not count.
func checkSizes(a wire.Reply, sizes []int64) error {
	var sum int64
	for i := range a.Ops {
		sum += sizes[i%int64(len(sizes))]
	}
	if a.BytesOut != 0 && a.BytesOut != sum {
		return fmt.Errorf("stats: %d bytes_out, the answers to the same bodies have %d bytes", a.BytesOut, sum)
	}
	return nil
}

// checkHeap checks that prepare rejects a live heap that is too large, and that the workload runs with
// a small one.
func checkHeap(p *Process, w wire.Workload) error {
	w.Heap = 1 << 40 // 1 TB
	a, err := p.Do(wire.Request{Op: wire.OpPrepare, Workload: &w})
	if err != nil {
		return err
	}
	if a.Error == nil || a.Error.Class != "bad-request" {
		return fmt.Errorf("%s: heap_bytes of 1 TB is not refused as bad-request: %+v", w.ID, a)
	}
	w.Heap = 1 << 20
	if _, err := p.OK(wire.Request{Op: wire.OpPrepare, Workload: &w}); err != nil {
		return fmt.Errorf("%s with heap_bytes of 1 MB: %w", w.ID, err)
	}
	_, err = p.OK(wire.Request{Op: wire.OpSlice, On: w.ID, Until: "ops", Ops: 3})
	return err
}

// CheckReply checks the counts of a reply against its request. fresh reports whether the operation was
// declared to return new memory.
func CheckReply(q wire.Request, a wire.Reply, fresh bool) error {
	capped := q.CapNS > 0 && q.Ops > q.CapOps // the slice may end early, but not before CapOps
	switch {
	case a.Errors != 0:
		return fmt.Errorf("%s: %d of %d operations failed: %s", q.Op, a.Errors, a.Ops, a.Message)
	case a.Ops < 1:
		return fmt.Errorf("%s did no operation", q.Op)
	case a.WallNS <= 0 && q.Op != wire.OpStats:
		return fmt.Errorf("%s took %d ns", q.Op, a.WallNS)
	case a.CPUNS < 0 || a.IdleCPUNS < 0 || a.GC < 0 || a.BytesOut < 0 || a.Bytes < 0 || a.Allocs < 0:
		return fmt.Errorf("%s: a negative number: %+v", q.Op, a)
	case q.Op == wire.OpStats && a.Ops != q.Ops:
		return fmt.Errorf("stats of %d operations instead of %d", a.Ops, q.Ops)
	case q.Op == wire.OpStats && fresh && a.Bytes < a.BytesOut:
		return fmt.Errorf("stats: %d bytes allocated for %d bytes of output declared fresh", a.Bytes, a.BytesOut)
	case q.Op == wire.OpSlice && q.Until == "ops" && !capped && a.Ops != q.Ops:
		return fmt.Errorf("a slice of %d operations instead of %d", a.Ops, q.Ops)
	case q.Op == wire.OpSlice && capped && (a.Ops < q.CapOps || a.Ops == q.Ops) && a.GC == 0:
		return fmt.Errorf("a capped slice of %d operations, requested were %d, at least %d", a.Ops, q.Ops, q.CapOps)
	}
	return nil
}
