package loadcmd

import (
	"context"
	"errors"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/cmdenv"
	"github.com/tarebench/tare/cmd/tare/internal/loadpage"
	"github.com/tarebench/tare/load"
)

// runSearch searches for the highest rate of requests that meets the objectives, and prints a line
// per step. It prints the result at the end, and also after Ctrl-C.
func (l *loadRun) runSearch(ctx context.Context) error {
	l.Progress.Say("searching " + l.url + " for the most requests per second with " + l.options.slo.String() + ": " + l.describeLoad())
	found, err := load.Searching{SLO: l.options.slo, Most: l.options.maxConnections, Told: l.reportStep}.Run(ctx, l)
	interrupted := ctx.Err() != nil
	switch {
	case len(found.Steps) == 0 && interrupted:
		return cmdenv.ErrInterrupted
	case len(found.Steps) == 0:
		return &nothingError{oneLine(err.Error())}
	}
	last := found.Steps[len(found.Steps)-1] // the report lists the others
	about := load.Documented{
		URL: l.url, Interrupted: interrupted, Facts: last.Facts, Delay: l.options.delay, SLO: found.SLO, Search: &found,
	}
	if last.Trial.Rate > 0 {
		about.Profile = load.Constant{PerSecond: last.Trial.Rate}
	}
	l.Progress.Separate()
	d := load.NewDocument(last.Result, about)
	if errPrint := l.writeResult(ctx, last.Result, d); errPrint != nil {
		return errPrint
	}
	if interrupted {
		return cmdenv.Code(cmdenv.ExitInterrupted)
	}
	if err != nil {
		return errors.Join(&nothingError{"the search was cut short"}, err)
	}
	return nil
}

func (l *loadRun) reportStep(s load.SearchStep) {
	text := s.Trial.String() + ": " + loadpage.FormatRate(s.PerSecond()) + " requests per second, p99 " + loadpage.FormatTime(s.Result.Latency.Quantile(0.99)) + ": "
	switch s.Ruling {
	case tare.Met:
		text += "kept"
	case tare.NotMet:
		text += "not kept: " + s.Why
	default:
		text += s.Why
	}
	l.Progress.Say(text)
}
