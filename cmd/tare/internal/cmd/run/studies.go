package run

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/tarebench/tare/cmd/tare/internal/cmdenv"
	"github.com/tarebench/tare/cmd/tare/internal/dryrun"
	"github.com/tarebench/tare/cmd/tare/internal/session"
	"github.com/tarebench/tare/internal/format"
	"github.com/tarebench/tare/lab"
	"github.com/tarebench/tare/report"
)

// This file runs the studies that the user names, or all bundled ones.

// runStudies runs the studies of args, or all bundled ones. When a study fails, it prints the error
// and continues. The returned error has the worst exit code. typed is the command that the user
// typed, which hints extend.
func runStudies(ctx context.Context, env cmdenv.Env, o session.Options, typed cmdenv.Command, args []string) error {
	names := args
	if len(names) == 0 {
		names = env.Bundled()
	}
	p := session.NewProgress(env, o.Quiet)
	defer p.End()
	if !o.List && !o.DryRun {
		p.Expect(len(names))
		p.Note(fmt.Sprintf("measuring %s, %s", strings.Join(names, ", "), session.DescribeOptions(o)))
	}
	studies := readStudies(env, names, p)
	if len(studies) == 0 {
		return p.Outcome()
	}
	if len(args) == 0 {
		studies = chooseBundled(studies, o, typed, p)
	}
	studies, err := selectStudies(&o, studies, p)
	if err != nil {
		return err
	}
	if o.List || o.DryRun {
		if err := printPlan(env, o, studies); err != nil {
			return err
		}
		return p.Outcome()
	}
	out, err := cmdenv.OpenOutput(o.Out)
	if err != nil {
		return err
	}
	defer out.Close()
	err = session.With(ctx, env, o, p, func(ctx context.Context, w *session.Session) error {
		var omitted []string // bundled studies that this run leaves out
		if len(args) == 0 {
			studies = withLocalReleases(ctx, w, studies, typed)
			omitted = slices.DeleteFunc(slices.Clone(names), func(name string) bool {
				return slices.ContainsFunc(studies, func(s cmdenv.Study) bool { return s.ID == name })
			})
		}
		if text := estimateDuration(studies, o); text != "" {
			p.Note(text)
		}
		p.Headline(describeStudies(studies, omitted, o))
		err := w.MeasureAll(ctx, studies, p.Fail)
		single := len(args) == 1                            // JSON output is one document, not a list
		if errFinish := w.Finish(out, single); err == nil { // Finish saves the results also after an error
			err = errFinish
		}
		return err
	})
	if err != nil {
		return err
	}
	return p.Outcome()
}

// readStudies prints an error for each study that it cannot read.
func readStudies(env cmdenv.Env, names []string, p *session.Progress) (studies []cmdenv.Study) {
	for _, name := range names {
		study, err := env.ReadStudy(name)
		if err != nil {
			p.Fail(err)
			continue
		}
		studies = append(studies, study)
	}
	return studies
}

// selectStudies returns the studies with a contender and a workload that the flags select. It
// returns an error if the budget is too short or the output format cannot represent all results.
func selectStudies(o *session.Options, studies []cmdenv.Study, p *session.Progress) ([]cmdenv.Study, error) {
	for _, study := range studies {
		if o.User { // the user has set the budget, which may be too short
			if err := lab.CheckBudget(study.Study, o.Budget); err != nil {
				return nil, session.AddStudyName(study, len(studies), err)
			}
		}
	}
	if err := cmdenv.CheckFormat(o.Format, len(studies)); err != nil {
		return nil, err
	}
	if err := o.AddOriginal(studies); err != nil {
		return nil, err
	}
	studies, unmatched, err := cmdenv.Choose(o.Only, studies)
	for _, name := range unmatched {
		p.Say(name + ": skipped: nothing matched")
	}
	return studies, err
}

// estimateDuration returns a sentence about the total time of several studies, or "". With fixed
// rounds or --resume the time is not known yet.
func estimateDuration(studies []cmdenv.Study, o session.Options) string {
	if len(studies) < 2 || o.Rounds > 0 || o.Resume {
		return ""
	}
	return fmt.Sprintf("%d studies, one after the other, measure for about %s in all, longer if that is too short for the fewest rounds; "+
		"building their contenders comes on top of that, and takes longest the first time; --list shows each", len(studies), cmdenv.Seconds(totalBudget(o, studies)))
}

func describeStudies(studies []cmdenv.Study, omitted []string, o session.Options) string {
	text := fmt.Sprintf("%d studies, %s", len(studies), session.DescribeOptions(o))
	if o.Rounds == 0 && !o.Resume {
		text += fmt.Sprintf(", about %s and builds", cmdenv.Seconds(totalBudget(o, studies)))
	}
	if len(omitted) > 0 {
		text += "; left out (see --list): " + strings.Join(omitted, ", ")
	}
	return text
}

// totalBudget returns the sum of the measuring times of studies, without builds.
func totalBudget(o session.Options, studies []cmdenv.Study) time.Duration {
	var total time.Duration
	for _, study := range studies {
		total += o.BudgetOf(study)
	}
	return total
}

func printPlan(env cmdenv.Env, o session.Options, studies []cmdenv.Study) error {
	p, err := dryrun.New(env, "tare run", o)
	if err != nil {
		return err
	}
	defer p.Close()
	if err := p.AddStudies(studies); err != nil {
		return err
	}
	if hasClaims := slices.ContainsFunc(studies, func(s cmdenv.Study) bool { return len(s.Claims) > 0 }); hasClaims && len(studies) > 1 && !o.NoPage {
		p.AddClaims()
	}
	if o.DryRun || o.Format.Name == "json" {
		return p.Print()
	}
	return listStudies(env.Out, p.Document)
}

func listStudies(w io.Writer, d dryrun.Document) error {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tw, "STUDY\tMEASURES\tCONTENDERS\tWORKLOADS\tQUESTION")
	seconds := func(s float64) string { return cmdenv.Seconds(time.Duration(s * float64(time.Second))) }
	for _, study := range d.Studies {
		length := seconds(study.Seconds)
		if study.Rounds > 0 {
			length = format.Count(study.Rounds, "round")
		}
		fmt.Fprintf(tw, "%s\t%s\t%d\t%d\t%s\n", study.ID, length, len(study.Contenders), len(study.Workloads), report.Legible(study.Question))
	}
	if d.Seconds > 0 {
		fmt.Fprintf(tw, "in all\t%s\t\t\tbuilds, and the first semantics test of a program, come on top\n", seconds(d.Seconds))
	}
	return tw.Flush()
}
