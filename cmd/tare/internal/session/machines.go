package session

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/benchstudy/suite"
	"github.com/tarebench/tare/cmd/tare/internal/cmdenv"
	"github.com/tarebench/tare/cmd/tare/internal/fleet"
	"github.com/tarebench/tare/cmd/tare/internal/gitrev"
	"github.com/tarebench/tare/cmd/tare/internal/history"
	"github.com/tarebench/tare/internal/atomicfile"
	"github.com/tarebench/tare/internal/format"
	"github.com/tarebench/tare/internal/judge"
	"github.com/tarebench/tare/internal/machine"
	"github.com/tarebench/tare/report"
)

// With --on, this tare sends its command to tare processes on other machines, called agents. An example is
// tare bench --on ssh:a,ssh:b --rounds 18. Each agent runs the command. This tare, the coordinator, joins the
// results.

// ShardMachines is the value of --shard that divides benchmarks among the machines of --on.
const ShardMachines = "machines"

// ParseShard parses the value i/n of --shard. It returns the zero value, which means all benchmarks, for
// "".
func ParseShard(text string) (suite.Shard, error) {
	if text == "" {
		return suite.Shard{}, nil
	}
	s, err := suite.ParseShard(text)
	if err != nil {
		return s, cmdenv.Usage(fmt.Sprintf("--shard %q is not a part", text), fmt.Sprintf("the second of four parts is 2/4, and there are at most %d; --shard machines needs --on", suite.MaxShards))
	}
	return s, nil
}

// Order is a command of tare that agents on several machines run.
type Order struct {
	fleet.StudyOrder
	On     *cmdenv.Machines
	Share  int
	Divide bool   // each machine measures a part of the benchmarks, not all
	Name   string // directory of the order's runs; "" means the study's id

	// Read parses the results in an agent's document. nil means that it is one result.
	Read func(name string, document []byte) ([]*tare.Result, error)

	env      []string                 // values of --env as MACs
	contents map[string]fleet.Content // files to send, by hash
	titles   map[string]string        // titles of sides with the user's names of revisions, by titles with commits

	removePacks func() // nil if AddRepo was not called
}

// NewOrder returns the order for a command of tare. It rejects flags that agents cannot have.
func NewOrder(cmd *cobra.Command, on *cmdenv.Machines, rounds int, seed uint64) (*Order, error) {
	if _, err := on.Check(); err != nil {
		return nil, err
	}
	o := &Order{On: on, Share: rounds, contents: map[string]fleet.Content{}, titles: map[string]string{}}
	o.StudyOrder = fleet.StudyOrder{Command: cmd.Name(), Seed: seed}
	var rejected error
	cmd.Flags().Visit(func(f *pflag.Flag) {
		list, isList := f.Value.(pflag.SliceValue)
		switch {
		case !fleet.CanOrderFlag(cmd.Name(), f.Name):
			if why, ok := whyRejected(f.Name); ok && rejected == nil {
				rejected = cmdenv.Usage("--on does not take --"+f.Name, why)
			}
		case isList:
			for _, value := range list.GetSlice() {
				o.Flags = append(o.Flags, "--"+f.Name+"="+value)
			}
		default:
			o.Flags = append(o.Flags, "--"+f.Name+"="+f.Value.String())
		}
	})
	if rejected != nil {
		return nil, rejected
	}
	switch {
	case on.Resume && cmd.Flags().Changed("seed"):
		return nil, cmdenv.Usage("--resume continues with the seed of the run it resumes", "leave --seed out")
	case rounds == 0:
		return nil, cmdenv.Usage("--on needs --rounds", "every machine measures that many, e.g. --rounds 18")
	}
	return o, nil
}

