package contender

import (
	"bytes"
	"errors"
	"fmt"
	"runtime"
	"runtime/pprof"
	"time"

	"github.com/tarebench/tare/contender/wire"
)

// What can be profiled, as on the wire.
const (
	profileCPU = "cpu"
	profileMem = "mem"
)

// sampleEvery is how many bytes are allocated between two samples of a memory
// profile, in the mean. At 100 MB/s that is 25,000 stacks a second, so that a
// function's share is known to a few thousandths.
const sampleEvery = 4 << 10

// errNoProfile is the error for a profile of something else.
var errNoProfile = errors.New("there is a profile of cpu and one of mem")

// Profile calls work and returns where the whole process spent its time ("cpu")
// or allocated ("mem") meanwhile, as a gzipped pprof document. That of cpu has
// 100 samples a second of a processor. That of mem holds what was allocated
// during work and nothing else, whether it is still in use or not.
//
// For work that is done from outside, such as a server's, work only waits.
func Profile(of string, work func()) ([]byte, error) {
	switch of {
	case profileCPU:
		return timeSpent(work)
	case profileMem:
		return allocated(work)
	}
	return nil, fmt.Errorf("%w, not of %q", errNoProfile, of)
}

func timeSpent(work func()) ([]byte, error) {
	var doc bytes.Buffer
	if err := pprof.StartCPUProfile(&doc); err != nil {
		return nil, err
	}
	func() {
		defer pprof.StopCPUProfile() // even if work panics
		work()
	}()
	return doc.Bytes(), nil
}

// allocated takes the difference of what the process had allocated before and
// after work. The runtime samples only while work runs: at other times nothing
// of it should be in anybody's measurements. Both documents are written while
// it does not, so they hold counts of samples, which are scaled in the
// difference.
func allocated(work func()) ([]byte, error) {
	quiet := runtime.MemProfileRate
	defer func() { runtime.MemProfileRate = quiet }()
	runtime.MemProfileRate = 0
	before, err := allocations()
	if err != nil {
		return nil, err
	}
	func() {
		defer func() { runtime.MemProfileRate = 0 }()
		runtime.MemProfileRate = sampleEvery
		work()
	}()
	after, err := allocations()
	if err != nil {
		return nil, err
	}
	return beyond(before, after, sampleEvery)
}

// allocations writes all that was sampled since the process started. Samples
// are in it once a collection has seen them.
func allocations() ([]byte, error) {
	runtime.GC()
	var doc bytes.Buffer
	if err := pprof.Lookup("allocs").WriteTo(&doc, 0); err != nil {
		return nil, err
	}
	return doc.Bytes(), nil
}

// profile has workload w run under a profiler for min_ns. The operations of a
// server come from outside meanwhile, and are counted there.
func (s *session) profile(w *work, q wire.Request) (wire.Reply, *wire.Error) {
	if q.MinNS == 0 {
		return wire.Reply{}, refusal(classBadRequest, "profile without min_ns")
	}
	var reply wire.Reply
	var failed *wire.Error
	run := func() { time.Sleep(time.Duration(q.MinNS)) }
	switch {
	case w.crew != nil:
		run = func() {
			var a wire.Reply
			a, failed = w.crew.profile(q)
			reply.Ops, reply.Errors, reply.Message = a.Ops, a.Errors, a.Message
		}
	case w.server == nil:
		run = func() {
			s.phase.enter(w, s.meter.cycles())
			m := s.begin(w)
			for seen := time.Duration(0); m.wall < time.Duration(q.MinNS); seen = m.wall {
				before := m.tally.ops
				m.step(most)
				w.learn(m.tally.ops-before, m.wall-seen)
			}
			a := m.end()
			reply.Ops, reply.Errors, reply.Message = a.Ops, a.Errors, a.Message
		}
	}
	doc, err := Profile(q.Profile, run)
	s.mark = cpuNS() // writing it down is nobody's idle time
	switch {
	case failed != nil:
		return wire.Reply{}, failed
	case errors.Is(err, errNoProfile):
		return wire.Reply{}, refusal(classBadRequest, "%v", err)
	case err != nil:
		return wire.Reply{}, refusal(classInternal, "profile: %v", err)
	}
	reply.Profile = doc
	return reply, nil
}
