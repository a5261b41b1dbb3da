package contender

import (
	"fmt"
	"runtime"
	"time"

	"github.com/tarebench/tare/contender/wire"
)

// The lab, the process that measures contenders, sends the requests to a server over the
// network. The contender's program only starts a server for each workload and reports its counts.

// Served is a server that was started for a workload and already answers requests.
type Served struct {
	Addr string // host:port at which the server listens

	// Counts returns the counts of the server since its start. It is nil if the server does not count.
	Counts func() Counts

	// Reset restores the state that the service had at its start, and forgets its
	// requests. It is nil if the service does not support that.
	Reset func() error

	// End ends the server as a signal would. The lab measures the time of End. Requests in flight may
	// continue for 10 s at most; the error describes what has not ended by then. Counts and Stop are called
	// afterwards. If End is nil, the lab measures the time of Stop.
	End func() error

	// Stop ends the server and its connections. It is the last function that is called.
	Stop func()
}

// Counts are the counts of a server, as it counts them itself.
type Counts struct {
	Requests  int64 // number of answered requests
	BodyBytes int64 // number of bytes that were read of their bodies
	Layers    int64 // number of middleware calls
	Delivered int64 // number of items that the service's destination (its sink) has accepted

	Calls *wire.Calls // calls of use cases, in the example service "users"; nil for other services
	Fault error       // first failure of the service that clients do not see; nil if there was none
}

// server is the running server of a workload.
type server struct {
	Served                  // Addr, Counts, Reset, End and Stop
	ended  bool             // endServer was called
	before runtime.MemStats // allocations of the process when the workload was prepared
}

// startServer starts the server for a workload. The previous server has ended.
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

// markAllocs stores the allocations so far, which countServer subtracts.
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

// countServer returns the server's counts and the allocations of the process since the workload was
// prepared. The lab computes the cost of requests as the difference of two calls. A call itself allocates
// about 1 kB in ten objects; two calls in a row show how much.
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
