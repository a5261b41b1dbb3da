package contender

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"runtime"

	"github.com/tarebench/tare/contender/fixture"
	"github.com/tarebench/tare/contender/wire"
)

// maxPool limits a pool (inputs of a workload, one per line), in bytes.
const maxPool = 1 << 30

// prepareWork handles "prepare". It closes earlier workloads. It runs a collection, because the heap must not
// depend on earlier requests or garbage of loading.
func (s *session) prepareWork(q wire.Request) (wire.Reply, *wire.Error) {
	s.phase = phase{}
	if !s.hasHello {
		return wire.Reply{}, newError(classBadRequest, "prepare before hello")
	}
	if q.Workload == nil || q.Workload.ID == "" {
		return wire.Reply{}, newError(classBadRequest, "prepare without a workload or its id")
	}
	if err := checkHeap(q.Workload.Heap); err != nil {
		return wire.Reply{}, err
	}
	s.forgetAll()
	w, err := s.loadWork(*q.Workload)
	switch {
	case errors.Is(err, ErrUnsupported):
		return wire.Reply{Prepared: wire.Prepared{Unsupported: true}}, nil
	case err != nil:
		return wire.Reply{}, newError(classLoad, "%v", err)
	case w.server == nil && (w.Do == nil || w.Answer == nil):
		w.close()
		return wire.Reply{}, newError(classInternal, "the contender prepared work without Do or Answer")
	}
	if w.Callers > 0 {
		w.pool = newWorkerPool(s, w)
	}
	s.setBallast(q.Workload.Heap)
	s.works[q.Workload.ID] = w
	runtime.GC()
	s.phase = phase{owner: w, cycles: s.meter.cycles(), known: true} // a cycle has just ended
	if w.server != nil {
		w.server.markAllocs()
		return wire.Reply{Prepared: wire.Prepared{Addr: w.server.Addr}}, nil
	}
	return wire.Reply{Prepared: wire.Prepared{Fresh: w.Fresh}}, nil
}

// loadWork calls Serve or Prepare of the program. Serve does not get the pool, because no server knows its
// requests in advance.
func (s *session) loadWork(w wire.Workload) (*work, error) {
	if p := s.program; p.Serve != nil && (p.Prepares == nil || !p.Prepares(w)) {
		return s.startServer(w)
	}
	bodies, err := readPool(w)
	if err != nil {
		return nil, err
	}
	prepared, err := s.program.Prepare(s.variant, w, bodies)
	return &work{Work: prepared, bodies: len(bodies)}, err
}

func readPool(w wire.Workload) ([][]byte, error) {
	info, err := os.Stat(w.Input)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > maxPool {
		return nil, fmt.Errorf("%s is not a file of at most %d bytes", w.Input, maxPool)
	}
	data, err := os.ReadFile(w.Input)
	if err != nil {
		return nil, err
	}
	if sum := sha256.Sum256(data); hex.EncodeToString(sum[:]) != w.SHA256 {
		return nil, fmt.Errorf("%s has SHA-256 %x, not %s", w.Input, sum, w.SHA256)
	}
	bodies := fixture.Lines(data)
	if len(bodies) != w.Bodies {
		return nil, fmt.Errorf("%s has %d bodies, not %d", w.Input, len(bodies), w.Bodies)
	}
	return bodies, nil
}

func (s *session) forgetAll() {
	for _, w := range s.works {
		w.close()
	}
	clear(s.works)
	s.stopServer()
}

// close ends the callers and calls Work.Close. It does not stop a server.
func (w *work) close() {
	if w.pool != nil {
		w.pool.stopWorkers()
	}
	if w.Close != nil {
		w.Close()
	}
}

// resetWork handles "reset": it restores the state after prepare.
func (s *session) resetWork(w *work, q wire.Request) (wire.Reply, *wire.Error) {
	reset := w.Reset
	if w.server != nil {
		reset = w.server.Reset
	}
	serverEnded := w.server != nil && w.server.ended
	if reset == nil || serverEnded {
		return wire.Reply{}, newError(classNotMine, "reset of workload %q: there is nothing to go back to", q.On)
	}
	if err := reset(); err != nil {
		return wire.Reply{}, newError(classLoad, "reset: %v", err)
	}
	s.phase, w.next = phase{}, 0
	if s.lastCPU >= 0 {
		s.lastCPU = cpuNS() // CPU time of the reset is not idle time
	}
	return wire.Reply{}, nil
}

// answerCases handles "answer": it returns outputs, which are compared with those of other contenders.
func (s *session) answerCases(w *work, q wire.Request) (wire.Reply, *wire.Error) {
	s.phase.enterWork(w, s.meter.cycles())
	for _, c := range q.Cases {
		if c < 0 || c >= w.bodies {
			return wire.Reply{}, newError(classBadRequest, "case %d: workload %q has bodies 0 to %d", c, q.On, w.bodies-1)
		}
	}
	answers := make([]wire.Answer, len(q.Cases))
	for i, c := range q.Cases {
		answers[i] = w.answerCase(c)
	}
	s.phase.addOps(int64(len(q.Cases)), s.meter.cycles())
	return wire.Reply{Answers: answers}, nil
}

func (w *work) answerCase(c int) (a wire.Answer) {
	defer func() {
		if v := recover(); v != nil {
			a = wire.Answer{Case: c, Error: panicText(v)}
		}
	}()
	out, err := w.Answer(c)
	if err != nil {
		return wire.Answer{Case: c, Error: errorText(err)}
	}
	return wire.Answer{Case: c, Output: bytes.Clone(out.Output), Size: out.Size}
}

// errorText returns the text of err in one line. It is never "", which would mean no error.
func errorText(err error) string {
	if s := oneLine(err.Error()); s != "" {
		return s
	}
	return fmt.Sprintf("%T without a text", err)
}
