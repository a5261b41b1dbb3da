package cli

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/report"
)

// runOptions are the flags of tare run.
type runOptions struct {
	quick     bool
	user      bool          // budget is the user's own
	budget    time.Duration // zero: the study's own
	rounds    int           // zero: by budget
	seed      uint64        // zero: from the clock
	slice     time.Duration // zero: by rule
	isolation tare.Isolation
	resume    bool
	format    report.Format
	out       string // file for the JSON; empty: none
	quiet     bool
	noLock    bool
	catalog   string // directory; empty: looked for
	exitCode  bool   // verdicts as exit codes
}

func (s *shell) runCommand() *cobra.Command {
	var o runOptions
	var f formatFlag
	var budget, isolation string
	cmd := &cobra.Command{
		Use:   "run [STUDY|FILE…]",
		Short: "Carry studies out",
		Long: `Carry studies out: build the contenders, let each prove that it answers right,
weigh them in lockstep rounds, and say what was found.

A STUDY is the name of a bundled study (tare list studies), a FILE is a study of
your own, and - reads one from stdin. Without either, every bundled study runs,
and then the published claims are held against what was measured.

The report goes to stdout, as tables for people or in another --format (tare
report --help describes them), and progress to stderr. Every result is kept in
the data directory (tare history lists them). Ctrl-C finishes the round and
judges what there is; a second one ends it at once.

Exit codes: 0 carried out, whatever was found; 1 something needed failed; 2 bad
input or a budget too small; 130 interrupted. With --exit-code also 3 a criterion
is not met, 4 inconclusive, 5 void: the worst (5, then 3, then 4) of those
contenders that are not traps.`,
		Example: `  tare run
  tare run json-encode --budget full
  tare run ./mine.yaml --rounds 40 --seed 7 -o mine.json
  tare run json-encode --resume`,
		Args:              cobra.ArbitraryArgs,
		ValidArgsFunction: s.completeStudies,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.read(cmd, budget, isolation); err != nil {
				return err
			}
			var err error
			if o.format, err = f.format(cmd); err != nil {
				return err
			}
			return s.run(cmd.Context(), o, args)
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVar(&budget, "budget", "quick", "measuring time: quick, full or a `duration` such as 90s; builds not included")
	flags.IntVar(&o.rounds, "rounds", 0, "a fixed number of rounds, judged once at the end")
	flags.Uint64Var(&o.seed, "seed", 0, "of the order of everything; 0 takes one from the clock")
	flags.DurationVar(&o.slice, "slice", 0, "slice length wanted, e.g. 8ms; 0 decides by rule")
	flags.StringVar(&isolation, "isolation", string(tare.Lockstep), "`how` contenders share time: lockstep, or trial for one whole trial after another")
	flags.BoolVar(&o.resume, "resume", false, "go on with the newest unfinished run")
	f.add(cmd, "one document for one study, else a list")
	flags.StringVarP(&o.out, "output", "o", "", "write the JSON to `file` as well, whatever the format")
	flags.BoolVarP(&o.quiet, "quiet", "q", false, "no progress on stderr")
	flags.BoolVar(&o.noLock, "no-lock", false, "measure even while another tare does; the result says so")
	flags.StringVar(&o.catalog, "catalog", "", "`directory` of contenders; default: the repository's, else the built-in ones")
	flags.BoolVar(&o.exitCode, "exit-code", false, "exit 3 not met, 4 inconclusive, 5 void")
	return cmd
}

// read checks the flags that are words and their combinations.
func (o *runOptions) read(cmd *cobra.Command, budget, isolation string) error {
	switch budget {
	case "quick":
		o.quick = true
	case "full":
	default:
		d, err := time.ParseDuration(budget)
		if err != nil || d <= 0 {
			return &usageError{fmt.Sprintf("--budget %q is not a budget", budget), "quick, full or a duration such as 90s or 5m"}
		}
		o.budget, o.user = d, true
	}
	switch tare.Isolation(isolation) {
	case tare.Lockstep, tare.TrialWise:
		o.isolation = tare.Isolation(isolation)
	default:
		return &usageError{fmt.Sprintf("--isolation %q is not a way to share time", isolation), "lockstep or trial"}
	}
	changed := cmd.Flags().Changed
	switch {
	case changed("rounds") && (o.rounds < 1 || o.rounds > math.MaxInt32):
		return &usageError{fmt.Sprintf("--rounds %d is not a number of rounds", o.rounds), "at least 1"}
	case o.rounds > 0 && o.user:
		return &usageError{"--rounds and a --budget of your own contradict each other", "give one of them; --budget quick or full only chooses what is weighed"}
	case changed("slice") && o.slice <= 0:
		return &usageError{fmt.Sprintf("--slice %v is not a slice length", o.slice), "e.g. 8ms"}
	case o.resume && changed("seed"):
		return &usageError{"--resume goes on with the seed of the run it resumes", "leave --seed out"}
	}
	return nil
}

func (s *shell) completeStudies(_ *cobra.Command, _ []string, start string) ([]string, cobra.ShellCompDirective) {
	var names []string
	for _, n := range s.bundled() {
		if strings.HasPrefix(n, start) {
			names = append(names, n)
		}
	}
	return names, cobra.ShellCompDirectiveDefault
}
