package routes

import (
	"context"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/cmdenv"
	"github.com/tarebench/tare/cmd/tare/internal/dryrun"
	"github.com/tarebench/tare/cmd/tare/internal/routestudy"
	"github.com/tarebench/tare/cmd/tare/internal/session"
)

// measureRoutes measures routers on the routes of doc.
func measureRoutes(ctx context.Context, env cmdenv.Env, o options, doc *routestudy.Document) error {
	p := session.NewProgress(env, o.run.Quiet)
	defer p.End()
	p.Say("measuring " + routestudy.StudyID + ", " + session.InWords(o.run))
	var skipped []tare.NotWeighed // routers that cannot be measured on these routes
	advice := session.Advice{Recommend: doc.Recommendation}
	advice.Complete = func(res *tare.Result) {
		res.NotWeighed = append(res.NotWeighed, skipped...)
		doc.SetAnswer(res)
	}
	advice.Prepare = func(ctx context.Context, w *session.Session) (cmdenv.Study, error) {
		study, unfit, err := w.RoutesStudy(doc)
		if err != nil {
			return study, err
		}
		if len(o.run.Only.Contenders) == 0 { // otherwise the user has selected others
			skipped = unfit
		}
		studies, _, err := cmdenv.Choose(o.run.Only, []cmdenv.Study{study})
		if err != nil {
			return study, err
		}
		return studies[0], nil
	}
	return advice.Measure(ctx, env, o.run, p)
}

// planRoutes prints what measureRoutes would do.
func planRoutes(env cmdenv.Env, o options, doc *routestudy.Document) error {
	p, err := dryrun.New(env, "tare routes", o.run)
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
	study, unfit, err := session.NewRoutesStudy(all, dirs, doc)
	if err != nil {
		return err
	}
	studies, _, err := cmdenv.Choose(o.run.Only, []cmdenv.Study{study})
	if err != nil {
		return err
	}
	if err := p.AddStudies(studies); err != nil {
		return err
	}
	if len(o.run.Only.Contenders) == 0 { // otherwise the user has selected others
		p.AddLeft(unfit...)
	}
	return p.Print()
}
