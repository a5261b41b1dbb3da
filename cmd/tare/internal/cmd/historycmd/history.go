// Package historycmd implements tare history. It lists saved results, shows how their ratios change
// from run to run, and exports and imports them.
package historycmd

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/cmdenv"
	"github.com/tarebench/tare/cmd/tare/internal/history"
	"github.com/tarebench/tare/lab"
	"github.com/tarebench/tare/report"
)

type options struct {
	only       lab.Only          // contenders and workloads
	metric     string            // "" means the study's primary metric
	against    string            // contender to which ratios are computed; "" means the baseline
	last       int               // number of the newest runs of each machine that are read
	runs       bool              // list the runs of a study instead of its ratios
	ascii      bool              // draw with ASCII only
	formatFlag cmdenv.FormatFlag // --format and --json
	format     string            // one of formatNames, chosen by formatFlag
	page       string            // file for the page; "" if none
	badge      string            // file for the badge; "" if none
	label      string            // text on the left of the badge
}

func formatNames() []string { return []string{"text", "json", "csv", "openmetrics"} }

// Command returns tare history.
func Command(env cmdenv.Env) *cobra.Command {
	var o options
	cmd := &cobra.Command{
		Use:   "history [STUDY]",
		Short: "List stored runs, or follow a study over time",
		Long: `Without a STUDY, or with --runs, list the runs in the data directory, newest
first: when it began (UTC), how many rounds it did, why it stopped, the verdicts
of its criteria on the primary metric, and the directory of its result and its
journal (the slices as they were measured). tare report reads any of them. A run
without a result was interrupted: tare run STUDY --resume continues the newest
one.

With a STUDY, show how its contenders changed over time: ratios to the baseline
(or --against), a line for each contender and workload with a drawing from the
oldest run to the newest, the last ratio with its interval, and whether that
ratio changed: it lies outside the range that earlier runs predict or, with few
runs, its interval does not overlap the previous one. Results of other machines
are listed separately. Results made with another Go, kernel, module or tare than
the newest are marked as stale.

The height of the drawing is the position of the ratio between the lowest and the
highest end of all intervals in the line. x is a run in which the contender was
void on the workload, a space a run without it.

--page writes a page with a chart for each line, of all studies or of STUDY;
--format openmetrics prints the newest ratios for Prometheus; --badge writes a
badge for a README. Nothing else is printed then.

Exit codes: 0 shown; 1 I/O error; 2 no such study, or a result that cannot be
read.`,
		Example: `  tare history
  tare history json-encode
  tare history json-encode --contender 'sonic*' --metric allocs --last 10
  tare history json-encode --against goccy --format csv > goccy.csv
  tare history json-encode --runs --json
  tare history --page history.html
  tare history 'bench example.com/m' --badge badge.svg
  tare history --format openmetrics
  tare history export results.ndjson`,
		Args:              cmdenv.AtMost(1),
		ValidArgsFunction: env.CompleteRuns,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.check(cmd, args); err != nil {
				return err
			}
			if o.isPublishing() {
				return publishHistory(cmd.Context(), env, o, args)
			}
			if len(args) == 1 && !o.runs {
				return showTrend(cmd.Context(), env, o, args[0])
			}
			return listRuns(cmd.Context(), env, o, args)
		},
	}
	o.addFlags(cmd)
	cmd.AddCommand(exportCommand(env), importCommand(env), pushCommand(env), pullCommand(env), checkCommand(env))
	return cmd
}

