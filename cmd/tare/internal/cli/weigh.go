package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/cmdenv"
	"github.com/tarebench/tare/cmd/tare/internal/history"
	"github.com/tarebench/tare/lab"
	"github.com/tarebench/tare/report"
	"github.com/tarebench/tare/report/html"
)

// runStudies carries out the studies that args name. What goes wrong with one study
// is said at once and does not keep the others from running; the worst exit
// code is returned.
func runStudies(ctx context.Context, env cmdenv.Env, o runOptions, args []string) error {
	names := args
	if len(names) == 0 {
		names = env.Bundled()
	}
	p := newProgress(env, o.quiet)
	defer p.End()
	if !o.list {
		p.Say(fmt.Sprintf("weighing %s, %s", strings.Join(names, ", "), asked(o)))
	}

	exit := cmdenv.ExitOK
	fail := func(err error) {
		exit = cmdenv.Worst(exit, cmdenv.ExitCode(err))
		p.Fail(err)
	}
	var studies []cmdenv.Study
	for _, name := range names {
		if study, err := env.ReadStudy(name); err != nil {
			fail(err)
		} else {
			studies = append(studies, study)
		}
	}
	if len(studies) == 0 {
		return cmdenv.Code(exit)
	}
	if len(args) == 0 {
		inOrder(studies, o.quick)
	}
	for _, study := range studies {
		if o.user {
			if err := lab.CheckBudget(study.Study, o.budget); err != nil {
				return of(study, len(studies), err)
			}
		}
	}
	if err := cmdenv.CheckFormat(o.format, len(studies)); err != nil {
		return err
	}
	if err := o.give(studies); err != nil {
		return err
	}
	studies, others, err := cmdenv.Choose(o.only, studies)
	if err != nil {
		return err
	}
	for _, name := range others {
		p.Say(name + ": nothing of it was chosen")
	}
	if o.list {
		return listRun(env, o, studies)
	}
	out, err := cmdenv.OpenOutput(o.out)
	if err != nil {
		return err
	}
	defer out.Close()
	err = withSession(ctx, env, o, p, func(ctx context.Context, w *weighing) error {
		if len(args) == 0 {
			studies = w.here(ctx, studies)
		}
		if text := beforehand(studies, o); text != "" {
			p.Say(text)
		}
		err := w.all(ctx, studies, fail)
		if errOut := w.finish(out, len(args) == 1); err == nil {
			err = errOut
		}
		return err
	})
	if err != nil {
		return err
	}
	return cmdenv.Code(exit)
}

// all carries out one study after the other. fail is told what goes wrong with
// one of them; the error is for what goes wrong with all.
func (w *weighing) all(ctx context.Context, studies []cmdenv.Study, fail func(error)) error {
	if err := w.unused(studies); err != nil {
		return err
	}
	begun := 0
	for _, study := range studies {
		res, err := w.weigh(ctx, study)
		var nothing *nothingToResume
		if errors.As(err, &nothing) && len(studies) > 1 {
			w.p.Say(nothing.Error())
			continue
		}
		begun++
		if res != nil {
			fail(w.keep(res))
		}
		if err != nil {
			fail(of(study, len(studies), err))
		}
		if w.halt.Asked() {
			fail(cmdenv.Code(cmdenv.ExitInterrupted))
		}
		if cmdenv.EndsRun(err) || w.halt.Asked() {
			break
		}
	}
	if begun == 0 {
		return cmdenv.Usage("nothing to resume: no study has an unfinished run", "run without --resume")
	}
	return nil
}

// beforehand says how long several studies will take, where that is known before
// their pilots; empty: it is not.
func beforehand(studies []cmdenv.Study, o runOptions) string {
	if len(studies) < 2 || o.rounds > 0 || o.resume {
		return ""
	}
	return fmt.Sprintf("%d studies, one after the other, measure for about %s in all, longer if that is too short for the fewest rounds; "+
		"building their contenders comes on top of that, and takes longest the first time; --list shows each", len(studies), cmdenv.Seconds(o.total(studies)))
}

// budgetOf is how long a study measures.
func (o runOptions) budgetOf(study cmdenv.Study) time.Duration {
	if o.budget > 0 {
		return o.budget
	}
	return lab.Budget(study.Budget, o.quick)
}

