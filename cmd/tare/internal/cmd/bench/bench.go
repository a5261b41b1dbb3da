// Package bench implements tare bench. It compares two sides of a module, such as two revisions, by its
// go test benchmarks. The sides are called base and head.
package bench

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/benchstudy"
	"github.com/tarebench/tare/cmd/tare/internal/benchstudy/table"
	"github.com/tarebench/tare/cmd/tare/internal/cmdenv"
	"github.com/tarebench/tare/cmd/tare/internal/counts"
	"github.com/tarebench/tare/cmd/tare/internal/session"
	"github.com/tarebench/tare/cmd/tare/internal/studyfile"
	"github.com/tarebench/tare/internal/build"
)

// options contains the flags of tare bench. parseFlags parses the texts in the second group of fields.
type options struct {
	request benchstudy.Request // the two sides and the selected benchmarks
	run     session.Options    // how the sides are measured, and the output
	maxTime time.Duration      // --max: longest measurement; 0 means no limit
	all     bool               // --all: with --changed, also time benchmarks with the same code and count
	profile string             // --profile: rows to profile after the rounds; "" if none
	receipt string             // --receipt: file of the receipt; "" if none

	withTexts   []string // --with: modules of head
	goText      string   // --go: toolchain of head, or of base and head
	shardText   string   // --shard: i/n for request.Shard, or machines for divide
	layoutCount int      // --layouts: 0 or 1
	countsText  string   // --counts
	allowText   string   // --allow

	divide bool          // each machine of --on measures another part of the benchmarks
	counts counts.Choice // how instructions are counted
	allow  float64       // with --exit-code: share of the base's time by which head may be slower
}

func (o *options) hasMachines() bool { return len(o.run.On.On) > 0 }

// ownTests is a value of --tests: each side runs its own tests.
const ownTests = "own"

// Command returns tare bench.
func Command(env cmdenv.Env) *cobra.Command {
	var o options
	cmd := &cobra.Command{
		Use:   "bench [PACKAGE…] [--base REV]",
		Short: "Compare two revisions or settings with your go test benchmarks",
		Long: `Run the benchmarks of your own module, as go test -bench does, on two sides: two
revisions, or the same files with another dependency, toolchain, environment,
build tags or profile.

tare builds both sides and runs them in turns, in short slices, next to the base
once more as control. So disturbances of the machine affect all of them alike.
tare claims no difference smaller than the noise floor that base and control
show. The last column of the report's table is benchstat's verdict on the same
figures.

PACKAGEs are those of the go command; default: ./... . tare unpacks a revision
into its cache, and leaves the working tree, its index and .git as they are. It
lists the benchmarks that it omits: they exist on one side only, fail, or do not
fit the time.

With --on each machine builds and measures both sides, so no ratio compares
machines. Each receives the commits, and the worktree without the files that git
ignores. With --shard machines each benchmark runs on one of the machines
instead.

Exit codes: 0 measured, whatever the verdict; 1 the measurement failed; 2 bad input, a
side that does not build, or a budget too small; 130 interrupted. With --exit-code
also 3 head takes more time than --allow, 4 inconclusive, 5 void.`,
		Example: `  tare bench --base main
  tare bench --base main --dry-run
  tare bench ./parse --base v1.4.0 --bench 'Parse/.*' --budget 60s
  tare bench --base v1.4.0 --head v1.5.0 --format benchfmt
  tare bench --base origin/main --changed --max 5m --exit-code
  tare bench --with github.com/klauspost/compress@v1.18.0
  tare bench --go go1.25.5,go1.26.1
  tare bench --env GOGC=50
  tare bench --base main --tests head
  tare bench --base main --until decided --effect 1%
  tare bench --base main --profile
  tare bench --base main --rounds 18 --on local,ssh:a,ssh:b
  tare bench --base main --rounds 18 --on ssh:a,ssh:b --shard machines`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			o.request.Packages = args
			if err := o.parseFlags(cmd, env); err != nil {
				return err
			}
			if err := o.recordEnv(env); err != nil {
				return err
			}
			o.run.Typed = session.TypedBy(env, cmd)
			o.run.Typed.HideEnv(o.request.Env, o.request.EnvRecord)
			if err := o.request.Check(cmd.Context()); err != nil { // before the run waits for other runs
				return session.BenchError(cmd.Context(), err)
			}
			if o.run.DryRun {
				return planBench(cmd.Context(), env, o)
			}
			if o.hasMachines() {
				return benchOn(cmd, env, &o)
			}
			return runBench(cmd.Context(), env, o)
		},
		ValidArgsFunction: cobra.NoFileCompletions,
	}
	o.addFlags(cmd)
	return cmd
}

