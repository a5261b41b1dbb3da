package cli

import (
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/history"
)

// runRow is one run that was kept.
type runRow struct {
	Study    string    `json:"study"`
	Started  time.Time `json:"started"`           // UTC
	Seconds  float64   `json:"seconds,omitempty"` // measuring
	Rounds   int       `json:"rounds_done"`
	Stopped  string    `json:"stopped"` // as in the result; unfinished where there is none, unreadable where it cannot be read
	Verdicts string    `json:"verdicts"`
	Path     string    `json:"path"`            // of its directory
	Error    string    `json:"error,omitempty"` // why it cannot be read
}

func (s *shell) historyCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "history [STUDY]",
		Short: "List the runs that were kept",
		Long: `List the runs in the data directory, of all studies or of one, the newest first:
when it began (UTC), how many rounds it did, why it stopped, what came out by the
primary metric's criteria, and the directory that holds its result and journal.

tare report reads any of them. A run without a result was cut off: tare run STUDY
--resume goes on with the newest.`,
		Example: `  tare history
  tare history json-encode --json`,
		Args:              atMost(1),
		ValidArgsFunction: s.completeRuns,
		RunE: func(_ *cobra.Command, args []string) error {
			rows, err := s.history(args)
			if err != nil {
				return err
			}
			if asJSON {
				err = printJSON(s.out, rows)
			} else {
				err = s.printHistory(rows, args)
			}
			if err != nil {
				return err
			}
			exit := ExitOK
			for _, r := range rows {
				if r.Error != "" {
					exit = ExitUsage
					fmt.Fprintf(s.err, "tare: %s\n", r.Error)
				}
			}
			return codeError(exit)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// history collects the runs of all studies, or of the one named.
func (s *shell) history(args []string) ([]runRow, error) {
	d, err := s.dirs()
	if err != nil {
		return nil, err
	}
	var runs []history.Run
	if len(args) == 0 {
		runs, err = history.Runs(d.AllResults())
	} else {
		runs, err = history.RunsOf(d.Results(args[0]))
		if known := append(ran(d), s.bundled()...); err == nil && len(runs) == 0 && !slices.Contains(known, args[0]) {
			return nil, unknown("study", args[0], known, "tare history lists the runs of all")
		}
	}
	if err != nil {
		return nil, fmt.Errorf("cannot read the runs in %s: %w", d.Data, cause(err))
	}
	rows := []runRow{}
	for _, run := range runs {
		rows = append(rows, row(run))
	}
	return rows, nil
}

func row(run history.Run) runRow {
	out := runRow{Study: run.Study, Started: run.Begun, Stopped: "unfinished", Verdicts: "-", Path: run.Dir}
	if !run.Whole {
		return out
	}
	results, err := readResults(run.Result())
	if err != nil {
		out.Stopped, out.Error = "unreadable", line(err)
		return out
	}
	r := results[0]
	out.Study, out.Seconds, out.Rounds, out.Stopped, out.Verdicts = r.Study, r.Seconds, r.RoundsDone, r.Stopped, primaryVerdicts(r)
	if !r.Started.IsZero() {
		out.Started = r.Started.UTC().Truncate(time.Second)
	}
	return out
}

// primaryVerdicts says in a word or two what became of the criteria on the
// primary metric; traps do not count.
func primaryVerdicts(r *tare.Result) string {
	count, total := map[tare.Ruling]int{}, 0
	for _, v := range r.Verdicts {
		if v.Criterion != "" && len(r.Metrics) > 0 && v.Metric == r.Metrics[0] && !isTrap(r, v.Contender) {
			count[v.Verdict]++
			total++
		}
	}
	var parts []string
	for _, ruling := range []tare.Ruling{tare.Met, tare.NotMet, tare.Inconclusive, tare.VoidRuling} {
		switch n := count[ruling]; {
		case n == 0:
		case n == total && n == 1:
			parts = append(parts, string(ruling))
		default:
			parts = append(parts, fmt.Sprintf("%d %s", n, ruling))
		}
	}
	switch {
	case total > 0:
		return strings.Join(parts, ", ")
	case verdictCode(r) == ExitVoid:
		return string(tare.VoidRuling)
	}
	return "no criterion"
}

func (s *shell) printHistory(rows []runRow, args []string) error {
	if len(rows) == 0 {
		fmt.Fprintf(s.err, "no run%s was kept yet; tare run keeps every result\n", strings.Join(append([]string{""}, args...), " of "))
		return nil
	}
	tw := tabwriter.NewWriter(s.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tw, "when (UTC)\tstudy\trounds\tstopped\tverdicts\tpath")
	for _, r := range rows {
		when, rounds := "-", "-"
		if !r.Started.IsZero() {
			when = r.Started.Format(time.DateTime)
		}
		if r.Stopped != "unfinished" && r.Stopped != "unreadable" {
			rounds = fmt.Sprint(r.Rounds)
		}
		fmt.Fprintf(tw, "%s\t%s\t%s\t%s\t%s\t%s\n", when, r.Study, rounds, r.Stopped, r.Verdicts, r.Path)
	}
	return tw.Flush()
}
