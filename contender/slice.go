package contender

import (
	"runtime"
	"time"

	"github.com/tarebench/tare/contender/wire"
)

// This file runs operations of a prepared workload for the measuring process. A slice is one timed run of some
// milliseconds, in which the compared programs take turns. A warm-up precedes the slices and is no part of the
// result. Allocations are counted separately.

// Values of wire.Request.Until.
const (
	untilOps = "ops"
	untilGC  = "gc"
)

// minWarmOps is the least number of operations of a warm-up, unless it reaches its cap first.
const minWarmOps = 4

type measurement struct {
	s      *session
	w      *work
	start  time.Time
	cpu    int64 // process's CPU time at the start, in ns
	cycles int64
	tally  tally
	wall   time.Duration
}

func (s *session) newMeasurement(w *work) measurement {
	return measurement{s: s, w: w, cycles: s.phase.cycles, cpu: cpuNS(), start: time.Now()}
}

// runBatch runs at most limit operations and reads the clock. It returns how many cycles completed.
func (m *measurement) runBatch(limit int64) int64 {
	n := min(limit, m.s.meter.batchSize(m.w.pace))
	m.w.run(n, &m.tally)
	m.wall = time.Since(m.start)
	return m.s.phase.addOps(n, m.s.meter.cycles())
}

func (m *measurement) runPacedBatch() {
	opsBefore, wallBefore := m.tally.ops, m.wall
	m.runBatch(noLimit)
	m.w.setPace(m.tally.ops-opsBefore, m.wall-wallBefore)
}

func (m *measurement) countCycles() int64 { return m.s.phase.cycles - m.cycles }

func (m *measurement) isCapped(q wire.Request) bool { return isCapped(q, m.tally.ops, m.wall) }

func isCapped(q wire.Request, ops int64, wall time.Duration) bool {
	return q.CapNS > 0 && ops >= q.CapOps && wall >= time.Duration(q.CapNS)
}

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

const noLimit = 1 << 62

// isWarm reports whether a warm-up has reached min_gc cycles or min_ns, whichever is first. It returns true if
// neither is set.
func isWarm(q wire.Request, cycles int64, wall time.Duration) bool {
	reachesCycles := q.MinGC > 0 && cycles >= q.MinGC
	hasMinTime := q.MinNS > 0 || q.MinGC == 0
	reachesTime := hasMinTime && wall >= time.Duration(q.MinNS)
	return reachesCycles || reachesTime
}

func (s *session) warmUp(w *work, q wire.Request) (wire.Reply, *wire.Error) {
	if q.MinGC > 0 && q.MinNS == 0 && q.CapNS == 0 {
		return wire.Reply{}, newError(classBadRequest, "warm until collection cycles needs min_ns or cap_ns: there may never be one")
	}
	q.CapOps = 1 // the cap applies after one operation
	if w.pool != nil {
		return w.pool.warmUp(q)
	}
	s.phase.enterWork(w, s.meter.cycles())
	m := s.newMeasurement(w)
	for {
		m.runPacedBatch()
		enough := isWarm(q, m.countCycles(), m.wall) && m.tally.ops >= minWarmOps
		if enough || m.isCapped(q) {
			return m.finish(), nil
		}
	}
}

func (s *session) runSlice(w *work, q wire.Request) (wire.Reply, *wire.Error) {
	if q.Until != untilGC && (q.Until != untilOps || q.Ops == 0) {
		return wire.Reply{}, newError(classBadRequest, "slice until %q, %d ops: want until gc, or until ops with a number of them", q.Until, q.Ops)
	}
	if q.Until == untilGC && q.CapNS == 0 {
		return wire.Reply{}, newError(classBadRequest, "slice until gc needs cap_ns: there may never be a cycle")
	}
	if q.Until == untilGC && w.pool != nil {
		return wire.Reply{}, newError(classNotMine, "slice until gc of workload %q: with callers at once it is until ops", q.On)
	}
	var idle int64 // CPU time since the last measurement
	if s.lastCPU >= 0 {
		idle = max(0, cpuNS()-s.lastCPU)
	}
	if w.pool != nil {
		reply, err := w.pool.runSlice(q)
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

// runLead runs unmeasured operations. If it is too late in the cycle, it continues into the next.
func (s *session) runLead(w *work, q wire.Request) {
	m := s.newMeasurement(w)
	q.CapOps = 0 // the cap counts from the start of the lead-in
	for m.tally.ops < q.Lead && !m.isCapped(q) {
		m.runBatch(q.Lead - m.tally.ops)
	}
	if q.Until == untilGC && s.phase.isLate(q.Ops) {
		for !m.isCapped(q) && m.runBatch(noLimit) == 0 { // run until a cycle completes
		}
	}
	if q.Until == untilGC {
		s.meter.awaitSweep()
	}
}

// runCycles measures from one point of a cycle to the same point of a later one, so that operations per cycle
// have no bias.
//
// Sweeping is a cost of a cycle. runCycles waits for its end, so that no other program's slice pays.
func (m *measurement) runCycles(q wire.Request) {
	var before int64 // operations in the first cycle before measuring
	if m.s.phase.known {
		before = m.s.phase.since
	}
	for {
		completed := m.runBatch(noLimit)
		if m.isCapped(q) {
			return
		}
		hasMin := m.countCycles() >= max(1, q.Cycles) && m.wall >= time.Duration(q.MinNS)
		if completed > 0 && hasMin { // a cycle has just ended
			break
		}
	}
	for end := m.tally.ops + before; m.tally.ops < end && !m.isCapped(q); {
		m.runBatch(end - m.tally.ops)
	}
	m.s.meter.awaitSweep()
}

// countAllocs counts the allocations of q.Ops operations. It starts with the first body, so that two requests
// run the same operations.
func (s *session) countAllocs(w *work, q wire.Request) (wire.Reply, *wire.Error) {
	if q.Ops == 0 {
		return wire.Reply{}, newError(classBadRequest, "stats without ops")
	}
	s.phase = phase{}
	if w.pool != nil {
		return w.pool.countAllocs(q)
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
