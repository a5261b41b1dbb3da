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

// maxPool is the largest pool file that is read, in bytes.
const maxPool = 1 << 30

// prepare loads a workload. What was prepared before is forgotten and collected,
// and so is what loading left behind: what a process holds while it is measured
// must not depend on what it was asked before.
func (s *session) prepare(q wire.Request) (wire.Reply, *wire.Error) {
	s.phase = phase{}
	if !s.greeted {
		return wire.Reply{}, refusal(classBadRequest, "prepare before hello")
	}
	if q.Workload == nil || q.Workload.ID == "" {
		return wire.Reply{}, refusal(classBadRequest, "prepare without a workload or its id")
	}
	if err := checkHeap(q.Workload.Heap); err != nil {
		return wire.Reply{}, err
	}
	s.forget()
	made, err := s.load(*q.Workload)
	switch {
	case errors.Is(err, ErrUnsupported):
		return wire.Reply{Prepared: wire.Prepared{Unsupported: true}}, nil
	case err != nil:
		return wire.Reply{}, refusal(classLoad, "%v", err)
	case made.server == nil && (made.Do == nil || made.Answer == nil):
		made.close()
		return wire.Reply{}, refusal(classInternal, "the contender prepared work without Do or Answer")
	}
	if made.Callers > 0 {
		made.crew = newCrew(s, made)
	}
	s.hold(q.Workload.Heap)
	s.works[q.Workload.ID] = made
	runtime.GC()
	s.phase = phase{of: made, cycles: s.meter.cycles(), known: true} // a cycle has just ended
	if made.server != nil {
		made.server.mark()
		return wire.Reply{Prepared: wire.Prepared{Addr: made.server.Addr}}, nil
	}
	return wire.Reply{Prepared: wire.Prepared{Fresh: made.Fresh}}, nil
}

// load has the contender prepare w. A server is not shown the pool: no server
// knows what it will be asked.
func (s *session) load(w wire.Workload) (*work, error) {
	if p := s.program; p.Serve != nil && (p.Prepares == nil || !p.Prepares(w)) {
		return s.serve(w)
	}
	bodies, err := readPool(w)
	if err != nil {
		return nil, err
	}
	made, err := s.program.Prepare(s.variant, w, bodies)
	return &work{Work: made, bodies: len(bodies)}, err
}

// readPool reads the bodies of w and checks that they are the ones meant.
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

// forget ends all that was prepared.
func (s *session) forget() {
	for _, w := range s.works {
		w.close()
	}
	clear(s.works)
	s.stop()
}

// close ends what a workload keeps, its server apart.
func (w *work) close() {
	if w.crew != nil {
		w.crew.dismiss()
	}
	if w.Close != nil {
		w.Close()
	}
}

// reset goes back to how w was when it was prepared.
func (s *session) reset(w *work, q wire.Request) (wire.Reply, *wire.Error) {
	back := w.Reset
	if w.server != nil {
		back = w.server.Reset
	}
	if back == nil || w.server != nil && w.server.ended {
		return wire.Reply{}, refusal(classNotMine, "reset of workload %q: there is nothing to go back to", q.On)
	}
	if err := back(); err != nil {
		return wire.Reply{}, refusal(classLoad, "reset: %v", err)
	}
	s.phase, w.next = phase{}, 0
	if s.mark >= 0 {
		s.mark = cpuNS() // what it took is nobody's idle time
	}
	return wire.Reply{}, nil
}

func (s *session) answer(w *work, q wire.Request) (wire.Reply, *wire.Error) {
	s.phase.enter(w, s.meter.cycles())
	for _, c := range q.Cases {
		if c < 0 || c >= w.bodies {
			return wire.Reply{}, refusal(classBadRequest, "case %d: workload %q has bodies 0 to %d", c, q.On, w.bodies-1)
		}
	}
	answers := make([]wire.Answer, len(q.Cases))
	for i, c := range q.Cases {
		answers[i] = w.answer(c)
	}
	s.phase.after(int64(len(q.Cases)), s.meter.cycles())
	return wire.Reply{Answers: answers}, nil
}

// answer asks for one case. A panic is this case's error, for the lab to
// compare with what others make of the case.
func (w *work) answer(c int) (a wire.Answer) {
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

// errorText is never empty, as an empty text would read as no error.
func errorText(err error) string {
	if s := oneLine(err.Error()); s != "" {
		return s
	}
	return fmt.Sprintf("%T without a text", err)
}
