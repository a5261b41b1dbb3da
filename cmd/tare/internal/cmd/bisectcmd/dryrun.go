package bisectcmd

import (
	"context"
	"fmt"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/cmdenv"
	"github.com/tarebench/tare/cmd/tare/internal/dryrun"
	"github.com/tarebench/tare/cmd/tare/internal/session"
	"github.com/tarebench/tare/internal/format"
	"github.com/tarebench/tare/report"
)

// planSearch prints what a search would do. The time of a round is unknown without a build, so it
// prints the limit of --max.
func (o options) planSearch(ctx context.Context, env cmdenv.Env, h commitRange) error {
	var run session.Options
	run.Format, _ = report.FormatNamed(o.format) // formatNames has only names of formats
	p, err := dryrun.New(env, "tare bisect", run)
	if err != nil {
		return err
	}
	defer p.Close()
	dirs, err := env.Dirs()
	if err != nil {
		return err
	}
	s, path, err := o.findState(h, dirs.Cache)
	if err != nil {
		return err
	}
	outline, err := o.selectionOf(h.bad.Commit, o.bench).Outline(ctx)
	if err != nil {
		return err
	}
	const sources = "go test -c of the packages with benchmarks"
	p.AddBuild(dryrun.Build{Name: "good", Revision: h.good.String(), Sources: sources})
	p.AddBuild(dryrun.Build{Name: "bad", Revision: h.bad.String(), Sources: sources})
	plan := s.Search.Plan
	remaining := max(0, plan.Comparisons()-s.countDone())
	question := fmt.Sprintf("Which of the %s after %s up to %s changes %s?", format.Count(len(h.commits), "commit"), h.good, h.bad, tare.MetricFor(o.metric).Noun)
	study := dryrun.Study{
		ID: "bisect", Question: question, Contenders: []string{"good", "bad"}, Workloads: outline.Benchmarks,
		Seconds: o.maxTime.Seconds() * float64(remaining),
	}
	if study.Workloads == nil {
		study.Workloads = []string{}
	}
	if s.Quantity.Benchmark != "" { // an earlier call has selected it
		study.Workloads = []string{s.Quantity.Benchmark}
	}
	p.AddUnsaved(study)
	p.AddNote(h.describeSearch(s))
	if done := s.countDone(); done > 0 {
		p.AddNote(describeDone(done))
	} else {
		p.AddNote("if several benchmarks match, or counts are compared, rounds of bad come before: at most --max as well")
	}
	p.AddNote(fmt.Sprintf("each comparison takes --max %v at most and ends as soon as it can tell; each but the first builds another commit", o.maxTime))
	p.AddNote(fmt.Sprintf("commits that do not build or cannot be told are passed over: up to %s then", format.Count(plan.MaxComparisons(), "comparison")))
	for _, note := range outline.Notes {
		p.AddNote(note)
	}
	p.AddFile(path, "the search, which the same command continues")
	return p.Print()
}
