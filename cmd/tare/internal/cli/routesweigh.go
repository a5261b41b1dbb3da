package cli

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/tarebench/tare"
	bring "github.com/tarebench/tare/cmd/tare/internal/bring/routes"
	"github.com/tarebench/tare/cmd/tare/internal/cmdenv"
	"github.com/tarebench/tare/contender/fixture"
	"github.com/tarebench/tare/internal/build"
	"github.com/tarebench/tare/lab"
)

// weighRoutes weighs routers on the routes of doc.
func weighRoutes(ctx context.Context, env cmdenv.Env, o routesOptions, doc *bring.Document) error {
	p := newProgress(env, o.run.quiet)
	defer p.End()
	p.Say("weighing " + bring.StudyID + ", " + asked(o.run))
	out, err := cmdenv.OpenOutput(o.run.out)
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
			res.Answer = first(doc.Recommendation(res))
		}
		return res, err
	}
	exit := cmdenv.ExitOK
	err = withSession(ctx, own, o.run, p, func(ctx context.Context, w *weighing) error {
		study, unfit, err := w.routesStudy(doc)
		if err != nil {
			return err
		}
		if len(o.run.only.Contenders) == 0 {
			left = unfit
		}
		studies, _, err := cmdenv.Choose(o.run.only, []cmdenv.Study{study})
		if err != nil {
			return err
		}
		res, err := w.weigh(ctx, studies[0])
		if res == nil {
			return err
		}
		exit = cmdenv.Worst(exit, cmdenv.ExitCode(w.keep(res)))
		if w.o.format.Name == "text" || w.o.format.Name == "md" {
			w.recommend(doc.Recommendation(res))
		}
		if errOut := w.finish(out, true); err == nil {
			err = errOut
		}
		return err
	})
	if err != nil {
		return err
	}
	return cmdenv.Code(exit)
}

// routesStudy puts the routes into the cache, where the study can be carried
// out again, and makes the study.
func (w *weighing) routesStudy(doc *bring.Document) (cmdenv.Study, []tare.NotWeighed, error) {
	all, err := cmdenv.FindCatalog(w.o.catalog, w.dirs.Cache)
	if err != nil {
		return cmdenv.Study{}, nil, err
	}
	text := doc.Table.List()
	sum := sha256.Sum256([]byte(text))
	dir := filepath.Join(w.dirs.Cache, "routes", hex.EncodeToString(sum[:10]))
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return cmdenv.Study{}, nil, fmt.Errorf("%w %s: %w", build.ErrCache, dir, cmdenv.Cause(err))
	}
	list, err := cmdenv.OpenOutput(filepath.Join(dir, doc.ListName()))
	if err != nil {
		return cmdenv.Study{}, nil, err
	}
	defer list.Close()
	if err := list.Save(func(f *os.File) error { _, err := f.WriteString(text); return err }); err != nil {
		return cmdenv.Study{}, nil, err
	}
	source, left := doc.Study(all.Leaves())
	study, err := cmdenv.ParseStudy(filepath.Join(dir, bring.StudyID+".yaml"), []byte(source))
	return study, left, err
}

// first is the first of the recommendations: the answer of the result.
func first(lines []string) string {
	if len(lines) == 0 {
		return ""
	}
	return fixture.Legible([]byte(lines[0]))
}

// recommend prints what to take.
func (w *weighing) recommend(lines []string) {
	st := w.Style(w.Out)
	heading, item := cmdenv.Paint(st.Bold, "RECOMMENDATION"), "  "
	if w.o.format.Name == "md" {
		heading, item = "## Recommendation\n", "- "
	}
	fmt.Fprintf(w.Out, "\n%s\n", heading)
	for _, line := range lines {
		parts := []string{fixture.Legible([]byte(line))}
		if w.o.format.Name == "text" {
			parts = cmdenv.Wrap(parts[0], st.Width-len(item)-2)
		}
		fmt.Fprintln(w.Out, item+strings.Join(parts, "\n"+item+"  "))
	}
}
