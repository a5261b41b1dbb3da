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

// Profiles, as on the wire.
const (
	profileCPU = "cpu"
	profileMem = "mem"
)

// sampleEvery is the mean number of bytes allocated between two samples of a memory profile. At 100 MB/s that
// is 25,000 stacks a second, so that a function's share is known to a few thousandths.
const sampleEvery = 4 << 10

// errNoProfile is the error for an unknown kind of profile.
var errNoProfile = errors.New("there is a profile of cpu and one of mem")

// Profile calls work and returns a profile of the CPU time ("cpu") or the allocations
// ("mem") of the process meanwhile, as a gzipped pprof document. That of cpu has
// 100 samples a second of a processor. That of mem holds what was allocated
// during work and nothing else, whether it is still in use or not.
//
// For work that is done from outside, such as a server's, work only waits.
func Profile(of string, work func()) ([]byte, error) {
	switch of {
	case profileCPU:
		return profileTime(work)
	case profileMem:
		return profileAllocs(work)
	}
	return nil, fmt.Errorf("%w, not of %q", errNoProfile, of)
}

func profileTime(work func()) ([]byte, error) {
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

// profileAllocs returns the difference of the process's allocations before and after work. The runtime samples
// only while work runs, so that no measurement includes sampling. Both documents are written outside of that
// time, so they contain counts of samples, which the difference scales.
func profileAllocs(work func()) ([]byte, error) {
	quiet := runtime.MemProfileRate
	defer func() { runtime.MemProfileRate = quiet }()
	runtime.MemProfileRate = 0
	before, err := writeAllocs()
	if err != nil {
		return nil, err
	}
	func() {
		defer func() { runtime.MemProfileRate = 0 }()
		runtime.MemProfileRate = sampleEvery
		work()
	}()
	after, err := writeAllocs()
	if err != nil {
		return nil, err
	}
	return diffProfiles(before, after, sampleEvery)
}

// writeAllocs returns everything that was sampled since the process started. It collects first, because
// samples appear only after a collection.
func writeAllocs() ([]byte, error) {
	runtime.GC()
	var doc bytes.Buffer
	if err := pprof.Lookup("allocs").WriteTo(&doc, 0); err != nil {
		return nil, err
	}
	return doc.Bytes(), nil
}

// runProfile runs workload w under a profiler for min_ns. The operations of a server come from outside
// meanwhile, and are counted there.
func (s *session) runProfile(w *work, q wire.Request) (wire.Reply, *wire.Error) {
	if q.MinNS == 0 {
		return wire.Reply{}, newError(classBadRequest, "profile without min_ns")
	}
	var reply wire.Reply
	var failed *wire.Error
	run := func() { time.Sleep(time.Duration(q.MinNS)) }
	switch {
	case w.crew != nil:
		run = func() {
			var a wire.Reply
			a, failed = w.crew.runProfile(q)
			reply.Ops, reply.Errors, reply.Message = a.Ops, a.Errors, a.Message
		}
	case w.server == nil:
		run = func() {
			s.phase.enterWork(w, s.meter.cycles())
			m := s.newMeasurement(w)
			for seen := time.Duration(0); m.wall < time.Duration(q.MinNS); seen = m.wall {
				before := m.tally.ops
				m.runBatch(noLimit)
				w.setPace(m.tally.ops-before, m.wall-seen)
			}
			a := m.finish()
			reply.Ops, reply.Errors, reply.Message = a.Ops, a.Errors, a.Message
		}
	}
	doc, err := Profile(q.Profile, run)
	s.lastCPU = cpuNS() // writing it is not idle time
	switch {
	case failed != nil:
		return wire.Reply{}, failed
	case errors.Is(err, errNoProfile):
		return wire.Reply{}, newError(classBadRequest, "%v", err)
	case err != nil:
		return wire.Reply{}, newError(classInternal, "profile: %v", err)
	}
	reply.Profile = doc
	return reply, nil
}
