package contender

import (
	"time"

	"github.com/tarebench/tare/contender/wire"
)

// work is a prepared workload with the state of its timed loop.
type work struct {
	Work
	server   *server     // in place of Work: the lab does the operations
	crew     *workerPool // runs them, if there are callers
	bodies   int
	next     int     // body that the next operation takes
	pace     float64 // ns per operation at the last measurement; 0: unknown
	reported Network // sum of all replies
}

// addTraffic adds to a reply the traffic since the last one.
func (w *work) addTraffic(reply *wire.Reply) {
	if w.Network == nil {
		return
	}
	now := w.Network()
	reply.Opened, reply.WireIn, reply.WireOut = now.Opened-w.reported.Opened, now.In-w.reported.In, now.Out-w.reported.Out
	w.reported = now
}

// tally counts the outcomes of operations.
type tally struct {
	ops    int64
	bytes  int64 // of output
	errors int64
	first  error
}

// addError counts an operation that returned err, if err is not nil.
func (t *tally) addError(err error) {
	if err == nil {
		return
	}
	t.errors++
	if t.first == nil {
		t.first = err
	}
}

// run does n operations. This is the timed loop: per operation one call
// through a func value, which the compiler cannot look into, and counters that
// live in registers.
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

// setPace computes the pace from operations and their time.
func (w *work) setPace(ops int64, wall time.Duration) {
	if ops > 0 && wall > 0 {
		w.pace = float64(wall) / float64(ops)
	}
}

// phase tracks the position of the process in a collection cycle, in operations since the last cycle was seen
// to complete. The collector does not know operations, but allocation paces its cycles, and operations
// allocate.
type phase struct {
	owner  *work
	cycles int64 // completed at the last reading
	since  int64 // operations done since a cycle was seen to complete
	length int64 // operations in the last complete cycle; 0: unknown
	known  bool  // since counts from a cycle's end
}

// enterWork is called with the number of completed cycles when w gets the token. A cycle that completed while
// another contender had it starts a new one; after operations of another workload the phase is unknown.
func (p *phase) enterWork(w *work, cycles int64) {
	if p.owner != w {
		*p = phase{owner: w, cycles: cycles}
	}
	if cycles != p.cycles {
		p.cycles, p.since, p.known = cycles, 0, true
	}
}

// addOps is called after ops operations and returns how many cycles completed during them.
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

// isLate reports whether too little of the current cycle remains to begin a slice in it: the operations that
// must follow the last cycle's end, as many as came before the slice, would run into the end of one more.
func (p *phase) isLate(expected int64) bool {
	half := expected / 2
	if p.length > 0 && (half == 0 || p.length/2 < half) {
		half = p.length / 2
	}
	return !p.known || half > 0 && p.since > half
}
