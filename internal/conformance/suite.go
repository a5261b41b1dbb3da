// Package conformance starts a built contender as a lab would and compares what it
// does with docs/contender-protocol.md: codecs, copiers, routers, and of servers what
// is the same for all apps. Packages apps/NAME/conformance have the rest, and
// contender/contendertest puts it together.
package conformance

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
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
)

// Kind describes one kind of contender to the suite.
type Kind struct {
	ops     []string
	fixture string
	compare func(op string, body, answer []byte) error // nil if the answer is correct
	puts    func(op string) bool                       // the operation puts bytes out
	hides   func(op string) bool                       // and its answer is not made of them

	// input writes a pool for op; if nil, the bodies are those of the fixture.
	input func(dir, op string) (wire.Workload, [][]byte, error)
	// further runs more tests of this kind of contender; it may be nil.
	further func(s Subject, dir string) error
	// Examine replaces the entire suite if it is not nil.
	Examine func(s Subject, dir string) []error
}

// Subject is the contender under test.
type Subject struct {
	Command []string
	Manifest
	Variant string
	Limit   time.Duration // for each reply, and for the end
	Hasty   bool          // omits slow tests

	// Enough reports whether the tests may end with the errors so far; if nil, they continue to the
	// end.
	Enough func(wrong error) bool

	Logf func(format string, args ...any) // gets the measurements; may be nil
}

// Note logs what was measured of the contender.
func (s Subject) Note(format string, args ...any) {
	if s.Logf != nil {
		s.Logf("%-32s "+format, append([]any{strings.Trim(s.ID+" "+s.Variant, " ")}, args...)...)
	}
}

// isEnough reports whether the examination ends with what is wrong so far.
func (s Subject) isEnough(wrong []error) bool {
	return s.Enough != nil && wrong != nil && s.Enough(errors.Join(wrong...))
}

// Loose reports whether only the status of an answer is correct, as for a server that does a part
// of the work.
func (s Subject) Loose() bool { return s.Answers[s.Variant] == "status" }

// Examine runs the suite of its kind and returns what is wrong. dir takes the
// inputs.
func (s Subject) Examine(kinds map[string]Kind, dir string) []error {
	k, known := kinds[s.Kind]
	if !known {
		return []error{fmt.Errorf("there is no conformance suite for kind %q", s.Kind)}
	}
	if k.Examine != nil {
		return k.Examine(s, dir)
	}
	var wrong []error
	note := func(err error) {
		if err != nil {
			wrong = append(wrong, err)
		}
	}
	note(s.Visit(false, true, s.CheckHello))
	if wrong != nil {
		return wrong // nothing else can go right
	}
	supported := 0
	for _, op := range k.ops {
		if s.isEnough(wrong) {
			return wrong
		}
		w, bodies, err := k.makeWorkload(dir, op)
		if err != nil {
			return append(wrong, err)
		}
		note(s.Visit(false, true, func(p *Process, _ wire.Reply) error {
			a, err := p.OK(wire.Request{Op: wire.OpPrepare, Workload: &w})
			if err != nil || a.Unsupported {
				return err
			}
			if err := s.checkWork(p, k, w, bodies, a.Fresh); err != nil {
				return err
			}
			if supported++; supported > 1 {
				return nil
			}
			return checkHeap(p, w) // once is enough
		}))
	}
	if supported == 0 && wrong == nil {
		note(fmt.Errorf("it supports none of the operations %v", k.ops))
	}
	for _, examine := range []func() error{
		func() error {
			if k.further == nil {
				return nil
			}
			return k.further(s, dir)
		},
		func() error {
			return s.Visit(false, false, func(p *Process, _ wire.Reply) error { return checkRefusals(p, dir) })
		},
		func() error { return s.Visit(true, true, func(*Process, wire.Reply) error { return nil }) },
		s.checkNoLab,
	} {
		if s.isEnough(wrong) {
			return wrong
		}
		note(examine())
	}
	return wrong
}

// Visit starts the contender, sends hello, calls f and checks that the contender ends by itself: on
// bye, or when requests end.
func (s Subject) Visit(socket, bye bool, f func(p *Process, hello wire.Reply) error) error {
	p, err := startProcess(s.Command, socket, s.Limit)
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
	how := "when its requests end"
	if bye {
		how = "after bye"
		if _, err := p.OK(wire.Request{Op: wire.OpBye}); err != nil {
			return err
		}
	} else if err := p.in.Close(); err != nil {
		return err
	}
	if err := p.awaitExit(); err != nil {
		return fmt.Errorf("%s: %w", how, err)
	}
	return nil
}

// CheckHello checks the contender's hello.
func (s Subject) CheckHello(p *Process, a wire.Reply) error {
	var wrong []error
	if a.Protocol != wire.Protocol {
		wrong = append(wrong, fmt.Errorf("hello: protocol %q, want %q", a.Protocol, wire.Protocol))
	}
	if a.Kind != s.Kind {
		wrong = append(wrong, fmt.Errorf("hello: kind %q, contender.json says %q", a.Kind, s.Kind))
	}
	if have, want := slices.Sorted(slices.Values(a.Variants)), slices.Sorted(slices.Values(s.Variants)); !slices.Equal(have, want) {
		wrong = append(wrong, fmt.Errorf("hello: variants %v, contender.json says %v", have, want))
	}
	if a.PID != p.cmd.Process.Pid {
		wrong = append(wrong, fmt.Errorf("hello: pid %d, it was started as %d", a.PID, p.cmd.Process.Pid))
	}
	return errors.Join(wrong...)
}

// checkRefusals: what cannot be carried out gets an error reply, and the next
// request is served.
func checkRefusals(p *Process, dir string) error {
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
			return fmt.Errorf("an unknown op is refused as %s, want unknown-op", a.Error.Class)
		}
	}
	return nil
}

// checkNoLab checks that a contender started without a lab reports that and ends instead of
// waiting.
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

// makeWorkload writes a pool for op.
func (k Kind) makeWorkload(dir, op string) (wire.Workload, [][]byte, error) {
	if k.input != nil {
		return k.input(dir, op)
	}
	const n, pool = 5, 8
	bodies, err := fixture.Pool(k.fixture, n, pool)
	if err != nil {
		return wire.Workload{}, nil, err
	}
	w, err := Write(dir, wire.Workload{ID: k.fixture + "/" + op, Fixture: k.fixture, N: n, Op: op}, bodies)
	return w, bodies, err
}

// Write writes the pool of w into dir.
func Write(dir string, w wire.Workload, bodies [][]byte) (wire.Workload, error) {
	file := fixture.File(bodies)
	sum := sha256.Sum256(file)
	w.SHA256, w.Bodies = hex.EncodeToString(sum[:]), len(bodies)
	w.Input = filepath.Join(dir, w.SHA256[:12]+".ndjson")
	return w, os.WriteFile(w.Input, file, 0o600)
}
