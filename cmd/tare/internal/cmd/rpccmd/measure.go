package rpccmd

import (
	"context"
	"errors"
	"slices"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/cmdenv"
	"github.com/tarebench/tare/cmd/tare/internal/dryrun"
	"github.com/tarebench/tare/cmd/tare/internal/rpcstudy"
	"github.com/tarebench/tare/cmd/tare/internal/session"
	"github.com/tarebench/tare/internal/format"
	"github.com/tarebench/tare/kinds/server"
	"github.com/tarebench/tare/lab"
)

// measureTransports measures RPC transports on the methods of doc, the user's .proto file.
func measureTransports(ctx context.Context, env cmdenv.Env, o options, doc *rpcstudy.Document) error {
	app, err := doc.App()
	if err != nil {
		return cmdenv.UsageOf(err, "")
	}
	p := session.NewProgress(env, o.run.Quiet)
	defer p.End()
	p.Say("measuring " + doc.StudyID() + ", " + session.DescribeOptions(o.run))
	env.Lab.Kinds = map[string]lab.Kind{server.Name: server.Of(server.Name, app)}
	var advice session.Advice
	advice.Prepare = func(ctx context.Context, w *session.Session) (study cmdenv.Study, err error) {
		versions, err := w.FindCatalog(w.Options.Catalog)
		if err != nil {
			return study, err
		}
		bench := rpcstudy.Bench{Cache: w.Dirs.Cache, Run: w.RunTag, Log: func(text string) { w.Progress.Status(text, text) }}
		dir, err := bench.Generate(ctx, versions, doc, o.isChosen)
		var generateErr *rpcstudy.GenerateError
		if errors.As(err, &generateErr) {
			return study, cmdenv.Usage(format.Line(doc.Name+": "+generateErr.Error(), 0), "")
		}
		if err != nil {
			return study, err
		}
		studies, _, err := cmdenv.Choose(o.run.Only, []cmdenv.Study{{Study: doc.Study(dir, o.isChosen)}})
		if err != nil {
			return study, err
		}
		return studies[0], nil
	}
	advice.Complete = func(res *tare.Result) {
		rpcstudy.LibrariesOnly(res)
		// doc.Alone has methods that share a workload with others.
		res.NotWeighed = append(append(res.NotWeighed, doc.Left...), doc.Alone()...)
		doc.SetAnswer(res)
	}
	advice.Recommend = doc.Recommendation
	return advice.Measure(ctx, env, o.run, p)
}

func (o options) isChosen(id string) bool { return cmdenv.Matches(o.only, []string{id}) }

func planTransports(env cmdenv.Env, o options, doc *rpcstudy.Document, arg string) error {
	p, err := dryrun.New(env, "tare rpc", o.run)
	if err != nil {
		return err
	}
	defer p.Close()
	programDir := "" // no programs are generated
	studies, _, err := cmdenv.Choose(o.run.Only, []cmdenv.Study{{Study: doc.Study(programDir, o.isChosen)}})
	if err != nil {
		return err
	}
	kind, ids := rpcstudy.Libraries(o.isChosen)
	for _, id := range ids {
		if err := p.AddContender(kind, "", tare.Entry{ID: id}); err != nil {
			return err
		}
	}
	for i := range p.Builds {
		p.Builds[i].Sources = "generated from " + arg
	}
	if err := p.AddContender(server.Name, "", tare.Entry{ID: tare.NullID}); err != nil {
		return err
	}
	if _, err := p.AddPart(studies[0]); err != nil {
		return err
	}
	p.AddLeft(slices.Concat(doc.Left, doc.Alone())...)
	return p.Print()
}