func (o runOptions) total(studies []cmdenv.Study) time.Duration {
	var total time.Duration
	for _, study := range studies {
		total += o.budgetOf(study)
	}
	return total
}

// listRun prints what a run would do, and for how long, and measures nothing.
func listRun(env cmdenv.Env, o runOptions, studies []cmdenv.Study) error {
	tw := tabwriter.NewWriter(env.Out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tw, "STUDY\tMEASURES\tCONTENDERS\tWORKLOADS\tQUESTION")
	for _, study := range studies {
		part, _, err := lab.Part(study.Study, o.quick, o.only)
		if err != nil {
			return &lab.StudyError{Study: study.ID, Err: err}
		}
		long := cmdenv.Seconds(o.budgetOf(study))
		if o.rounds > 0 {
			long = cmdenv.Plural(o.rounds, "round")
		}
		fmt.Fprintf(tw, "%s\t%s\t%d\t%d\t%s\n", study.ID, long, len(part.Contenders), len(part.Workloads), study.Question)
	}
	if o.rounds == 0 {
		fmt.Fprintf(tw, "in all\t%s\t\t\tbuilds, and the first semantics test of a program, come on top\n", cmdenv.Seconds(o.total(studies)))
	}
	return tw.Flush()
}

// of says which study an error belongs to where there are several.
func of(study cmdenv.Study, studies int, err error) error {
	var named *lab.StudyError
	if studies == 1 || errors.As(err, &named) || cmdenv.EndsRun(err) {
		return err
	}
	return fmt.Errorf("study %s: %w", study.ID, err)
}

// weigh carries out one study. There may be a result although there is an
// error.
func (w *weighing) weigh(ctx context.Context, study cmdenv.Study) (*tare.Result, error) {
	w.p.Begin(study.ID, study.Question)
	defer w.p.Pause()
	if err := study.Vet(w.sources); err != nil {
		return nil, err
	}
	w.asking = study
	o := lab.Options{
		Kinds: w.Lab.Kinds, Sources: w.sources, Now: w.Now,
		Seed: w.o.seed, Budget: w.o.budget, Quick: w.o.quick, User: w.o.user, Rounds: w.o.rounds,
		Isolation: w.o.isolation, Slice: w.o.slice, Most: w.o.most,
		Only: w.o.only, Procs: w.o.procs, Env: w.o.env, At: w.o.at, Profile: w.o.profile,
		Known:  known{w.dirs.Known()},
		Stored: lastResult(w.dirs.Results(study.ID)),
		Run:    w.tag, Guardian: w.guardian, Stop: w.halt.Stop, Unlocked: w.o.noLock,
		Progress: func(e lab.Event) {
			switch e.Phase {
			case "plan":
				w.halt.Measuring(true)
			case "done":
				w.halt.Measuring(false)
			}
			w.p.Event(e)
		},
	}
	defer w.halt.Measuring(false)
	if w.o.resume {
		return w.again(ctx, study.Study, o)
	}
	if o.Seed == 0 {
		o.Seed = uint64(w.Now().UnixMicro())%1e9 + 1
	}
	dir, err := newRunDir(w.dirs.Results(study.ID), w.Now(), o.Seed)
	if err != nil {
		return nil, err
	}
	o.Dir = dir
	res, err := w.Lab.Run(ctx, study.Study, o)
	if res == nil && !resumable(dir, err) {
		os.RemoveAll(dir)
	}
	return w.saved(dir, res, err)
}

// lastResult is the newest result kept in a study's directory. It only tells
// what has changed since, so one that cannot be read counts as none.
func lastResult(dir string) *tare.Result {
	runs, err := history.RunsOf(dir)
	if err != nil {
		return nil
	}
	for _, run := range runs {
		if !run.Whole {
			continue
		}
		if results, err := history.File(run.Result()); err == nil && len(results) == 1 {
			return results[0]
		}
	}
	return nil
}

// again goes on with the newest unfinished run that belongs to study as it is
// now.
func (w *weighing) again(ctx context.Context, study tare.Study, o lab.Options) (*tare.Result, error) {
	var first error
	for _, dir := range unfinished(w.dirs.Results(study.ID)) {
		o.Dir, o.Resume = dir, true
		res, err := w.Lab.Run(ctx, study, o)
		var mismatch *lab.ResumeError
		if errors.As(err, &mismatch) {
			if first == nil {
				first = err
			}
			continue
		}
		return w.saved(dir, res, err)
	}
	if first == nil {
		first = &nothingToResume{cmdenv.Usage("nothing to resume: "+study.ID+" has no unfinished run", "run without --resume")}
	}
	return nil, first
}

