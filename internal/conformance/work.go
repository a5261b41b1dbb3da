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

// Codecs returns the tests of codecs: programs that encode and decode JSON. Every answer must be JSON with the
// value of the body. For operation fields, the value is that of the requested fields.
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

// SameJSON returns an error unless answer is JSON with the same value as body.
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

// checkWork sends every kind of request for the prepared workload w and checks the replies. fresh is true if
// each operation returns newly allocated output.
func (s Subject) checkWork(p *Process, k Kind, w wire.Workload, bodies [][]byte, fresh bool) error {
	sizes, err := s.checkAnswers(p, k, w, bodies)
	if err != nil {
		return fmt.Errorf("%s: %w", w.ID, err)
	}
	const (
		second    = int64(time.Second)
		unlimited = 1 << 50 // more operations than fit into the time cap
	)
	// The numbers are small, because every contender runs these requests. They differ, so that a count of
	// another request is found. Lead is a number of operations before the counted ones.
	for _, request := range []wire.Request{
		{Op: wire.OpWarm, MinGC: 3, MinNS: second / 50, CapNS: second},
		{Op: wire.OpSlice, Until: "ops", Ops: 1},
		{Op: wire.OpSlice, Until: "ops", Ops: 37, Lead: 5},
		{Op: wire.OpSlice, Until: "ops", Ops: unlimited, CapNS: second / 100, CapOps: 3},
		{Op: wire.OpSlice, Until: "gc", Ops: unlimited, Lead: 3, MinNS: second / 1000, CapNS: second / 20, CapOps: 10},
		{Op: wire.OpStats, Ops: 20},
	} {
		request.On = w.ID
		reply, err := p.OK(request)
		if s.WrongOnPurpose {
			reply.Errors = 0
		}
		if err == nil {
			err = CheckReply(request, reply, fresh)
		}
		countsOutput := request.Op == wire.OpStats && k.hasOutput(w.Op) && !s.WrongOnPurpose
		if err == nil && countsOutput {
			err = checkSizes(reply, sizes)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", w.ID, err)
		}
	}
	return nil
}

// checkAnswers requests the answer to every case, the index of a body, and checks the answers. It
// returns the number of output bytes of each case.
func (s Subject) checkAnswers(p *Process, k Kind, w wire.Workload, bodies [][]byte) ([]int64, error) {
	cases := []int{len(bodies) - 1} // the last one first, because the order must not matter
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
		if s.WrongOnPurpose {
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

// checkSizes compares the output bytes in a, the reply to stats, with the sizes of answers. Operations use the
// bodies in turn. BytesOut is 0 if the contender does not count its output.
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

// checkHeap checks the live heap: memory that stays allocated during a measurement. The contender must reject
// a heap that is too large, and run with a small one.
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

// CheckReply checks the counts of a reply against its request. fresh is true if each operation returns newly
// allocated output.
func CheckReply(request wire.Request, reply wire.Reply, fresh bool) error {
	isStats := request.Op == wire.OpStats
	switch {
	case reply.Errors != 0:
		return fmt.Errorf("%s: %d of %d operations failed: %s", request.Op, reply.Errors, reply.Ops, reply.Message)
	case reply.Ops < 1:
		return fmt.Errorf("%s did no operation", request.Op)
	case reply.WallNS <= 0 && !isStats:
		return fmt.Errorf("%s took %d ns", request.Op, reply.WallNS)
	case min(reply.CPUNS, reply.IdleCPUNS, reply.GC, reply.BytesOut, reply.Bytes, reply.Allocs) < 0:
		return fmt.Errorf("%s: a negative number: %+v", request.Op, reply)
	case isStats && reply.Ops != request.Ops:
		return fmt.Errorf("stats of %d operations instead of %d", reply.Ops, request.Ops)
	case isStats && fresh && reply.Bytes < reply.BytesOut:
		return fmt.Errorf("stats: %d bytes allocated for %d bytes of output declared fresh", reply.Bytes, reply.BytesOut)
	case request.Op == wire.OpSlice:
		return checkSlice(request, reply)
	}
	return nil
}

// checkSlice checks the number of operations of a slice, a timed run of operations. A capped slice ends after
// CapNS, but not before CapOps operations. Any other slice until "ops" does all of them.
func checkSlice(request wire.Request, reply wire.Reply) error {
	isCapped := request.CapNS > 0 && request.Ops > request.CapOps
	hasCycle := reply.GC != 0 // a slice until "gc" may then have any number
	isTooShort := reply.Ops < request.CapOps
	ignoresCap := reply.Ops == request.Ops // unlimited operations are impossible
	switch {
	case !isCapped && request.Until == "ops" && reply.Ops != request.Ops:
		return fmt.Errorf("a slice of %d operations instead of %d", reply.Ops, request.Ops)
	case !isCapped || hasCycle:
		return nil
	case isTooShort || ignoresCap:
		return fmt.Errorf("a capped slice of %d operations, requested were %d, at least %d", reply.Ops, request.Ops, request.CapOps)
	}
	return nil
}
