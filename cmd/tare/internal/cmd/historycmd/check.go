package historycmd

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/tarebench/tare/cmd/tare/internal/cmdenv"
	"github.com/tarebench/tare/cmd/tare/internal/history"
	"github.com/tarebench/tare/cmd/tare/internal/history/index"
	"github.com/tarebench/tare/internal/format"
	"github.com/tarebench/tare/lab/journal"
	"github.com/tarebench/tare/report"
)

func checkCommand(env cmdenv.Env) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "check",
		Short: "Read every stored result and journal, and report damage",
		Long: `Read every result and journal in the data directory and report damage: a result
that cannot be read; one whose content changed although its size and time did not
since it was indexed; a journal whose lines do not match their checksums; a
result and a journal of different studies. Nothing is changed.

Journals of earlier versions have no checksums; tare only checks their form.

Exit codes: 0 nothing is damaged; 1 I/O error; 2 something is damaged.`,
		Example: `  tare history check
  tare history check --json`,
		Args: cmdenv.AtMost(0),
		RunE: func(cmd *cobra.Command, _ []string) error { return checkHistory(cmd.Context(), env, asJSON) },
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print what was found as JSON")
	return cmd
}

type checkReport struct {
	Results  int      `json:"results"`
	Journals int      `json:"journals"`
	Damaged  []string `json:"damaged"` // one line for each damaged file
}

// checkHistory checks the results of all runs, and the journals with their measurements. It prints
// the damage. If there is any, it returns the exit code of bad input.
func checkHistory(ctx context.Context, env cmdenv.Env, asJSON bool) error {
	d, err := env.Dirs()
	if err != nil {
		return err
	}
	runs, err := history.Runs(d.AllResults())
	if err != nil {
		return fmt.Errorf("cannot read the runs in %s: %w", d.Data, cmdenv.Cause(err))
	}
	x, err := openIndex(ctx, env, d)
	if err != nil {
		return err
	}
	defer x.Close()
	found := checkReport{Damaged: []string{}}
	for _, run := range runs {
		if err := found.checkRun(ctx, x, run); err != nil {
			return err
		}
	}
	if asJSON {
		err = cmdenv.PrintJSON(env.Out, found)
	} else {
		for _, line := range found.Damaged {
			fmt.Fprintln(env.Out, report.Legible(line))
		}
		_, err = fmt.Fprintf(env.Out, "checked %s and %s: %d damaged\n", format.Count(found.Results, "result"), format.Count(found.Journals, "journal"), len(found.Damaged))
	}
	if err == nil && len(found.Damaged) > 0 {
		err = cmdenv.Code(cmdenv.ExitUsage)
	}
	return err
}

func (c *checkReport) checkRun(ctx context.Context, x *index.Index, run history.Run) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	study := ""    // "" without a readable result
	if run.Whole { // the run has ended and has a result
		c.Results++
		result, sum, err := history.ReadFirst(run.Result())
		if err != nil {
			c.addDamage(err.Error())
		} else {
			study = result.Study
			indexed, err := x.Has(ctx, sum)
			if err != nil {
				return fmt.Errorf("read the history: %w", err)
			}
			if indexed == "" {
				c.addDamage(run.Result() + ": changed since it was indexed, though its size and time did not")
			}
		}
	}
	path := filepath.Join(run.Dir, journal.FileName)
	hasHead, err := journal.Begun(path)
	if err == nil && !hasHead { // imported runs have no journal; a run killed immediately has no complete line
		return nil
	}
	log, err := journal.Read(path)
	c.Journals++
	switch {
	case err != nil:
		c.addDamage(err.Error())
	case study != "" && log.Head.Study != study:
		c.addDamage(fmt.Sprintf("%s: of study %q, next to a result of %q", path, log.Head.Study, study))
	}
	return nil
}

// addDamage records what is wrong with a file, in one line. The text may come from the file.
func (c *checkReport) addDamage(line string) { c.Damaged = append(c.Damaged, format.Line(line, 0)) }
