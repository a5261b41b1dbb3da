package historycmd

import (
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/tarebench/tare/cmd/tare/internal/cmdenv"
	"github.com/tarebench/tare/cmd/tare/internal/history"
	"github.com/tarebench/tare/cmd/tare/internal/history/publish"
	"github.com/tarebench/tare/report"
)

// isPublishing reports whether a page, badge or metrics are requested.
func (o options) isPublishing() bool {
	return o.page != "" || o.badge != "" || o.format == "openmetrics"
}

// publishHistory writes the page, the badge and the metrics of all studies or of
// the one named.
func publishHistory(ctx context.Context, env cmdenv.Env, o options, studies []string) error {
	d, err := env.Dirs()
	if err != nil {
		return err
	}
	x, err := openHistory(ctx, env, d)
	if err != nil {
		return err
	}
	defer x.Close()
	known, err := x.Studies(ctx)
	switch {
	case err != nil:
		return fmt.Errorf("read the history: %w", err)
	case len(studies) == 0:
		studies = known
	case !slices.Contains(known, studies[0]):
		return cmdenv.Unknown("study", studies[0], known, "no run of it was kept; tare history lists the runs")
	}
	var trends []history.Trend
	for _, name := range studies {
		t, err := x.Trend(ctx, history.Query{Study: name, Contenders: o.only.Contenders, Workloads: o.only.Workloads, Metric: o.metric, Against: o.against, Last: o.last})
		if err != nil {
			return fmt.Errorf("read the history: %w", err)
		}
		if trends = append(trends, t); len(t.Left) > 0 {
			fmt.Fprintf(env.Err, "tare: left out: %s\n", report.Legible(t.Left[0]))
		}
	}
	title := "Benchmarks from run to run"
	if len(studies) == 1 {
		title = studies[0]
	}
	for _, file := range []struct {
		path  string
		write func(io.Writer) error
	}{
		{o.page, func(w io.Writer) error { return publish.Page(w, title, trends, env.Now()) }},
		{o.badge, func(w io.Writer) error { return publish.Badge(w, o.label, publish.StandingOf(trends[0])) }},
	} {
		out, err := cmdenv.OpenOutput(file.path)
		if err != nil {
			return err
		}
		defer out.Close()
		if err := out.Save(func(f io.Writer) error { return file.write(f) }); err != nil {
			return err
		}
	}
	if o.format == "openmetrics" {
		return publish.OpenMetrics(env.Out, trends)
	}
	return nil
}