// whyRejected returns why agents cannot have a flag. Flags of the coordinator only are no error.
func whyRejected(flag string) (why string, rejected bool) {
	switch flag {
	case "on", "listen", "nats", "nats-creds", "fleet", "mixed-go", "rounds", "seed", "resume",
		"format", "json", "output", "quiet", "progress", "dry-run", "no-page", "exit-code", "gitlab", "all":
		return "", false
	case "until", "effect", "max", "budget":
		return "the number of rounds is fixed before: every machine measures --rounds", true
	case "no-lock":
		return "an agent measures alone on its machine", true
	case "catalog", "with-original":
		return "it names a directory of this machine; measure on each machine by itself, and give tare report the results", true
	}
	return "measure on each machine by itself, and give tare report the results", true
}

// Set changes the value of a flag, if the order has the flag.
func (o *Order) Set(flag, value string) {
	for i, text := range o.Flags {
		if strings.HasPrefix(text, "--"+flag+"=") {
			o.Flags[i] = "--" + flag + "=" + value
		}
	}
}

func (o *Order) flagValues(flag string) (values []string) {
	for _, text := range o.Flags {
		if value, ok := strings.CutPrefix(text, "--"+flag+"="); ok {
			values = append(values, value)
		}
	}
	return values
}

// Drop removes a flag from the order.
func (o *Order) Drop(flag string) {
	o.Flags = slices.DeleteFunc(o.Flags, func(text string) bool { return strings.HasPrefix(text, "--"+flag+"=") })
}

// AddFile adds a file to the order, under a name. A file with several names is sent once.
func (o *Order) AddFile(name, path string) error {
	f, content, err := fleet.OpenFile(name, path)
	if err != nil {
		return cmdenv.Usage(fmt.Sprintf("cannot read %s: %v", path, cmdenv.Cause(err)), "")
	}
	o.Files = append(o.Files, f)
	o.contents[f.Hash] = content
	return nil
}

// AddContenders adds the hashes of contenders, the programs to measure. ids nil means all of the kind. An
// agent with other hashes rejects the order.
func (o *Order) AddContenders(env cmdenv.Env, catalog, kind string, ids []string) error {
	all, err := env.FindCatalog(catalog)
	if err != nil {
		return err
	}
	o.Kind = kind
	o.Contenders, err = cmdenv.SumsOf(all, kind, ids)
	return err
}

// AddRepo adds the repository of the working directory: revisions, by the flags base and head, and uncommitted
// files if worktree is set. Commits replace the user's names.
func (o *Order) AddRepo(ctx context.Context, revisions map[string]string, worktree bool) (err error) {
	repo, err := gitrev.Find(ctx, ".")
	if err != nil {
		return cmdenv.Usage("--on: "+err.Error(), "other machines get what is compared as commits, and the worktree with what git does not ignore")
	}
	var revs []gitrev.Revision
	for _, flag := range []string{"base", "head"} {
		if revisions[flag] == "" {
			continue
		}
		rev, err := repo.Resolve(ctx, revisions[flag])
		if err != nil {
			return cmdenv.Usage(fmt.Sprintf("--%s: %v", flag, err), "git log shows which there are")
		}
		o.Set(flag, rev.Commit)
		o.titles[gitrev.Revision{Name: rev.Commit, Commit: rev.Commit}.String()] = rev.String()
		revs = append(revs, rev)
	}
	dir, remove, err := machine.TempDir("packs")
	if err != nil {
		return fmt.Errorf("make a directory for what is sent: %w", err)
	}
	o.removePacks = remove
	packed, packs, err := repo.Pack(ctx, revs, worktree, dir)
	if err != nil {
		return cmdenv.Usage("--on: "+err.Error(), "")
	}
	o.Repo = &packed
	for _, path := range packs {
		f, content, err := fleet.OpenFile(filepath.Base(path), path)
		if err != nil {
			return fmt.Errorf("read what is sent: %w", err)
		}
		o.Packs = append(o.Packs, f)
		o.contents[f.Hash] = content
	}
	_ = os.RemoveAll(dir) // still open; Windows removes them only after Close
	return nil
}

// Close closes the files of the order.
func (o *Order) Close() {
	for _, c := range o.contents {
		if c, ok := c.(io.Closer); ok {
			_ = c.Close()
		}
	}
	if o.removePacks != nil {
		o.removePacks()
	}
}

