package contender

import (
	"fmt"
	"runtime"
	"time"

	"github.com/tarebench/tare/contender/wire"
)

// The operations of a server are done by the lab, over the network: the program
// only starts one for each workload, and says what it counted.

// Served is a server that was started for a workload and answers already.
type Served struct {
	Addr string // where it listens, host:port

	// Counts says what it has counted since it was started; nil: it does not
	// count.
	Counts func() Counts

	// Reset has its service go back to how it was when the server was started, and
	// forget what it was asked; nil: it cannot.
	Reset func() error

	// End ends it as a signal would, for the lab to see how long that takes:
	// requests under way may go on for a while, 10 s at most. The error is what
	// had not ended by then. Counts is called afterwards, and Stop; nil: Stop is
	// called at once.
	End func() error

	// Stop ends it, and its connections with it. Nobody calls anything of it
	// afterwards.
	Stop func()
}

// Counts is what a server counted itself.
type Counts struct {
	Requests  int64 // answered
	BodyBytes int64 // of their bodies, read
	Layers    int64 // calls of middleware
	Delivered int64 // items that the sink has taken

	Calls *wire.Calls // use-case calls, of a service of users
	Fault error       // what its service failed with first, where clients are not told; nil: nothing
}

// server is the one that runs, and what the process had allocated before.
type server struct {
	Served
	ended  bool
	before runtime.MemStats
}

// serve starts the server for a workload, after the former one has ended.
func (s *session) serve(w wire.Workload) (*work, error) {
	served, err := s.program.Serve(s.variant, w)
	if err != nil {
		return nil, err
	}
	if served.Stop == nil {
		served.Stop = func() {}
	}
	s.server = &server{Served: served}
	if served.Addr == "" {
		s.stop()
		return nil, fmt.Errorf("the contender does not say where it listens")
	}
	return &work{server: s.server}, nil
}

// stop ends the server that runs, if one does.
func (s *session) stop() {
	if v := s.server; v != nil {
		s.server = nil
		v.Stop()
	}
}

// mark makes what was allocated so far the zero of counted.
func (v *server) mark() { runtime.ReadMemStats(&v.before) }

// askServer carries out what can be asked of a server.
func (s *session) askServer(v *server, q wire.Request) (wire.Reply, *wire.Error) {
	switch q.Op {
	case wire.OpStats:
		return s.counted(v), nil
	case wire.OpEnd:
		if v.ended {
			return wire.Reply{}, refusal(classBadRequest, "the server of workload %q has ended before", q.On)
		}
		return v.end(), nil
	}
	return wire.Reply{}, refusal(classNotMine, "%s of a server: ask it at %s", q.Op, v.Addr)
}

// end ends the server and says how long that took.
func (v *server) end() wire.Reply {
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

// counted is what the server has counted, and the process allocated, since the
// workload was prepared. Whoever wants the cost of some requests asks before
// and after them. Asking allocates too, about 1 kB in ten objects: asking twice
// in a row shows how much.
func (s *session) counted(v *server) wire.Reply {
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