func (o *options) addFlags(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringArrayVar(&o.only.Contenders, "contender", nil, "only contenders that match `glob`; repeatable")
	flags.StringArrayVar(&o.only.Workloads, "workload", nil, "only workloads that match `glob`; repeatable")
	flags.StringVar(&o.metric, "metric", "", "`name` of the metric; default: the study's primary one")
	flags.StringVar(&o.against, "against", "", "take ratios to that `contender`; default: the baseline")
	flags.IntVar(&o.last, "last", 20, "maximum number of runs of each machine, the newest")
	flags.BoolVar(&o.runs, "runs", false, "list the runs of STUDY")
	flags.BoolVar(&o.ascii, "ascii", false, "draw with ASCII only, as with NO_COLOR or without UTF-8")
	flags.StringVar(&o.formatFlag.Name, "format", "text", "`format` of the output: text, json, csv (a line for each run, workload and contender), openmetrics")
	flags.StringVar(&o.page, "page", "", "write a page with charts to `file`")
	flags.StringVar(&o.badge, "badge", "", "write a badge (SVG) about STUDY to `file`")
	flags.StringVar(&o.label, "label", "benchmarks", "`text` on the left of the badge")
	flags.BoolVar(&o.formatFlag.AsJSON, "json", false, "the same as --format json")
	cmdenv.CompleteFlag(cmd, "format", cobra.FixedCompletions(formatNames(), cobra.ShellCompDirectiveNoFileComp))
	cmdenv.CompleteFlag(cmd, "metric", cobra.FixedCompletions(strings.Split(tare.MetricNames(), ", "), cobra.ShellCompDirectiveNoFileComp))
}

func (o *options) check(cmd *cobra.Command, args []string) error {
	var err error
	if o.format, err = o.formatFlag.Choose(cmd, "a format", formatNames()...); err != nil {
		return err
	}
	isList := (len(args) == 0 || o.runs) && !o.isPublishing() // the output is a list of runs
	switch {
	case o.isPublishing() && o.runs:
		return cmdenv.Usage("--runs prints a list, which --page, --badge and --format openmetrics are not for", "leave one of them out")
	case o.badge != "" && len(args) == 0:
		return cmdenv.Usage("--badge needs a STUDY", "tare history lists the runs of all", "tare history")
	case isList && o.format == "csv":
		return cmdenv.Usage("--format csv is for the history of a study", "tare history STUDY --format csv; the list of runs is text or json", "tare history --json")
	case o.last < 1:
		return cmdenv.Usage(fmt.Sprintf("--last %d is not a number of runs", o.last), "at least 1")
	}
	for _, flag := range []string{"contender", "workload", "metric", "against", "last"} {
		if isList && cmd.Flags().Changed(flag) {
			return cmdenv.Usage("--"+flag+" is for the history of a study", "tare history STUDY --"+flag+" …")
		}
	}
	if o.runs && len(args) == 0 {
		return cmdenv.Usage("--runs needs a STUDY", "tare history lists the runs of all", "tare history")
	}
	return cmdenv.CheckPatterns(o.only)
}

// Values of runRow.Stopped in addition to the reasons of results.
const (
	unfinished = "unfinished" // there is no result
	unreadable = "unreadable" // the result cannot be read
)

type runRow struct {
	Study    string    `json:"study"`
	Started  time.Time `json:"started"`           // UTC
	Seconds  float64   `json:"seconds,omitempty"` // measuring time
	Rounds   int       `json:"rounds_done"`
	Stopped  string    `json:"stopped"` // the result's reason, unfinished or unreadable
	Verdicts string    `json:"verdicts"`
	Imported bool      `json:"imported,omitempty"` // measured on another machine
	Path     string    `json:"path"`               // directory of the run
	Error    string    `json:"error,omitempty"`    // why the result cannot be read
}

// listRuns prints the runs of all studies, or of the study in args. If a result cannot be read, it
// returns the exit code of bad input.
func listRuns(ctx context.Context, env cmdenv.Env, o options, args []string) error {
	rows, err := readRuns(ctx, env, args)
	if err != nil {
		return err
	}
	if o.format == "json" {
		err = cmdenv.PrintJSON(env.Out, rows)
	} else {
		err = printRuns(env, rows, args)
	}
	if err != nil {
		return err
	}
	exit := cmdenv.ExitOK
	for _, r := range rows {
		if r.Error != "" {
			exit = cmdenv.ExitUsage
			fmt.Fprintf(env.Err, "tare: %s\n", report.Legible(r.Error))
		}
	}
	return cmdenv.Code(exit)
}

