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

// Profiles show the CPU time or the allocations of a contender, the measured program.

const (
	profileCPU = "cpu"
	profileMem = "mem"
)

// sampleEvery is the mean number of bytes between samples. A program that allocates 100 MB/s has 25,000
// samples a second.
const sampleEvery = 4 << 10

var errNoProfile = errors.New("there is a profile of cpu and one of mem")

// Profile profiles the process while work runs, as a gzipped pprof document. Kind "cpu" has 100 samples per
// second of a processor. Kind "mem" has all allocations, in use or not.
//
// For a server, work only has to wait.
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

// profileAllocs samples only during work, so that no measurement pays for it. The rate is 0 when runtime/pprof
// writes both profiles. So they are unscaled, and diffProfiles scales them.
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

// writeAllocs runs a collection, after which the runtime publishes samples.
func writeAllocs() ([]byte, error) {
	runtime.GC()
	var doc bytes.Buffer
	if err := pprof.Lookup("allocs").WriteTo(&doc, 0); err != nil {
		return nil, err
	}
	return doc.Bytes(), nil
}

// runProfile handles "profile": it runs operations for min_ns and replies with a profile. For a server it only
// waits, because the measuring process sends the requests.
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
	s.lastCPU = cpuNS() // CPU time of writing is not idle time
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
