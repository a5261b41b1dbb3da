package contender

import (
	"time"

	"github.com/tarebench/tare/contender/wire"
)

// work is a prepared workload with the state of its timed loop.
type work struct {
	Work                 // the contender's functions, such as Do (the operation) and Network (its traffic)
	server   *server     // server of the workload, in place of Work; nil if Work is set
	pool     *workerPool // runs the operations if Work.Callers is not 0; else nil
	bodies   int         // number of bodies
	next     int         // index of the body of the next operation
	pace     float64     // ns per operation in the last measurement; 0 if unknown
	reported Network     // traffic that replies have reported so far
}

// addTraffic adds to a reply the network traffic since the previous reply.
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
	bytes  int64 // bytes of output
	errors int64 // number of failed operations
	first  error // error of the first failed operation; nil if none failed
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

// run is the timed loop: it runs n operations and adds their outcomes to t. Each operation is one call of a
// func value, which the compiler cannot inline. Local counters stay in registers.
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

// setPace sets the pace to the mean time of ops operations. It does nothing if ops or wall is 0.
func (w *work) setPace(ops int64, wall time.Duration) {
	if ops > 0 && wall > 0 {
		w.pace = float64(wall) / float64(ops)
	}
}

// phase tracks the position of the process in a garbage collection cycle. The position is the number of
// operations since the end of the last cycle: operations allocate, and the collector starts a cycle after a
// certain amount of allocations.
type phase struct {
	owner  *work
	cycles int64 // number of completed cycles at the last reading
	since  int64 // number of operations since the end of a cycle was observed
	length int64 // number of operations in the last complete cycle; 0 if unknown
	known  bool  // the end of a cycle was observed, so since is a position in a cycle
}

// enterWork records that operations of w follow. cycles is the number of completed cycles. If a cycle has
// completed since the last operations of w, the current cycle starts now. After operations of another
// workload the position is unknown.
func (p *phase) enterWork(w *work, cycles int64) {
	if p.owner != w {
		*p = phase{owner: w, cycles: cycles}
	}
	if cycles != p.cycles {
		p.cycles, p.since, p.known = cycles, 0, true
	}
}

// addOps records ops operations, after which the number of completed cycles is cycles. It returns the
// number of cycles that completed during these operations.
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

// isLate reports whether it is too late in the current cycle to begin a slice, a timed run of operations that consists
// of complete cycles: the position is unknown, or beyond half a cycle or half a slice. After the end of its last cycle
// a slice runs as many operations as the current cycle had before the slice (see runCycles); too many of them would
// complete one more cycle. expected is the number of operations that the slice is to have, 0 if unknown.
func (p *phase) isLate(expected int64) bool {
	latest := expected / 2 // 0 if unknown
	if halfCycle := p.length / 2; p.length > 0 && (latest == 0 || halfCycle < latest) {
		latest = halfCycle
	}
	return !p.known || latest > 0 && p.since > latest
}
