// Package gatecmd implements tare gate for CI. It measures a repository's benchmarks before and after a
// change (base and head). Then it decides whether the change may pass.
package gatecmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/tarebench/tare/cmd/tare/internal/benchstudy/gate"
	"github.com/tarebench/tare/cmd/tare/internal/benchstudy/suite"
	"github.com/tarebench/tare/cmd/tare/internal/cmdenv"
	"github.com/tarebench/tare/cmd/tare/internal/counts"
	"github.com/tarebench/tare/cmd/tare/internal/project"
	"github.com/tarebench/tare/cmd/tare/internal/project/survey"
	"github.com/tarebench/tare/cmd/tare/internal/session"
)

type options struct {
	base, head  string        // revisions; base is "" if tare.yaml names it
	budget      time.Duration // 0 if not set
	rounds      int           // 0 if not set
	seed        uint64
	formatFlag  cmdenv.FormatFlag // --format and --json
	format      string            // one of gateFormats, chosen by formatFlag
	jsonFile    string            // file for the JSON; "" if none
	gitlabFile  string            // file for a code quality report; "" if none
	all         bool              // list also what passes
	quiet       bool
	dryRun      bool
	noLock      bool
	profile     bool // profile the benchmarks that differ
	changed     bool // measure only benchmarks that the change can affect
	countsText  string
	counts      counts.Choice // whether instructions are counted; parsed from countsText
	record      bool          // measure against the reference of tare.yaml and block nothing
	reviewsFile string        // file of the reviewers' texts; "" if none
	shardText   string        // text of --shard
	shard       suite.Shard   // the zero value means all benchmarks
	machines    cmdenv.Machines
	divided     bool // --shard machines: each machine measures another part
}

func gateFormats() []string { return []string{"text", "md", "json"} }

// Command returns the command tare gate.
func Command(env cmdenv.Env) *cobra.Command {
	var o options
	cmd := &cobra.Command{
		Use:   "gate",
		Short: "Compare a change with its base: is anything slower?",
		Long: `Measure the repository's benchmarks, and the studies, JSON documents, routes and
servers that tare.yaml names, on two sides: base and head. The gate blocks a
change if something is slower by more than the margin, allocates more often,
exceeds a limit, or is void. The family-wise error rate of the table is bounded
(gate: alpha, 5 %).

tare.yaml sets what is measured, the margin and limits, and which regressions are
accepted until a date (tare init writes one). Without it the base is the merge
base of HEAD and the default branch, the margin is 5 %, and allocations are
compared exactly. If GITHUB_ACTIONS is true, tare annotates the lines of the
benchmarks, and writes the table to GITHUB_STEP_SUMMARY, as --format md prints
it.

With --on each machine measures both sides, and has rows of its own in the table;
the error rate is that of the complete table. A change passes only if it passes
on every machine. --shard machines divides the benchmarks among them.

Exit codes: 0 passed, or nothing to compare; 1 the measurement failed; 2 bad
input, a side that does not build, or a budget below the minimum; 3 something is
worse; 4 inconclusive, if on_inconclusive is fail; 5 void; 130 interrupted. Of 3,
4 and 5 the worst: 5, then 3, then 4.`,
		Example: `  tare gate
  tare gate --base v1.4.0 --budget 2m
  tare gate --dry-run
  tare gate --base origin/main --head HEAD -o gate.json
  tare gate --format md > gate.md
  tare gate --gitlab gl-code-quality-report.json
  tare gate --rounds 18 --on local,ssh:a --shard machines`,
		Args: cmdenv.AtMost(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := o.check(cmd); err != nil {
				return err
			}
			var err error
			if o.counts, err = cmdenv.ReadCounts(env, o.countsText); err != nil {
				return err
			}
			return runGate(cmd, env, o)
		},
		ValidArgsFunction: cobra.NoFileCompletions,
	}
	o.addFlags(cmd)
	cmd.AddCommand(mergeCommand(env))
	return cmd
}