// nothingToResume says that a study has no unfinished run.
type nothingToResume struct{ error }

// Unwrap is the usage error.
func (e *nothingToResume) Unwrap() error { return e.error }

// saved writes a result beside its journal.
func (w *weighing) saved(dir string, res *tare.Result, err error) (*tare.Result, error) {
	if res == nil {
		return nil, err
	}
	w.recordAsked(res)
	if errSeal := seal(w.dirs, res); errSeal != nil {
		err = errors.Join(err, errSeal) // the result is kept; rerun will want --trust
	}
	w.places[res] = dir
	if errProfiles := profiles(dir, res); errProfiles != nil {
		err = errors.Join(err, errProfiles)
	}
	if errSave := saveResult(dir, res); errSave != nil {
		return res, errors.Join(err, errSave)
	}
	if w.o.noPage {
		w.p.Say("kept in " + dir)
		return res, err
	}
	if errPage := cmdenv.SavePage(filepath.Join(dir, cmdenv.PageName), dir, res); errPage != nil {
		return res, errors.Join(err, errPage)
	}
	w.p.Say("kept in " + dir + "; " + cmdenv.PageName + " there is the page")
	return res, err
}

// keep takes a result in and reports it. The error is the exit code that the
// result asks for, or the writer's.
func (w *weighing) keep(res *tare.Result) error {
	w.results = append(w.results, res)
	if err := w.print(res); err != nil {
		return err
	}
	if res.Stopped == lab.Interrupted {
		return cmdenv.Code(cmdenv.ExitInterrupted)
	}
	if w.o.exitCode {
		return cmdenv.Code(cmdenv.VerdictCode(res))
	}
	return nil
}

// print reports a result at once; a format that needs a list of several waits
// until they are all there.
func (w *weighing) print(res *tare.Result) error {
	f := w.o.format
	if f.Write == nil || f.Name == "json" { // who asked prints by itself, or all together
		return nil
	}
	w.p.Part()
	// On a terminal the progress sets reports apart already.
	if len(w.results) == 1 || cmdenv.ForPeople(f) && w.p.live {
		return f.Write(w.Out, res, w.Style(w.Out))
	}
	return f.Next(w.Out, res, w.Style(w.Out))
}

// claimsPage writes the page of all claims, where several studies answer some,
// in the place of that of the run before.
func (w *weighing) claimsPage() error {
	if len(w.results) < 2 || w.o.noPage || report.ClaimsCount(w.results) == "" {
		return nil
	}
	var linked []html.Linked
	for _, r := range w.results {
		of := html.Linked{Result: r}
		if page, err := filepath.Rel(w.dirs.Data, filepath.Join(w.places[r], cmdenv.PageName)); err == nil && w.places[r] != "" {
			of.Page = filepath.ToSlash(page)
		}
		linked = append(linked, of)
	}
	path := filepath.Join(w.dirs.Data, cmdenv.ClaimsName)
	out, err := cmdenv.OpenOutput(path)
	if err != nil {
		return err
	}
	defer out.Close()
	if err := out.Save(func(f *os.File) error { return html.WriteClaims(f, linked) }); err != nil {
		return err
	}
	w.p.Say("what became of the claims, as a page: " + path)
	return nil
}

// finish writes what speaks of all studies together: the claims and the JSON.
func (w *weighing) finish(out *cmdenv.Output, single bool) error {
	w.p.Pause()
	if err := cmdenv.WriteTogether(w.Out, w.o.format, w.results, w.Style(w.Out)); err != nil {
		return err
	}
	if len(w.results) == 0 {
		return nil
	}
	if err := w.claimsPage(); err != nil {
		return err
	}
	if w.o.format.Name == "json" {
		if err := cmdenv.WriteDocument(w.Out, w.results, single); err != nil {
			return err
		}
	}
	return out.Save(func(f *os.File) error { return cmdenv.WriteDocument(f, w.results, single) })
}
