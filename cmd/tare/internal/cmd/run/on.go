package run

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/cmdenv"
	"github.com/tarebench/tare/cmd/tare/internal/fleet"
	"github.com/tarebench/tare/cmd/tare/internal/history"
	"github.com/tarebench/tare/cmd/tare/internal/session"
	"github.com/tarebench/tare/internal/judge"
)

// notOn are flags of tare run that an order to another machine does not carry.
func notOn() []string {
	return []string{"with", "with-original", "go", "catalog", "until", "effect", "slice", "isolation", "procs", "env", "profile", "no-lock", "at"}
}

// runOn carries one study out on several machines, and judges over them.
func runOn(cmd *cobra.Command, env cmdenv.Env, o session.Options, on cmdenv.Machines, args []string) error {
	for _, flag := range notOn() {
		if cmd.Flags().Changed(flag) {
			return cmdenv.Usage("--on does not take --"+flag, "measure on each machine by itself, and give tare report the results")
		}
	}
	if _, err := on.Check(); err != nil {
		return err
	}
	switch {
	case len(args) != 1:
		return cmdenv.Usage("--on takes one study", "e.g. tare run json-encode --rounds 18 --on local,ssh:a")
	case o.Rounds == 0:
		return cmdenv.Usage("--on needs --rounds", "every machine measures that many, e.g. --rounds 18")
	}
	study, err := env.ReadStudy(args[0])
	if err != nil {
		return err
	}
	if err := cmdenv.CheckFormat(o.Format, 1); err != nil {
		return err
	}
	dirs, err := env.Dirs()
	if err != nil {
		return err
	}
	r := &fleet.StudyRun{Share: o.Rounds, Study: fleet.StudyOrder{
		ID: study.ID, Text: study.Source, Seed: o.Seed, Full: !o.Quick, Contenders: o.Only.Contenders, Workloads: o.Only.Workloads,
	}}
	if err := r.Study.Check(); err != nil {
		return cmdenv.Usage("--on: "+err.Error(), "")
	}
	if err := directory(r, dirs, env, o.Resume); err != nil {
		return err
	}
	out, err := cmdenv.OpenOutput(o.Out)
	if err != nil {
		return err
	}
	defer out.Close()
	ctx := cmd.Context()
	say := func(name, line string) {
		if !o.Quiet {
			fmt.Fprintf(env.Err, "%s: %s\n", name, line)
		}
	}
	f, err := on.Open(ctx, env, say)
	if err != nil {
		return err
	}
	defer f.Close()
	r.Hub, r.Machines, r.Start, r.Say = f.Hub, f.Names, f.Start, say
	say("fleet", fmt.Sprintf("%d rounds on each of %d machines; the journal is in %s", r.Share, len(r.Machines), r.Dir))
	results, failed := r.Run(ctx)
	if ctx.Err() != nil {
		return cmdenv.ErrInterrupted
	}
	if len(results) == 0 {
		return cmdenv.FleetError(ctx, cmp.Or(failed, errors.New("no machine measured")))
	}
	if len(results) == 1 && failed != nil {
		say("fleet", results[0].Name+" alone measured; nothing is said over machines")
	}
	res := results[0].Result
	if len(results) > 1 {
		if res, err = judge.OverMachines(results, on.Mixed); err != nil {
			return err
		}
	}
	if err := keep(r.Dir, res); err != nil {
		return err
	}
	all := []*tare.Result{res}
	if err := cmdenv.WriteResults(env.Out, o.Format, all, env.Style(env.Out)); err != nil {
		return err
	}
	if err := out.Save(func(file io.Writer) error { return cmdenv.WriteDocument(file, all, true) }); err != nil {
		return err
	}
	if failed != nil {
		return cmdenv.FleetError(ctx, failed) // after what the others measured was printed
	}
	if o.ExitCode {
		return cmdenv.Code(cmdenv.VerdictCode(res))
	}
	return nil
}

// directory chooses the directory of a run, and its seed: those of the newest that
// has no result yet, or new ones.
func directory(r *fleet.StudyRun, dirs cmdenv.Dirs, env cmdenv.Env, resume bool) error {
	under := filepath.Join(dirs.Data, "fleet", filepath.Base(dirs.Results(r.Study.ID)))
	if resume {
		entries, err := os.ReadDir(under)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("cannot read the runs in %s: %w", under, cmdenv.Cause(err))
		}
		for _, e := range slices.Backward(entries) {
			dir := filepath.Join(under, e.Name())
			seed, ok := fleet.Unfinished(dir)
			if ok {
				r.Dir, r.Study.Seed = dir, seed
				return nil
			}
		}
		return cmdenv.Usage("nothing to resume: "+r.Study.ID+" has no unfinished run on several machines", "run without --resume")
	}
	if r.Study.Seed == 0 {
		r.Study.Seed = uint64(env.Now().UnixMicro())%1e9 + 1
	}
	r.Dir = filepath.Join(under, fmt.Sprintf("%s-%d", env.Now().UTC().Format(history.NameTime), r.Study.Seed))
	return nil
}

// keep writes the result beside the journal.
func keep(dir string, res *tare.Result) error {
	out, err := cmdenv.OpenOutput(filepath.Join(dir, history.ResultName))
	if err != nil {
		return err
	}
	defer out.Close()
	return out.Save(func(f io.Writer) error { return cmdenv.WriteDocument(f, []*tare.Result{res}, true) })
}
