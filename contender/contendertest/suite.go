package contendertest

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

// kind is what the suite knows about one kind of contender.
type kind struct {
	ops     []string
	fixture string
	compare func(op string, body, answer []byte) error // nil: the answer is right
	puts    func(op string) bool                       // the operation puts bytes out
	hides   func(op string) bool                       // and its answer is not made of them

	// input writes a pool for op; nil: bodies of the fixture.
	input func(dir, op string) (wire.Workload, [][]byte, error)
	// further is what else a contender of this kind must do; nil: nothing.
	further func(s subject, dir string) error
	// examine is in place of all the suite; nil: the suite.
	examine func(s subject, dir string) []error
}

func kindNamed(name string) (kind, error) {
	switch name {
	case "codec":
		return codecs(), nil
	case "copier":
		return copiers(), nil
	case "router":
		return routers(), nil
	case "server":
		return servers(), nil
	case "rpc":
		return rpcs(), nil
	}
	return kind{}, fmt.Errorf("there is no conformance suite for kind %q", name)
}

// subject is the contender under examination.
type subject struct {
	command []string
	manifest
	variant string
	limit   time.Duration // for each reply, and for the end
	hasty   bool          // what takes long is left out

	logf func(format string, args ...any) // takes what was measured; nil: nobody looks
}

// note logs what was measured of the contender.
func (s subject) note(format string, args ...any) {
	if s.logf != nil {
		s.logf("%-32s "+format, append([]any{strings.Trim(s.ID+" "+s.variant, " ")}, args...)...)
	}
}

// loose reports whether of an answer only its status is right: what a server
// that does a part of the work can say.
func (s subject) loose() bool { return s.Answers[s.variant] == "status" }

// examine runs the suite and returns what is wrong. dir takes the inputs.
func (s subject) examine(dir string) []error {
	k, err := kindNamed(s.Kind)
	if err != nil {
		return []error{err}
	}
	if k.examine != nil {
		return k.examine(s, dir)
	}
	var wrong []error
	note := func(err error) {
		if err != nil {
			wrong = append(wrong, err)
		}
	}
	note(s.visit(false, true, s.checkHello))
	if wrong != nil {
		return wrong // nothing else can go right
	}
	supported := 0
	for _, op := range k.ops {
		w, bodies, err := k.workload(dir, op)
		if err != nil {
			return append(wrong, err)
		}
		note(s.visit(false, true, func(p *process, _ wire.Reply) error {
			a, err := p.ok(wire.Request{Op: wire.OpPrepare, Workload: &w})
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
	if k.further != nil {
		note(k.further(s, dir))
	}
	note(s.visit(false, false, func(p *process, _ wire.Reply) error { return checkRefusals(p, dir) }))
	note(s.visit(true, true, func(*process, wire.Reply) error { return nil }))
	note(s.alone())
	return wrong
}

// visit starts the contender, says hello, does what f says and sees to it that
// the contender ends by itself: on bye, or when requests end.
func (s subject) visit(socket, bye bool, f func(p *process, hello wire.Reply) error) error {
	p, err := start(s.command, socket, s.limit)
	if err != nil {
		return fmt.Errorf("start: %w", err)
	}
	defer p.close()
	defer p.kill()
	hello, err := p.ok(wire.Request{Op: wire.OpHello, Protocol: wire.Protocol, Trial: "conformance", Seed: "1", Variant: s.variant})
	if err != nil {
		return err
	}
	if err := f(p, hello); err != nil {
		return err
	}
	how := "when its requests end"
	if bye {
		how = "after bye"
		if _, err := p.ok(wire.Request{Op: wire.OpBye}); err != nil {
			return err
		}
	} else if err := p.in.Close(); err != nil {
		return err
	}
	if err := p.wait(); err != nil {
		return fmt.Errorf("%s: %w", how, err)
	}
	return nil
}

func (s subject) checkHello(p *process, a wire.Reply) error {
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
func checkRefusals(p *process, dir string) error {
	missing := &wire.Workload{ID: "gone", Fixture: "devices", Op: "marshal", Input: filepath.Join(dir, "gone"), Bodies: 1, SHA256: "00"}
	for _, q := range []wire.Request{
		{Op: "no-such-op"},
		{Op: wire.OpSlice, On: "nobody", Until: "ops", Ops: 1},
		{Op: wire.OpAnswer, On: "nobody", Cases: []int{0}},
		{Op: wire.OpPrepare, Workload: missing},
	} {
		a, err := p.do(q)
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

// alone: started without a lab, it must say so and end rather than wait.
func (s subject) alone() error {
	ctx, cancel := context.WithTimeout(context.Background(), s.limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, s.command[0], s.command[1:]...)
	cmd.Env = append(os.Environ(), wire.EnvWire+"=")
	out, err := cmd.CombinedOutput()
	if ctx.Err() != nil {
		return fmt.Errorf("started without a lab it does not end within %v", s.limit)
	}
	if err == nil || len(out) == 0 {
		return errors.New("started without a lab it should say what it is and fail")
	}
	return nil
}

// workload writes a pool for op.
func (k kind) workload(dir, op string) (wire.Workload, [][]byte, error) {
	if k.input != nil {
		return k.input(dir, op)
	}
	const n, pool = 5, 8
	bodies, err := fixture.Pool(k.fixture, n, pool)
	if err != nil {
		return wire.Workload{}, nil, err
	}
	w, err := write(dir, wire.Workload{ID: k.fixture + "/" + op, Fixture: k.fixture, N: n, Op: op}, bodies)
	return w, bodies, err
}

// write puts the pool of w into dir.
func write(dir string, w wire.Workload, bodies [][]byte) (wire.Workload, error) {
	file := fixture.File(bodies)
	sum := sha256.Sum256(file)
	w.SHA256, w.Bodies = hex.EncodeToString(sum[:]), len(bodies)
	w.Input = filepath.Join(dir, w.SHA256[:12]+".ndjson")
	return w, os.WriteFile(w.Input, file, 0o600)
}
