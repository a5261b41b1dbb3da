// Package run implements tare run. It runs studies, files that ask how contenders (programs under test)
// compare on workloads.
package run

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/cmdenv"
	"github.com/tarebench/tare/cmd/tare/internal/session"
)

// Command returns tare run.
func Command(env cmdenv.Env) *cobra.Command {
	var o session.Options
	var all bool
	cmd := &cobra.Command{
		Use:   "run [STUDY|FILE…]",
		Short: "Run studies",
		Long: `Run studies: build the contenders, check that each answers correctly, measure
them in lockstep rounds, and report what was found.

A STUDY is the name of a bundled study (tare list studies), a FILE is a study of
your own, and - reads one from stdin. Without either, every bundled study runs,
json-encode first and the others from short to long. At the quick budget, a study
of more than two minutes runs only if it is named. Each prints its headline and a
few ratios as bars on one scale; counts of criteria and claims follow at the end.
--all prints every report in full, and each claim. --list shows the studies and
how long each takes.

Any --budget from 5s on works (10s for servers): tare omits what does not fit,
and names the budget that would fit it.

The report goes to stdout, as tables or in another --format (tare report --help
describes them), and progress to stderr. Every result is kept in the data
directory (tare history lists them). Ctrl-C finishes the round and judges the
rounds so far; a second one stops at once.

Exit codes: 0 measured, whatever the verdict; 1 the measurement failed, or a check
missed a trap; 2 bad input or a budget below the minimum; 130 interrupted. With
--exit-code also 3 a criterion is not met, 4 inconclusive, 5 void; of several the
worst (5, then 3, then 4). A trap, a contender with a known mistake on purpose,
causes none of them.`,
		Example: `  tare run
  tare run --list
  tare run json-encode --dry-run
  tare run json-encode --budget full
  tare run json-encode --contender 'jsoniter*' --workload 'devices-50/*' --at 1000/s
  tare run json-encode --contender 'sonic*' --with github.com/bytedance/sonic@v1.14.0 --go go1.25.5
  tare run ffi --with-original ../cgocopy
  tare run ./mine.yaml --rounds 40 --seed 7 --env GOGC=200 -o mine.json
  tare run tiny --contender gin-new --profile cpu,mem
  tare run json-encode --rounds 18 --on local,ssh:a,ssh:b
  tare run json-encode --resume`,
		Args:              cobra.ArbitraryArgs,
		ValidArgsFunction: completeStudies(env),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.Resume = o.On.Resume
			choseFormat := cmd.Flags().Changed("format") || o.Printed.AsJSON
			if len(args) == 0 && !all && !choseFormat {
				o.Printed.Name = "brief"
			}
			if err := o.Check(cmd); err != nil {
				return err
			}
			if len(o.On.On) > 0 && !o.DryRun {
				return runOn(cmd, env, o, args)
			}
			return runStudies(cmd.Context(), env, o, cmdenv.CommandOf(cmd), args)
		},
	}
	addFlags(cmd, &o, &all)
	cmdenv.CompleteFlag(cmd, "contender", completeNames(env, func(c cmdenv.Study) []string { ids, _ := c.Names(); return ids }))
	cmdenv.CompleteFlag(cmd, "workload", completeNames(env, func(c cmdenv.Study) []string { _, ids := c.Names(); return ids }))
	return cmd
}

