package historycmd

import (
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/tarebench/tare/cmd/tare/internal/cmdenv"
	"github.com/tarebench/tare/cmd/tare/internal/history"
	"github.com/tarebench/tare/cmd/tare/internal/history/index"
	"github.com/tarebench/tare/internal/format"
	"github.com/tarebench/tare/report"
)

// This file implements tare history STUDY: a table with a line for each program and workload. A line
// shows the ratios of all runs as a sparkline, the last ratio, and whether it changed.

// showTrend prints how the ratios of a study changed from run to run. If results cannot be read, it
// prints them and returns the exit code of bad input.
func showTrend(ctx context.Context, env cmdenv.Env, o options, study string) error {
	x, d, err := openHistory(ctx, env)
	if err != nil {
		return err
	}
	defer x.Close()
	query := o.newQuery(study)
	t, err := x.Trend(ctx, query)
	if err != nil {
		return fmt.Errorf("read the history: %w", err)
	}
	if hasNoRuns := len(t.Machines) == 0 && len(t.Unreadable) == 0; hasNoRuns {
		known := append(cmdenv.StudiesRun(d), env.Bundled()...)
		if !slices.Contains(known, study) {
			return cmdenv.Unknown("study", study, known, "tare history lists the runs of all", "tare history")
		}
		if o.format == "text" {
			hint := ""
			if slices.Contains(env.Bundled(), study) {
				hint = "; tare run " + cmdenv.ShellQuote(study) + " makes one"
			}
			fmt.Fprintf(env.Err, "no result of %s was kept yet%s\n", study, hint)
			return nil
		}
	}
	if err := checkNames(ctx, env, x, query, t); err != nil {
		return err
	}
	switch o.format {
	case "json":
		err = cmdenv.PrintJSON(env.Out, t)
	case "csv":
		err = writeTrendCSV(env.Out, t)
	default:
		writeTrend(env.Out, t, o.ascii || plainText(env.Getenv, runtime.GOOS), env.Style(env.Out))
	}
	if err != nil {
		return err
	}
	printOmissions(env, t.Unreadable...)
	if len(t.Unreadable) > 0 {
		return cmdenv.Code(cmdenv.ExitUsage)
	}
	return nil
}

func (o options) newQuery(study string) history.Query {
	return history.Query{Study: study, Contenders: o.only.Contenders, Workloads: o.only.Workloads, Metric: o.metric, Against: o.against, Last: o.last}
}

func printOmissions(env cmdenv.Env, omissions ...string) {
	for _, text := range omissions {
		fmt.Fprintf(env.Err, "tare: left out: %s\n", report.Legible(text))
	}
}

func openHistory(ctx context.Context, env cmdenv.Env) (*index.Index, cmdenv.Dirs, error) {
	d, err := env.Dirs()
	if err != nil {
		return nil, d, err
	}
	x, err := openIndex(ctx, env, d)
	return x, d, err
}

func openIndex(ctx context.Context, env cmdenv.Env, d cmdenv.Dirs) (*index.Index, error) {
	x, err := index.Open(ctx, d.Data, d.Cache)
	if err != nil {
		return nil, fmt.Errorf("read the results in %s: %w", d.Data, err)
	}
	for _, note := range x.Notes {
		fmt.Fprintln(env.Err, "tare: "+report.Legible(note))
	}
	return x, nil
}

// checkNames returns an error if no result of the study has the metric, contender or workload of the
// query. It returns nil if there are no results.
func checkNames(ctx context.Context, env cmdenv.Env, x *index.Index, query history.Query, t history.Trend) error {
	if len(t.Machines) == 0 {
		return nil
	}
	names, err := x.Names(ctx, query.Study)
	if err != nil {
		return fmt.Errorf("read the history: %w", err)
	}
	if !slices.Contains(names.Metrics, t.Metric) {
		return cmdenv.Unknown("metric", t.Metric, names.Metrics, "the results of "+query.Study+" have "+strings.Join(names.Metrics, ", "))
	}
	if !slices.Contains(names.Contenders, t.Against) {
		return cmdenv.Unknown("contender", t.Against, names.Contenders, "the results of "+query.Study+" have "+strings.Join(names.Contenders, ", "))
	}
	for _, p := range query.Contenders {
		if !cmdenv.Matches([]string{p}, names.Contenders) {
			return cmdenv.NoMatch("contender", p, "the results of "+query.Study, names.Contenders)
		}
	}
	for _, p := range query.Workloads {
		if !cmdenv.Matches([]string{p}, names.Workloads) {
			return cmdenv.NoMatch("workload", p, "the results of "+query.Study, names.Workloads)
		}
	}
	return nil
}

// plainText reports whether text should be ASCII: NO_COLOR is set, or the locale is not UTF-8.
func plainText(env func(string) string, goos string) bool {
	if env("NO_COLOR") != "" {
		return true
	}
	if goos == "windows" || goos == "darwin" { // their terminals support UTF-8 in any locale
		return false
	}
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if v := strings.ToLower(env(name)); v != "" {
			return !strings.Contains(v, "utf-8") && !strings.Contains(v, "utf8")
		}
	}
	return true
}

