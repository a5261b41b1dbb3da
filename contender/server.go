package contender

import (
	"fmt"
	"runtime"
	"time"

	"github.com/tarebench/tare/contender/wire"
)

// The lab performs the operations of a server, over the network: the program
// only starts one for each workload, and reports its counts.

// Served is a server that was started for a workload and answers already.
type Served struct {
	Addr string // where it listens, host:port

	// Counts returns its counts since it was started, or is nil if it does not
	// count.
	Counts func() Counts

	// Reset has its service go back to how it was when the server was started, and
	// forget its requests; nil if it cannot.
	Reset func() error

	// End ends it as a signal would, for the lab to see how long that takes:
	// requests in flight may continue for 10 s at most. The error lists what
	// had not ended by then. Counts is called afterwards, and Stop; nil: Stop is
	// called at once.
	End func() error

	// Stop ends it with its connections. No function of it is called
	// afterwards.
	Stop func()
}

// Counts are a server's own counts.
type Counts struct {
	Requests  int64 // answered
	BodyBytes int64 // of their bodies, read
	Layers    int64 // calls of middleware
	Delivered int64 // items that the sink has taken

	Calls *wire.Calls // use-case calls, of a service of users
	Fault error       // first failure of its service that clients do not see, or nil
}

// server is the running server, and the allocations of the process before.
type server struct {
	Served
	ended  bool
	before runtime.MemStats
}

// startServer starts the server for a workload, after the former one has ended.
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

// stopServer stops the running server, if there is one.
func (s *session) stopServer() {
	if v := s.server; v != nil {
		s.server = nil
		v.Stop()
	}
}

// markAllocs makes the allocations so far the zero of countServer.
func (v *server) markAllocs() { runtime.ReadMemStats(&v.before) }

// handleServer executes a request about a server.
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

// endServer ends the server and reports how long that took.
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

// countServer returns the server's counts, and the allocations of the process, since the workload was
// prepared. The cost of some requests is the difference of two calls. A call itself allocates about 1 kB in
// ten objects: two calls in a row show how much.
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
