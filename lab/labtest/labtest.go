// Package labtest runs studies in package lab with scripted contenders, a scripted clock and a scripted
// machine. Tests, documentation and demonstrations get exact, repeatable results from it.
package labtest

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/contender/wire"
	"github.com/tarebench/tare/internal/build"
	"github.com/tarebench/tare/internal/trial"
	"github.com/tarebench/tare/lab"
)

// Start returns the start of the scripted clock.
func Start() time.Time { return time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC) }

// Options returns options of a lab for script, with a scripted kind under every name in kinds. The
// caller must set Dir, and may set seed and budget.
func Options(script Script, kinds ...string) lab.Options {
	clock := NewClock(Start())
	o := lab.Options{
		Kinds:   map[string]lab.Kind{},
		Sources: sources{script},
	}
	o.Now = clock.Now
	o.Machine = &tare.Machine{
		OS: "scripted", Arch: "none", Cores: 2, CPU: "scripted", Go: "go1.26.0",
		Facilities: []tare.Facility{},
		Noise:      tare.Noise{CPUPressure: 0.01, RunQueueWait: 0.002, Throttled: -1},
	}
	for _, k := range kinds {
		o.Kinds[k] = &kind{script, clock}
	}
	return o
}

// kind opens scripted trials, the processes of contenders. The correct answer to case i is the number
// i.
type kind struct {
	script Script
	clock  *Clock
}

var _ lab.Kind = (*kind)(nil)

const bodies = 4 // number of bodies of every workload

func (k *kind) Input(w tare.Workload, _, _ string) (wire.Workload, error) {
	return wire.Workload{ID: w.ID, Fixture: w.Fixture, N: w.N, Op: w.Op, Bodies: bodies, SHA256: "scripted"}, nil
}

func (k *kind) Open(_ context.Context, p build.Program, spec trial.Spec) (trial.Conn, error) {
	t, err := Open(k.script, p.Contender.Name, spec.Name, k.clock, referenceAnswer)
	if err != nil {
		return nil, err
	}
	return t, nil
}

func (k *kind) Compare(_ wire.Workload, answers []wire.Answer) ([]string, error) {
	var wrong []string
	for _, a := range answers {
		if want := correctAnswer(a.Case); string(a.Output) != want {
			wrong = append(wrong, fmt.Sprintf("case %d: want %s, got %s", a.Case, want, a.Output))
		}
	}
	return wrong, nil
}

func referenceAnswer(_ wire.Workload, i int) ([]byte, error) { return []byte(correctAnswer(i)), nil }

func correctAnswer(i int) string { return strconv.Itoa(i) }

type sources struct{ script Script }

func (s sources) Program(_ context.Context, kind, _ string, e tare.Entry) (build.Program, error) {
	act, ok := s.script.Contenders[e.Leaf()]
	if !ok {
		return build.Program{}, &lab.UnknownError{What: fmt.Sprintf("contender %q", e.Leaf())}
	}
	c := tare.Contender{
		ID: e.ID, Kind: kind, Role: tare.RoleContender, Name: e.Leaf(), Version: act.Version,
		Build: tare.Build{Go: "go1.26.0", SHA256: "scripted " + e.Leaf()}, Declared: tare.Declared{Expect: e.Expect},
	}
	if act.Trap {
		c.Role = tare.RoleTrap
	}
	if act.Missing != "" {
		c.Identity.ClaimedSymbols = []string{act.Missing}
		c.Identity.MissingSymbols = []string{act.Missing}
	}
	if act.BuildError != "" {
		return build.Program{Contender: c}, errors.New(act.BuildError)
	}
	return build.Program{Contender: c}, nil
}