// Measured contains the results of machines for an order.
type Measured struct {
	Got    []fleet.Delivered // same order as the machines, or parts of a divided run
	Failed error             // names the machines without a result; nil if all have one
	Dir    string
}

// Measure makes the machines run the command and collects their results.
//
// Agents that this process starts may run code of the order (--allow-commands). The user can run any program
// on these machines anyway.
func (o *Order) Measure(ctx context.Context, env cmdenv.Env, quiet bool) (m Measured, err error) {
	if err := o.Check(); err != nil {
		return m, cmdenv.Usage("--on: "+err.Error(), "")
	}
	dirs, err := env.Dirs()
	if err != nil {
		return m, err
	}
	if o.env, err = RecordEnv(dirs, o.flagValues("env")); err != nil {
		return m, err
	}
	var unlock func()
	if m.Dir, unlock, err = o.chooseDir(dirs, env); err != nil {
		return m, err
	}
	defer os.Remove(m.Dir) // succeeds only if the directory is empty
	defer unlock()
	say := func(name, line string) {
		if !quiet {
			fmt.Fprintf(env.Err, "%s: %s\n", name, report.Legible(line))
		}
	}
	machines, err := o.On.Open(ctx, env, say, "--allow-commands")
	if err != nil {
		return m, err
	}
	defer machines.Close()
	run := &fleet.StudyRun{
		Hub: machines.Hub, Dir: m.Dir, Machines: machines.Names, Share: o.Share, Study: o.StudyOrder,
		Say: say, Start: machines.Start, Contents: o.contents, Read: o.Read,
	}
	scope, measure := "on each of", run.Run
	if o.Divide {
		scope, measure = "of a part of the benchmarks on each of", run.RunParts
	}
	// For example: "18 rounds on each of 2 machines; the journal is in /home/…".
	say("fleet", fmt.Sprintf("%s %s %s; the journal is in %s", format.Count(run.Share, "round"), scope, format.Count(len(run.Machines), "machine"), run.Dir))
	m.Got, m.Failed = measure(ctx)
	if ctx.Err() != nil {
		return m, cmdenv.ErrInterrupted
	}
	if len(m.Got) == 0 {
		return m, cmdenv.FleetError(ctx, cmp.Or(m.Failed, errors.New("no machine measured")))
	}
	if len(m.Got) == 1 && m.Failed != nil && !o.Divide {
		say("fleet", m.Got[0].Name+" alone measured; there is no result over machines")
	}
	return m, nil
}

// chooseDir chooses the directory of a run and sets o.Seed. With --resume it is that of the newest unfinished
// run. Until unlock is called, no other tare can resume the run.
func (o *Order) chooseDir(dirs cmdenv.Dirs, env cmdenv.Env) (dir string, unlock func(), err error) {
	parent := filepath.Join(dirs.Data, "fleet", filepath.Base(dirs.Results(cmp.Or(o.Name, o.ID))))
	if o.On.Resume {
		return o.findUnfinished(parent)
	}
	if o.Seed == 0 {
		o.Seed = newSeed(env.Now())
	}
	if dir, err = newRunDir(parent, env.Now(), o.Seed); err != nil {
		return "", nil, err
	}
	unlock, _ = machine.LockDir(dir) // no other tare knows the directory yet
	return dir, unlock, nil
}

// findUnfinished locks the newest unfinished run and sets o.Seed to its seed.
func (o *Order) findUnfinished(parent string) (dir string, unlock func(), err error) {
	entries, err := os.ReadDir(parent)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", nil, fmt.Errorf("cannot read the runs in %s: %w", parent, cmdenv.Cause(err))
	}
	err = cmdenv.Usage("nothing to resume: "+cmp.Or(o.ID, o.Name)+" has no unfinished run on several machines", "run without --resume")
	for _, e := range slices.Backward(entries) { // names begin with the time
		if !e.IsDir() {
			continue
		}
		dir := filepath.Join(parent, e.Name())
		seed, isUnfinished, errRun := fleet.UnfinishedSeed(dir)
		if errRun != nil {
			return "", nil, fmt.Errorf("cannot resume the run in %s: %w", dir, cmdenv.Cause(errRun))
		}
		if !isUnfinished {
			continue
		}
		if unlock, isLocked := machine.LockDir(dir); isLocked {
			o.Seed = seed
			return dir, unlock, nil
		}
		err = errWriting(dir) // reported if no run can be resumed
	}
	return "", nil, err
}

