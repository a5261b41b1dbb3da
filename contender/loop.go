package contender

import (
	"time"

	"github.com/tarebench/tare/contender/wire"
)

// work is a prepared workload and the state of its timed loop.
type work struct {
	Work                 // contender's functions
	server   *server     // nil if Work is set
	pool     *workerPool // nil unless Work.Callers is set
	bodies   int
	next     int     // body of the next operation
	pace     float64 // ns per operation; 0 if unknown
	reported Network // traffic in earlier replies
}

func (w *work) addTraffic(reply *wire.Reply) {
	if w.Network == nil {
		return
	}
	now := w.Network()
	reply.Opened, reply.WireIn, reply.WireOut = now.Opened-w.reported.Opened, now.In-w.reported.In, now.Out-w.reported.Out
	w.reported = now
}

type tally struct {
	ops    int64
	bytes  int64
	errors int64
	first  error // error of the first failed operation, or nil
}

func (t *tally) addError(err error) {
	if err == nil {
		return
	}
	t.errors++
	if t.first == nil {
		t.first = err
	}
}

// run is the timed loop. Each operation is a call of a func value, which the compiler cannot inline. Local
// counters stay in registers.
func (w *work) run(n int64, t *tally) {
	do, bodies, i := w.Do, w.bodies, w.next
	var bytes, failed int64
	for range n {
		size, err := do(i)
		bytes += int64(size)
		if err != nil {
			failed++
			if t.first == nil {
				t.first = err
			}
		}
		if i++; i == bodies {
			i = 0
		}
	}
	w.next = i
	t.ops += n
	t.bytes += bytes
	t.errors += failed
}

func (w *work) setPace(ops int64, wall time.Duration) {
	if ops > 0 && wall > 0 {
		w.pace = float64(wall) / float64(ops)
	}
}

// phase is the position in a garbage collection cycle, in operations. The collector starts after an amount of
// allocations.
type phase struct {
	owner  *work
	cycles int64 // completed cycles at the last reading
	since  int64 // operations since the last end of a cycle
	length int64 // operations in the last cycle; 0 if unknown
	known  bool  // the end of a cycle was observed
}

// enterWork records that operations of w follow. After another workload the position is unknown.
func (p *phase) enterWork(w *work, cycles int64) {
	if p.owner != w {
		*p = phase{owner: w, cycles: cycles}
	}
	if cycles != p.cycles {
		p.cycles, p.since, p.known = cycles, 0, true
	}
}

// addOps returns how many cycles completed during ops operations.
func (p *phase) addOps(ops, cycles int64) int64 {
	completed := cycles - p.cycles
	p.cycles = cycles
	p.since += ops
	if completed > 0 {
		if p.known {
			p.length = p.since / completed
		}
		p.since, p.known = 0, true
	}
	return completed
}

// isLate reports whether it is too late in a cycle to begin a slice, a timed run of complete cycles. After its
// last cycle a slice runs as many operations as the cycle had before it (see runCycles). Too many would
// complete another cycle. expected 0 means unknown.
func (p *phase) isLate(expected int64) bool {
	latest := expected / 2 // 0 if unknown
	if halfCycle := p.length / 2; p.length > 0 && (latest == 0 || halfCycle < latest) {
		latest = halfCycle
	}
	return !p.known || latest > 0 && p.since > latest
}
