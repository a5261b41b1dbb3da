package routes

import (
	"context"

	"github.com/tarebench/tare"
	bring "github.com/tarebench/tare/cmd/tare/internal/bring/routes"
	"github.com/tarebench/tare/cmd/tare/internal/cmdenv"
	"github.com/tarebench/tare/cmd/tare/internal/session"
	"github.com/tarebench/tare/lab"
)

// measureRoutes measures routers on the routes of doc.
func measureRoutes(ctx context.Context, env cmdenv.Env, o options, doc *bring.Document) error {
	p := session.NewProgress(env, o.run.Quiet)
	defer p.End()
	p.Say("measuring " + bring.StudyID + ", " + session.InWords(o.run))
	out, err := cmdenv.OpenOutput(o.run.Out)
	if err != nil {
		return err
	}
	defer out.Close()
	var left []tare.NotWeighed
	own := env
	own.Lab.Run = func(ctx context.Context, study tare.Study, lo lab.Options) (*tare.Result, error) {
		res, err := env.Lab.Run(ctx, study, lo)
		if res != nil {
			res.NotWeighed = append(res.NotWeighed, left...)
			res.Answer = session.First(doc.Recommendation(res))
		}
		return res, err
	}
	exit := cmdenv.ExitOK
	err = session.With(ctx, own, o.run, p, func(ctx context.Context, w *session.Session) error {
		study, unfit, err := w.RoutesStudy(doc)
		if err != nil {
			return err
		}
		if len(o.run.Only.Contenders) == 0 {
			left = unfit
		}
		studies, _, err := cmdenv.Choose(o.run.Only, []cmdenv.Study{study})
		if err != nil {
			return err
		}
		exit, err = w.MeasureAndRecommend(ctx, studies[0], out, doc.Recommendation)
		return err
	})
	if err != nil {
		return err
	}
	return cmdenv.Code(exit)
}
