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

// Classes of error replies.
const (
	classUnknownOp  = "unknown-op"
	classBadRequest = "bad-request"
	classLoad       = "load"
	classInternal   = "internal"
	classNotMine    = "unsupported"
)

// Serve answers requests until bye or the end of in, and then returns nil. A wrong
// request, or an error or panic of the contender's code, becomes an error reply.
// Serve returns an error only if reading in or writing out fails.
func Serve(p Program, in io.Reader, out io.Writer) error {
	s := &session{program: p, meter: newMeter()}
	defer s.forget()
	r, w := wire.NewReader(in), wire.NewWriter(out)
	for {
		q, err := r.Request()
		var bad *wire.LineError
		var reply wire.Reply
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case errors.As(err, &bad):
			reply.Error = refusal(classBadRequest, "%v", bad)
		case err != nil:
			return fmt.Errorf("read request: %w", err)
		default:
			reply = s.handle(q)
		}
		err = w.Reply(reply)
		if errors.As(err, &bad) {
			err = w.Reply(wire.Reply{ID: reply.ID, Error: refusal(classBadRequest, "the reply does not fit a line of %d bytes; ask for fewer cases", wire.MaxLine)})
		}
		if err != nil {
			return fmt.Errorf("write reply: %w", err)
		}
		if q.Op == wire.OpBye && reply.Error == nil {
			return nil
		}
	}
}

// session is one lab's visit.
type session struct {
	program Program
	greeted bool
	variant string
	works   map[string]*work
	server  *server // that runs; nil: none
	meter   *meter
	phase   phase
	mark    int64    // CPU of the process in ns when measuring last ended; -1: not yet
	ballast *ballast // extra live heap that prepared workloads ask for; nil: none
	before  runtime.MemStats
	after   runtime.MemStats
}

// handle carries out one request. A panic in the contender's code becomes an
// error reply, and the session goes on.
func (s *session) handle(q wire.Request) (reply wire.Reply) {
	defer func() {
		if v := recover(); v != nil {
			reply = wire.Reply{Error: &wire.Error{Class: classInternal, Message: panicText(v)}}
		}
		reply.ID = q.ID
	}()
	var err *wire.Error
	switch q.Op {
	case wire.OpHello:
		reply, err = s.hello(q)
	case wire.OpBye:
	case wire.OpPrepare:
		reply, err = s.prepare(q)
	case wire.OpAnswer, wire.OpWarm, wire.OpSlice, wire.OpStats, wire.OpEnd, wire.OpReset, wire.OpProfile:
		var w *work
		if w, err = s.work(q); err != nil {
			break
		}
		switch {
		case q.Op == wire.OpProfile:
			reply, err = s.profile(w, q)
		case q.Op == wire.OpReset:
			reply, err = s.reset(w, q)
		case w.server != nil:
			reply, err = s.askServer(w.server, q)
		default:
			if reply, err = s.ask(w, q); err == nil {
				w.tell(&reply)
			}
		}
	default:
		err = refusal(classUnknownOp, "unknown op %q", q.Op)
	}
	if err != nil {
		return wire.Reply{Error: err}
	}
	return reply
}

// ask carries out what can be asked of a workload whose operations are done here.
func (s *session) ask(w *work, q wire.Request) (wire.Reply, *wire.Error) {
	switch q.Op {
	case wire.OpAnswer:
		return s.answer(w, q)
	case wire.OpWarm:
		return s.warm(w, q)
	case wire.OpSlice:
		return s.slice(w, q)
	case wire.OpStats:
		return s.stats(w, q)
	}
	return wire.Reply{}, refusal(classNotMine, "%s of workload %q: it has no server", q.Op, q.On)
}

func (s *session) hello(q wire.Request) (wire.Reply, *wire.Error) {
	if q.Protocol != wire.Protocol {
		return wire.Reply{}, refusal(classBadRequest, "protocol %q; this contender speaks %s", q.Protocol, wire.Protocol)
	}
	variant := q.Variant
	if known := s.program.Variants; variant == "" && len(known) > 0 {
		variant = known[0]
	} else if variant != "" && !slices.Contains(known, variant) {
		return wire.Reply{}, refusal(classBadRequest, "unknown variant %q; known: %s", variant, strings.Join(known, ", "))
	}
	s.forget()
	s.greeted, s.variant, s.works, s.mark, s.phase = true, variant, map[string]*work{}, -1, phase{}
	return wire.Reply{
		Hello: wire.Hello{Protocol: wire.Protocol, Kind: s.program.Kind, Variants: s.program.Variants,
			PID: os.Getpid(), Go: runtime.Version(), GOMAXPROCS: runtime.GOMAXPROCS(0)},
	}, nil
}

// work finds the workload that q is about and checks q's numbers.
func (s *session) work(q wire.Request) (*work, *wire.Error) {
	w, ok := s.works[q.On]
	if !ok {
		return nil, refusal(classBadRequest, "workload %q is not prepared", q.On)
	}
	for _, n := range []int64{q.MinGC, q.MinNS, q.CapNS, q.Lead, q.Ops, q.Cycles, q.CapOps} {
		if n < 0 {
			return nil, refusal(classBadRequest, "%d: no number of a request can be negative", n)
		}
	}
	return w, nil
}

// maxText is how much of a contender's own words a reply carries, in bytes.
const maxText = 1000

func refusal(class, format string, args ...any) *wire.Error {
	return &wire.Error{Class: class, Message: oneLine(fmt.Sprintf(format, args...))}
}

// oneLine makes a contender's words fit a reply and a report.
func oneLine(s string) string {
	s = strings.Join(strings.FieldsFunc(strings.ToValidUTF8(s, "�"), func(r rune) bool { return r == '\n' || r == '\r' }), "; ")
	if len(s) > maxText {
		s = strings.ToValidUTF8(s[:maxText], "") + " …"
	}
	return s
}

// panicText says in one line what panicked, and where. It must be called by
// the deferred function itself.
func panicText(v any) string {
	return oneLine(fmt.Sprintf("panic: %v%s", v, panicSite()))
}

// panicSite says where the contender's code panicked: the first frame below
// the runtime's own. It must be called by what the deferred function calls.
func panicSite() string {
	pc := make([]uintptr, 64)
	frames := runtime.CallersFrames(pc[:runtime.Callers(4, pc)])
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