func readRuns(ctx context.Context, env cmdenv.Env, args []string) ([]runRow, error) {
	d, err := env.Dirs()
	if err != nil {
		return nil, err
	}
	var runs []history.Run
	if len(args) == 0 {
		runs, err = history.Runs(d.AllResults())
	} else {
		runs, err = history.RunsOf(d.Results(args[0]))
		known := append(cmdenv.StudiesRun(d), env.Bundled()...)
		if err == nil && len(runs) == 0 && !slices.Contains(known, args[0]) {
			return nil, cmdenv.Unknown("study", args[0], known, "tare history lists the runs of all", "tare history")
		}
	}
	if err != nil {
		return nil, fmt.Errorf("cannot read the runs in %s: %w", d.Data, cmdenv.Cause(err))
	}
	rows := []runRow{}
	if len(runs) == 0 {
		return rows, nil
	}
	x, err := openIndex(ctx, env, d)
	if err != nil {
		return nil, err
	}
	defer x.Close()
	digests, err := x.Digests(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the history: %w", err)
	}
	for _, run := range runs {
		rows = append(rows, newRow(run, digests[run.Dir]))
	}
	return rows, nil
}

// newRow returns the row of a run. digest is the index's extract of the result, or zero if the run
// has no result.
func newRow(run history.Run, digest history.Digest) runRow {
	isImported, err := history.IsImported(run.Dir)
	row := runRow{Study: run.Study, Started: run.Begun, Stopped: unfinished, Verdicts: "-", Imported: isImported, Path: run.Dir}
	switch {
	case digest.Error != "":
		row.Stopped, row.Error = unreadable, digest.Error
		return row
	case err != nil:
		row.Stopped, row.Error = unreadable, err.Error()
		return row
	case !run.Whole || digest.Result == nil:
		return row
	}
	r := digest.Result
	row.Study, row.Seconds, row.Rounds, row.Stopped = r.Study, r.Seconds, r.RoundsDone, r.Stopped
	row.Verdicts = primaryVerdicts(r)
	if n := len(r.NotWeighed); n > 0 {
		row.Verdicts += fmt.Sprintf(", %d left out", n)
	}
	if !r.Started.IsZero() { // more precise than the name of the directory
		row.Started = r.Started.UTC().Truncate(time.Second)
	}
	return row
}

// primaryVerdicts summarises the verdicts of the criteria on the primary metric: "met" for one, "3 met,
// 1 void" for several. It omits traps, programs that repeat a published mistake.
func primaryVerdicts(r *tare.Result) string {
	count, total := map[tare.Ruling]int{}, 0
	for _, v := range r.Verdicts {
		isPrimary := len(r.Metrics) > 0 && v.Metric == r.Metrics[0]
		if v.Criterion != "" && isPrimary && !cmdenv.IsTrap(r, v.Contender) {
			count[v.Verdict]++
			total++
		}
	}
	var parts []string
	for _, ruling := range []tare.Ruling{tare.Met, tare.NotMet, tare.Inconclusive, tare.VoidRuling} {
		switch n := count[ruling]; {
		case n == 0: // not listed
		case total == 1:
			parts = append(parts, string(ruling))
		default:
			parts = append(parts, fmt.Sprintf("%d %s", n, ruling))
		}
	}
	switch {
	case total > 0:
		return strings.Join(parts, ", ")
	case cmdenv.VerdictCode(r) == cmdenv.ExitVoid:
		return string(tare.VoidRuling)
	}
	return "no criterion"
}

func printRuns(env cmdenv.Env, rows []runRow, args []string) error {
	if len(rows) == 0 {
		ofStudy := ""
		if len(args) > 0 {
			ofStudy = " of " + args[0]
		}
		fmt.Fprintf(env.Err, "no run%s was kept yet; tare run keeps every result\n", ofStudy)
		return nil
	}
	tw := tabwriter.NewWriter(env.Out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tw, "when (UTC)\tstudy\trounds\tstopped\tverdicts\tpath")
	for _, r := range report.LegibleAll(rows) {
		started, rounds := "-", "-"
		if !r.Started.IsZero() {
			started = r.Started.Format(time.DateTime)
		}
		if r.Stopped != unfinished && r.Stopped != unreadable {
			rounds = fmt.Sprint(r.Rounds)
		}
		stopped := r.Stopped
		if r.Imported {
			stopped += ", imported"
		}
		fmt.Fprintf(tw, "%s\t%s\t%s\t%s\t%s\t%s\n", started, r.Study, rounds, stopped, r.Verdicts, r.Path)
	}
	return tw.Flush()
}
