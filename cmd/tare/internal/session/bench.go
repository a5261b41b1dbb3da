package session

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/benchstudy"
	"github.com/tarebench/tare/cmd/tare/internal/benchstudy/suite"
	"github.com/tarebench/tare/cmd/tare/internal/cmdenv"
	"github.com/tarebench/tare/internal/format"
	"github.com/tarebench/tare/lab"
)

// BenchMost is the default limit of comparing benchmarks of two sides, such as revisions.
const BenchMost = 10 * time.Minute

// CountsTime returns the time limit for counting instructions. It is a part of the user's budget, or of maxTime
// without a budget. 0 means no limit.
func (w *Session) CountsTime(b *benchstudy.Bench, maxTime time.Duration, options benchstudy.Counting) time.Duration {
	if w.Options.User {
		maxTime = w.Options.Budget
	}
	return b.CountsTime(maxTime, options)
}

// FitBench adapts the options to the available time and reports the plan. Without a budget or number of
// rounds, maxTime is the limit. 0 means no limit.
func (w *Session) FitBench(b *benchstudy.Bench, maxTime time.Duration) error {
	if w.Options.Slice == 0 {
		w.Options.Slice = b.SliceTime
	}
	w.Options.Most, w.Options.Expected = benchstudy.MaxSlices, b.ExpectedPilots
	if w.Options.User {
		w.Options.Limit, w.Options.Spent = w.Options.Budget, b.Spent
	}
	if !w.Options.User && w.Options.Rounds == 0 && w.Options.Until == 0 {
		budget, err := b.Budget(maxTime)
		if err != nil {
			return err
		}
		w.Options.Budget, w.Options.Limit = budget, maxTime
	}
	length := "about " + w.Options.Budget.Round(time.Second).String()
	switch {
	case w.Options.Rounds > 0:
		length = format.Count(w.Options.Rounds, "round")
	case w.Options.Until > 0:
		length = fmt.Sprintf("until each difference is found or smaller than %s, %s at most", format.Percent(w.Options.Until), w.Options.Budget.Round(time.Second))
	}
	w.Progress.Say(fmt.Sprintf("measuring %s on two sides, %s", format.Count(len(b.Study.Workloads), "benchmark"), length))
	return nil
}

// Batch measures up to rounds rounds of a study, without saving the result. It starts another round only if
// that should end within maxTime. If the user interrupts it, the error is [cmdenv.ErrInterrupted].
func (w *Session) Batch(ctx context.Context, b *benchstudy.Bench, study tare.Study, rounds int, maxTime time.Duration, progress func(lab.Event)) (*tare.Result, error) {
	w.Sources = b.Sources
	o := w.labOptions(progress)
	o.Rounds, o.Most, o.Expected = rounds, benchstudy.MaxSlices, b.ExpectedPilots
	o.Permit = permitWithin(maxTime, w.Now)
	if o.Slice == 0 {
		o.Slice = b.SliceTime
	}
	if o.Seed == 0 {
		o.Seed = newSeed(w.Now())
	}
	var err error
	if o.Dir, err = b.NewRunDir(); err != nil {
		return nil, err
	}
	defer w.Halt.SetMeasuring(false)
	res, err := w.Lab.Run(ctx, study, o)
	if w.Halt.IsRequested() {
		return nil, cmdenv.ErrInterrupted
	}
	return res, err
}

// permitWithin permits a round that should end within maxTime, after the average of earlier rounds. It always
// permits the first one.
func permitWithin(maxTime time.Duration, now func() time.Time) lab.Permit {
	began := now()
	var firstRound time.Time // its start
	return func(_ context.Context, done int) (bool, error) {
		current := now()
		if done == 0 {
			firstRound = current
			return true, nil
		}
		perRound := current.Sub(firstRound) / time.Duration(done)
		return current.Sub(began)+perRound <= maxTime, nil
	}
}

// BenchError gives an error of a comparison its exit code. A side that does not build is a usage error.
func BenchError(ctx context.Context, err error) error {
	var usage *suite.UsageError
	var build *suite.BuildError
	switch {
	case ctx.Err() != nil:
		return cmdenv.ErrInterrupted
	case errors.As(err, &usage), errors.As(err, &build):
		return cmdenv.UsageOf(err, "")
	}
	return err
}
