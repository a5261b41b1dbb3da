package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/lab"
)

// rerunOptions are the flags of tare rerun.
type rerunOptions struct {
	seed    uint64
	reseed  bool // seed was given
	catalog string
	noLock  bool
	quiet   bool
	asJSON  bool
}

func (s *shell) rerunCommand() *cobra.Command {
	var o rerunOptions
	cmd := &cobra.Command{
		Use:   "rerun RESULT",
		Short: "Carry the study of a result out again as it was, and compare",
		Long: `Carry the study of a result out again as it was: the study's text, what was chosen
of it, budget, seed, environment, the modules that were linked, and the Go that
built them where it can be had. What cannot be had is said.

Then say beside each verdict and claim what it was and what it is, with both
intervals. A verdict is the same or changed; that a ratio changed is only said
where the two intervals do not overlap. The result is kept as any other (tare
report prints it).

A RESULT is a result.json, the directory of a run, or the name of a study, which
stands for its newest run (tare history lists them).

Exit codes: 0 carried out, whatever came out; 1 something needed failed; 2 no such
result, or one that does not hold its study; 130 interrupted.`,
		Example: `  tare rerun json-encode
  tare rerun ./result.json --seed 8
  tare rerun json-encode --json`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return &usageError{"tare rerun needs a result", "a result.json, a run's directory, or the name of a study that was run"}
			}
			return atMost(1)(cmd, args)
		},
		ValidArgsFunction: s.completeRuns,
		RunE: func(cmd *cobra.Command, args []string) error {
			o.reseed = cmd.Flags().Changed("seed")
			return s.rerun(cmd.Context(), o, args[0])
		},
	}
	flags := cmd.Flags()
	flags.Uint64Var(&o.seed, "seed", 0, "another order of everything; 0 takes one from the clock; default: the result's")
	flags.StringVar(&o.catalog, "catalog", "", "`directory` of contenders; default: the repository's, else the built-in ones")
	flags.BoolVar(&o.noLock, "no-lock", false, "measure even while another tare does; the result says so")
	flags.BoolVarP(&o.quiet, "quiet", "q", false, "no progress on stderr")
	flags.BoolVar(&o.asJSON, "json", false, "print the comparison as JSON")
	return cmd
}

// rerun carries the study of a result out again.
func (s *shell) rerun(ctx context.Context, o rerunOptions, arg string) error {
	results, err := s.results(arg)
	if err != nil {
		return err
	}
	if len(results) != 1 {
		return &usageError{fmt.Sprintf("%s holds %d results", arg, len(results)), "name one run; tare history lists them"}
	}
	old := results[0]
	ro, err := askedOptions(old)
	if err != nil {
		return err
	}
	if o.reseed {
		ro.seed = o.seed
	}
	ro.catalog, ro.noLock, ro.quiet = o.catalog, o.noLock, o.quiet
	study, said, err := s.askedStudy(old)
	if err != nil {
		return err
	}
	p := s.newProgress(o.quiet)
	defer p.End()
	p.Say(fmt.Sprintf("weighing %s again as on %s UTC, %s", study.ID, minute(old.Started.UTC()), asked(ro)))
	if said != "" {
		p.Say(said)
	}
	studies := []chosen{study}
	if err := ro.give(studies); err != nil {
		return err
	}
	if studies, _, err = choose(ro.only, studies); err != nil {
		return err
	}
	var now *tare.Result
	err = s.session(ctx, ro, p, func(ctx context.Context, w *weighing) error {
		w.asThen(ctx, &studies[0], old)
		res, err := w.weigh(ctx, studies[0])
		now = res
		return err
	})
	p.Pause()
	if now != nil {
		c := compare(old, now)
		errPrint := error(nil)
		if o.asJSON {
			errPrint = printJSON(s.out, c)
		} else {
			errPrint = c.print(s.out, s.style(s.out))
		}
		if err == nil {
			err = errPrint
		}
		if err == nil && now.Stopped == lab.Interrupted {
			err = codeError(ExitInterrupted)
		}
	}
	return err
}

// criterionText is a verdict's criterion; one without only states a
// difference.
func criterionText(v rerunVerdict) string {
	if v.Criterion == "" {
		return v.Metric + " ratio"
	}
	return strings.TrimSpace(v.Criterion)
}
