// Package session is the common part of all commands that measure: locks, Ctrl-C, progress, and saved and
// printed results. Its guardian, a second process, cleans up if tare is killed. Contenders are the programs
// that studies measure.
//
// A command calls [With] with a function. That calls MeasureAll, or Measure and Keep, and finally Finish.
package session

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/cmdenv"
	"github.com/tarebench/tare/internal/machine"
	"github.com/tarebench/tare/internal/trial"
	"github.com/tarebench/tare/lab"
)

// Session is one call of tare that measures.
type Session struct {
	cmdenv.Env
	Options  Options
	Dirs     cmdenv.Dirs
	RunTag   string // in every process of this run
	Progress *Progress
	Halt     *interruptState
	Guardian *trial.Guardian
	Sources  lab.Sources
	Results  []*tare.Result // results passed to Keep, in their order

	dirs    map[*tare.Result]string // directories of saved results
	current cmdenv.Study            // the latest that Measure ran
	studies int
}

// With opens a session, calls do with it and closes it. do may measure: With has locked the machine, unless
// o.NoLock is set, and started the guardian.
func With(ctx context.Context, env cmdenv.Env, o Options, p *Progress, do func(context.Context, *Session) error) error {
	d, err := env.Dirs()
	if err != nil {
		return err
	}
	if err := d.MakeCache(); err != nil {
		return err
	}
	if err := d.MakeData(); err != nil {
		return err
	}
	if o.EnvRecord == nil && !o.KeepEnv {
		if o.EnvRecord, err = RecordEnv(d, o.Env); err != nil {
			return err
		}
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	signals, restore := env.Lab.Interrupt()
	w := &Session{
		Env: env, Options: o, Dirs: d, RunTag: env.Tag(), Progress: p,
		Halt: haltOn(signals, restore, cancel, p.Say),
		dirs: map[*tare.Result]string{},
	}
	defer w.Halt.Close()

	unlock, err := w.lockMachine(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	w.Guardian, err = env.Lab.Guard(w.RunTag) // before any other process starts
	if err != nil {
		return fmt.Errorf("start the process that cleans up when tare is killed: %w", err)
	}
	untagChildren, err := tagChildren(w.RunTag)
	if err != nil {
		return err
	}
	defer untagChildren()
	w.Sources, err = env.Lab.Sources(cmdenv.Workshop{
		Cache: d.Cache, Catalog: env.CatalogDir(o.Catalog), With: o.With, Go: o.Release, Run: w.RunTag, Compiling: p.Compiling,
	})
	if err == nil {
		err = do(ctx, w)
	}
	// Not deferred: after a panic the guardian cleans up.
	if errDone := w.Guardian.Done(); err == nil {
		err = errDone
	}
	return err
}

// tagChildren sets a variable that children such as go and git inherit. The guardian finds them by it.
func tagChildren(run string) (untag func(), err error) {
	oldTag, wasSet := os.LookupEnv(trial.EnvRun)
	if err := os.Setenv(trial.EnvRun, run); err != nil {
		return nil, fmt.Errorf("tag what this run starts: %w", err)
	}
	return func() {
		if wasSet {
			_ = os.Setenv(trial.EnvRun, oldTag)
		} else {
			_ = os.Unsetenv(trial.EnvRun)
		}
	}, nil
}

// lockMachine locks the machine and then the cache. An agent (a tare that works for another machine) locks the
// machine before its session. Not every system can lock the machine.
func (w *Session) lockMachine(ctx context.Context) (unlock func(), err error) {
	if w.Options.NoLock {
		return func() {}, nil
	}
	waiting := func(holder string) {
		w.Progress.Status("lock", fmt.Sprintf("waiting for another tare (%s) to end; --no-lock would not wait", holder))
	}
	defer func() { // Ctrl-C while waiting
		if err != nil && ctx.Err() != nil {
			err = cmdenv.ErrInterrupted
		}
	}()
	unlockHost, err := machine.LockHost(ctx, w.HostLock(), waiting)
	if errors.Is(err, errors.ErrUnsupported) {
		unlockHost, err = func() {}, nil
	}
	if err != nil {
		return nil, err
	}
	unlockCache, err := machine.Lock(ctx, w.Dirs.Lock(), waiting)
	if err != nil {
		unlockHost()
		return nil, err
	}
	return func() { unlockCache(); unlockHost() }, nil
}
