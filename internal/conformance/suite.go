// Package conformance tests contenders: the programs that tare compares. It starts one as tare does, sends
// requests and checks the replies against docs/contender-protocol.md. Package contender/contendertest calls
// the tests.
//
// An app is a service that servers implement, such as users. The tests of each app are in
// apps/NAME/conformance. This package has all other tests.
package conformance

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/tarebench/tare/contender/fixture"
	"github.com/tarebench/tare/contender/wire"
	"github.com/tarebench/tare/internal/pool"
)

// Kind defines the tests of one kind of contender. A codec, for example, gets JSON bodies and the operation
// marshal. Each answer must be JSON with the value of its body.
type Kind struct {
	ops       []string                                   // operations to test; a contender may support only some of them
	fixture   string                                     // name of the generated data in the bodies, unless makeInput makes them
	compare   func(op string, body, answer []byte) error // returns an error unless the answer to body is correct
	hasOutput func(op string) bool                       // reports whether op outputs bytes, which the reply to stats counts
	needsSize func(op string) bool                       // reports whether an answer must state the output's size, because it is not the output itself

	// makeInput writes a pool (a file of bodies) for op into dir. If it is nil, fixture makes the bodies.
	makeInput func(dir, op string) (wire.Workload, [][]byte, error)
	// checkMore runs more tests. It may be nil.
	checkMore func(s Subject, dir string) error
	// TestAll replaces all tests above if it is not nil. Servers and contenders of kind rpc set it.
	TestAll func(s Subject, dir string) []error
}

// Subject is the contender under test.
type Subject struct {
	Command []string // program and its arguments
	Manifest
	Variant  string        // "" if it has no variants
	Limit    time.Duration // longest time of a reply, and until the contender ends
	SkipSlow bool          // skip slow tests

	// Enough reports whether the tests can end early. found is true if they have found an error. If it is nil,
	// all tests run.
	Enough func(found error) bool

	Logf func(format string, args ...any) // logs measurements of the contender; may be nil
}

// Note logs a measurement, with the contender's name before it.
func (s Subject) Note(format string, args ...any) {
	if s.Logf != nil {
		s.Logf("%-32s "+format, append([]any{strings.Trim(s.ID+" "+s.Variant, " ")}, args...)...)
	}
}

func (s Subject) isEnough(errs []error) bool {
	return s.Enough != nil && errs != nil && s.Enough(errors.Join(errs...))
}

// IsStatusOnly reports whether the contender is a server that does only a part of an app's work.
// The tests then check only the status of its responses.
func (s Subject) IsStatusOnly() bool { return s.Answers[s.Variant] == "status" }

// Test runs the tests of the contender's kind and returns their errors. It writes inputs into dir.
func (s Subject) Test(kinds map[string]Kind, dir string) []error {
	k, ok := kinds[s.Kind]
	if !ok {
		return []error{fmt.Errorf("there is no conformance suite for kind %q", s.Kind)}
	}
	if k.TestAll != nil {
		return k.TestAll(s, dir)
	}
	var errs []error
	add := func(err error) {
		if err != nil {
			errs = append(errs, err)
		}
	}
	add(s.RunSession(Session{}, s.CheckHello))
	if errs != nil {
		return errs // every other test would fail too
	}
	supported := 0 // number of operations that the contender supports
	for _, op := range k.ops {
		if s.isEnough(errs) {
			return errs
		}
		w, bodies, err := k.makeWorkload(dir, op)
		if err != nil {
			return append(errs, err)
		}
		testsHeap := supported == 0 // once is enough
		works, err := s.testOp(k, w, bodies, testsHeap)
		if works {
			supported++
		}
		add(err)
	}
	if supported == 0 && errs == nil {
		add(fmt.Errorf("it supports none of the operations %v", k.ops))
	}
	for _, test := range s.generalTests(k, dir) {
		if s.isEnough(errs) {
			return errs
		}
		add(test())
	}
	return errs
}

// testOp tests an operation in a session of its own. works is false if the contender does not support it.
func (s Subject) testOp(k Kind, w wire.Workload, bodies [][]byte, testsHeap bool) (works bool, err error) {
	err = s.RunSession(Session{}, func(p *Process, _ wire.Reply) error {
		a, err := p.OK(wire.Request{Op: wire.OpPrepare, Workload: &w})
		if err != nil || a.Unsupported {
			return err
		}
		if err := s.checkWork(p, k, w, bodies, a.Fresh); err != nil {
			return err
		}
		works = true
		if testsHeap {
			return checkHeap(p, w)
		}
		return nil
	})
	return works, err
}

func (s Subject) generalTests(k Kind, dir string) []func() error {
	checkMore := func() error {
		if k.checkMore == nil {
			return nil
		}
		return k.checkMore(s, dir)
	}
	checkErrors := func() error {
		return s.RunSession(Session{NoBye: true}, func(p *Process, _ wire.Reply) error { return checkErrorReplies(p, dir) })
	}
	return []func() error{checkMore, checkErrors, s.CheckSocket, s.checkNoLab}
}