func (o *options) addFlags(cmd *cobra.Command) {
	sides := cmdenv.NewFlags("The two sides")
	sides.Set.StringVar(&o.base, "base", "", "`revision`, or merge-base, or 'merge-base REVISION'; default: tare.yaml's")
	sides.Set.BoolVar(&o.record, "record", false, "measure against gate: reference of tare.yaml, for the history of a branch; nothing is blocked")
	sides.Set.StringVar(&o.head, "head", gate.Worktree, "`revision` that is to pass, or worktree for the files as they are")
	selection := cmdenv.NewFlags("What is measured")
	selection.Set.BoolVar(&o.changed, "changed", false, "only benchmarks that can reach what differs between base and head")
	selection.Set.StringVar(&o.shardText, "shard", "", "only part `i/n` of the benchmarks, e.g. 2/4, for tare gate merge; part 1 also measures the studies, documents, routes and servers of tare.yaml; with --on also machines: each machine measures another part")
	method := cmdenv.NewFlags("How it is measured")
	method.Set.DurationVar(&o.budget, "budget", 0, "measuring `time` of the benchmarks, together, and the same again of each study and each server, e.g. 90s; default: tare.yaml's, else what they need; builds not included")
	method.Set.IntVar(&o.rounds, "rounds", 0, "a fixed number of rounds, judged once at the end")
	method.Set.Uint64Var(&o.seed, "seed", 0, "random seed; 0 takes one from the clock")
	cmdenv.AddCounts(method.Set, &o.countsText)
	method.Set.BoolVar(&o.profile, "profile", false, "after the rounds, profile both sides of benchmarks that differ, and name the functions and allocations that do")
	o.machines.AddMeasuring(method.Set)
	method.Set.BoolVar(&o.noLock, "no-lock", false, "measure even while another tare does; the result says so")
	output := cmdenv.NewFlags("What is printed")
	session.AddDryRun(output.Set, &o.dryRun, "")
	o.addPrinted(output)
	rules := cmdenv.NewFlags("How it is judged")
	o.addReviews(rules)
	cmdenv.AddFlags(cmd, sides, selection, method, rules, output)
	cmdenv.CompleteCounts(cmd)
}

func (o *options) addReviews(rules cmdenv.Flags) {
	rules.Set.StringVar(&o.reviewsFile, "reviews", "", "`file` of what reviewers wrote, in which gate: review of tare.yaml is looked for")
}

func (o *options) addPrinted(output cmdenv.Flags) {
	output.Set.StringVar(&o.formatFlag.Name, "format", "text", "`format` of the output: "+strings.Join(gateFormats(), ", "))
	output.Set.BoolVar(&o.formatFlag.AsJSON, "json", false, "the same as --format json")
	output.Set.StringVarP(&o.jsonFile, "output", "o", "", "write the JSON to `file` as well, whatever the format")
	output.Set.StringVar(&o.gitlabFile, "gitlab", "", "write a code quality report for GitLab to `file`")
	output.Set.BoolVar(&o.all, "all", false, "list what passes as well, however much it is, and time benchmarks whose code and count of instructions are the same")
	cmdenv.AddProgress(output.Set, &o.quiet)
}

func (o *options) check(cmd *cobra.Command) (err error) {
	if o.format, err = o.formatFlag.Choose(cmd, "a format of a gate", gateFormats()...); err != nil {
		return err
	}
	changed := cmd.Flags().Changed
	switch {
	case changed("rounds") && (o.rounds < 1 || o.rounds > math.MaxInt32):
		return cmdenv.Usage(fmt.Sprintf("--rounds %d is not a number of rounds", o.rounds), "at least 1")
	case changed("budget") && o.budget <= 0:
		return cmdenv.Usage(fmt.Sprintf("--budget %v is not a positive duration", o.budget), "e.g. 90s")
	case o.rounds > 0 && changed("budget"):
		return cmdenv.Usage("--rounds and --budget contradict each other", "give one of them")
	case o.record && o.base != "":
		return cmdenv.Usage("--record and --base contradict each other", "--record takes gate: reference of tare.yaml")
	case strings.HasPrefix(o.base, "-") || strings.HasPrefix(o.head, "-"):
		return cmdenv.Usage("a revision does not begin with -", "e.g. --base origin/main")
	}
	if err := o.machines.CheckResume(); err != nil {
		return err
	}
	o.divided = len(o.machines.On) > 0 && o.shardText == session.ShardMachines
	if !o.divided {
		o.shard, err = session.ParseShard(o.shardText)
	}
	return err
}

