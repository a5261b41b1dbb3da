package trial

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/contender/wire"
)

// Session has a method for each request to a measured program, called contender. The methods set a deadline
// and check the reply. The parameter on is the id of a workload that Prepare has loaded.
type Session struct {
	Conn  Conn
	Trial string // only for messages
	PID   int    // number in the contender's reply to hello

	// Limit returns the longest time that a request may take; nil means Deadline.
	Limit func(op string, expected time.Duration) time.Duration
}

// Hello sends the seed, in decimal, and selects the variant; "" means the only one. It must be the first
// request.
func (s *Session) Hello(ctx context.Context, variant, seed string) (wire.Reply, error) {
	reply, err := s.doLimited(ctx, wire.Request{
		Op: wire.OpHello, Protocol: wire.Protocol, Trial: s.Trial, Seed: seed, Variant: variant,
	}, 0)
	if err == nil && reply.Protocol != wire.Protocol {
		err = protocolError("speaks %q, not %q", reply.Protocol, wire.Protocol)
	}
	s.PID = reply.PID
	return reply, err
}

// Prepare loads the input of workload w. An unsupported w is no error: Reply.Unsupported is true.
func (s *Session) Prepare(ctx context.Context, w wire.Workload) (wire.Reply, error) {
	return s.doLimited(ctx, wire.Request{Op: wire.OpPrepare, Workload: &w}, 0)
}

// Answer returns the outputs of workload on for cases, the indices of its inputs. They are for checking;
// nothing is timed.
func (s *Session) Answer(ctx context.Context, on string, cases []int) ([]wire.Answer, error) {
	reply, err := s.doLimited(ctx, wire.Request{Op: wire.OpAnswer, On: on, Cases: cases}, 0)
	if err != nil {
		return nil, err
	}
	if len(reply.Answers) != len(cases) {
		return nil, protocolError("%d answers to %d cases", len(reply.Answers), len(cases))
	}
	for i, c := range cases {
		if reply.Answers[i].Case != c {
			return nil, protocolError("answer %d is for case %d, asked was %d", i, reply.Answers[i].Case, c)
		}
	}
	return reply.Answers, nil
}

// Warm runs workload on until minGC collection cycles or the time atLeast. It never runs longer than limit.
// ops is the expected number of operations, or 0.
func (s *Session) Warm(ctx context.Context, on string, minGC int64, atLeast, limit time.Duration, ops int64) (wire.Reply, error) {
	reply, err := s.doLimited(ctx, wire.Request{
		Op: wire.OpWarm, On: on, MinGC: minGC, MinNS: atLeast.Nanoseconds(), CapNS: limit.Nanoseconds(), Ops: ops,
	}, limit)
	return reply, checkTiming(reply, err)
}

// Slice runs one slice, a short timed measurement that request defines. It sets the request's Op.
func (s *Session) Slice(ctx context.Context, request wire.Request, expected time.Duration) (wire.Reply, error) {
	request.Op = wire.OpSlice
	reply, err := s.doLimited(ctx, request, expected)
	return reply, checkTiming(reply, err)
}

// Stats runs ops operations between two readings of the memory counters. A contender without counters is no
// error: Reply.Unsupported is true.
func (s *Session) Stats(ctx context.Context, on string, ops int64, expected time.Duration) (wire.Reply, error) {
	reply, err := s.doLimited(ctx, wire.Request{Op: wire.OpStats, On: on, Ops: ops}, expected)
	if err == nil && reply.Ops < 1 && !reply.Unsupported {
		err = protocolError("stats without operations")
	}
	return reply, err
}

// Profile runs workload on for at least atLeast. Reply.Profile is a pprof document of CPU time (profile "cpu")
// or allocations ("mem").
func (s *Session) Profile(ctx context.Context, on, profile string, atLeast time.Duration) (wire.Reply, error) {
	return s.doLimited(ctx, wire.Request{Op: wire.OpProfile, On: on, Profile: profile, MinNS: atLeast.Nanoseconds()}, atLeast)
}

// Gauges returns the connection's measurements of workload on. They are empty if it is no Gauger.
func (s *Session) Gauges(on string) (tare.Sample, string) {
	if g, ok := s.Conn.(Gauger); ok {
		return g.Gauges(on)
	}
	return nil, ""
}

// Close sends bye and ends the trial.
func (s *Session) Close(ctx context.Context) tare.Evidence {
	// The contender is ended in any case, and its measurements have arrived.
	_, _ = s.doLimited(ctx, wire.Request{Op: wire.OpBye}, 0)
	return s.Conn.Close(ctx)
}

// doLimited adds the deadline of the operation. expected is the time of the work itself, or 0.
func (s *Session) doLimited(ctx context.Context, request wire.Request, expected time.Duration) (wire.Reply, error) {
	limit := Deadline
	if s.Limit != nil {
		limit = s.Limit
	}
	ctx, cancel := Limited(ctx, limit(request.Op, expected))
	defer cancel()
	return s.Conn.Do(ctx, request)
}

// checkTiming checks that times are possible.
func checkTiming(reply wire.Reply, err error) error {
	switch {
	case err != nil:
		return err
	case reply.Ops < 1:
		return protocolError("a timing without operations")
	case reply.WallNS < 1:
		return protocolError("%d operations in %d ns", reply.Ops, reply.WallNS)
	case slices.Min([]int64{reply.CPUNS, reply.IdleCPUNS, reply.GC, reply.Errors, reply.BytesOut}) < 0:
		return protocolError("a negative count in a timing")
	}
	return nil
}

func protocolError(format string, args ...any) *tare.TrialError {
	return &tare.TrialError{Class: tare.ErrProtocol, Message: fmt.Sprintf(format, args...)}
}
