package contender

import (
	"fmt"
	"runtime"
	"time"

	"github.com/tarebench/tare/contender/wire"
)

// A server is measured by requests over the network. Its program only starts a server for each workload and
// reports counts.

// Served is a server that was started for a workload and already answers requests.
type Served struct {
	Addr string // host:port at which the server listens

	// Counts returns the counts since the start. nil means that the server does not count.
	Counts func() Counts

	// Reset restores the initial state and forgets requests. nil means that this is not supported.
	Reset func() error

	// End ends the server as a signal would, and is timed. Requests in flight may continue for 10 s; the error
	// describes the rest. Counts and Stop are called after it. If End is nil, Stop is timed.
	End func() error

	// Stop ends the server and its connections. It is called last.
	Stop func()
}

// Counts are the counts of a server, as it counts them itself.
type Counts struct {
	Requests  int64 // answered requests
	BodyBytes int64 // bytes of their bodies
	Layers    int64 // middleware calls
	Delivered int64 // items that the service's destination (its sink) has accepted

	Calls *wire.Calls // calls of app users; nil for others
	Fault error       // first failure that clients do not see, or nil
}

type server struct {
	Served
	ended  bool
	before runtime.MemStats // allocations when the workload was prepared
}

func (s *session) startServer(w wire.Workload) (*work, error) {
	served, err := s.program.Serve(s.variant, w)
	if err != nil {
		return nil, err
	}
	if served.Stop == nil {
		served.Stop = func() {}
	}
	s.server = &server{Served: served}
	if served.Addr == "" {
		s.stopServer()
		return nil, fmt.Errorf("the contender does not say where it listens")
	}
	return &work{server: s.server}, nil
}

func (s *session) stopServer() {
	if v := s.server; v != nil {
		s.server = nil
		v.Stop()
	}
}

func (v *server) markAllocs() { runtime.ReadMemStats(&v.before) }

func (s *session) handleServer(v *server, q wire.Request) (wire.Reply, *wire.Error) {
	switch q.Op {
	case wire.OpStats:
		return s.countServer(v), nil
	case wire.OpEnd:
		if v.ended {
			return wire.Reply{}, newError(classBadRequest, "the server of workload %q has ended before", q.On)
		}
		return v.endServer(), nil
	}
	return wire.Reply{}, newError(classNotMine, "%s of a server: ask it at %s", q.Op, v.Addr)
}

func (v *server) endServer() wire.Reply {
	v.ended = true
	start := time.Now()
	var err error
	if v.End != nil {
		err = v.End()
	} else {
		v.Stop()
		v.Stop = func() {}
	}
	reply := wire.Reply{Counts: wire.Counts{WallNS: max(1, time.Since(start).Nanoseconds())}}
	if err != nil {
		reply.Message = errorText(err)
	}
	return reply
}

// countServer returns counts and allocations since prepare. A cost is the difference of two calls. A call
// allocates about 1 kB in ten objects.
func (s *session) countServer(v *server) wire.Reply {
	runtime.ReadMemStats(&s.after)
	reply := wire.Reply{
		Counts: wire.Counts{Bytes: int64(s.after.TotalAlloc - v.before.TotalAlloc),
			Allocs: int64(s.after.Mallocs - v.before.Mallocs),
			GC:     int64(s.after.NumGC - v.before.NumGC)},
	}
	if v.Counts != nil {
		c := v.Counts()
		reply.Received, reply.ReceivedBody, reply.LayerCalls, reply.Delivered = c.Requests, c.BodyBytes, c.Layers, c.Delivered
		reply.Calls = c.Calls
		if c.Fault != nil {
			reply.Message = errorText(c.Fault)
		}
	}
	return reply
}