func addFlags(cmd *cobra.Command, o *session.Options, all *bool) {
	selection := cmdenv.NewFlags("What is measured")
	selection.Set.StringArrayVar(&o.Only.Contenders, "contender", nil, "only the baseline and contenders that match `glob`, at any budget; repeatable")
	selection.Set.StringArrayVar(&o.Only.Workloads, "workload", nil, "only workloads that match `glob`, at any budget; repeatable")
	selection.Set.StringArrayVar(&o.With, "with", nil, "build the contenders that require it with `module`@version or module=./dir; repeatable")
	selection.Set.StringVar(&o.Original, "with-original", "", "also measure the library whose published claims the study tests, from your clone in `directory`")
	selection.Set.StringArrayVar(&o.Releases, "go", nil, "build contenders with that Go `release`, e.g. go1.25.5; default: the machine's")
	selection.Set.StringVar(&o.Catalog, "catalog", "", "`directory` of contenders; default: the repository's, else the built-in ones")
	method := cmdenv.NewFlags("How it is measured")
	method.Set.StringVar(&o.BudgetText, "budget", "quick", "measuring time of each study: quick, full or a `duration` such as 90s; builds not included")
	o.Decided.Add(method)
	method.Set.IntVar(&o.Rounds, "rounds", 0, "a fixed number of rounds, judged once at the end")
	method.Set.Uint64Var(&o.Seed, "seed", 0, "random seed; 0 takes one from the clock")
	method.Set.DurationVar(&o.Slice, "slice", 0, "target slice length, e.g. 8ms; 0: chosen automatically")
	method.Set.StringVar((*string)(&o.Isolation), "isolation", string(tare.Lockstep), "`how` contenders share time: lockstep, or trial: each contender runs to its end before the next")
	method.Set.IntVar(&o.Procs, "procs", 0, "GOMAXPROCS of the contenders; default: set by the kind of contender, 1 for codecs and routers")
	method.Set.StringArrayVar(&o.Env, "env", nil, "put `NAME=value` into every contender's environment, e.g. GOGC=200; repeatable")
	method.Set.BoolVar(&o.KeepEnv, "keep-env", false, "keep the values of --env in the result; default: names, with digests of the values, except for settings of Go such as GOGC")
	cmdenv.AddStudyCounts(method.Set, &o.CountsText)
	method.Set.StringSliceVar(&o.Profile, "profile", nil, "after the rounds, show where time and memory go: `kinds` cpu, mem or both; flame graphs are kept next to the result")
	o.On.AddMeasuring(method.Set)
	method.Set.Lookup("resume").Usage = "continue the newest unfinished run"
	method.Set.BoolVar(&o.NoLock, "no-lock", false, "measure even while another tare does; the result says so")
	output := cmdenv.NewFlags("What is printed")
	output.Set.StringVar(&o.Rate.Text, "at", "", "also print how much CPU time each contender costs or saves in a service that does the operation at `rate`, e.g. 1000/s")
	output.Set.BoolVar(&o.List, "list", false, "print the studies and how long each is measured, and measure nothing")
	session.AddDryRun(output.Set, &o.DryRun, "")
	o.Printed.Add(output.Set, "one document for one study, else a list")
	output.Set.BoolVar(all, "all", false, "without a STUDY: every report in full, and each published claim")
	output.Set.StringVarP(&o.Out, "output", "o", "", "write the JSON to `file` as well, whatever the format")
	cmdenv.AddProgress(output.Set, &o.Quiet)
	output.Set.BoolVar(&o.NoPage, "no-page", false, "no "+cmdenv.PageName+" next to the result")
	output.Set.BoolVar(&o.ExitCode, "exit-code", false, "exit 3 not met, 4 inconclusive, 5 void")
	cmdenv.AddFlags(cmd, selection, method, output)
	o.Printed.Complete(cmd)
	cmdenv.CompleteCounts(cmd)
	cmdenv.CompleteFlag(cmd, "profile", cobra.FixedCompletions([]string{tare.ProfileCPU, tare.ProfileMem}, cobra.ShellCompDirectiveNoFileComp))
	cmdenv.CompleteFlag(cmd, "budget", cobra.FixedCompletions([]string{"quick", "full"}, cobra.ShellCompDirectiveNoFileComp))
	cmdenv.CompleteFlag(cmd, "isolation", cobra.FixedCompletions([]string{string(tare.Lockstep), string(tare.TrialWise)}, cobra.ShellCompDirectiveNoFileComp))
	o.Decided.Complete(cmd)
}

func completeStudies(env cmdenv.Env) cobra.CompletionFunc {
	return func(_ *cobra.Command, _ []string, start string) ([]string, cobra.ShellCompDirective) {
		return slices.DeleteFunc(env.Bundled(), func(name string) bool { return !strings.HasPrefix(name, start) }), cobra.ShellCompDirectiveDefault
	}
}

// completeNames returns the completion of a flag: the names that namesOf returns for the studies in the
// arguments.
func completeNames(env cmdenv.Env, namesOf func(cmdenv.Study) []string) func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return func(_ *cobra.Command, args []string, start string) ([]string, cobra.ShellCompDirective) {
		if len(args) == 0 {
			args = env.Bundled()
		}
		var names []string
		for _, arg := range args {
			if arg == "-" {
				continue // completion must not read the run's stdin
			}
			if study, err := env.ReadStudy(arg); err == nil {
				names = append(names, namesOf(study)...)
			}
		}
		slices.Sort(names)
		return slices.DeleteFunc(slices.Compact(names), func(n string) bool { return !strings.HasPrefix(n, start) }), cobra.ShellCompDirectiveNoFileComp
	}
}