func runGate(cmd *cobra.Command, env cmdenv.Env, o options) error {
	ctx := cmd.Context()
	p, wd, err := loadProject()
	if err != nil {
		return err
	}
	sides, err := o.findSides(ctx, &p, wd)
	if err != nil {
		return err
	}
	p, policy, err := o.judgingProject(ctx, p, wd, sides.BaseCommit)
	if err != nil {
		return err
	}
	if o.dryRun {
		return o.planGate(ctx, env, p, sides)
	}
	files, err := o.openFiles()
	if err != nil {
		return err
	}
	defer files.Close()
	measured, lost, err := o.measureChange(cmd, env, p, sides)
	if err != nil {
		return err
	}
	measured.Commit, measured.Policy, measured.Record, measured.Shard = sides.BaseCommit, policy, o.record, o.shard
	measured.Commands = o.adviceCommands(cmd, p, sides.BaseCommit)
	measured.Base = describeBase(sides, measured.Base)
	rep := gate.Judge(p, measured, findDeclarations(p.Dir, wd.root), env.Now().UTC(), configName(wd.root, p))
	exit := gateCode(rep)
	isPart := rep.Shard != "" // tare gate merge judges all parts
	if isPart || rep.Record {
		exit = cmdenv.ExitOK
	}
	if err := printGate(env, o, rep, exit, files); err != nil {
		return err
	}
	if lost != nil {
		return cmdenv.FleetError(ctx, lost) // after the results of the other machines were printed
	}
	return cmdenv.Code(exit)
}

// findSides finds the commits of base and head. If flags choose the base, it sets p.Gate.Base.
// Otherwise tare.yaml names the base.
func (o options) findSides(ctx context.Context, p *project.Project, wd workDir) (gate.Sides, error) {
	var base string
	var err error
	switch {
	case o.base != "":
		p.Gate.Base, base = o.base, o.base
	case o.record:
		if p.Gate.Base = p.Gate.Reference; p.Gate.Base == "" {
			return gate.Sides{}, cmdenv.Usage("--record needs a revision to measure against, which stays", "in "+project.FileName+": gate: {reference: v1.4.0}")
		}
		base = p.Gate.Reference
	default:
		if base, err = o.namedBase(ctx, *p, wd); err != nil {
			return gate.Sides{}, err
		}
	}
	sides, err := gate.FindSides(ctx, p.Dir, base, o.head)
	var unknown *gate.BaseError
	if errors.As(err, &unknown) {
		return sides, cmdenv.UsageOf(err, "")
	}
	return sides, err
}

// measureChange measures both sides on this machine or on those of --on. lost is an error about
// machines that returned no result, or nil.
func (o options) measureChange(cmd *cobra.Command, env cmdenv.Env, p project.Project, sides gate.Sides) (m gate.Measured, lost, err error) {
	switch {
	case sides.AreEqual():
		return gate.Measured{Base: shortHash(sides.BaseCommit), Head: o.head, Nothing: describeSameCommit(sides)}, nil, nil
	case len(o.machines.On) > 0:
		return measureOn(cmd, env, o, sides)
	}
	m, err = gate.Measure(cmd.Context(), o.newRequest(p, sides), func(ctx context.Context, request gate.Request) (gate.Measured, error) {
		return measureSides(ctx, env, request)
	})
	return m, nil, err
}

func (o options) newRequest(p project.Project, sides gate.Sides) gate.Request {
	return gate.Request{
		Project: p, Base: sides.Base, Head: o.head, Budget: o.budget, Rounds: o.rounds, Seed: o.seed,
		NoLock: o.noLock, Quiet: o.quiet, Profile: o.profile, Changed: o.changed, Shard: o.shard,
		Counts: o.counts, All: o.all, Record: o.record,
	}
}

type workDir struct {
	dir          string // its path without symbolic links
	root         string // top of the repository; dir without a repository
	inRepository bool
}

// loadProject reads tare.yaml, and returns it with the working directory. Without a tare.yaml the
// project has defaults.
func loadProject() (p project.Project, dir workDir, err error) {
	if dir.dir, err = os.Getwd(); err != nil {
		return p, dir, err
	}
	if dir.dir, err = filepath.EvalSymlinks(dir.dir); err != nil {
		return p, dir, err
	}
	dir.root, dir.inRepository = project.Root(dir.dir)
	if p, err = project.Load(dir.dir, func(path string) string { return relativeTo(dir.root, path) }); err != nil {
		return p, dir, cmdenv.UsageOf(err, "")
	}
	return p, dir, nil
}

