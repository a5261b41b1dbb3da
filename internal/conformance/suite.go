// Package conformance tests contenders: it starts a built contender as a lab would, sends requests and
// checks the replies against docs/contender-protocol.md. It contains the tests of codecs, copiers and
// routers, and the tests of servers that are the same for all apps. The tests of one app are in package
// apps/NAME/conformance. Package contender/contendertest calls all of them.
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

// Kind describes one kind of contender to the suite.
type Kind struct {
	ops       []string
	fixture   string                                     // fixture of the bodies, unless makeInput makes them
	compare   func(op string, body, answer []byte) error // returns nil if the answer to body is correct
	hasOutput func(op string) bool                       // reports whether op outputs bytes, which stats count
	needsSize func(op string) bool                       // reports whether the answer must state the size of the output, because it is not the output

	// makeInput writes a pool for op into dir. If it is nil, the bodies of the fixture are used.
	makeInput func(dir, op string) (wire.Workload, [][]byte, error)
	// checkMore runs more tests of this kind of contender. It may be nil.
	checkMore func(s Subject, dir string) error
	// Examine replaces the entire suite if it is not nil.
	Examine func(s Subject, dir string) []error
}

// Subject is the contender under test.
type Subject struct {
	Command []string // program and its arguments
	Manifest
	Variant string        // "" if it has no variants
	Limit   time.Duration // for each reply, and for the contender to end
	Hasty   bool          // omit slow tests

	// Enough reports whether the tests may end with the errors so far. If it is nil, all tests run.
	Enough func(wrong error) bool

	Logf func(format string, args ...any) // gets the measurements; may be nil
}

// Note logs a measurement of the contender.
func (s Subject) Note(format string, args ...any) {
	if s.Logf != nil {
		s.Logf("%-32s "+format, append([]any{strings.Trim(s.ID+" "+s.Variant, " ")}, args...)...)
	}
}

// isEnough reports whether the tests may end with the errors so far.
func (s Subject) isEnough(errs []error) bool {
	return s.Enough != nil && errs != nil && s.Enough(errors.Join(errs...))
}

// Loose reports whether only the status of an answer is compared, because the contender is a server
// that does only a part of the work.
func (s Subject) Loose() bool { return s.Answers[s.Variant] == "status" }

// Examine runs the suite of the contender's kind and returns the errors that it finds. Inputs are
// written into dir.
func (s Subject) Examine(kinds map[string]Kind, dir string) []error {
	k, ok := kinds[s.Kind]
	if !ok {
		return []error{fmt.Errorf("there is no conformance suite for kind %q", s.Kind)}
	}
	if k.Examine != nil {
		return k.Examine(s, dir)
	}
	var errs []error
	add := func(err error) {
		if err != nil {
			errs = append(errs, err)
		}
	}
	add(s.Visit(Session{}, s.CheckHello))
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
		add(s.Visit(Session{}, func(p *Process, _ wire.Reply) error {
			a, err := p.OK(wire.Request{Op: wire.OpPrepare, Workload: &w})
			if err != nil || a.Unsupported {
				return err
			}
			if err := s.checkWork(p, k, w, bodies, a.Fresh); err != nil {
				return err
			}
			supported++
			if supported > 1 {
				return nil
			}
			return checkHeap(p, w) // once is enough
		}))
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

// generalTests returns the tests that do not depend on an operation.
func (s Subject) generalTests(k Kind, dir string) []func() error {
	checkMore := func() error {
		if k.checkMore == nil {
			return nil
		}
		return k.checkMore(s, dir)
	}
	checkErrors := func() error {
		return s.Visit(Session{NoBye: true}, func(p *Process, _ wire.Reply) error { return checkErrorReplies(p, dir) })
	}
	checkSocket := func() error { // hello and bye over a socket
		return s.Visit(Session{Socket: true}, func(*Process, wire.Reply) error { return nil })
	}
	return []func() error{checkMore, checkErrors, checkSocket, s.checkNoLab}
}

// Session is a way to talk to a contender. The zero value uses inherited descriptors and says bye.
type Session struct {
	Socket bool // requests go over a socket
	NoBye  bool // the contender must end when its input is closed, without bye
}

// Visit starts the contender, sends hello, calls f, ends the session and checks that the contender ends
// by itself.
func (s Subject) Visit(how Session, f func(p *Process, hello wire.Reply) error) error {
	p, err := startProcess(s.Command, how.Socket, s.Limit)
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
	if how.NoBye {
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

// CheckHello checks the contender's reply to hello against its manifest and its process.
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

// checkErrorReplies checks that the contender replies with an error to requests that it cannot
// carry out, and continues after each of them.
func checkErrorReplies(p *Process, dir string) error {
	missing := &wire.Workload{ID: "gone", Fixture: "devices", Op: "marshal", Input: filepath.Join(dir, "gone"), Bodies: 1, SHA256: "00"}
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

// checkNoLab checks that a contender prints a message and fails if it is started without a lab,
// instead of waiting for requests.
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

// makeWorkload writes a pool for op into dir and returns its workload and bodies.
func (k Kind) makeWorkload(dir, op string) (wire.Workload, [][]byte, error) {
	if k.makeInput != nil {
		return k.makeInput(dir, op)
	}
	const n, pool = 5, 8 // number of items in a body, and number of bodies
	bodies, err := fixture.Pool(k.fixture, n, pool)
	if err != nil {
		return wire.Workload{}, nil, err
	}
	w, err := Write(dir, wire.Workload{ID: k.fixture + "/" + op, Fixture: k.fixture, N: n, Op: op}, bodies)
	return w, bodies, err
}

// Write writes bodies into a file in dir, as the pool of w, and returns w with the path and hash of
// the file.
func Write(dir string, w wire.Workload, bodies [][]byte) (wire.Workload, error) {
	written, err := pool.Write(dir, "", bodies, 0o600)
	w.Input, w.SHA256, w.Bodies = written.Input, written.SHA256, written.Bodies
	return w, err
}
