package historycmd

import (
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/tarebench/tare/cmd/tare/internal/cmdenv"
	"github.com/tarebench/tare/cmd/tare/internal/history"
	"github.com/tarebench/tare/cmd/tare/internal/history/publish"
	"github.com/tarebench/tare/internal/atomicfile"
)

func (o options) isPublishing() bool {
	return o.page != "" || o.badge != "" || o.format == "openmetrics"
}

func publishHistory(ctx context.Context, env cmdenv.Env, o options, args []string) error {
	x, _, err := openHistory(ctx, env)
	if err != nil {
		return err
	}
	defer x.Close()
	known, err := x.Studies(ctx)
	if err != nil {
		return fmt.Errorf("read the history: %w", err)
	}
	studies := known
	if len(args) > 0 {
		studies = args
		if !slices.Contains(known, args[0]) {
			return cmdenv.Unknown("study", args[0], known, "no run of it was saved; tare history lists the runs")
		}
	}
	var trends []history.Trend
	for _, name := range studies {
		t, err := x.Trend(ctx, o.newQuery(name))
		if err != nil {
			return fmt.Errorf("read the history: %w", err)
		}
		trends = append(trends, t)
		printOmissions(env, t.Unreadable[:min(1, len(t.Unreadable))]...) // only the first, as an example
	}
	title := "Benchmarks from run to run"
	if len(studies) == 1 {
		title = studies[0]
	}
	for _, file := range []struct {
		path  string // "" if the file is not selected
		write func(io.Writer) error
	}{
		{o.page, func(w io.Writer) error { return publish.Page(w, title, trends, env.Now()) }},
		{o.badge, func(w io.Writer) error { return publish.Badge(w, o.label, publish.StandingOf(trends[0])) }},
	} {
		if err := cmdenv.SaveFile(atomicfile.System{}, file.path, 0o644, file.write); err != nil {
			return err
		}
	}
	if o.format == "openmetrics" {
		return publish.OpenMetrics(env.Out, trends)
	}
	return nil
}
