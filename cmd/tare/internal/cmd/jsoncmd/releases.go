package jsoncmd

import (
	"context"
	"slices"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/cmdenv"
	"github.com/tarebench/tare/cmd/tare/internal/jsonstudy"
	"github.com/tarebench/tare/cmd/tare/internal/session"
	"github.com/tarebench/tare/internal/format"
)

// studyID returns the id of the study of a file. A study of releases has another one than a study of
// codecs, because the history compares results with one id.
func (o options) studyID(file string) string {
	id := jsonstudy.StudyID(file, o.typ)
	if o.goText != "" {
		id += "-go"
	}
	return id
}

// resolveReleases sets d.toolchains to the releases of --go with all their numbers.
func (d *documentStudy) resolveReleases(ctx context.Context, env cmdenv.Env) error {
	installed, err := cmdenv.FindToolchain(ctx)
	if err != nil {
		return err
	}
	if d.toolchains, err = jsonstudy.ResolveReleases(ctx, env.Tag(), installed.Version, d.o.releases); err != nil {
		return cmdenv.Usage("--go: "+format.Line(err.Error(), 0), "")
	}
	return nil
}

// buildReleases builds encoding/json with the toolchains that the user selected. One that cannot be
// downloaded is an error before anything is measured. The toolchain that was added is not among them: if
// it cannot be built, the study reports that and continues.
func (d *documentStudy) buildReleases(ctx context.Context, w *session.Session, study tare.Study) error {
	for _, e := range study.Contenders {
		if !slices.Contains(d.toolchains, e.ID) {
			continue
		}
		w.Progress.Status("building", "building encoding/json with "+e.ID)
		_, err := w.Sources.Program(ctx, string(study.Kind), study.Dir, e)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			return cmdenv.Usage("--go "+e.ID+": "+format.Line(err.Error(), 0), "")
		}
	}
	return nil
}

// releaseAdvice returns the description of a result of --go.
func (d *documentStudy) releaseAdvice(res *tare.Result) jsonstudy.ReleaseAdvice {
	return jsonstudy.ReleaseAdvice{Result: res, Docs: d.docs, Total: d.total, Type: d.typ, Toolchains: d.toolchains}
}
