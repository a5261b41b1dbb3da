package contender

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/tarebench/tare/contender/wire"
)

// A contender is a program that tare measures. It reads one request per line from stdin, e.g.
// {"id":1,"op":"prepare",…}. It writes one reply per line to stdout.

// Classes of error replies.
const (
	classUnknownOp  = "unknown-op"
	classBadRequest = "bad-request"
	classLoad       = "load"        // loading or resetting a workload failed
	classInternal   = "internal"    // the contender's code panicked, or is wrong
	classNotMine    = "unsupported" // the workload has nothing for the request, e.g. no server
)

// Serve answers requests until "bye" or the end of in. An invalid request, an error or a panic gets an error
// reply. Only failures of in or out end it with an error.
func Serve(p Program, in io.Reader, out io.Writer) error {
	s := &session{program: p, meter: newMeter()}
	defer s.forgetAll()
	r, w := wire.NewReader(in), wire.NewWriter(out)
	for {
		q, err := r.Request()
		var bad *wire.LineError
		var reply wire.Reply
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case errors.As(err, &bad):
			reply.Error = newError(classBadRequest, "%v", bad)
		case err != nil:
			return fmt.Errorf("read request: %w", err)
		default:
			reply = s.handleRequest(q)
		}
		err = w.Reply(reply)
		if errors.As(err, &bad) {
			err = w.Reply(wire.Reply{ID: reply.ID, Error: newError(classBadRequest, "the reply does not fit a line of %d bytes; ask for fewer cases", wire.MaxLine)})
		}
		if err != nil {
			return fmt.Errorf("write reply: %w", err)
		}
		if q.Op == wire.OpBye && reply.Error == nil {
			return nil
		}
	}
}

type session struct {
	program  Program
	hasHello bool
	variant  string
	works    map[string]*work // by id
	server   *server
	meter    *meter
	phase    phase
	lastCPU  int64    // CPU time in ns after the last measurement; -1 before
	ballast  *ballast // live heap of the workload; may be nil

	before, after runtime.MemStats // buffers of countAllocs and countServer
}

// handleRequest executes one request. It turns a panic of the contender's code into an error reply.
func (s *session) handleRequest(q wire.Request) (reply wire.Reply) {
	defer func() {
		if v := recover(); v != nil {
			reply = wire.Reply{Error: &wire.Error{Class: classInternal, Message: panicText(v)}}
		}
		reply.ID = q.ID
	}()
	var err *wire.Error
	switch q.Op {
	case wire.OpHello:
		reply, err = s.handleHello(q)
	case wire.OpBye:
		// The reply is empty, and Serve returns.
	case wire.OpPrepare:
		reply, err = s.prepareWork(q)
	case wire.OpAnswer, wire.OpWarm, wire.OpSlice, wire.OpStats, wire.OpEnd, wire.OpReset, wire.OpProfile:
		var w *work
		if w, err = s.findWork(q); err != nil {
			break
		}
		switch {
		case q.Op == wire.OpProfile:
			reply, err = s.runProfile(w, q)
		case q.Op == wire.OpReset:
			reply, err = s.resetWork(w, q)
		case w.server != nil:
			reply, err = s.handleServer(w.server, q)
		default:
			if reply, err = s.handleWork(w, q); err == nil {
				w.addTraffic(&reply)
			}
		}
	default:
		err = newError(classUnknownOp, "unknown op %q", q.Op)
	}
	if err != nil {
		return wire.Reply{Error: err}
	}
	return reply
}

func (s *session) handleWork(w *work, q wire.Request) (wire.Reply, *wire.Error) {
	switch q.Op {
	case wire.OpAnswer:
		return s.answerCases(w, q)
	case wire.OpWarm:
		return s.warmUp(w, q)
	case wire.OpSlice:
		return s.runSlice(w, q)
	case wire.OpStats:
		return s.countAllocs(w, q)
	}
	return wire.Reply{}, newError(classNotMine, "%s of workload %q: it has no server", q.Op, q.On)
}

// handleHello selects the variant, closes all workloads and identifies the contender.
func (s *session) handleHello(q wire.Request) (wire.Reply, *wire.Error) {
	if q.Protocol != wire.Protocol {
		return wire.Reply{}, newError(classBadRequest, "protocol %q; this contender speaks %s", q.Protocol, wire.Protocol)
	}
	variant := q.Variant
	if known := s.program.Variants; variant == "" && len(known) > 0 {
		variant = known[0]
	} else if variant != "" && !slices.Contains(known, variant) {
		return wire.Reply{}, newError(classBadRequest, "unknown variant %q; known: %s", variant, strings.Join(known, ", "))
	}
	s.forgetAll()
	s.hasHello, s.variant, s.works, s.lastCPU, s.phase = true, variant, map[string]*work{}, -1, phase{}
	return wire.Reply{
		Hello: wire.Hello{Protocol: wire.Protocol, Kind: s.program.Kind, Variants: s.program.Variants,
			PID: os.Getpid(), Go: runtime.Version(), GOMAXPROCS: runtime.GOMAXPROCS(0)},
	}, nil
}

func (s *session) findWork(q wire.Request) (*work, *wire.Error) {
	w, ok := s.works[q.On]
	if !ok {
		return nil, newError(classBadRequest, "workload %q is not prepared", q.On)
	}
	for _, n := range []int64{q.MinGC, q.MinNS, q.CapNS, q.Lead, q.Ops, q.Cycles, q.CapOps} {
		if n < 0 {
			return nil, newError(classBadRequest, "%d: no number of a request can be negative", n)
		}
	}
	return w, nil
}

// maxText limits a message in a reply, in bytes.
const maxText = 1000

func newError(class, format string, args ...any) *wire.Error {
	return &wire.Error{Class: class, Message: oneLine(fmt.Sprintf(format, args...))}
}

// oneLine returns s in one line of at most maxText bytes.
func oneLine(s string) string {
	s = strings.Join(strings.FieldsFunc(strings.ToValidUTF8(s, "�"), func(r rune) bool { return r == '\n' || r == '\r' }), "; ")
	if len(s) > maxText {
		s = strings.ToValidUTF8(s[:maxText], "") + " …"
	}
	return s
}

// panicText returns a panic in one line, with its place. Only the deferred function itself may call it, because
// panicSite skips a fixed number of calls.
func panicText(v any) string {
	return oneLine(fmt.Sprintf("panic: %v%s", v, panicSite()))
}

// panicSite returns a place such as " (main.parse, main.go:7)", the first frame outside of the runtime. Only
// panicText may call it.
func panicSite() string {
	const skipped = 4 // runtime.Callers, panicSite, panicText and the deferred function
	pc := make([]uintptr, 64)
	frames := runtime.CallersFrames(pc[:runtime.Callers(skipped, pc)])
	for {
		f, more := frames.Next()
		if f.Function != "" && !strings.HasPrefix(f.Function, "runtime.") {
			return fmt.Sprintf(" (%s, %s:%d)", f.Function, filepath.Base(f.File), f.Line)
		}
		if !more {
			return ""
		}
	}
}
