package cli

import (
	"context"
	"fmt"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/cmdenv"
	"github.com/tarebench/tare/internal/machine"
	"github.com/tarebench/tare/internal/trial"
	"github.com/tarebench/tare/lab"
)

// weighing is one call of tare that measures.
type weighing struct {
	cmdenv.Env
	o       runOptions
	dirs    cmdenv.Dirs
	tag     string // of every process of this run
	p       *progress
	halt    *halt
	sources lab.Sources
	results []*tare.Result
	places  map[*tare.Result]string // directory of each
	asking  cmdenv.Study            // the study that is being carried out
	typed   typed                   // the command that makes it

	guardian *trial.Guardian
}

// withSession calls do with everything around it that measuring needs: the
// directories, Ctrl-C, the machine lock, the guardian and the contenders.
func withSession(ctx context.Context, env cmdenv.Env, o runOptions, p *progress, do func(context.Context, *weighing) error) error {
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
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	signals, restore := env.Lab.Interrupt()
	w := &weighing{Env: env, o: o, dirs: d, tag: env.Tag(), p: p, places: map[*tare.Result]string{}, halt: haltOn(signals, restore, cancel, p.Say)}
	defer w.halt.Close()
	w.typed = typedBy(env)

	unlock, err := w.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	w.guardian, err = env.Lab.Guard(w.tag) // before anything else is started
	if err != nil {
		return fmt.Errorf("start the process that cleans up when tare is killed: %w", err)
	}
	w.sources, err = env.Lab.Sources(cmdenv.Workshop{
		Cache: d.Cache, Catalog: o.catalog, With: o.with, Go: o.release, Run: w.tag, Compiling: p.Compiling,
	})
	if err == nil {
		err = do(ctx, w)
	}
	// Not deferred: after a panic it is the guardian's to clean up. What was
	// measured is kept and printed by now, whatever became of it.
	if errDone := w.guardian.Done(); err == nil {
		err = errDone
	}
	return err
}

// lock waits until this is the only tare that measures on this machine.
func (w *weighing) lock(ctx context.Context) (unlock func(), err error) {
	if w.o.noLock {
		return func() {}, nil
	}
	unlock, err = machine.Lock(ctx, w.dirs.Lock(), func(holder string) {
		w.p.Status("lock", fmt.Sprintf("waiting for another tare (%s) to end; --no-lock would not wait", holder))
	})
	if err != nil && ctx.Err() != nil {
		return nil, cmdenv.ErrInterrupted
	}
	return unlock, err
}