// CheckSocket checks that hello and bye work over a socket.
func (s Subject) CheckSocket() error {
	return s.RunSession(Session{Socket: true}, func(*Process, wire.Reply) error { return nil })
}

// Session defines how a contender is started and ended. The zero value uses inherited descriptors and ends
// with the request bye.
type Session struct {
	Socket bool // requests go over a socket
	NoBye  bool // no bye: the contender must end when its input is closed
}

// RunSession starts the contender, sends hello, calls f with the process and the reply to hello,
// and ends it as session defines. The process must then exit by itself.
func (s Subject) RunSession(session Session, f func(p *Process, hello wire.Reply) error) error {
	p, err := startProcess(s.Command, session.Socket, s.Limit)
	if err != nil {
		return fmt.Errorf("start: %w", err)
	}
	defer p.close()
	defer p.killNow()
	hello, err := p.OK(wire.Request{Op: wire.OpHello, Protocol: wire.Protocol, Trial: "conformance", Seed: "1", Variant: s.Variant})
	if err != nil {
		return err
	}
	if err := f(p, hello); err != nil {
		return err
	}
	moment := "after bye"
	if session.NoBye {
		moment = "when its requests end"
		err = p.in.Close()
	} else {
		_, err = p.OK(wire.Request{Op: wire.OpBye})
	}
	if err != nil {
		return err
	}
	if err := p.awaitExit(); err != nil {
		return fmt.Errorf("%s: %w", moment, err)
	}
	return nil
}

// CheckHello checks the reply to hello, in which a contender introduces itself, against its
// manifest and process.
func (s Subject) CheckHello(p *Process, a wire.Reply) error {
	var errs []error
	if a.Protocol != wire.Protocol {
		errs = append(errs, fmt.Errorf("hello: protocol %q, want %q", a.Protocol, wire.Protocol))
	}
	if a.Kind != s.Kind {
		errs = append(errs, fmt.Errorf("hello: kind %q, contender.json has %q", a.Kind, s.Kind))
	}
	if have, want := slices.Sorted(slices.Values(a.Variants)), slices.Sorted(slices.Values(s.Variants)); !slices.Equal(have, want) {
		errs = append(errs, fmt.Errorf("hello: variants %v, contender.json has %v", have, want))
	}
	if a.PID != p.cmd.Process.Pid {
		errs = append(errs, fmt.Errorf("hello: pid %d, it was started as %d", a.PID, p.cmd.Process.Pid))
	}
	return errors.Join(errs...)
}

// checkErrorReplies sends invalid requests. The contender must reply with an error and continue.
func checkErrorReplies(p *Process, dir string) error {
	missing := &wire.Workload{ID: "gone", Fixture: "devices", Op: "marshal", Input: filepath.Join(dir, "no-such-file"), Bodies: 1, SHA256: "00"}
	for _, q := range []wire.Request{
		{Op: "no-such-op"},
		{Op: wire.OpSlice, On: "nobody", Until: "ops", Ops: 1},
		{Op: wire.OpAnswer, On: "nobody", Cases: []int{0}},
		{Op: wire.OpPrepare, Workload: missing},
	} {
		a, err := p.Do(q)
		if err != nil {
			return err
		}
		if a.Error == nil || a.Error.Class == "" {
			return fmt.Errorf("%s on %q: the reply is no error reply: %+v", q.Op, q.On, a)
		}
		if q.Op == "no-such-op" && a.Error.Class != "unknown-op" {
			return fmt.Errorf("an unknown op is rejected as %s, want unknown-op", a.Error.Class)
		}
	}
	return nil
}

// checkNoLab starts a contender by hand, without tare. It must print a message and fail instead of waiting for
// requests.
func (s Subject) checkNoLab() error {
	ctx, cancel := context.WithTimeout(context.Background(), s.Limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, s.Command[0], s.Command[1:]...)
	cmd.Env = append(os.Environ(), wire.EnvWire+"=")
	out, err := cmd.CombinedOutput()
	if ctx.Err() != nil {
		return fmt.Errorf("started without a lab it does not end within %v", s.Limit)
	}
	if err == nil || len(out) == 0 {
		return errors.New("started without a lab it should say what it is and fail")
	}
	return nil
}

func (k Kind) makeWorkload(dir, op string) (wire.Workload, [][]byte, error) {
	if k.makeInput != nil {
		return k.makeInput(dir, op)
	}
	const n, pool = 5, 8 // number of items in a body, and number of bodies
	bodies, err := fixture.Pool(k.fixture, n, pool)
	if err != nil {
		return wire.Workload{}, nil, err
	}
	w, err := WritePool(dir, wire.Workload{ID: k.fixture + "/" + op, Fixture: k.fixture, N: n, Op: op}, bodies)
	return w, bodies, err
}

// WritePool writes bodies into a file in dir, the pool of w. It returns w with the path and hash of
// the file.
func WritePool(dir string, w wire.Workload, bodies [][]byte) (wire.Workload, error) {
	written, err := pool.Write(dir, "", bodies, 0o600)
	w.Input, w.SHA256, w.Bodies = written.Input, written.SHA256, written.Bodies
	return w, err
}
