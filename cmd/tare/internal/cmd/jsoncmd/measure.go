package jsoncmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/catalog"
	"github.com/tarebench/tare/cmd/tare/internal/cmdenv"
	"github.com/tarebench/tare/cmd/tare/internal/dryrun"
	"github.com/tarebench/tare/cmd/tare/internal/jsonstudy"
	"github.com/tarebench/tare/cmd/tare/internal/session"
	"github.com/tarebench/tare/cmd/tare/internal/suggest"
	"github.com/tarebench/tare/internal/format"
	"github.com/tarebench/tare/internal/trial"
	"github.com/tarebench/tare/kinds/codec"
	"github.com/tarebench/tare/lab"
)

// This file measures JSON codecs on the user's documents. It makes a study, which package session
// runs, and recommends a codec by the result.

// documentStudy is the study of JSON codecs on the user's documents.
type documentStudy struct {
	o        options
	args     []string            // names of the files
	docs     []codec.Document    // measured documents
	total    int                 // number of all documents, measured or not
	typ      jsonstudy.Type      // the type that documents are decoded into
	userType *jsonstudy.UserType // nil if the type is inferred
	kind     *jsonstudy.Kind     // starts codecs and compares their output with that of encoding/json
	skipped  []tare.NotWeighed   // codecs that are not measured

	toolchains []string // Go releases of --go, resolved; nil if codecs are compared instead
}

// newDocumentStudy returns the study of docs, which all fit the type inferred.
func newDocumentStudy(o options, args []string, docs []codec.Document, inferred jsonstudy.Type) *documentStudy {
	return &documentStudy{o: o, args: args, docs: jsonstudy.Chosen(docs), total: len(docs), typ: inferred}
}

// planDocuments prints what measureDocuments would do. It generates no code, so it does not know which
// codecs fit the type.
func planDocuments(env cmdenv.Env, o options, args []string, docs []codec.Document, inferred jsonstudy.Type) error {
	p, err := dryrun.New(env, "tare json", o.run)
	if err != nil {
		return err
	}
	defer p.Close()
	codecs, err := p.FindCatalog()
	if err != nil {
		return err
	}
	d := newDocumentStudy(o, args, docs, inferred)
	d.toolchains = o.releases.Names()
	study, err := d.newStudy(codecs, codecs)
	if err != nil {
		return err
	}
	if err := p.AddStudies([]cmdenv.Study{{Study: study}}); err != nil {
		return err
	}
	p.AddLeft(d.skipped...)
	if o.op != "any" {
		p.AddNote("typed: code is generated for the type, and codecs that cannot have it are skipped")
	}
	return p.Print()
}

// findType finds the type of --type. The working directory resolves its package, as in the go command.
func findType(ctx context.Context, env cmdenv.Env, name string) (*jsonstudy.UserType, error) {
	dir, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	typ, err := jsonstudy.Find(ctx, env.Tag(), dir, name)
	if err != nil {
		return nil, toUsageError(err)
	}
	return typ, nil
}

// measureDocuments measures codecs on docs, or on an evenly spread part if there are many. inferred
// is the type of all docs, and --type replaces it.
func measureDocuments(ctx context.Context, env cmdenv.Env, o options, args []string, docs []codec.Document, inferred jsonstudy.Type) error {
	d := newDocumentStudy(o, args, docs, inferred)
	p := session.NewProgress(env, o.run.Quiet)
	defer p.End()
	if len(d.docs) < len(docs) {
		p.Say(fmt.Sprintf("%d of the %d documents are measured, spread evenly; the type is that of all", len(d.docs), len(docs)))
	}
	if o.typ != "" {
		var err error
		if d.userType, err = findType(ctx, env, o.typ); err != nil {
			return err
		}
	}
	d.kind = jsonstudy.NewKind(env.Lab.Kinds["codec"], d.docs)
	if o.releases.IsSet() {
		var err error
		if d.toolchains, err = o.releases.Resolve(ctx, env); err != nil {
			return err
		}
		d.kind = jsonstudy.NewReleaseKind(env.Lab.Kinds["codec"], d.docs, d.toolchains[0])
	}
	env.Lab.Kinds = map[string]lab.Kind{"codec": d.kind}
	advice := session.Advice{Recommend: d.recommendCodecs, Prepare: d.prepareStudy}
	advice.Complete = func(res *tare.Result) {
		res.NotWeighed = append(res.NotWeighed, d.skipped...)
		if d.toolchains != nil {
			d.releaseAdvice(res).SetAnswer()
			return
		}
		jsonstudy.SetAnswer(res, d.docs, d.total, d.typ)
	}
	return advice.Measure(ctx, env, o.run, p)
}

func (d *documentStudy) recommendCodecs(res *tare.Result) []string {
	if d.toolchains != nil {
		return d.releaseAdvice(res).Lines()
	}
	return jsonstudy.Recommendation(res, d.docs, d.total, d.typ)
}

func (d *documentStudy) prepareStudy(ctx context.Context, w *session.Session) (s cmdenv.Study, err error) {
	codecs, err := w.FindCatalog(w.Options.Catalog)
	if err != nil {
		return s, err
	}
	builtCodecs := codecs // codecs that support the type; --op any needs no type
	if d.o.op != "any" {
		if builtCodecs, err = d.buildTyped(ctx, w, codecs); err != nil {
			return s, toUsageError(err)
		}
	}
	study, err := d.newStudy(codecs, builtCodecs)
	if err != nil {
		return s, err
	}
	// jsonstudy adds another toolchain. If the study cannot build with that one, it reports the failure
	// and continues.
	if err := w.BuildReleases(ctx, study, jsonstudy.Baseline, "encoding/json", d.toolchains); err != nil {
		return s, err
	}
	dir, err := os.MkdirTemp(w.Dirs.Cache, ".reference-")
	if err != nil {
		return s, err
	}
	defer os.RemoveAll(dir)
	w.Progress.Status("reference", "asking encoding/json")
	if err := d.kind.Refer(ctx, w.Sources, study, d.typ, trial.Spec{Run: w.RunTag, Guardian: w.Guardian}, dir); err != nil {
		return s, toUsageError(err)
	}
	return cmdenv.Study{Study: study}, nil
}

