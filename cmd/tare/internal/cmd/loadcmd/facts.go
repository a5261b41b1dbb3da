package loadcmd

import (
	"context"
	"net"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/tarebench/tare/internal/machine"
	"github.com/tarebench/tare/load"
)

const dials = 5 // connections that are made to see how long that takes

// roundTrip returns how long it takes to connect to addr: the median of a few
// connections. It returns the first error.
func roundTrip(ctx context.Context, addr string, timeout time.Duration) (time.Duration, error) {
	dialer := net.Dialer{Timeout: timeout}
	var took []time.Duration
	for range dials {
		began := time.Now()
		c, err := dialer.DialContext(ctx, "tcp", addr)
		if err != nil {
			return 0, err
		}
		took = append(took, time.Since(began))
		c.Close()
	}
	slices.Sort(took)
	return took[len(took)/2], nil
}

// observer records the server's CPU time and memory, and the machine's noise, during
// one leg: one stretch of load on one server.
type observer struct {
	server *started // nil: tare did not start it

	mu      sync.Mutex
	pids    []int // of the server
	begin   reading
	last    reading
	spent   time.Duration // of the server, while measured
	seconds []time.Duration
	memory  []int64 // of the server at the end of each second, bytes

	gauge     *machine.Gauge
	throttled float64
	gauging   sync.WaitGroup
}

// reading is the CPU time that processes have used, by number.
type reading map[int]time.Duration

// since returns the CPU time from before to r, of processes that are in both.
func (r reading) since(before reading) time.Duration {
	var sum time.Duration
	for pid, d := range r {
		if was, ok := before[pid]; ok {
			sum += max(0, d-was)
		}
	}
	return sum
}

// look finds the server's processes. That is slow, so it is done before the leg;
// processes started later are not counted.
func (o *observer) look() {
	if o.server != nil {
		o.pids = o.server.processes()
	}
}

func (o *observer) read() reading {
	r := make(reading, len(o.pids))
	for _, pid := range o.pids {
		if d, ok := machine.CPUTime(pid); ok {
			r[pid] = d
		}
	}
	return r
}

// mark notes that measuring begins or ends. A sending thread calls it, so slow work
// is done in another goroutine.
func (o *observer) mark(begin bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	now := o.read()
	if begin {
		o.begin, o.last = now, now
	} else {
		o.spent = now.since(o.begin)
	}
	o.gauging.Go(func() { o.watch(begin) })
}

// watch starts or reads the machine's gauges.
func (o *observer) watch(begin bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case begin:
		o.gauge = machine.StartGauge()
	case o.gauge != nil:
		o.throttled = max(0, o.gauge.Stop().Throttled)
	}
}

// tick records the server's CPU time and memory of one second.
func (o *observer) tick(second load.Second) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.pids) == 0 {
		return
	}
	now := o.read()
	for at := int(second.At / time.Second); len(o.seconds) <= at; {
		o.seconds = append(o.seconds, 0)
	}
	o.seconds[second.At/time.Second] = now.since(o.last)
	o.last = now
	for len(o.memory) < len(o.seconds) {
		o.memory = append(o.memory, 0)
	}
	for _, pid := range o.pids {
		if bytes, ok := machine.Resident(pid); ok {
			o.memory[second.At/time.Second] += bytes
		}
	}
}

// perSecond returns the server's CPU time of each second and its memory at the end
// of it; nil if not known.
func (o *observer) perSecond() (cpu []time.Duration, memory []int64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.seconds, o.memory
}

// live returns the facts of a running leg.
func (o *observer) live(r *load.Result) load.Facts {
	o.mu.Lock()
	defer o.mu.Unlock()
	f := load.Facts{ClientCores: clientCores(r)}
	if len(o.begin) > 0 {
		f.ServerCPU, f.ServerCores = o.last.since(o.begin), float64(runtime.NumCPU())
	}
	return f
}

// clientCores returns how many processors the load generator could use.
func clientCores(r *load.Result) float64 { return float64(min(max(r.Threads, 1), runtime.NumCPU())) }

// facts returns the facts of a leg that is over.
func (o *observer) facts(r *load.Result) load.Facts {
	o.gauging.Wait()
	o.mu.Lock()
	defer o.mu.Unlock()
	f := load.Facts{Throttled: o.throttled}
	f.ClientCores = clientCores(r)
	if len(o.begin) > 0 {
		f.ServerCPU, f.ServerCores = o.spent, float64(runtime.NumCPU())
	}
	return f
}
