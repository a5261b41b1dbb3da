package session

import (
	"context"
	"fmt"
	"strings"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/cmdenv"
	"github.com/tarebench/tare/contender/fixture"
)

// MeasureAndRecommend measures the only study of a session, keeps and prints its
// result, and ends the report with a recommendation. It returns the exit code.
func (w *Session) MeasureAndRecommend(ctx context.Context, study cmdenv.Study, out *cmdenv.Output, recommendation func(*tare.Result) []string) (exit int, err error) {
	res, err := w.Measure(ctx, study)
	if res == nil {
		return cmdenv.ExitOK, err
	}
	exit = cmdenv.ExitCode(w.Keep(res))
	if w.Options.Format.Name == "text" || w.Options.Format.Name == "md" {
		w.recommend(recommendation(res))
	}
	if errOut := w.Finish(out, true); err == nil {
		err = errOut
	}
	return exit, err
}

// First is the first of the recommendations: the answer of the result.
func First(lines []string) string {
	if len(lines) == 0 {
		return ""
	}
	return fixture.Legible([]byte(lines[0]))
}

// recommend prints what to take.
func (w *Session) recommend(lines []string) {
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
