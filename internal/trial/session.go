package trial

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/contender/wire"
)

// Session has a method for each request to a measured program, called contender. The methods set a
// deadline and check the reply. The parameter workload is the id of a workload that Prepare has
// loaded. For example, Answer(ctx, "small", []int{0, 1}) returns two outputs or an error.
type Session struct {
	Conn  Conn
	Trial string // name of the trial, only for the contender's messages
	PID   int    // process number in the contender's reply to hello

	// Limit returns the longest time that a request may take; nil means Deadline.
	Limit func(op string, expected time.Duration) time.Duration
}

// Hello selects the contender's variant ("" if it has none) and sends the seed, in decimal. It must be
// the first request.
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

// Prepare makes the contender load the input of workload w. It returns no error if the contender does
// not support w: Reply.Unsupported is then true.
func (s *Session) Prepare(ctx context.Context, w wire.Workload) (wire.Reply, error) {
	return s.doLimited(ctx, wire.Request{Op: wire.OpPrepare, Workload: &w}, 0)
}

// Answer makes the contender execute the operation once for each of cases, the indices of inputs. It
// returns the outputs, in the order of cases, so that they can be checked. Nothing is timed.
func (s *Session) Answer(ctx context.Context, workload string, cases []int) ([]wire.Answer, error) {
	reply, err := s.doLimited(ctx, wire.Request{Op: wire.OpAnswer, On: workload, Cases: cases}, 0)
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

// Warm runs the operation until minGC garbage collections or the time minTime, whichever is first. It
// never runs longer than limit. ops is the number of operations that will probably run; 0 means
// unknown.
func (s *Session) Warm(ctx context.Context, workload string, minGC int64, minTime, limit time.Duration, ops int64) (wire.Reply, error) {
	reply, err := s.doLimited(ctx, wire.Request{
		Op: wire.OpWarm, On: workload, MinGC: minGC, MinNS: minTime.Nanoseconds(), CapNS: limit.Nanoseconds(), Ops: ops,
	}, limit)
	return reply, checkTiming(reply, err)
}

// Slice runs one slice, a short timed measurement that request defines. It sets the request's Op.
// expected is the expected time of the slice.
func (s *Session) Slice(ctx context.Context, request wire.Request, expected time.Duration) (wire.Reply, error) {
	request.Op = wire.OpSlice
	reply, err := s.doLimited(ctx, request, expected)
	return reply, checkTiming(reply, err)
}

// Stats runs ops operations between two readings of the memory counters. It returns no error if the
// contender has no such counters: Reply.Unsupported is then true.
func (s *Session) Stats(ctx context.Context, workload string, ops int64, expected time.Duration) (wire.Reply, error) {
	reply, err := s.doLimited(ctx, wire.Request{Op: wire.OpStats, On: workload, Ops: ops}, expected)
	if err == nil && reply.Ops < 1 && !reply.Unsupported {
		err = protocolError("stats without operations")
	}
	return reply, err
}

// Profile runs the operation for at least minTime. Reply.Profile is a pprof document of CPU time
// (profile "cpu") or of allocations ("mem").
func (s *Session) Profile(ctx context.Context, workload, profile string, minTime time.Duration) (wire.Reply, error) {
	return s.doLimited(ctx, wire.Request{Op: wire.OpProfile, On: workload, Profile: profile, MinNS: minTime.Nanoseconds()}, minTime)
}

// Gauges returns the additional measurements of a connection that is a [Gauger]. They are empty if
// the connection is none.
func (s *Session) Gauges(workload string) (tare.Sample, string) {
	if g, ok := s.Conn.(Gauger); ok {
		return g.Gauges(workload)
	}
	return nil, ""
}

// Close sends bye and ends the trial.
func (s *Session) Close(ctx context.Context) tare.Evidence {
	// The reply does not matter: all measurements have arrived, and Conn.Close ends the contender.
	_, _ = s.doLimited(ctx, wire.Request{Op: wire.OpBye}, 0)
	return s.Conn.Close(ctx)
}

// doLimited sends request with the deadline for its operation. expected is the expected time of the
// work itself, or 0.
func (s *Session) doLimited(ctx context.Context, request wire.Request, expected time.Duration) (wire.Reply, error) {
	limit := Deadline
	if s.Limit != nil {
		limit = s.Limit
	}
	ctx, cancel := Limited(ctx, limit(request.Op, expected))
	defer cancel()
	return s.Conn.Do(ctx, request)
}

// checkTiming returns err or, if err is nil, an error if the reply to a timed request has impossible
// values.
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
