package session

import (
	"context"
	"fmt"
	"strings"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/cmdenv"
	"github.com/tarebench/tare/contender/fixture"
	"github.com/tarebench/tare/lab"
)

// Advice is a study, a comparison of measured programs, whose report ends with a recommendation.
type Advice struct {
	Prepare   func(context.Context, *Session) (cmdenv.Study, error)
	Complete  func(*tare.Result) // adds skipped entries before the result is saved
	Recommend func(*tare.Result) []string
}

// Measure measures the study, and prints its result and the recommendation.
func (a Advice) Measure(ctx context.Context, env cmdenv.Env, o Options, p *Progress) error {
	out, err := cmdenv.OpenOutput(o.Out)
	if err != nil {
		return err
	}
	defer out.Close()
	// Complete must run before the session saves the result.
	labRun := env.Lab.Run
	env.Lab.Run = func(ctx context.Context, study tare.Study, labOptions lab.Options) (*tare.Result, error) {
		res, err := labRun(ctx, study, labOptions)
		if res != nil {
			a.Complete(res)
		}
		return res, err
	}
	exit := cmdenv.ExitOK
	err = With(ctx, env, o, p, func(ctx context.Context, w *Session) error {
		study, err := a.Prepare(ctx, w)
		if err != nil {
			return err
		}
		exit, err = w.measureAndRecommend(ctx, study, out, a.Recommend)
		return err
	})
	if err != nil {
		return err
	}
	return cmdenv.Code(exit)
}

// measureAndRecommend returns the exit code of the result.
func (w *Session) measureAndRecommend(ctx context.Context, study cmdenv.Study, out *cmdenv.Output, recommendation func(*tare.Result) []string) (exit int, err error) {
	res, err := w.Measure(ctx, study)
	if res == nil {
		return cmdenv.ExitOK, err
	}
	exit = cmdenv.ExitCode(w.Keep(res))
	if w.Options.Format.Name == "text" || w.Options.Format.Name == "md" {
		w.printRecommendation(recommendation(res))
	}
	const single = true // JSON output is one document, not a list
	if errFinish := w.Finish(out, single); err == nil {
		err = errFinish
	}
	return exit, err
}

func (w *Session) printRecommendation(lines []string) {
	st := w.Style(w.Out)
	heading, item := cmdenv.Paint(st.Bold, "RECOMMENDATION"), "  "
	if w.Options.Format.Name == "md" {
		heading, item = "## Recommendation\n", "- "
	}
	fmt.Fprintf(w.Out, "\n%s\n", heading)
	for _, line := range lines {
		parts := []string{fixture.Legible([]byte(line))}
		if w.Options.Format.Name == "text" {
			parts = cmdenv.Wrap(parts[0], st.Width, len(item)+2)
		}
		fmt.Fprintln(w.Out, item+strings.Join(parts, "\n"+item+"  "))
	}
}
