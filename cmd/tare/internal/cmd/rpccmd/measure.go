package rpccmd

import (
	"context"
	"errors"

	"github.com/tarebench/tare"
	bring "github.com/tarebench/tare/cmd/tare/internal/bring/rpc"
	"github.com/tarebench/tare/cmd/tare/internal/cmdenv"
	"github.com/tarebench/tare/cmd/tare/internal/session"
	"github.com/tarebench/tare/internal/format"
	"github.com/tarebench/tare/kinds/server"
	"github.com/tarebench/tare/lab"
)

// measure measures the transports on the methods of doc.
func measure(ctx context.Context, env cmdenv.Env, o options, doc *bring.Document) error {
	app, err := doc.App()
	if err != nil {
		return cmdenv.Usage(format.Line(err.Error(), 0), "")
	}
	p := session.NewProgress(env, o.run.Quiet)
	defer p.End()
	p.Say("measuring " + doc.StudyID() + ", " + session.InWords(o.run))
	out, err := cmdenv.OpenOutput(o.run.Out)
	if err != nil {
		return err
	}
	defer out.Close()
	own := env
	own.Lab.Kinds = map[string]lab.Kind{server.Name: server.Of(server.Name, app)}
	own.Lab.Run = func(ctx context.Context, study tare.Study, lo lab.Options) (*tare.Result, error) {
		res, err := env.Lab.Run(ctx, study, lo)
		if res != nil {
			bring.LibrariesOnly(res)
			res.NotWeighed = append(append(res.NotWeighed, doc.Left...), doc.Alone()...)
			res.Answer = session.First(doc.Recommendation(res))
		}
		return res, err
	}
	chooses := func(id string) bool { return cmdenv.Matches(o.only, []string{id}) }
	exit := cmdenv.ExitOK
	err = session.With(ctx, own, o.run, p, func(ctx context.Context, w *session.Session) error {
		from, err := w.FindCatalog(w.Options.Catalog)
		if err != nil {
			return err
		}
		bench := bring.Bench{Cache: w.Dirs.Cache, Run: w.RunTag, Log: func(text string) { w.Progress.Status(text, text) }}
		dir, err := bench.Generate(ctx, from, doc, chooses)
		var refused *bring.GenerateError
		if errors.As(err, &refused) {
			return cmdenv.Usage(format.Line(doc.Name+": "+refused.Error(), 0), "")
		}
		if err != nil {
			return err
		}
		studies, _, err := cmdenv.Choose(o.run.Only, []cmdenv.Study{{Study: doc.Study(dir, chooses)}})
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
