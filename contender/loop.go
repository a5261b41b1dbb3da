package contender

import (
	"time"

	"github.com/tarebench/tare/contender/wire"
)

// work is a prepared workload and where its timed loop stands.
type work struct {
	Work
	server *server // in place of Work: the lab does the operations
	crew   *crew   // does them, where there are callers
	bodies int
	next   int     // body that the next operation takes
	pace   float64 // ns per operation, as last seen; zero: unknown
	told   Network // what replies have said of it
}

// tell adds to a reply what went over connections since the last one.
func (w *work) tell(reply *wire.Reply) {
	if w.Network == nil {
		return
	}
	now := w.Network()
	reply.Opened, reply.WireIn, reply.WireOut = now.Opened-w.told.Opened, now.In-w.told.In, now.Out-w.told.Out
	w.told = now
}

// tally is what a stretch of operations came to.
type tally struct {
	ops    int64
	bytes  int64 // of output
	errors int64
	first  error
}

// failed counts an operation that returned an error, if err is one.
func (t *tally) failed(err error) {
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

// learn takes the pace from a stretch of operations.
func (w *work) learn(ops int64, wall time.Duration) {
	if ops > 0 && wall > 0 {
		w.pace = float64(wall) / float64(ops)
	}
}

// phase follows where in a collection cycle the process is, in operations
// since the last cycle was seen to complete. The collector does not know of
// operations, but its cycles are paced by allocation, and that is their work.
type phase struct {
	of     *work
	cycles int64 // completed when last looked
	since  int64 // operations done since a cycle was seen to complete
	length int64 // operations in the last whole cycle; zero: not seen yet
	known  bool  // since counts from a cycle's end
}

// enter is called with the number of completed cycles when w gets the token.
// A cycle that completed while another contender held it starts a new one;
// after another workload's operations nothing is known.
func (p *phase) enter(w *work, cycles int64) {
	if p.of != w {
		*p = phase{of: w, cycles: cycles}
	}
	if cycles != p.cycles {
		p.cycles, p.since, p.known = cycles, 0, true
	}
}

// after is called after ops operations and returns how many cycles completed
// during them.
func (p *phase) after(ops, cycles int64) int64 {
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

// late reports whether too little of the current cycle is left to begin a
// slice in it: the operations that must follow the last cycle's end, as many
// as came before the slice, would run into the end of one more.
func (p *phase) late(expected int64) bool {
	half := expected / 2
	if p.length > 0 && (half == 0 || p.length/2 < half) {
		half = p.length / 2
	}
	return !p.known || half > 0 && p.since > half
}