const single = true // JSON output is one document, not a list

// MeasureAndReport measures on the machines, and saves and prints the joined result. If the benchmarks were
// divided, criteria judge that result.
func (o *Order) MeasureAndReport(ctx context.Context, env cmdenv.Env, options Options, criteria []tare.Criterion) error {
	out, err := cmdenv.OpenOutput(options.Out)
	if err != nil {
		return err
	}
	defer out.Close()
	m, err := o.Measure(ctx, env, options.Quiet)
	if err != nil {
		return err
	}
	res, exit, err := o.joinResults(m, criteria)
	if err != nil {
		return err
	}
	if options.Typed.Args != nil {
		options.Typed.recordIn(&res.Asked)
	}
	all := []*tare.Result{res}
	if err := m.Keep(all); err != nil {
		return err
	}
	if err := cmdenv.WriteResults(env.Out, options.Format, all, env.Style(env.Out)); err != nil {
		return err
	}
	if err := out.Save(func(file io.Writer) error { return cmdenv.WriteDocument(file, all, single) }); err != nil {
		return err
	}
	if m.Failed != nil {
		return cmdenv.FleetError(ctx, m.Failed) // the results of the other machines are printed
	}
	if options.ExitCode {
		return cmdenv.Code(exit)
	}
	return nil
}

// joinResults joins the results of the machines. exit is their worst exit code. If the benchmarks were divided,
// it is that of the joined result.
func (o *Order) joinResults(m Measured, criteria []tare.Criterion) (joined *tare.Result, exit int, err error) {
	var results []judge.Measured
	exit = cmdenv.ExitOK
	for _, d := range m.Got {
		o.Entitle(d.Result)
		results = append(results, d.Measured)
		exit = cmdenv.Worst(exit, cmdenv.VerdictCode(d.Result))
	}
	switch {
	case o.Divide:
		if joined, err = judge.Parts(results, criteria, o.On.Mixed); err != nil {
			return nil, exit, err
		}
		return joined, cmdenv.VerdictCode(joined), nil
	case len(results) > 1:
		joined, err = judge.OverMachines(results, o.On.Mixed)
		return joined, exit, err
	}
	return results[0].Result, exit, nil
}

// Keep saves the only result in all next to the run's journal. The run is then finished and cannot be resumed.
func (m Measured) Keep(all []*tare.Result) error {
	path := filepath.Join(m.Dir, history.ResultName)
	return cmdenv.SaveFile(atomicfile.System{}, path, 0o644, func(f io.Writer) error { return cmdenv.WriteDocument(f, all, single) })
}

// Title replaces the commit in the title of a side by the user's name of the revision. A side is one of the
// two compared revisions.
func (o *Order) Title(side string) string {
	for agentName, userName := range o.titles {
		if rest, ok := strings.CutPrefix(side, agentName); ok {
			side = userName + rest
			break
		}
	}
	return replaceEnv(side, o.env)
}

// Entitle replaces titles and MACs (keyed hashes) in an agent's result by those of this machine. It clears the
// paths of profiles, which stay on the other machine.
func (o *Order) Entitle(r *tare.Result) {
	for i := range r.Contenders {
		c := &r.Contenders[i]
		title := o.Title(c.Version)
		if title != c.Version {
			r.Question = strings.ReplaceAll(r.Question, " "+c.Version, " "+title)
		}
		c.Version = title
	}
	for i, kv := range r.Env {
		r.Env[i] = replaceEnv(kv, o.env)
	}
	for i := range r.Profiles {
		r.Profiles[i].File, r.Profiles[i].Flame = "", ""
	}
}
