// Package bench implements tare bench: it compares two sides of a module by its benchmarks.
package bench

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
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

// options holds the flags of tare bench. check completes asked and run from the texts.
type options struct {
	asked      benchstudy.Asked
	run        session.Options
	with       []string // modules of head
	toolchains string   // of head, or of base and head
	layouts    int
	shard      string
	divide     bool          // --shard machines
	maxTime    time.Duration // longest measurement; 0 means no limit
	countsText string
	counts     counts.Choice // how instructions are counted
	all        bool          // with --changed, also time benchmarks with the same code and count
	profile    string        // rows to profile afterwards; "" if none
	allowText  string
	receipt    string  // file of the receipt; "" if none
	allow      float64 // of more time than the base, with --exit-code; a share
}

// ownTests is the value of --tests for the tests of each side.
const ownTests = "own"

// Command returns tare bench.
func Command(env cmdenv.Env) *cobra.Command {
	var o options
	cmd := &cobra.Command{
		Use:   "bench [PACKAGE…] [--base REV]",
		Short: "Compare two sides of your own go test benchmarks",
		Long: `Measure the benchmarks of your own module, as go test -bench runs them, on two
sides: two revisions, or the same files with another dependency, toolchain,
environment, build tags or profile.

Both sides are built, and run side by side in short slices, together with the
base once more as control. Disturbances of the machine affect all of them alike;
tare claims no difference smaller than the noise floor that base and control
show. The last column of the report's table is benchstat's verdict on the same
figures.

PACKAGEs are as the go command takes them; without any it is ./... . The working
tree, its index and .git stay as they are: a revision is unpacked into the
cache. Benchmarks that exist on one side only, that fail, or that do not fit the
time are listed and left out.

With --on each machine builds and measures both sides by itself: ratios never
cross machines. It gets the commits, and the worktree with what git does not
ignore. --shard machines divides the benchmarks among the machines instead; both
sides of a benchmark are always on one.

Exit codes: 0 measured, whatever the verdict; 1 the measurement failed; 2 bad input, a
side that does not build, or a budget too small; 130 interrupted. With --exit-code
also 3 head takes more time than --allow, 4 inconclusive, 5 void.`,
		Example: `  tare bench --base main
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
			o.asked.Packages = args
			if err := o.check(cmd); err != nil {
				return err
			}
			var err error
			if o.counts, err = cmdenv.ReadCounts(env, o.countsText); err != nil {
				return err
			}
			if err := o.recordEnv(env); err != nil {
				return err
			}
			o.run.Typed = session.TypedBy(env, cmd)
			o.run.Typed.HideEnv(o.asked.Env, o.asked.EnvRecord)
			if err := o.asked.Check(cmd.Context()); err != nil { // before waiting for the lock
				return session.BenchError(cmd.Context(), err)
			}
			if len(o.run.On.On) > 0 {
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
	two := cmdenv.NewFlags("The two sides")
	two.Set.StringVar(&o.asked.Base, "base", "", "`revision` to compare with; default: the files of head, when another flag makes the sides differ")
	two.Set.StringVar(&o.asked.Head, "head", benchstudy.Worktree, "`revision` that is compared, or worktree for the files as they are")
	two.Set.StringArrayVar(&o.with, "with", nil, "build head with `module`@version or module=./dir; repeatable")
	two.Set.StringVar(&o.toolchains, "go", "", "`toolchain` of head, or two of them: base,head; e.g. go1.25.5,go1.26.1")
	two.Set.StringArrayVar(&o.asked.Env, "env", nil, "build and run head with `NAME=value` in its environment, e.g. GOGC=50; repeatable")
	two.Set.BoolVar(&o.run.KeepEnv, "keep-env", false, "keep the values of --env in the result; default: names, with digests of the values, except for settings of Go such as GOGC")
	two.Set.StringVar(&o.asked.Tags, "tags", "", "build head with these `tags`; for tags of both sides set GOFLAGS=-tags=…")
	two.Set.StringVar(&o.asked.PGO, "pgo", "", "build head with the profile in `file`")
	two.Set.StringVar(&o.asked.Tests, "tests", ownTests, "`whose` tests base runs: own, or head: the _test.go files and testdata of head where they compile, for benchmarks that the change adds")
	what := cmdenv.NewFlags("What is measured")
	what.Set.StringVar(&o.asked.Bench, "bench", ".", "benchmarks that match `regexp`, as go test -bench takes it")
	what.Set.BoolVar(&o.asked.Changed, "changed", false, "only benchmarks that can reach what differs between base and head")
	what.Set.StringVar(&o.shard, "shard", "", "only part `i/n` of the benchmarks, e.g. 2/4; with --on also machines: each machine measures another part")
	what.Set.DurationVar(&o.maxTime, "max", session.BenchMost, "maximum measuring `time`; benchmarks that do not fit are listed; 0: no limit")
	how := cmdenv.NewFlags("How it is measured")
	how.Set.StringVar(&o.run.BudgetText, "budget", "", "measuring `time`, e.g. 90s; default: what the benchmarks need, within --max; builds not included")
	o.run.Decided.Add(how)
	how.Set.IntVar(&o.run.Rounds, "rounds", 0, "a fixed number of rounds, judged once at the end")
	how.Set.Uint64Var(&o.run.Seed, "seed", 0, "random seed; 0 takes one from the clock")
	how.Set.DurationVar(&o.run.Slice, "slice", 0, "target slice length, e.g. 8ms; 0: chosen automatically")
	how.Set.StringVar((*string)(&o.run.Isolation), "isolation", string(tare.Lockstep), "`how` the sides share time: lockstep, or trial: each side runs to its end before the next")
	how.Set.IntVar(&o.layouts, "layouts", 0, "0: link each side anew for each round, with its functions in another order, so that code placement is noise; 1: build each side once")
	how.Set.IntVar(&o.run.Procs, "procs", 0, "GOMAXPROCS of the benchmarks; default: the machine's")
	cmdenv.AddCounts(how.Set, &o.countsText)
	how.Set.BoolVar(&o.all, "all", false, "with --changed: time benchmarks, too, whose machine code and count of instructions are the same on both sides")
	how.Set.StringVar(&o.profile, "profile", "", "after the rounds, profile both sides and name the functions and allocations that differ; `which` benchmarks: different or all")
	how.Set.Lookup("profile").NoOptDefVal = string(benchstudy.ProfileDifferent)
	o.run.On.AddMeasuring(how.Set)
	how.Set.BoolVar(&o.run.NoLock, "no-lock", false, "measure even while another tare does; the result says so")
	said := cmdenv.NewFlags("What is printed")
	o.run.Printed.Add(said.Set, "the result document")
	said.Set.StringVarP(&o.run.Out, "output", "o", "", "write the JSON to `file` as well, whatever the format")
	said.Set.StringVar(&o.receipt, "receipt", "", "write `file`, a sealed record of trees, seed and intervals that tare verify can check")
	said.Set.BoolVarP(&o.run.Quiet, "quiet", "q", false, "no progress on stderr")
	said.Set.BoolVar(&o.run.ExitCode, "exit-code", false, "exit 3 if head takes more time than --allow permits, 4 inconclusive, 5 void")
	said.Set.StringVar(&o.allowText, "allow", "5%", "with --exit-code: how much more time than base is all right, a `share`")
	cmdenv.AddFlags(cmd, two, what, how, said)
	o.run.Printed.Complete(cmd)
	o.run.Decided.Complete(cmd)
	cmdenv.CompleteCounts(cmd)
}

// recordEnv sets how documents record the environment of the head.
func (o *options) recordEnv(env cmdenv.Env) error {
	if o.run.KeepEnv {
		o.asked.EnvRecord = o.asked.Env
		return nil
	}
	d, err := env.Dirs()
	if err != nil {
		return err
	}
	o.asked.EnvRecord, err = session.RecordEnv(d, o.asked.Env)
	return err
}

// check validates the flags and their combinations.
func (o *options) check(cmd *cobra.Command) (err error) {
	if text := o.run.BudgetText; text == "quick" || text == "full" {
		return cmdenv.Usage("--budget "+text+" is for studies", "a duration such as 90s; without it the benchmarks say how long")
	}
	o.run.BudgetText = cmp.Or(o.run.BudgetText, "full")
	if err := o.run.Check(cmd); err != nil {
		return err
	}
	if o.run.Format.Name == "text" {
		o.run.Format.Write = table.Text
		o.run.Format.Next = table.Text
	}
	if err := session.CheckEnvironment(o.asked.Env); err != nil {
		return err
	}
	o.asked.Dir = "."
	if o.layouts != 0 && o.layouts != 1 {
		return cmdenv.Usage(fmt.Sprintf("--layouts %d: it is 0 or 1", o.layouts), "0 links each side anew for each round, 1 builds each side once")
	}
	o.asked.OneBuild = o.layouts == 1
	if o.profile != "" && !slices.Contains(benchstudy.Profiles(), o.profile) {
		return cmdenv.Usage(fmt.Sprintf("--profile=%s is not a choice of rows", o.profile), "one of "+strings.Join(benchstudy.Profiles(), ", "))
	}
	if o.all && !o.asked.Changed {
		return cmdenv.Usage("--all is for --changed", "without it, all benchmarks are timed")
	}
	if o.receipt != "" && len(o.run.On.On) > 0 {
		return cmdenv.Usage("--receipt is for one machine", "without --on")
	}
	if o.maxTime < 0 {
		return cmdenv.Usage(fmt.Sprintf("--max %v is not a positive duration", o.maxTime), "e.g. 10m")
	}
	if o.asked.PGO != "" && o.asked.PGO != "off" && o.asked.PGO != "auto" {
		if o.asked.PGO, err = filepath.Abs(o.asked.PGO); err != nil {
			return err
		}
	}
	if o.divide = len(o.run.On.On) > 0 && o.shard == session.ShardMachines; !o.divide {
		if o.asked.Shard, err = benchShard(o.shard); err != nil {
			return err
		}
	}
	if o.asked.Go, err = benchReleases(o.toolchains); err != nil {
		return err
	}
	switch o.asked.Tests {
	case ownTests:
		o.asked.Tests = ""
	case benchstudy.TestsOfHead:
	default:
		return cmdenv.Usage(fmt.Sprintf("--tests %q: it is %s or %s", o.asked.Tests, ownTests, benchstudy.TestsOfHead), "head runs the benchmarks of head on both sides")
	}
	if o.allow, err = cmdenv.Share("allow", o.allowText); err != nil {
		return err
	}
	with, err := session.ParsePins(o.with)
	for _, text := range with {
		w, errWith := build.ParseWith(text, ".")
		if errWith != nil {
			return errWith
		}
		o.asked.With = append(o.asked.With, w)
	}
	return err
}

// benchShard parses i/n. "" means no sharding.
func benchShard(text string) (benchstudy.Shard, error) {
	if text == "" {
		return benchstudy.Shard{}, nil
	}
	i, n, _ := strings.Cut(text, "/")
	index, errIndex := strconv.Atoi(i)
	of, errOf := strconv.Atoi(n)
	if errors.Join(errIndex, errOf) != nil || index < 1 || index > of {
		return benchstudy.Shard{}, cmdenv.Usage(fmt.Sprintf("--shard %q is not a part", text), "the second of four parts is 2/4; --shard machines needs --on")
	}
	return benchstudy.Shard{Index: index, Of: of}, nil
}

// benchReleases parses one toolchain or two.
func benchReleases(text string) ([]string, error) {
	if text == "" {
		return nil, nil
	}
	var out []string
	for name := range strings.SplitSeq(text, ",") {
		release, ok := studyfile.GoRelease(name)
		if name == "local" {
			release, ok = name, true
		}
		if !ok {
			return nil, cmdenv.Usage(fmt.Sprintf("--go %q is not a Go release", name), studyfile.GoHint+", or local for the machine's")
		}
		out = append(out, release)
	}
	if len(out) > 2 {
		return nil, cmdenv.Usage("--go takes one toolchain, of head, or two: base,head", "")
	}
	return out, nil
}
