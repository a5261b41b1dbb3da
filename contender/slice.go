package contender

import (
	"runtime"
	"time"

	"github.com/tarebench/tare/contender/wire"
)

// Slice ends, as on the wire.
const (
	untilOps = "ops"
	untilGC  = "gc"
)

// fewOps is the least that a warm-up does, unless its cap comes first.
const fewOps = 4

// stretch is a measurement in progress: clock, CPU and collections when it
// began, and the operations since.
type stretch struct {
	s      *session
	w      *work
	start  time.Time
	cpu    int64
	cycles int64
	tally  tally
	wall   time.Duration // since start, when last looked
}

// begin starts measuring. The number of cycles is the one last looked at.
func (s *session) begin(w *work) stretch {
	return stretch{s: s, w: w, cycles: s.phase.cycles, cpu: cpuNS(), start: time.Now()}
}

// step does up to limit operations, one batch at most, looks at clock and
// collector, and returns the cycles that completed meanwhile.
func (m *stretch) step(limit int64) int64 {
	n := min(limit, m.s.meter.batch(m.w.pace))
	m.w.run(n, &m.tally)
	m.wall = time.Since(m.start)
	return m.s.phase.after(n, m.s.meter.cycles())
}

func (m *stretch) gc() int64 { return m.s.phase.cycles - m.cycles }

// capped reports whether the request's time is up: cap_ns is over and cap_ops
// are done.
func (m *stretch) capped(q wire.Request) bool { return capped(q, m.tally.ops, m.wall) }

// capped is that of so many operations in so long.
func capped(q wire.Request, ops int64, wall time.Duration) bool {
	return q.CapNS > 0 && ops >= q.CapOps && wall >= time.Duration(q.CapNS)
}

// end stops measuring.
func (m *stretch) end() wire.Reply {
	wall := time.Since(m.start)
	cpu := cpuNS()
	m.s.mark = cpu
	m.w.learn(m.tally.ops, wall)
	reply := wire.Reply{
		Counts: wire.Counts{Ops: m.tally.ops, WallNS: int64(wall), CPUNS: cpu - m.cpu, GC: m.gc(),
			Errors: m.tally.errors, BytesOut: m.tally.bytes},
	}
	if m.tally.first != nil {
		reply.Message = errorText(m.tally.first)
	}
	return reply
}

// most is no limit on a step.
const most = 1 << 62

// warm runs until min_gc cycles or min_ns, whichever is first.
func (s *session) warm(w *work, q wire.Request) (wire.Reply, *wire.Error) {
	if q.MinGC > 0 && q.MinNS == 0 && q.CapNS == 0 {
		return wire.Reply{}, refusal(classBadRequest, "warm until collection cycles needs min_ns or cap_ns: there may never be one")
	}
	q.CapOps = 1
	if w.crew != nil {
		return w.crew.warm(q)
	}
	s.phase.enter(w, s.meter.cycles())
	m := s.begin(w)
	for seen := time.Duration(0); ; {
		before := m.tally.ops
		m.step(most)
		w.learn(m.tally.ops-before, m.wall-seen)
		seen = m.wall
		enough := q.MinGC > 0 && m.gc() >= q.MinGC || m.wall >= time.Duration(q.MinNS) && (q.MinNS > 0 || q.MinGC == 0)
		if m.capped(q) || enough && m.tally.ops >= fewOps {
			return m.end(), nil
		}
	}
}

// slice does the work of one token.
func (s *session) slice(w *work, q wire.Request) (wire.Reply, *wire.Error) {
	if q.Until != untilGC && (q.Until != untilOps || q.Ops == 0) {
		return wire.Reply{}, refusal(classBadRequest, "slice until %q, %d ops: want until gc, or until ops with a number of them", q.Until, q.Ops)
	}
	if q.Until == untilGC && q.CapNS == 0 {
		return wire.Reply{}, refusal(classBadRequest, "slice until gc needs cap_ns: there may never be a cycle")
	}
	if q.Until == untilGC && w.crew != nil {
		return wire.Reply{}, refusal(classNotMine, "slice until gc of workload %q: with callers at once it is until ops", q.On)
	}
	var idle int64
	if s.mark >= 0 {
		idle = max(0, cpuNS()-s.mark)
	}
	if w.crew != nil {
		reply, err := w.crew.slice(q)
		reply.IdleCPUNS = idle
		return reply, err
	}
	s.phase.enter(w, s.meter.cycles())
	s.lead(w, q)
	m := s.begin(w)
	if q.Until == untilGC {
		m.wholeCycles(q)
	} else {
		for m.tally.ops < q.Ops && !m.capped(q) {
			m.step(q.Ops - m.tally.ops)
		}
	}
	reply := m.end()
	reply.IdleCPUNS = idle
	return reply, nil
}

// lead does the unmeasured operations at the start of a slice. Before whole
// cycles it goes on into the next cycle where too little is left of this one.
func (s *session) lead(w *work, q wire.Request) {
	m := s.begin(w)
	q.CapOps = 0
	for m.tally.ops < q.Lead && !m.capped(q) {
		m.step(q.Lead - m.tally.ops)
	}
	if q.Until == untilGC && s.phase.late(q.Ops) {
		for !m.capped(q) && m.step(most) == 0 {
		}
	}
	if q.Until == untilGC {
		s.meter.sweep()
	}
}

// wholeCycles measures from one point of a collection cycle to the same point
// of a later one, so that what the lead-in did of the first cycle is made up
// for at the end, and operations per cycle come out unbiased. It begins and
// ends swept: sweeping is part of a cycle's cost, and would else happen while
// another contender has the token.
func (m *stretch) wholeCycles(q wire.Request) {
	var before int64
	if m.s.phase.known {
		before = m.s.phase.since
	}
	for {
		completed := m.step(most)
		if m.capped(q) {
			return
		}
		if completed > 0 && m.gc() >= max(1, q.Cycles) && m.wall >= time.Duration(q.MinNS) {
			break
		}
	}
	for end := m.tally.ops + before; m.tally.ops < end && !m.capped(q); {
		m.step(end - m.tally.ops)
	}
	m.s.meter.sweep()
}

// stats counts what a fixed number of operations allocates. It starts with the
// first body, so that two passes do the same work.
func (s *session) stats(w *work, q wire.Request) (wire.Reply, *wire.Error) {
	if q.Ops == 0 {
		return wire.Reply{}, refusal(classBadRequest, "stats without ops")
	}
	s.phase = phase{}
	if w.crew != nil {
		return w.crew.stats(q)
	}
	var t tally
	w.next = 0
	runtime.ReadMemStats(&s.before)
	w.run(q.Ops, &t)
	runtime.ReadMemStats(&s.after)
	s.mark = cpuNS()
	reply := wire.Reply{
		Counts: wire.Counts{Ops: t.ops, Errors: t.errors, BytesOut: t.bytes,
			Bytes: int64(s.after.TotalAlloc - s.before.TotalAlloc), Allocs: int64(s.after.Mallocs - s.before.Mallocs)},
	}
	if t.first != nil {
		reply.Message = errorText(t.first)
	}
	return reply, nil
}
