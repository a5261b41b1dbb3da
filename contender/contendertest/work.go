package contendertest

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"time"

	"github.com/tarebench/tare/contender/codec"
	"github.com/tarebench/tare/contender/wire"
)

// codecs: every answer is the body again, as JSON that means the same.
func codecs() kind {
	return kind{
		ops:     []string{codec.OpMarshal, codec.OpStream, codec.OpUnmarshal, codec.OpAny},
		fixture: "devices",
		compare: func(body, answer []byte) error {
			var want, have any
			if err := json.Unmarshal(body, &want); err != nil {
				return err
			}
			if err := json.Unmarshal(answer, &have); err != nil {
				return fmt.Errorf("not JSON: %w", err)
			}
			if !reflect.DeepEqual(have, want) {
				return errors.New("other JSON than asked for")
			}
			return nil
		},
	}
}

// checkWork goes once through everything that can be asked of a prepared
// workload.
func (s subject) checkWork(p *process, k kind, on string, bodies [][]byte, fresh bool) error {
	if err := s.checkAnswers(p, k, on, bodies); err != nil {
		return fmt.Errorf("%s: %w", on, err)
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
		q.On = on
		a, err := p.ok(q)
		if err == nil {
			err = checkReply(q, a, fresh)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", on, err)
		}
	}
	return nil
}

func (s subject) checkAnswers(p *process, k kind, on string, bodies [][]byte) error {
	cases := []int{len(bodies) - 1}
	for i := range bodies {
		cases = append(cases, i)
	}
	a, err := p.ok(wire.Request{Op: wire.OpAnswer, On: on, Cases: cases})
	if err != nil {
		return err
	}
	if len(a.Answers) != len(cases) {
		return fmt.Errorf("%d answers to %d cases", len(a.Answers), len(cases))
	}
	for i, answer := range a.Answers {
		if answer.Case != cases[i] {
			return fmt.Errorf("answer %d is to case %d, asked was %d", i, answer.Case, cases[i])
		}
		if s.Trap {
			continue
		}
		if answer.Error != "" {
			return fmt.Errorf("case %d: error %s", answer.Case, answer.Error)
		}
		if err := k.compare(bodies[answer.Case], answer.Output); err != nil {
			return fmt.Errorf("case %d: %w\n got %.300s\nwant %.300s", answer.Case, err, answer.Output, bodies[answer.Case])
		}
	}
	return nil
}

// checkReply holds a reply against its request.
func checkReply(q wire.Request, a wire.Reply, fresh bool) error {
	capped := q.CapNS > 0 && q.Ops > q.CapOps
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
		return fmt.Errorf("a capped slice of %d operations, asked were %d, at least %d", a.Ops, q.Ops, q.CapOps)
	}
	return nil
}
