package counts

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/tarebench/tare/contender/wire"
	"github.com/tarebench/tare/internal/build"
	"github.com/tarebench/tare/internal/format"
	"github.com/tarebench/tare/internal/trial"
)

// Contender is a workload of a study, executed by a program that speaks tare's protocol.
type Contender struct {
	Program build.Program // built with the tag of the counter
	Open    func(context.Context, build.Program, trial.Spec) (trial.Conn, error)
	Input   wire.Workload
	Seed    string     // decimal number
	Spec    trial.Spec // environment and other settings of the process
	Work    string     // directory for profiles
}

func (p Contender) workDir() string { return p.Work }

// runOps prepares the workload and executes n operations.
func (p Contender) runOps(ctx context.Context, l *launch, n int64) error {
	program, spec := p.Program, p.Spec
	program.Path, spec.Args = l.commandLine(program.Path, nil)
	spec.Env, spec.MemoryLimit = l.countedEnv(spec.Env), maxMemory
	var conn trial.Conn
	err := l.startProcess(func() (err error) {
		conn, err = p.Open(ctx, program, spec)
		return err
	})
	if err != nil {
		return err
	}
	session := &trial.Session{Conn: conn, Trial: spec.Name, Limit: func(string, time.Duration) time.Duration { return maxRun }}
	defer session.Close(context.WithoutCancel(ctx))
	if _, err := session.Hello(ctx, program.Variant, p.Seed); err != nil {
		return err
	}
	prepared, err := session.Prepare(ctx, p.Input)
	if err != nil {
		return err
	}
	if prepared.Unsupported {
		return &RefusedError{"it cannot do this workload"}
	}
	reply, err := session.Stats(ctx, p.Input.ID, n, maxRun)
	switch {
	case err != nil:
		return err
	case reply.Errors > 0:
		return fmt.Errorf("%s: %s", format.Count(int(reply.Errors), "operation")+" failed", format.Line(reply.Message, maxReason))
	case reply.Ops != n:
		return errors.New("it does not count its operations")
	}
	return nil
}
