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

const dials = 5 // connections that roundTrip opens

// roundTrip returns the median time to connect to addr. It returns the first error.
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

// observer records the server's CPU time and memory, and the machine's noise, during one trial:
// one stretch of load on one server.
type observer struct {
	server *startedServer // nil if tare did not start it

	mu      sync.Mutex
	pids    []int // of the server
	begin   cpuTimes
	last    cpuTimes
	spent   time.Duration // CPU time of the server while measured
	seconds []time.Duration
	memory  []int64 // of the server at the end of each second, bytes

	gauge     *machine.Gauge
	throttled float64
	gaugeWork sync.WaitGroup
}

// cpuTimes holds the CPU time of processes by process id.
type cpuTimes map[int]time.Duration

// usedSince returns the CPU time from before to r of processes in both.
func (r cpuTimes) usedSince(before cpuTimes) time.Duration {
	var sum time.Duration
	for pid, d := range r {
		if was, ok := before[pid]; ok {
			sum += max(0, d-was)
		}
	}
	return sum
}

// findProcesses finds the server's processes. It is slow and therefore runs before the trial;
// processes started later are not counted.
func (o *observer) findProcesses() {
	if o.server != nil {
		o.pids = o.server.processIDs()
	}
}

func (o *observer) readCPU() cpuTimes {
	r := make(cpuTimes, len(o.pids))
	for _, pid := range o.pids {
		if d, ok := machine.CPUTime(pid); ok {
			r[pid] = d
		}
	}
	return r
}

// markPhase records the begin or end of measuring. A sending thread calls it, so slow work runs
// in another goroutine.
func (o *observer) markPhase(begin bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	now := o.readCPU()
	if begin {
		o.begin, o.last = now, now
	} else {
		o.spent = now.usedSince(o.begin)
	}
	o.gaugeWork.Go(func() { o.controlGauge(begin) })
}

// controlGauge starts the sampler of the machine's noise, or stops and reads it.
func (o *observer) controlGauge(begin bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case begin:
		o.gauge = machine.StartGauge()
	case o.gauge != nil:
		o.throttled = max(0, o.gauge.Stop().Throttled)
	}
}

// recordSecond records the server's CPU time and memory of one second.
func (o *observer) recordSecond(second load.Second) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.pids) == 0 {
		return
	}
	now := o.readCPU()
	for at := int(second.At / time.Second); len(o.seconds) <= at; {
		o.seconds = append(o.seconds, 0)
	}
	o.seconds[second.At/time.Second] = now.usedSince(o.last)
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

// perSecond returns the server's CPU time of each second and its memory at the end of it; nil
// if unknown.
func (o *observer) perSecond() (cpu []time.Duration, memory []int64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.seconds, o.memory
}

// liveFacts returns the facts of a running trial.
func (o *observer) liveFacts(r *load.Result) load.Facts {
	o.mu.Lock()
	defer o.mu.Unlock()
	f := load.Facts{ClientCores: clientCores(r)}
	if len(o.begin) > 0 {
		f.ServerCPU, f.ServerCores = o.last.usedSince(o.begin), float64(runtime.NumCPU())
	}
	return f
}

// clientCores returns the number of processors that the load generator could use.
func clientCores(r *load.Result) float64 { return float64(min(max(r.Threads, 1), runtime.NumCPU())) }

// finalFacts returns the facts of a finished trial.
func (o *observer) finalFacts(r *load.Result) load.Facts {
	o.gaugeWork.Wait()
	o.mu.Lock()
	defer o.mu.Unlock()
	f := load.Facts{Throttled: o.throttled}
	f.ClientCores = clientCores(r)
	if len(o.begin) > 0 {
		f.ServerCPU, f.ServerCores = o.spent, float64(runtime.NumCPU())
	}
	return f
}
