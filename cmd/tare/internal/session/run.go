package session

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/cmdenv"
	"github.com/tarebench/tare/cmd/tare/internal/history"
	"github.com/tarebench/tare/internal/atomicfile"
	"github.com/tarebench/tare/internal/machine"
	"github.com/tarebench/tare/lab"
)

// MeasureAll runs studies one after the other, and saves and prints their results. It calls fail with each
// error, and with nil for a result without one. It continues after an error, unless [cmdenv.EndsRun] or the
// user ends the run. It returns an error if no study can be run.
func (w *Session) MeasureAll(ctx context.Context, studies []cmdenv.Study, fail func(error)) error {
	if err := w.checkUnused(studies); err != nil {
		return err
	}
	w.studies = len(studies)
	w.Progress.Expect(len(studies))
	started := 0
	for _, study := range studies {
		res, err := w.Measure(ctx, study)
		var nothing *nothingToResume
		if errors.As(err, &nothing) && len(studies) > 1 {
			w.Progress.Say(nothing.Error())
			continue
		}
		started++
		if res != nil {
			fail(w.Keep(res))
		}
		if err != nil {
			fail(AddStudyName(study, len(studies), err))
		}
		if w.Halt.IsRequested() {
			fail(cmdenv.Code(cmdenv.ExitInterrupted))
		}
		if cmdenv.EndsRun(err) || w.Halt.IsRequested() {
			break
		}
	}
	if started == 0 {
		return cmdenv.Usage("nothing to resume: no study has an unfinished run", "run without --resume")
	}
	return nil
}

// MeasureAllQuietly runs studies like MeasureAll and returns their first error.
func (w *Session) MeasureAllQuietly(ctx context.Context, studies []cmdenv.Study) error {
	var first error
	err := w.MeasureAll(ctx, studies, func(err error) {
		if cmdenv.ExitCode(err) != cmdenv.ExitOK && first == nil {
			first = err
		}
	})
	switch {
	case first != nil && cmdenv.ExitCode(first) == cmdenv.ExitInterrupted:
		return cmdenv.ErrInterrupted
	case first != nil:
		return first
	}
	return err
}

// AddStudyName adds the study's id to an error if there are several studies. An error that has the id or ends
// the run stays as it is.
func AddStudyName(study cmdenv.Study, studies int, err error) error {
	var named *lab.StudyError
	if studies == 1 || errors.As(err, &named) || cmdenv.EndsRun(err) {
		return err
	}
	return fmt.Errorf("study %s: %w", study.ID, err)
}

// Measure runs or resumes one study and saves the result. It may return both a result and an error.
func (w *Session) Measure(ctx context.Context, study cmdenv.Study) (*tare.Result, error) {
	w.Progress.Begin(study.ID)
	defer w.Progress.Pause()
	if err := study.Vet(w.Sources); err != nil {
		return nil, err
	}
	w.current = study
	o := w.labOptions(w.Progress.Event)
	o.Stored = lastResult(w.Dirs.Results(study.ID))
	defer w.Halt.SetMeasuring(false)
	if w.Options.Resume {
		return w.resumeRun(ctx, study.Study, o)
	}
	if o.Seed == 0 {
		o.Seed = newSeed(w.Now())
	}
	dir, err := newRunDir(w.Dirs.Results(study.ID), w.Now(), o.Seed)
	if err != nil {
		return nil, err
	}
	unlock, _ := machine.LockDir(dir) // no other process knows the directory yet
	defer unlock()
	o.Dir = dir
	res, err := w.Lab.Run(ctx, study.Study, o)
	if res == nil && !isResumable(dir, err) {
		os.RemoveAll(dir) // it has nothing that the user needs
	}
	if res != nil {
		w.countInstructions(ctx, study.Study, dir, res)
	}
	return w.saveRun(dir, res, err)
}

// newSeed returns a seed from the clock. 0 means no seed, so it is at least 1. It is at most 1e9, so that a
// user can type it.
func newSeed(now time.Time) uint64 { return uint64(now.UnixMicro())%1e9 + 1 }

func (w *Session) labOptions(progress func(lab.Event)) lab.Options {
	return lab.Options{
		Kinds: w.Lab.Kinds, Sources: w.Sources, Measuring: w.Options.Measuring,
		Host: lab.Host{
			Now: w.Now, LookPath: findProgram, BuildFor: w.BuildFor, Unlocked: w.Options.NoLock,
			Known: outputCache{w.Dirs.Known(), atomicfile.System{}},
			Run:   w.RunTag, Guardian: w.Guardian, Stop: w.Halt.Stop,
			Progress: func(e lab.Event) {
				switch e.Phase {
				case "plan":
					w.Halt.SetMeasuring(true)
				case "done":
					w.Halt.SetMeasuring(false)
				}
				progress(e)
			},
		},
	}
}

// findProgram finds a program that a study requires. The name tare means the running program.
func findProgram(name string) (path string, err error) {
	if name == "tare" {
		return os.Executable()
	}
	return machine.Tool(name)
}

// lastResult returns the newest readable result of a study, for comparison with the new one. It may be nil.
func lastResult(dir string) *tare.Result {
	runs, err := history.RunsOf(dir)
	if err != nil {
		return nil
	}
	for _, run := range runs {
		if !run.Whole {
			continue
		}
		if results, err := history.ReadFile(run.Result()); err == nil && len(results) == 1 {
			return results[0]
		}
	}
	return nil
}

// resumeRun resumes the newest unfinished run of the study. It skips runs that another tare is writing, and
// runs of another version of the study. If it skips all, the error is about the newest.
func (w *Session) resumeRun(ctx context.Context, study tare.Study, o lab.Options) (*tare.Result, error) {
	var firstReason error  // why the newest run cannot be resumed
	var lastMismatch error // how the study has changed since that run
	dirs, err := listUnfinished(w.Dirs.Results(study.ID))
	if err != nil {
		return nil, fmt.Errorf("cannot read the runs in %s: %w", w.Dirs.Data, cmdenv.Cause(err))
	}
	for _, dir := range dirs {
		unlock, ok := machine.LockDir(dir)
		if !ok {
			firstReason = cmp.Or(firstReason, error(&nothingToResume{errWriting(dir)}))
			continue
		}
		defer unlock()
		if lastMismatch != nil {
			w.Progress.Say(lastMismatch.Error() + "; trying an older run")
		}
		o.Dir, o.Resume = dir, true
		res, err := w.Lab.Run(ctx, study, o)
		var mismatch *lab.ResumeError
		if errors.As(err, &mismatch) {
			firstReason = cmp.Or(firstReason, err)
			lastMismatch = err
			continue
		}
		if res != nil {
			w.countInstructions(ctx, study, dir, res)
		}
		return w.saveRun(dir, res, err)
	}
	if firstReason == nil {
		firstReason = &nothingToResume{cmdenv.Usage("nothing to resume: "+study.ID+" has no unfinished run", "run without --resume")}
	}
	return nil, firstReason
}

func errWriting(dir string) error {
	return cmdenv.Usage("nothing to resume: another tare is writing "+dir, "wait for it, or run without --resume")
}

type nothingToResume struct{ error }

func (e *nothingToResume) Unwrap() error { return e.error }
