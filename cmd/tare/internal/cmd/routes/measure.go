package routes

import (
	"context"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/catalog"
	"github.com/tarebench/tare/cmd/tare/internal/cmdenv"
	"github.com/tarebench/tare/cmd/tare/internal/dryrun"
	"github.com/tarebench/tare/cmd/tare/internal/routestudy"
	"github.com/tarebench/tare/cmd/tare/internal/session"
)

// routeStudy compares HTTP routers on the user's routes, or the Go releases that build them.
type routeStudy struct {
	o       options
	doc     *routestudy.Document // the user's routes
	skipped []tare.NotWeighed    // routers that cannot be measured on these routes; set by newStudy

	releases routestudy.Releases // empty without --go; newStudy sets the Routers
}

func (o *options) studyID() string {
	if o.releases.IsSet() {
		return routestudy.ReleaseStudyID
	}
	return routestudy.StudyID
}

// newStudy returns the study of the routers of the catalog, or with --go of several releases of the
// chosen ones. It writes nothing.
func (r *routeStudy) newStudy(all catalog.Catalog, dirs cmdenv.Dirs) (cmdenv.Study, error) {
	study, unfit, err := session.NewRoutesStudy(all, dirs, r.doc)
	if err != nil {
		return study, err
	}
	only := r.o.run.Only
	if _, _, err := cmdenv.Choose(only, []cmdenv.Study{study}); err != nil {
		return study, err
	}
	if !r.o.releases.IsSet() {
		if len(only.Contenders) == 0 { // otherwise the user did not select the unfit routers
			r.skipped = unfit
		}
		return study, nil
	}
	for _, e := range study.Contenders {
		isAdded := len(only.Contenders) > 0 && cmdenv.Matches(only.Contenders, []string{e.ID})
		if e.ID == study.Baseline || isAdded {
			r.releases.Routers = append(r.releases.Routers, e.ID)
		}
	}
	return session.NewRoutesReleases(dirs, r.doc, r.releases)
}

// runOptions returns the options of the measurement. In a study of releases it drops --only, because
// newStudy has applied it and the ids of contenders are different.
func (r *routeStudy) runOptions() session.Options {
	run := r.o.run
	if r.o.releases.IsSet() {
		run.Only.Contenders = nil
	}
	return run
}

func (r *routeStudy) recommendRouters(res *tare.Result) []string {
	if r.o.releases.IsSet() {
		return r.releaseAdvice(res).Lines()
	}
	return r.doc.Recommendation(res)
}

func (r *routeStudy) completeResult(res *tare.Result) {
	res.NotWeighed = append(res.NotWeighed, r.skipped...)
	if r.o.releases.IsSet() {
		r.releaseAdvice(res).SetAnswer()
		return
	}
	r.doc.SetAnswer(res)
}

func (r *routeStudy) releaseAdvice(res *tare.Result) routestudy.ReleaseAdvice {
	return routestudy.ReleaseAdvice{Document: r.doc, Result: res, Releases: r.releases}
}

// prepareStudy returns the study and saves its routes in the cache.
func (r *routeStudy) prepareStudy(ctx context.Context, w *session.Session) (study cmdenv.Study, err error) {
	all, err := w.FindCatalog(w.Options.Catalog)
	if err != nil {
		return study, err
	}
	if study, err = r.newStudy(all, w.Dirs); err != nil {
		return study, err
	}
	if err := session.SaveRoutes(study, r.doc); err != nil {
		return study, err
	}
	if !r.o.releases.IsSet() {
		return study, nil
	}
	baseline := r.releases.Routers[0]
	return study, w.BuildReleases(ctx, study.Study, baseline, baseline, r.releases.Toolchains)
}

func measureRoutes(ctx context.Context, env cmdenv.Env, o options, doc *routestudy.Document) error {
	p := session.NewProgress(env, o.run.Quiet)
	defer p.End()
	r := &routeStudy{o: o, doc: doc}
	if o.releases.IsSet() {
		var err error
		if r.releases.Toolchains, err = o.releases.Resolve(ctx, env); err != nil {
			return err
		}
	}
	p.Say("measuring " + o.studyID() + ", " + session.DescribeOptions(o.run))
	advice := session.Advice{Prepare: r.prepareStudy, Complete: r.completeResult, Recommend: r.recommendRouters}
	return advice.Measure(ctx, env, r.runOptions(), p)
}

func planRoutes(env cmdenv.Env, o options, doc *routestudy.Document) error {
	r := &routeStudy{o: o, doc: doc}
	r.releases.Toolchains = o.releases.Names() // not resolved: the go command would have to run
	p, err := dryrun.New(env, "tare routes", r.runOptions())
	if err != nil {
		return err
	}
	defer p.Close()
	all, err := p.FindCatalog()
	if err != nil {
		return err
	}
	dirs, err := env.Dirs()
	if err != nil {
		return err
	}
	study, err := r.newStudy(all, dirs)
	if err != nil {
		return err
	}
	if err := p.AddStudies([]cmdenv.Study{study}); err != nil {
		return err
	}
	p.AddLeft(r.skipped...)
	return p.Print()
}
