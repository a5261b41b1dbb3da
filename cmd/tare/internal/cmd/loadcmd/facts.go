package loadcmd

import (
	"context"
	"maps"
	"net"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/tarebench/tare/internal/machine"
	"github.com/tarebench/tare/load"
)

// This file observes the server and this machine while tare load sends requests. It records the time to
// connect, CPU time, memory and noise.

const dials = 5 // connections that roundTrip opens

func roundTrip(ctx context.Context, addr string, timeout time.Duration) (time.Duration, error) {
	dialer := net.Dialer{Timeout: timeout}
	var times []time.Duration
	for range dials {
		start := time.Now()
		c, err := dialer.DialContext(ctx, "tcp", addr)
		if err != nil {
			return 0, err
		}
		times = append(times, time.Since(start))
		c.Close()
	}
	slices.Sort(times)
	return times[len(times)/2], nil
}

// observer observes the server and the machine during one measurement. It knows the server's processes
// only if tare has started it.
type observer struct {
	listProcesses func() []int // nil if tare did not start the server

	mu         sync.Mutex
	pids       []int           // processes of the server when last listed
	lastCPU    cpuTimes        // last known CPU time of each process, also of ended ones
	startCPU   cpuTimes        // CPU times when measuring began
	secondCPU  cpuTimes        // CPU times at the end of the last second
	serverCPU  time.Duration   // CPU time in the measured part; 0 until its end
	cpuSeconds []time.Duration // CPU time of the server in each second
	memory     []int64         // bytes at the end of each second

	gauge     *machine.Gauge // samples the machine's noise; nil until measuring begins
	throttled float64        // share of the measured time in which a CPU quota stopped tare; 0 if unknown
	slowWork  sync.WaitGroup // work of markPhase on other goroutines
}

// cpuTimes maps process ids to CPU times.
type cpuTimes map[int]time.Duration

// usedSince returns the CPU time that processes have used since the earlier times before. A process
// that is not in before was started later, so all its time counts.
func (t cpuTimes) usedSince(before cpuTimes) time.Duration {
	var sum time.Duration
	for pid, now := range t {
		sum += max(0, now-before[pid])
	}
	return sum
}

// findProcesses lists the server's processes again: a server may fork workers at any time. It is slow,
// so a sending thread must not call it.
func (o *observer) findProcesses() {
	if o.listProcesses == nil {
		return
	}
	pids := o.listProcesses()
	o.mu.Lock()
	defer o.mu.Unlock()
	o.pids = pids
}

// readCPU reads the CPU time of the server's processes. For an ended process it returns the last known
// time. This lacks at most the last second. The caller must hold o.mu.
func (o *observer) readCPU() cpuTimes {
	times := maps.Clone(o.lastCPU)
	if times == nil {
		times = cpuTimes{}
	}
	for _, pid := range o.pids {
		if d, ok := machine.CPUTime(pid); ok {
			times[pid] = d
		}
	}
	o.lastCPU = times
	return times
}

// markPhase records that measuring begins or ends. A sending thread calls it, so slow work runs in
// another goroutine.
func (o *observer) markPhase(begin bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	now := o.readCPU()
	if begin {
		o.startCPU, o.secondCPU = now, now
	} else {
		o.serverCPU = now.usedSince(o.startCPU)
	}
	o.slowWork.Go(func() {
		o.controlGauge(begin)
		o.addNewProcesses(now, begin)
	})
}

// addNewProcesses adds processes that the server has forked since they were last listed. reading has
// the CPU times that markPhase has read. At the beginning of measuring, their earlier CPU time must
// not count.
func (o *observer) addNewProcesses(reading cpuTimes, begin bool) {
	o.findProcesses()
	o.mu.Lock()
	defer o.mu.Unlock()
	for pid, d := range o.readCPU() {
		if _, isKnown := reading[pid]; isKnown {
			continue
		}
		if begin {
			reading[pid] = d // reading is o.startCPU
		} else {
			o.serverCPU += d
		}
	}
}

// controlGauge starts the sampler of the machine's noise or, if begin is false, stops and reads it.
func (o *observer) controlGauge(begin bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case begin:
		o.gauge = machine.StartGauge()
	case o.gauge != nil: // nil if the call for the beginning has not run
		o.throttled = max(0, o.gauge.Stop().Throttled)
	}
}

func (o *observer) recordSecond(second load.Second) {
	o.findProcesses()
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.pids) == 0 {
		return
	}
	now := o.readCPU()
	index := int(second.At / time.Second)
	for len(o.cpuSeconds) <= index {
		o.cpuSeconds, o.memory = append(o.cpuSeconds, 0), append(o.memory, 0)
	}
	o.cpuSeconds[index] = now.usedSince(o.secondCPU)
	o.secondCPU = now
	for _, pid := range o.pids {
		if bytes, ok := machine.Resident(pid); ok {
			o.memory[index] += bytes
		}
	}
}

// perSecond returns CPU time and bytes of memory of the server, by second. Both are nil if its
// processes are unknown.
func (o *observer) perSecond() (cpu []time.Duration, memory []int64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.cpuSeconds, o.memory
}

func (o *observer) liveFacts(r *load.Result) load.Facts {
	o.mu.Lock()
	defer o.mu.Unlock()
	f := load.Facts{ClientCores: clientCores(r)}
	if len(o.startCPU) > 0 {
		f.ServerCPU, f.ServerCores = o.secondCPU.usedSince(o.startCPU), float64(runtime.NumCPU())
	}
	return f
}

// clientCores returns the number of processors that the load generator could use: one per thread.
func clientCores(r *load.Result) float64 { return float64(min(max(r.Threads, 1), runtime.NumCPU())) }

func (o *observer) finalFacts(r *load.Result) load.Facts {
	o.slowWork.Wait()
	o.mu.Lock()
	defer o.mu.Unlock()
	f := load.Facts{Throttled: o.throttled, ClientCores: clientCores(r)}
	if len(o.startCPU) > 0 {
		f.ServerCPU, f.ServerCores = o.serverCPU, float64(runtime.NumCPU())
	}
	return f
}
