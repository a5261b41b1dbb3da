package gatecmd

import (
	"cmp"
	"context"
	"path"
	"strings"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/benchstudy/gate"
	"github.com/tarebench/tare/cmd/tare/internal/cmdenv"
	"github.com/tarebench/tare/cmd/tare/internal/dryrun"
	"github.com/tarebench/tare/cmd/tare/internal/project"
	"github.com/tarebench/tare/cmd/tare/internal/session"
	"github.com/tarebench/tare/lab"
	"github.com/tarebench/tare/report"
)

// planGate prints for --dry-run what runGate would measure and write.
func (o options) planGate(ctx context.Context, env cmdenv.Env, p project.Project, sides gate.Sides) error {
	request := o.newRequest(p, sides)
	run := gateOptions(request, p.Bench.Budget)
	run.On, run.Out, run.Format = o.machines, o.jsonFile, report.Format{Name: o.format}
	plan, err := dryrun.New(env, "tare gate", run)
	if err != nil {
		return err
	}
	defer plan.Close()
	if sides.AreEqual() {
		plan.AddNote(describeSameCommit(sides))
		return plan.Print()
	}
	benchRequest := newBenchRequest(request)
	err = benchRequest.Check(ctx)
	why, isEmpty := whyNoBenchmarks(err)
	if isEmpty {
		plan.AddNote(why)
	} else if err == nil {
		err = plan.AddBench(ctx, benchRequest, cmp.Or(p.Bench.Max, session.BenchMost))
	}
	if err != nil && !isEmpty {
		return session.BenchError(ctx, err)
	}
	if request.Shard.Index <= 1 { // of several parts, only the first measures more than benchmarks
		planExtraStudies(plan, request, sides)
	}
	plan.AddFile(o.gitlabFile, "a code quality report")
	return plan.Print()
}

// planExtraStudies adds the studies, documents, routes and servers of tare.yaml to a plan. Nothing is
// unpacked yet, so the affected programs are unknown. A word in capitals, such as CODEC, represents
// each of them.
func planExtraStudies(plan *dryrun.Plan, request gate.Request, sides gate.Sides) {
	ids := []string{gate.BaseID, gate.HeadID}
	add := func(id, question string, workloads []string, budget tare.Budget) {
		const isQuick = true
		const isLimit = false // seconds is an estimate, not the time limit
		seconds := cmp.Or(request.Budget, lab.Budget(budget, isQuick)).Seconds()
		plan.AddMeasurement(dryrun.Study{ID: id, Question: question, Contenders: ids, Workloads: workloads, Seconds: seconds}, isLimit)
	}
	stem := func(file string) string { return strings.TrimSuffix(path.Base(file), path.Ext(file)) }
	p := request.Project
	for _, f := range p.Studies {
		add("gate-"+stem(f.Path)+"-CONTENDER", "Each contender of "+f.Path+" that the change moves or builds", []string{}, tare.Budget{})
	}
	for _, f := range p.JSON {
		name := plainID(stem(f.Path))
		add("gate-json-CODEC", "Each codec that the change moves, on "+f.Path, []string{name + "/decode", name + "/encode"}, tare.Budget{})
	}
	for _, f := range p.Routes {
		add("gate-routes-ROUTER", "Each router that the change moves, on "+f.Path, []string{}, tare.Budget{})
	}
	for _, l := range p.Load {
		m := gate.Server(l, request, gate.SidePaths{}, gate.SidePaths{}, "")
		add(m.Study.ID, m.Study.Question, []string{m.Study.Workloads[0].ID}, m.Study.Budget)
		head := shortHash(sides.HeadCommit)
		if sides.WorktreeDiffers {
			head += " with changes"
		}
		plan.AddBuild(dryrun.Build{Name: l.ID + " " + gate.BaseID, Revision: shortHash(sides.BaseCommit), Sources: l.Program})
		plan.AddBuild(dryrun.Build{Name: l.ID + " " + gate.HeadID, Revision: head, Sources: l.Program})
	}
}