// newStudy returns the study of the codecs in built, a part of codecs. With --go it returns the
// study of encoding/json of several releases. It adds selected codecs that cannot be measured to
// d.skipped.
func (d *documentStudy) newStudy(codecs, built catalog.Catalog) (study tare.Study, err error) {
	id, question := d.o.studyID(d.args[0]), d.o.formatQuestion(d.args, d.docs, d.typ)
	if d.toolchains != nil {
		study = jsonstudy.NewReleaseStudy(id, question, d.o.op, d.toolchains)
	} else {
		study, _ = jsonstudy.NewStudy(id, question, built.Leaves(), d.o.op, d.isChosen)
		// The reasons come from all codecs of the catalog, of which built contains only a part.
		_, unfit := jsonstudy.NewStudy(id, question, codecs.Leaves(), d.o.op, d.isChosen)
		err = d.checkPatterns(study, unfit, codecs)
	}
	for i := range study.Workloads {
		study.Workloads[i].File = fileNames(d.args)
	}
	return study, err
}

// checkPatterns returns an error if a pattern of --only selects no codec, or if nothing is left to
// compare with encoding/json. It adds the selected codecs of unfit to d.skipped.
func (d *documentStudy) checkPatterns(study tare.Study, unfit []tare.NotWeighed, codecs catalog.Catalog) error {
	if len(d.o.only) == 0 {
		d.skipped = append(d.skipped, unfit...)
		return nil
	}
	for _, pattern := range d.o.only {
		if !cmdenv.Matches([]string{pattern}, codecs.IDs("codec")) {
			return cmdenv.Usage(fmt.Sprintf("--only %q matches no codec of the catalog", pattern), cmp.Or(suggest.Hint(pattern, codecs.IDs("codec")), "tare list contenders shows them", "tare list contenders"))
		}
	}
	for _, l := range unfit {
		if d.isChosen(l.Contender()) {
			d.skipped = append(d.skipped, l)
		}
	}
	if len(study.Contenders) > 1 { // encoding/json and others
		return nil
	}
	for _, l := range d.skipped {
		if id := l.Contender(); d.isChosen(id) {
			return cmdenv.Usage(id+" cannot be measured: "+l.Why, "tare list contenders shows the codecs", "tare list contenders")
		}
	}
	return cmdenv.Usage(fmt.Sprintf("--only %q chooses nothing but encoding/json, which everything is compared with", strings.Join(d.o.only, ",")), "tare list contenders shows the others", "tare list contenders")
}

// buildTyped adds the documents' type to the codecs, and returns those that support it. It sets
// w.Sources to them, and with --type d.typ to the user's type.
func (d *documentStudy) buildTyped(ctx context.Context, w *session.Session, codecs catalog.Catalog) (catalog.Catalog, error) {
	bench := jsonstudy.Bench{Cache: w.Dirs.Cache, Run: w.RunTag, Log: func(text string) { w.Progress.Status(text, text) }}
	var err error
	if d.userType != nil {
		w.Progress.Status("type", "looking at "+d.o.typ)
		if d.typ, err = bench.Describe(ctx, d.userType); err != nil {
			return codecs, err
		}
	}
	typed, skipped, err := bench.Catalog(ctx, codecs, d.typ, d.userType, d.isChosen)
	if err != nil {
		return codecs, err
	}
	for _, l := range skipped {
		if id := l.Contender(); d.isChosen(id) {
			d.skipped = append(d.skipped, l)
			w.Progress.Say(id + " is skipped: " + l.Why)
		}
	}
	w.Sources, err = w.Lab.Sources(cmdenv.Workshop{Cache: w.Dirs.Cache, Catalog: typed.Dir, Run: w.RunTag, Compiling: w.Progress.Compiling})
	if d.userType != nil && err == nil {
		w.Sources = d.userType.Sources(w.Sources)
	}
	return typed, err
}

func (d *documentStudy) isChosen(id string) bool {
	return d.toolchains == nil && cmdenv.Matches(d.o.only, []string{id})
}

func toUsageError(err error) error {
	var typeErr *jsonstudy.TypeError
	var documentErr *jsonstudy.RefusedError
	switch {
	case errors.As(err, &typeErr):
		return cmdenv.Usage(format.Line(typeErr.Error(), 0), "")
	case errors.As(err, &documentErr):
		return cmdenv.Usage(format.Line(documentErr.Error(), 0), "")
	}
	return err
}

// studyID returns the id of the study of a file. Studies of releases have the suffix -go: the history
// compares all results with the same id.
func (o *options) studyID(file string) string {
	id := jsonstudy.StudyID(file, o.typ)
	if o.releases.IsSet() {
		id += "-go"
	}
	return id
}

func (d *documentStudy) releaseAdvice(res *tare.Result) jsonstudy.ReleaseAdvice {
	return jsonstudy.ReleaseAdvice{Result: res, Docs: d.docs, Total: d.total, Type: d.typ, Toolchains: d.toolchains}
}
