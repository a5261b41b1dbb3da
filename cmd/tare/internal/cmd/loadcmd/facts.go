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

// roundTrip is how long it takes to make a connection to addr: the median of a
// few. The error is the first one's.
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

// sighting is what is seen of a leg from beside it: the server's CPU time, and
// what the machine did.
type sighting struct {
	server *started // nil: it is not ours

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

// since is the CPU time from before to r, of processes that are in both.
func (r reading) since(before reading) time.Duration {
	var sum time.Duration
	for pid, d := range r {
		if was, ok := before[pid]; ok {
			sum += max(0, d-was)
		}
	}
	return sum
}

// look finds the server's processes. That is slow, so it is done before the
// leg; a process that is born later is not in.
func (s *sighting) look() {
	if s.server != nil {
		s.pids = s.server.processes()
	}
}

func (s *sighting) read() reading {
	r := make(reading, len(s.pids))
	for _, pid := range s.pids {
		if d, ok := machine.CPUTime(pid); ok {
			r[pid] = d
		}
	}
	return r
}

// mark is called when measuring begins and ends, from a thread that sends:
// what takes time is done elsewhere.
func (s *sighting) mark(begin bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.read()
	if begin {
		s.begin, s.last = now, now
	} else {
		s.spent = now.since(s.begin)
	}
	s.gauging.Go(func() { s.watch(begin) })
}

// watch reads the machine's gauges.
func (s *sighting) watch(begin bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case begin:
		s.gauge = machine.StartGauge()
	case s.gauge != nil:
		s.throttled = max(0, s.gauge.Stop().Throttled)
	}
}

// tick takes the server's CPU time of a second.
func (s *sighting) tick(second load.Second) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.pids) == 0 {
		return
	}
	now := s.read()
	for at := int(second.At / time.Second); len(s.seconds) <= at; {
		s.seconds = append(s.seconds, 0)
	}
	s.seconds[second.At/time.Second] = now.since(s.last)
	s.last = now
	for len(s.memory) < len(s.seconds) {
		s.memory = append(s.memory, 0)
	}
	for _, pid := range s.pids {
		if bytes, ok := machine.Resident(pid); ok {
			s.memory[second.At/time.Second] += bytes
		}
	}
}

// perSecond is the server's CPU time of each second and its memory at the end of
// it; nil: not known.
func (s *sighting) perSecond() (cpu []time.Duration, memory []int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.seconds, s.memory
}

// live is what was seen of a leg that goes on.
func (s *sighting) live(r *load.Result) load.Facts {
	s.mu.Lock()
	defer s.mu.Unlock()
	f := load.Facts{ClientCores: clientCores(r)}
	if len(s.begin) > 0 {
		f.ServerCPU, f.ServerCores = s.last.since(s.begin), float64(runtime.NumCPU())
	}
	return f
}

// clientCores is how many processors the load generator could use.
func clientCores(r *load.Result) float64 { return float64(min(max(r.Threads, 1), runtime.NumCPU())) }

// facts are what was seen of a leg that is over.
func (s *sighting) facts(r *load.Result) load.Facts {
	s.gauging.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	f := load.Facts{Throttled: s.throttled}
	f.ClientCores = clientCores(r)
	if len(s.begin) > 0 {
		f.ServerCPU, f.ServerCores = s.spent, float64(runtime.NumCPU())
	}
	return f
}
