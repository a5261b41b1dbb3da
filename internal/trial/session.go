package trial

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/contender/wire"
)

// Session speaks the protocol over a Conn: typed calls, each with its deadline, and replies that
// are checked before use.
type Session struct {
	Conn  Conn
	Trial string // named in hello, for the contender's messages only
	PID   int    // as in the contender's hello

	// Limit returns how long a call may take; nil means Deadline.
	Limit func(op string, expected time.Duration) time.Duration
}

// Hello opens the connection as variant ("" if the contender has none), with the seed in decimal.
func (s *Session) Hello(ctx context.Context, variant, seed string) (wire.Reply, error) {
	a, err := s.doLimited(ctx, wire.Request{
		Op: wire.OpHello, Protocol: wire.Protocol, Trial: s.Trial, Seed: seed, Variant: variant,
	}, 0)
	if err == nil && a.Protocol != wire.Protocol {
		err = protocolError("speaks %q, not %q", a.Protocol, wire.Protocol)
	}
	s.PID = a.PID
	return a, err
}

// Prepare makes the contender load workload w's input. Reply.Unsupported means that this contender
// cannot do it, which is no error.
func (s *Session) Prepare(ctx context.Context, w wire.Workload) (wire.Reply, error) {
	return s.doLimited(ctx, wire.Request{Op: wire.OpPrepare, Workload: &w}, 0)
}

// Answer makes the contender do the work of each case once and returns the outputs in the order of
// cases.
func (s *Session) Answer(ctx context.Context, on string, cases []int) ([]wire.Answer, error) {
	a, err := s.doLimited(ctx, wire.Request{Op: wire.OpAnswer, On: on, Cases: cases}, 0)
	if err != nil {
		return nil, err
	}
	if len(a.Answers) != len(cases) {
		return nil, protocolError("%d answers to %d cases", len(a.Answers), len(cases))
	}
	for i, c := range cases {
		if a.Answers[i].Case != c {
			return nil, protocolError("answer %d is for case %d, asked was %d", i, a.Answers[i].Case, c)
		}
	}
	return a.Answers, nil
}

// Warm runs workload on until minGC collection cycles or atLeast have passed, whichever is first,
// and never past limit. ops is the number of operations expected to last that long; 0 means
// unknown.
func (s *Session) Warm(ctx context.Context, on string, minGC int64, atLeast, limit time.Duration, ops int64) (wire.Reply, error) {
	a, err := s.doLimited(ctx, wire.Request{
		Op: wire.OpWarm, On: on, MinGC: minGC, MinNS: atLeast.Nanoseconds(), CapNS: limit.Nanoseconds(), Ops: ops,
	}, limit)
	return a, checkTiming(a, err)
}

// Slice hands the token over: q is the work, expected its expected duration. It sets Op.
func (s *Session) Slice(ctx context.Context, q wire.Request, expected time.Duration) (wire.Reply, error) {
	q.Op = wire.OpSlice
	a, err := s.doLimited(ctx, q, expected)
	return a, checkTiming(a, err)
}

// Stats runs a fixed number of operations between two readings of the memory counters.
// Reply.Unsupported means that it has none to read.
func (s *Session) Stats(ctx context.Context, on string, ops int64, expected time.Duration) (wire.Reply, error) {
	a, err := s.doLimited(ctx, wire.Request{Op: wire.OpStats, On: on, Ops: ops}, expected)
	if err == nil && a.Ops < 1 && !a.Unsupported {
		err = protocolError("stats without operations")
	}
	return a, err
}

// Profile runs workload on for at least the given time and returns where its time (cpu) or memory
// (mem) went, as a pprof document.
func (s *Session) Profile(ctx context.Context, on, of string, atLeast time.Duration) (wire.Reply, error) {
	return s.doLimited(ctx, wire.Request{Op: wire.OpProfile, On: on, Profile: of, MinNS: atLeast.Nanoseconds()}, atLeast)
}

// Gauges returns further records about workload on. Both are empty if the connection to the
// contender records nothing.
func (s *Session) Gauges(on string) (tare.Sample, string) {
	if g, ok := s.Conn.(Gauger); ok {
		return g.Gauges(on)
	}
	return nil, ""
}

// Close sends bye and ends the trial.
func (s *Session) Close(ctx context.Context) tare.Evidence {
	// What a contender answers to bye, or whether it does, changes nothing: it is ended next, and
	// its measurements have arrived.
	_, _ = s.doLimited(ctx, wire.Request{Op: wire.OpBye}, 0)
	return s.Conn.Close(ctx)
}

func (s *Session) doLimited(ctx context.Context, q wire.Request, expected time.Duration) (wire.Reply, error) {
	limit := Deadline
	if s.Limit != nil {
		limit = s.Limit
	}
	ctx, cancel := Limited(ctx, limit(q.Op, expected))
	defer cancel()
	return s.Conn.Do(ctx, q)
}

// checkTiming rejects an impossible timing.
func checkTiming(a wire.Reply, err error) error {
	switch {
	case err != nil:
		return err
	case a.Ops < 1:
		return protocolError("a timing without operations")
	case a.WallNS < 1:
		return protocolError("%d operations in %d ns", a.Ops, a.WallNS)
	case slices.Min([]int64{a.CPUNS, a.IdleCPUNS, a.GC, a.Errors, a.BytesOut}) < 0:
		return protocolError("a negative count in a timing")
	}
	return nil
}

func protocolError(format string, args ...any) *tare.TrialError {
	return &tare.TrialError{Class: tare.ErrProtocol, Message: fmt.Sprintf(format, args...)}
}