func (o *options) addFlags(cmd *cobra.Command) {
	sides := cmdenv.NewFlags("The two sides")
	sides.Set.StringVar(&o.request.Base, "base", "", "`revision` to compare with; default: the files of head, if another flag makes the sides differ")
	sides.Set.StringVar(&o.request.Head, "head", benchstudy.Worktree, "`revision` to judge, or worktree for the files as they are")
	sides.Set.StringArrayVar(&o.withTexts, "with", nil, "build head with `module`@version or module=./dir; repeatable")
	sides.Set.StringVar(&o.goText, "go", "", "`toolchain` of head, or two of them: base,head; e.g. go1.25.5,go1.26.1")
	sides.Set.StringArrayVar(&o.request.Env, "env", nil, "build and run head with `NAME=value` in its environment, e.g. GOGC=50; repeatable")
	sides.Set.BoolVar(&o.run.KeepEnv, "keep-env", false, "keep the values of --env in the result; default: names, with digests of the values, except for settings of Go such as GOGC")
	sides.Set.StringVar(&o.request.Tags, "tags", "", "build head with these `tags`; for tags of both sides set GOFLAGS=-tags=…")
	sides.Set.StringVar(&o.request.PGO, "pgo", "", "build head with the profile in `file`")
	sides.Set.StringVar(&o.request.Tests, "tests", ownTests, "`whose` tests base runs: its own, or head: the _test.go files of head if they compile, with testdata and embedded files, for benchmarks that the change adds")
	selection := cmdenv.NewFlags("What is measured")
	selection.Set.StringVar(&o.request.Bench, "bench", ".", "benchmarks that match `regexp`, as go test -bench takes it")
	selection.Set.BoolVar(&o.request.Changed, "changed", false, "only benchmarks that can reach what differs between base and head")
	selection.Set.StringVar(&o.shardText, "shard", "", "only part `i/n` of the benchmarks, e.g. 2/4; with --on also machines: each machine measures another part")
	selection.Set.DurationVar(&o.maxTime, "max", session.BenchMost, "maximum measuring `time`, with --until decided only if given; benchmarks that do not fit are listed; 0: no limit")
	method := cmdenv.NewFlags("How it is measured")
	method.Set.StringVar(&o.run.BudgetText, "budget", "", "measuring `time`, e.g. 90s; default: what the benchmarks need, within --max; builds not included")
	o.run.Decided.Add(method)
	method.Set.IntVar(&o.run.Rounds, "rounds", 0, "a fixed number of rounds, judged once at the end")
	method.Set.Uint64Var(&o.run.Seed, "seed", 0, "random seed; 0 takes one from the clock")
	method.Set.DurationVar(&o.run.Slice, "slice", 0, "target slice length, e.g. 8ms; 0: chosen automatically")
	method.Set.StringVar((*string)(&o.run.Isolation), "isolation", string(tare.Lockstep), "`how` the sides share time: lockstep, or trial: each side runs to its end before the next")
	method.Set.IntVar(&o.layoutCount, "layouts", 0, "0: link each side anew for each round, with its functions in another order, so that code placement is noise; 1: build each side once")
	method.Set.IntVar(&o.run.Procs, "procs", 0, "GOMAXPROCS of the benchmarks; default: the machine's")
	cmdenv.AddCounts(method.Set, &o.countsText)
	method.Set.BoolVar(&o.all, "all", false, "with --changed: time benchmarks, too, whose machine code and count of instructions are the same on both sides")
	method.Set.StringVar(&o.profile, "profile", "", "after the rounds, profile both sides and name the functions and allocations that differ; `which` benchmarks: different or all")
	method.Set.Lookup("profile").NoOptDefVal = string(benchstudy.ProfileDifferent)
	o.run.On.AddMeasuring(method.Set)
	method.Set.BoolVar(&o.run.NoLock, "no-lock", false, "measure even while another tare does; the result says so")
	output := cmdenv.NewFlags("What is printed")
	session.AddDryRun(output.Set, &o.run.DryRun, "")
	o.run.Printed.Add(output.Set, "the result document")
	output.Set.StringVarP(&o.run.Out, "output", "o", "", "write the JSON to `file` as well, whatever the format")
	output.Set.StringVar(&o.receipt, "receipt", "", "write `file`, a sealed record of trees, seed and intervals that tare verify can check")
	cmdenv.AddProgress(output.Set, &o.run.Quiet)
	output.Set.BoolVar(&o.run.ExitCode, "exit-code", false, "exit 3 if head takes more time than --allow permits, 4 inconclusive, 5 void")
	output.Set.StringVar(&o.allowText, "allow", "5%", "with --exit-code: maximum additional time of head, a `share` of that of base")
	cmdenv.AddFlags(cmd, sides, selection, method, output)
	o.run.Printed.Complete(cmd)
	o.run.Decided.Complete(cmd)
	cmdenv.CompleteCounts(cmd)
}

// recordEnv sets the record of the head's environment variables in result documents. Unless --keep-env
// is set, it has digests of the values.
func (o *options) recordEnv(env cmdenv.Env) error {
	switch {
	case o.run.KeepEnv:
		o.request.EnvRecord = o.request.Env
		return nil
	case o.run.DryRun: // the key of the digests may not exist
		o.request.EnvRecord = session.MaskEnv(o.request.Env)
		return nil
	}
	d, err := env.Dirs()
	if err != nil {
		return err
	}
	o.request.EnvRecord, err = session.RecordEnv(d, o.request.Env)
	return err
}