type files struct{ report, gitlab *cmdenv.Output }

func (o options) openFiles() (f files, err error) {
	if f.report, err = cmdenv.OpenOutput(o.jsonFile); err == nil {
		f.gitlab, err = cmdenv.OpenOutput(o.gitlabFile)
	}
	if err != nil {
		f.Close()
	}
	return f, err
}

// Close closes the files. It discards a file that was not saved.
func (f files) Close() {
	for _, out := range []*cmdenv.Output{f.report, f.gitlab} {
		if out != nil {
			out.Close()
		}
	}
}

// describeBase returns the printed name of the base. Usually that is measured, its name in the
// results. It differs if the base is the head's own commit or the merge base with a branch.
func describeBase(sides gate.Sides, measured string) string {
	switch {
	case sides.BaseCommit == sides.HeadCommit:
		return shortHash(sides.BaseCommit) + " itself"
	case sides.Branch != "":
		return fmt.Sprintf("%s, where it left %s", shortHash(sides.BaseCommit), sides.Branch)
	}
	return measured
}

func describeSameCommit(sides gate.Sides) string {
	return "base and head are one and the same commit, " + shortHash(sides.BaseCommit) + "; name another base, e.g. --base HEAD~1"
}

func shortHash(commit string) string { return commit[:min(9, len(commit))] }

func gateCode(rep gate.Report) int {
	switch rep.Worst() {
	case gate.Void:
		return cmdenv.ExitVoid
	case gate.Worse:
		return cmdenv.ExitNotMet
	case gate.Open:
		return cmdenv.ExitInconclusive
	}
	return cmdenv.ExitOK
}

// findDeclarations returns the position of each benchmark by its id. Files are relative to the top
// of the repository.
func findDeclarations(dir, root string) map[string]gate.Place {
	out := map[string]gate.Place{}
	found, err := survey.Look(dir, root)
	if err != nil {
		return out // the report then omits file:line
	}
	for _, b := range found.Benchmarks {
		out[b.ID()] = gate.Place{File: relativeTo(root, filepath.Join(dir, filepath.FromSlash(b.File))), Line: b.Line}
	}
	return out
}

// relativeTo returns path relative to root with slashes, or path itself if it is not below root.
func relativeTo(root, path string) string {
	rel, err := filepath.Rel(root, path)
	if err != nil || !filepath.IsLocal(rel) {
		return filepath.ToSlash(path)
	}
	return filepath.ToSlash(rel)
}

func configName(root string, p project.Project) string {
	if p.File == "" {
		return ""
	}
	return relativeTo(root, p.File)
}

func printGate(env cmdenv.Env, o options, rep gate.Report, exit int, files files) error {
	var err error
	switch o.format {
	case "json":
		err = cmdenv.PrintJSON(env.Out, rep)
	case "md":
		err = gate.WriteMarkdown(env.Out, rep)
	default:
		err = gate.WriteText(env.Out, rep, env.Style(env.Out), o.all)
	}
	if err != nil {
		return err
	}
	if err := files.report.Save(func(f io.Writer) error { return cmdenv.PrintJSON(f, rep) }); err != nil {
		return err
	}
	if err := files.gitlab.Save(func(f io.Writer) error { return gate.WriteCodeQuality(f, rep) }); err != nil {
		return err
	}
	if env.Getenv("GITHUB_ACTIONS") != "true" {
		return nil
	}
	if err := gate.WriteAnnotations(env.Err, rep); err != nil {
		return err
	}
	if err := appendTo(env.Getenv("GITHUB_STEP_SUMMARY"), func(w io.Writer) error { return gate.WriteMarkdown(w, rep) }); err != nil {
		return err
	}
	return appendTo(env.Getenv("GITHUB_OUTPUT"), func(w io.Writer) error { return gate.WriteStepOutputs(w, rep, exit) })
}

// appendTo calls write with a writer at the end of a file. It does nothing if path is empty.
func appendTo(path string, write func(io.Writer) error) error {
	if path == "" {
		return nil
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err == nil {
		err = write(f)
		if errClose := f.Close(); err == nil {
			err = errClose
		}
	}
	if err != nil {
		return fmt.Errorf("cannot write %s: %w", path, cmdenv.Cause(err))
	}
	return nil
}
