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

// This file makes profiles of the CPU time and of the allocations of a contender, a program under test.

// Kinds of profiles, as in requests.
const (
	profileCPU = "cpu"
	profileMem = "mem"
)

// sampleEvery is the mean number of allocated bytes between two samples of a memory profile. A program that
// allocates 100 MB/s has 25,000 samples a second, from which the share of a function is known to a few thousandths.
const sampleEvery = 4 << 10

// errNoProfile is the error for an unknown kind of profile.
var errNoProfile = errors.New("there is a profile of cpu and one of mem")

// Profile calls work and returns a profile of the process during that call, as a gzipped pprof document.
// Kind "cpu" is a profile of the CPU time, with 100 samples per second of a processor. Kind "mem" is a
// profile of all allocations during work, whether the memory is still in use or not.
//
// To profile a server, whose requests come from other processes, work only has to wait.
func Profile(kind string, work func()) ([]byte, error) {
	switch kind {
	case profileCPU:
		return profileTime(work)
	case profileMem:
		return profileAllocs(work)
	}
	return nil, fmt.Errorf("%w, not of %q", errNoProfile, kind)
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

// profileAllocs returns the difference of the process's allocation profiles before and after work. The runtime
// samples only while work runs, so that no measurement includes the cost of sampling. runtime/pprof scales samples by
// the current rate, which is 0 when it writes both documents; so they are not scaled, and diffProfiles scales them.
func profileAllocs(work func()) ([]byte, error) {
	previousRate := runtime.MemProfileRate
	defer func() { runtime.MemProfileRate = previousRate }()
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

// writeAllocs returns the allocation profile of the process since its start. It runs a collection first,
// because the runtime publishes samples only after a collection.
func writeAllocs() ([]byte, error) {
	runtime.GC()
	var doc bytes.Buffer
	if err := pprof.Lookup("allocs").WriteTo(&doc, 0); err != nil {
		return nil, err
	}
	return doc.Bytes(), nil
}

// runProfile handles the request "profile": it runs operations of w for min_ns and replies with a profile of that
// time. For a server it only waits, because the lab, the process that measures, sends and counts the requests.
func (s *session) runProfile(w *work, q wire.Request) (wire.Reply, *wire.Error) {
	if q.MinNS == 0 {
		return wire.Reply{}, newError(classBadRequest, "profile without min_ns")
	}
	var reply wire.Reply
	var failed *wire.Error
	var run func()
	switch {
	case w.server != nil:
		run = func() { time.Sleep(time.Duration(q.MinNS)) }
	case w.pool != nil: // concurrent callers
		run = func() {
			var result wire.Reply
			result, failed = w.pool.runProfile(q)
			reply.Ops, reply.Errors, reply.Message = result.Ops, result.Errors, result.Message
		}
	default:
		run = func() {
			s.phase.enterWork(w, s.meter.cycles())
			m := s.newMeasurement(w)
			for m.wall < time.Duration(q.MinNS) {
				m.runPacedBatch()
			}
			result := m.finish()
			reply.Ops, reply.Errors, reply.Message = result.Ops, result.Errors, result.Message
		}
	}
	doc, err := Profile(q.Profile, run)
	s.lastCPU = cpuNS() // the CPU time to write the profile is not idle time
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