// parseFlags checks the flags and parses their texts. The order of the steps decides which of several
// mistakes is reported.
func (o *options) parseFlags(cmd *cobra.Command, env cmdenv.Env) (err error) {
	if err := o.setBudget(cmd.Flags().Changed); err != nil {
		return err
	}
	if err := o.run.Check(cmd); err != nil {
		return err
	}
	if o.run.Format.Name == "text" {
		o.run.Format.Write = table.WriteText
		o.run.Format.Next = table.WriteText
	}
	if err := session.CheckEnvironment(o.request.Env); err != nil {
		return err
	}
	if err := o.checkChoices(); err != nil {
		return err
	}
	o.request.Dir = "."
	o.request.OneBuild = o.layoutCount == 1
	o.divide = o.hasMachines() && o.shardText == session.ShardMachines
	if !o.divide {
		if o.request.Shard, err = session.ParseShard(o.shardText); err != nil {
			return err
		}
	}
	if err := o.parseSides(); err != nil {
		return err
	}
	if o.allow, err = cmdenv.Share("allow", o.allowText); err != nil {
		return err
	}
	if err := o.parseModules(); err != nil {
		return err
	}
	o.counts, err = cmdenv.ReadCounts(env, o.countsText)
	return err
}

func (o *options) setBudget(changed func(flag string) bool) error {
	// The budgets quick and full are those that a study names. A suite of benchmarks has none.
	if text := o.run.BudgetText; text == "quick" || text == "full" {
		return cmdenv.Usage("--budget "+text+" is for studies", "a duration such as 90s; without it the benchmarks say how long")
	}
	if changed("max") && o.maxTime > 0 {
		for _, flag := range []string{"budget", "rounds"} {
			if changed(flag) {
				return cmdenv.Usage(fmt.Sprintf("--max and --%s contradict each other", flag), "give one of them")
			}
		}
		if changed("until") {
			o.run.BudgetText = o.maxTime.String() // else it measures for at most session.UntilMost
		}
	}
	// Without --budget, "full" means for Check that the user sets no time. Session.FitBench then
	// computes the time that the benchmarks need.
	o.run.BudgetText = cmp.Or(o.run.BudgetText, "full")
	return nil
}

func (o *options) checkChoices() error {
	switch {
	case o.layoutCount != 0 && o.layoutCount != 1:
		return cmdenv.Usage(fmt.Sprintf("--layouts %d: it is 0 or 1", o.layoutCount), "0 links each side anew for each round, 1 builds each side once")
	case o.profile != "" && !slices.Contains(benchstudy.Profiles(), o.profile):
		return cmdenv.Usage(fmt.Sprintf("--profile=%s is not a choice of rows", o.profile), "one of "+strings.Join(benchstudy.Profiles(), ", "))
	case o.all && !o.request.Changed:
		return cmdenv.Usage("--all is for --changed", "without it, all benchmarks are timed")
	case o.receipt != "" && o.hasMachines():
		return cmdenv.Usage("--receipt is for one machine", "without --on")
	case o.maxTime < 0:
		return cmdenv.Usage(fmt.Sprintf("--max %v is not a positive duration", o.maxTime), "e.g. 10m")
	}
	return nil
}

func (o *options) parseSides() (err error) {
	if isProfileFile(o.request.PGO) {
		if o.request.PGO, err = filepath.Abs(o.request.PGO); err != nil {
			return err
		}
	}
	if o.request.Go, err = parseToolchains(o.goText); err != nil {
		return err
	}
	switch o.request.Tests {
	case ownTests:
		o.request.Tests = ""
	case benchstudy.TestsOfHead: // valid as it is
	default:
		return cmdenv.Usage(fmt.Sprintf("--tests %q: it is %s or %s", o.request.Tests, ownTests, benchstudy.TestsOfHead), "head runs the benchmarks of head on both sides")
	}
	return nil
}

func (o *options) parseModules() error {
	pins, err := session.ParsePins(o.withTexts)
	if err != nil {
		return err
	}
	for _, text := range pins {
		pin, err := build.ParseWith(text, ".")
		if err != nil {
			return err
		}
		o.request.With = append(o.request.With, pin)
	}
	return nil
}

// isProfileFile reports whether a value of --pgo is a path. The go command has other values: off and
// auto.
func isProfileFile(pgo string) bool { return pgo != "" && pgo != "off" && pgo != "auto" }

// parseToolchains parses --go. It returns the toolchain of head, or those of base and head. It
// returns nil for "".
func parseToolchains(text string) ([]string, error) {
	if text == "" {
		return nil, nil
	}
	var toolchains []string
	for name := range strings.SplitSeq(text, ",") {
		release, ok := studyfile.GoRelease(name)
		if name == "local" {
			release, ok = name, true
		}
		if !ok {
			return nil, cmdenv.Usage(fmt.Sprintf("--go %q is not a Go release", name), studyfile.GoHint+", or local for the machine's")
		}
		toolchains = append(toolchains, release)
	}
	if len(toolchains) > 2 {
		return nil, cmdenv.Usage("--go takes one toolchain, of head, or two: base,head", "")
	}
	return toolchains, nil
}