func writeTrend(w io.Writer, t history.Trend, ascii bool, st report.Style) {
	t = report.LegibleAll(t)
	fmt.Fprintf(w, "%s: %s, as a ratio to that of %s%s\n", t.Study, t.Metric, t.Against, history.DescribeDirection(t.Metric))
	for _, m := range t.Machines {
		first, last := m.Runs[0], m.Runs[len(m.Runs)-1]
		span := format.Minute(last.Started)
		if len(m.Runs) > 1 {
			span = format.Minute(first.Started) + " to " + span
		}
		fmt.Fprintf(w, "\n%s: %s, %s UTC\n\n", m.Name, format.Count(len(m.Runs), "run"), span)
		if len(m.Series) == 0 {
			fmt.Fprintf(w, "  none of what was asked for was compared with %s in these runs\n", t.Against)
			continue
		}
		writeTrendTable(w, m, t.Metric, ascii)
		if m.Known {
			fmt.Fprintf(w, "\n  from run to run ratios vary by %.1f %% (standard deviation) beyond their intervals; expected is what holds 99 %% of runs without a change\n", 100*math.Expm1(m.Between))
		}
		writeStale(w, m, st)
		writeOmissions(w, m, st)
	}
}

// writeTrendTable writes a line for each contender (program under test) and workload. Only the first
// line of a workload names it.
func writeTrendTable(w io.Writer, m history.Machine, metric string, ascii bool) {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tw, "  workload\tcontender\ttrend\tlast ratio\tmeasured (UTC)\tchange")
	previous := ""
	for _, s := range m.Series {
		workload := s.Workload
		if workload == previous {
			workload = ""
		}
		previous = s.Workload
		last, lastRun := "void", "-"
		if s.Last != nil {
			last, lastRun = s.Last.Bounds(), format.Minute(m.Runs[s.Last.Run].Started)
		}
		fmt.Fprintf(tw, "  %s\t%s\t%s\t%s\t%s\t%s\n", workload, s.Contender, history.Sparkline(s.Points, ascii), last, lastRun, m.DescribeChange(s, metric))
	}
	tw.Flush()
}

// writeOmissions lists what the newest run did not measure.
func writeOmissions(w io.Writer, m history.Machine, st report.Style) {
	if len(m.NotWeighed) == 0 {
		return
	}
	fmt.Fprintln(w, "\n  "+cmdenv.Paint(st.Warn, "left out")+" of the newest run:")
	for _, l := range m.NotWeighed {
		fmt.Fprintf(w, "  - %s: %s\n", l.What, l.Why)
	}
}

// writeStale lists the conditions of older runs that differ from the newest. Runs with the same
// differences share a line.
func writeStale(w io.Writer, m history.Machine, st report.Style) {
	const maxShown = 4             // differences of a run
	var order []string             // texts, in the order of the runs
	times := map[string][]string{} // start times of the runs, by text
	for _, r := range m.Runs {
		if len(r.Stale) == 0 {
			continue
		}
		text := strings.Join(r.Stale[:min(maxShown, len(r.Stale))], "; ")
		if more := len(r.Stale) - maxShown; more > 0 {
			text += fmt.Sprintf("; and %d more (--json lists them)", more)
		}
		if _, ok := times[text]; !ok {
			order = append(order, text)
		}
		times[text] = append(times[text], format.Minute(r.Started))
	}
	if len(order) == 0 {
		return
	}
	fmt.Fprintln(w, "\n  "+cmdenv.Paint(st.Warn, "stale")+", made with something else than the newest run:")
	for _, text := range order {
		fmt.Fprintf(w, "  - %s: %s\n", strings.Join(times[text], ", "), text)
	}
}

func writeTrendCSV(w io.Writer, t history.Trend) error {
	out := csv.NewWriter(w)
	if err := out.Write([]string{"study", "machine", "started", "workload", "contender", "metric", "against", "ratio", "low", "high", "level", "void", "stale", "other_input", "path", "value", "against_value"}); err != nil {
		return err
	}
	text := report.CSVText
	formatNumber := func(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }
	for _, m := range t.Machines {
		for _, s := range m.Series {
			for _, p := range s.Points {
				if p == nil {
					continue
				}
				low, high := "", ""
				if p.Bounded() {
					low, high = formatNumber(p.Low), formatNumber(p.High)
				}
				value, againstValue := "", "" // only of metrics that count
				if p.Count != nil {
					value, againstValue = formatNumber(p.Count.Value), formatNumber(p.Count.Against)
				}
				run := m.Runs[p.Run]
				if err := out.Write([]string{
					text(t.Study), text(m.Name), run.Started.Format(time.RFC3339), text(s.Workload), text(s.Contender), text(t.Metric), text(t.Against), formatNumber(p.Ratio), low, high, formatNumber(p.Level),
					strconv.FormatBool(p.Void), strconv.FormatBool(p.Stale), strconv.FormatBool(p.Other), text(run.Path), value, againstValue,
				}); err != nil {
					return err
				}
			}
		}
	}
	out.Flush()
	return out.Error()
}
