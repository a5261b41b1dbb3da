package contender

import (
	"runtime"
	"time"

	"github.com/tarebench/tare/contender/wire"
)

// Ends of a slice, as on the wire.
const (
	untilOps = "ops"
	untilGC  = "gc"
)

// minWarmOps is the least number of operations of a warm-up, unless its cap comes first.
const minWarmOps = 4

// measurement is a running measurement: clock, CPU time and collections at its start, and the operations
// since.
type measurement struct {
	s      *session
	w      *work
	start  time.Time
	cpu    int64
	cycles int64
	tally  tally
	wall   time.Duration // since start, at the last reading
}

// newMeasurement starts measuring, with the last reading of the number of cycles.
func (s *session) newMeasurement(w *work) measurement {
	return measurement{s: s, w: w, cycles: s.phase.cycles, cpu: cpuNS(), start: time.Now()}
}

// runBatch runs up to limit operations, one batch at most, reads clock and collector, and returns the cycles
// that completed meanwhile.
func (m *measurement) runBatch(limit int64) int64 {
	n := min(limit, m.s.meter.batchSize(m.w.pace))
	m.w.run(n, &m.tally)
	m.wall = time.Since(m.start)
	return m.s.phase.addOps(n, m.s.meter.cycles())
}

func (m *measurement) countCycles() int64 { return m.s.phase.cycles - m.cycles }

// isCapped reports whether the request's time is up: cap_ns is over and cap_ops are done.
func (m *measurement) isCapped(q wire.Request) bool { return isCapped(q, m.tally.ops, m.wall) }

// isCapped is measurement.isCapped for ops operations in wall.
func isCapped(q wire.Request, ops int64, wall time.Duration) bool {
	return q.CapNS > 0 && ops >= q.CapOps && wall >= time.Duration(q.CapNS)
}

// finish stops measuring and returns the reply.
func (m *measurement) finish() wire.Reply {
	wall := time.Since(m.start)
	cpu := cpuNS()
	m.s.lastCPU = cpu
	m.w.setPace(m.tally.ops, wall)
	reply := wire.Reply{
		Counts: wire.Counts{Ops: m.tally.ops, WallNS: int64(wall), CPUNS: cpu - m.cpu, GC: m.countCycles(),
			Errors: m.tally.errors, BytesOut: m.tally.bytes},
	}
	if m.tally.first != nil {
		reply.Message = errorText(m.tally.first)
	}
	return reply
}

// noLimit is a limit of a batch that is never reached.
const noLimit = 1 << 62

// warmUp runs until min_gc cycles or min_ns, whichever is first.
func (s *session) warmUp(w *work, q wire.Request) (wire.Reply, *wire.Error) {
	if q.MinGC > 0 && q.MinNS == 0 && q.CapNS == 0 {
		return wire.Reply{}, newError(classBadRequest, "warm until collection cycles needs min_ns or cap_ns: there may never be one")
	}
	q.CapOps = 1
	if w.crew != nil {
		return w.crew.warmUp(q)
	}
	s.phase.enterWork(w, s.meter.cycles())
	m := s.newMeasurement(w)
	for seen := time.Duration(0); ; {
		before := m.tally.ops
		m.runBatch(noLimit)
		w.setPace(m.tally.ops-before, m.wall-seen)
		seen = m.wall
		enough := q.MinGC > 0 && m.countCycles() >= q.MinGC || m.wall >= time.Duration(q.MinNS) && (q.MinNS > 0 || q.MinGC == 0)
		if m.isCapped(q) || enough && m.tally.ops >= minWarmOps {
			return m.finish(), nil
		}
	}
}

// runSlice does the work of one token.
func (s *session) runSlice(w *work, q wire.Request) (wire.Reply, *wire.Error) {
	if q.Until != untilGC && (q.Until != untilOps || q.Ops == 0) {
		return wire.Reply{}, newError(classBadRequest, "slice until %q, %d ops: want until gc, or until ops with a number of them", q.Until, q.Ops)
	}
	if q.Until == untilGC && q.CapNS == 0 {
		return wire.Reply{}, newError(classBadRequest, "slice until gc needs cap_ns: there may never be a cycle")
	}
	if q.Until == untilGC && w.crew != nil {
		return wire.Reply{}, newError(classNotMine, "slice until gc of workload %q: with callers at once it is until ops", q.On)
	}
	var idle int64
	if s.lastCPU >= 0 {
		idle = max(0, cpuNS()-s.lastCPU)
	}
	if w.crew != nil {
		reply, err := w.crew.runSlice(q)
		reply.IdleCPUNS = idle
		return reply, err
	}
	s.phase.enterWork(w, s.meter.cycles())
	s.runLead(w, q)
	m := s.newMeasurement(w)
	if q.Until == untilGC {
		m.runCycles(q)
	} else {
		for m.tally.ops < q.Ops && !m.isCapped(q) {
			m.runBatch(q.Ops - m.tally.ops)
		}
	}
	reply := m.finish()
	reply.IdleCPUNS = idle
	return reply, nil
}

// runLead runs the unmeasured operations at the start of a slice. Before complete cycles it continues into the
// next cycle if too little of this one remains.
func (s *session) runLead(w *work, q wire.Request) {
	m := s.newMeasurement(w)
	q.CapOps = 0
	for m.tally.ops < q.Lead && !m.isCapped(q) {
		m.runBatch(q.Lead - m.tally.ops)
	}
	if q.Until == untilGC && s.phase.isLate(q.Ops) {
		for !m.isCapped(q) && m.runBatch(noLimit) == 0 {
		}
	}
	if q.Until == untilGC {
		s.meter.awaitSweep()
	}
}

// runCycles measures from one point of a collection cycle to the same point of a later one, so that the end
// makes up for the lead-in's part of the first cycle, and operations per cycle are unbiased. It begins and
// ends swept: sweeping is part of a cycle's cost, and would otherwise happen while another contender has the
// token.
func (m *measurement) runCycles(q wire.Request) {
	var before int64
	if m.s.phase.known {
		before = m.s.phase.since
	}
	for {
		completed := m.runBatch(noLimit)
		if m.isCapped(q) {
			return
		}
		if completed > 0 && m.countCycles() >= max(1, q.Cycles) && m.wall >= time.Duration(q.MinNS) {
			break
		}
	}
	for end := m.tally.ops + before; m.tally.ops < end && !m.isCapped(q); {
		m.runBatch(end - m.tally.ops)
	}
	m.s.meter.awaitSweep()
}

// countAllocs counts the allocations of a fixed number of operations. It starts with the first body, so that
// two passes do the same work.
func (s *session) countAllocs(w *work, q wire.Request) (wire.Reply, *wire.Error) {
	if q.Ops == 0 {
		return wire.Reply{}, newError(classBadRequest, "stats without ops")
	}
	s.phase = phase{}
	if w.crew != nil {
		return w.crew.countAllocs(q)
	}
	var t tally
	w.next = 0
	runtime.ReadMemStats(&s.before)
	w.run(q.Ops, &t)
	runtime.ReadMemStats(&s.after)
	s.lastCPU = cpuNS()
	reply := wire.Reply{
		Counts: wire.Counts{Ops: t.ops, Errors: t.errors, BytesOut: t.bytes,
			Bytes: int64(s.after.TotalAlloc - s.before.TotalAlloc), Allocs: int64(s.after.Mallocs - s.before.Mallocs)},
	}
	if t.first != nil {
		reply.Message = errorText(t.first)
	}
	return reply, nil
}
