package gatecmd

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/bring/gate"
	bring "github.com/tarebench/tare/cmd/tare/internal/bring/routes"
	"github.com/tarebench/tare/cmd/tare/internal/bring/tree"
	"github.com/tarebench/tare/cmd/tare/internal/catalog"
	"github.com/tarebench/tare/cmd/tare/internal/cmdenv"
	"github.com/tarebench/tare/cmd/tare/internal/loadstudy"
	"github.com/tarebench/tare/cmd/tare/internal/project"
	"github.com/tarebench/tare/cmd/tare/internal/session"
	"github.com/tarebench/tare/contender/codec"
	"github.com/tarebench/tare/internal/format"
	"github.com/tarebench/tare/internal/whole"
	"github.com/tarebench/tare/lab"
)

// besides is what a gate measures that is no benchmark.
type besides struct {
	*session.Session
	ask     gate.Ask
	m       *gate.Measured
	trees   gate.Trees // whole repositories
	here    gate.Trees // the project's directory in each
	catalog catalog.Catalog
	moved   gate.Moved
	config  string // path of tare.yaml from the top of the repository

	studies, servers []gate.Measurement
}

// measureBesides adds what became of the studies, documents, routes and servers
// that tare.yaml names.
func measureBesides(ctx context.Context, env cmdenv.Env, ask gate.Ask, p *session.Progress, m *gate.Measured) error {
	t := ask.Project
	if len(t.Studies)+len(t.JSON)+len(t.Routes)+len(t.Load) == 0 {
		return nil
	}
	return session.With(ctx, env, gateRun(ask, 0), p, func(ctx context.Context, w *session.Session) error {
		b := &besides{Session: w, ask: ask, m: m}
		if err := b.open(ctx); err != nil {
			return err
		}
		dir, err := os.MkdirTemp(w.Dirs.Cache, ".gate-")
		if err != nil {
			return fmt.Errorf("make a directory for what a gate builds: %w", err)
		}
		defer os.RemoveAll(dir)
		for _, gather := range []func() error{b.files, b.documents, b.routes} {
			if err := gather(); err != nil {
				return err
			}
		}
		if err := b.programs(ctx, dir); err != nil {
			return err
		}
		if err := b.carryOut(ctx, b.studies); err != nil {
			return err
		}
		w.Sources = loadstudy.Servers{}
		return b.carryOut(ctx, b.servers)
	})
}

// open finds the files of both sides, the contenders, and the versions in which
// the project requires modules.
func (b *besides) open(ctx context.Context) error {
	repo, err := tree.Find(ctx, b.ask.Project.Dir)
	if err != nil {
		return err
	}
	if b.trees, err = treesOf(ctx, repo, b.ask, b.Dirs.Cache); err != nil {
		return err
	}
	b.here = gate.Trees{Base: filepath.Join(b.trees.Base, repo.Prefix), Head: filepath.Join(b.trees.Head, repo.Prefix)}
	b.config = path.Join(filepath.ToSlash(repo.Prefix), project.FileName)
	if b.catalog, err = b.FindCatalog(""); err != nil {
		return err
	}
	b.moved, err = movedBetween(ctx, b.catalog, b.here)
	return err
}

// wrong says where in tare.yaml something is wrong.
func (b *besides) wrong(at project.Place, what string) error {
	return cmdenv.Usage(fmt.Sprintf("%s:%d:%d: %s", b.config, at.Line, at.Col, what), "")
}

// add takes in what becomes of a study that tare.yaml names at a place.
func (b *besides) add(study tare.Study, file project.File) error {
	some, left, err := gate.Studies(study, b.ask, b.trees, b.moved)
	var unknown *lab.UnknownError
	if errors.As(err, &unknown) {
		return b.wrong(file.Place, file.Path+": "+err.Error())
	} else if err != nil {
		return fmt.Errorf("%s: %w", file.Path, err)
	}
	for _, one := range some {
		one.Held.Place = gate.Place{File: b.config, Line: file.Line}
		b.studies = append(b.studies, one)
	}
	b.m.Left = append(b.m.Left, left...)
	if len(some)+len(left) == 0 {
		b.m.Notes = append(b.m.Notes, file.Path+": nothing to compare: the change moves no module of its contenders, and none is a program of this repository")
	}
	return nil
}

// files are the study files and the bundled studies.
func (b *besides) files() error {
	for _, f := range b.ask.Project.Studies {
		var study cmdenv.Study
		var err error
		if f.Bundled() {
			study, err = b.ReadStudy(f.Path)
			if err == nil && !slices.Contains(b.Bundled(), f.Path) {
				err = fmt.Errorf("there is no bundled study %s", f.Path)
			}
		} else {
			study, err = b.read(f)
		}
		if err != nil {
			return b.wrong(f.Place, format.Line(err.Error(), 0))
		}
		if err := b.add(study.Study, f); err != nil {
			return err
		}
	}
	return nil
}

// read reads a study file of the head. Messages name it as tare.yaml does.
func (b *besides) read(f project.File) (cmdenv.Study, error) {
	src, err := b.source(f)
	if err != nil {
		return cmdenv.Study{}, err
	}
	study, err := cmdenv.ParseStudy(f.Path, src)
	study.Dir = filepath.Join(b.here.Head, filepath.FromSlash(path.Dir(f.Path)))
	return study, err
}

// source is what a file of the head holds: a study, a document or a list of routes,
// none of which may be longer than the last.
func (b *besides) source(f project.File) ([]byte, error) {
	src, err := whole.ReadStart(filepath.Join(b.here.Head, filepath.FromSlash(f.Path)), bring.MostBytes)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("there is no %s in the head", f.Path)
	}
	if err != nil {
		return nil, fmt.Errorf("cannot read %s: %w", f.Path, cmdenv.Cause(err))
	}
	return src, nil
}

// documents are a study of JSON codecs on each document: the first variant of
// each, decoding into any and encoding from it.
func (b *besides) documents() error {
	for _, f := range b.ask.Project.JSON {
		if _, err := b.source(f); err != nil {
			return b.wrong(f.Place, err.Error())
		}
		name := strings.TrimSuffix(path.Base(f.Path), path.Ext(f.Path))
		file := filepath.Join(b.here.Head, filepath.FromSlash(f.Path))
		study := tare.Study{
			ID: "json", Question: "Do JSON codecs of another version take longer on " + f.Path + "?", Kind: codec.Kind,
			Dir: filepath.Dir(file), Metrics: []string{"time"},
			Workloads: []tare.Workload{
				{ID: plainID(name) + "/decode", File: filepath.Base(file), Op: codec.OpAny},
				{ID: plainID(name) + "/encode", File: filepath.Base(file), Op: codec.OpMarshal},
			},
		}
		for _, leaf := range b.catalog.Leaves() {
			if m := leaf.Manifest; m.Kind == codec.Kind && !m.Trap {
				study.Contenders = append(study.Contenders, tare.Entry{ID: m.IDs()[0]})
			}
		}
		if err := b.add(study, f); err != nil {
			return err
		}
	}
	return nil
}

// plainID is name with nothing in it that an id has not.
func plainID(name string) string {
	id := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("._-", r) {
			return r
		}
		return '-'
	}, name)
	if id = strings.Trim(id, "-._"); id == "" {
		return "document"
	}
	return id
}

// routes are a study of routers on the routes of the head.
func (b *besides) routes() error {
	for _, f := range b.ask.Project.Routes {
		src, err := b.source(f)
		if err != nil {
			return b.wrong(f.Place, err.Error())
		}
		doc, err := bring.Read(f.Path, src)
		if err != nil {
			return b.wrong(f.Place, format.Line(err.Error(), 0))
		}
		study, _, err := b.RoutesStudy(doc)
		if err != nil {
			return err
		}
		if err := b.add(study.Study, f); err != nil {
			return err
		}
	}
	return nil
}

// carryOut carries out some studies of base and head, each under an id of its own.
func (b *besides) carryOut(ctx context.Context, list []gate.Measurement) error {
	if b.m.Held == nil {
		b.m.Held = map[string]gate.Held{}
	}
	for _, one := range list {
		for id, n := one.Study.ID, 2; ; n++ {
			if _, taken := b.m.Held[one.Study.ID]; !taken {
				break
			}
			one.Study.ID = fmt.Sprintf("%s-%d", id, n)
		}
		b.m.Held[one.Study.ID] = one.Held
		// Latencies take continuous segments, which quick has no time for.
		segments := slices.ContainsFunc(one.Study.Workloads, func(w tare.Workload) bool { return w.Traffic != nil && w.Traffic.Segment > 0 })
		b.Options.Quick = !b.Options.User && !segments
		before := len(b.Results)
		if err := b.WeighQuietly(ctx, []cmdenv.Study{{Study: one.Study}}); err != nil {
			return err
		}
		b.m.Results, b.m.Nothing = append(b.m.Results, b.Results[before:]...), ""
		for _, res := range b.Results[before:] {
			for _, l := range res.NotWeighed {
				b.m.Left = append(b.m.Left, gate.Left{What: one.Held.Name + " " + strings.TrimPrefix(l.What, "workload "), Why: l.Why})
			}
		}
	}
	return nil
}

// treesOf are the files of both sides.
func treesOf(ctx context.Context, repo tree.Repo, ask gate.Ask, cache string) (t gate.Trees, err error) {
	unpack := func(name string) (string, error) {
		rev, err := repo.Resolve(ctx, name)
		if err != nil {
			return "", err
		}
		dir, _, err := repo.Extract(ctx, rev, cache)
		return dir, err
	}
	if t.Base, err = unpack(ask.Base); err != nil {
		return t, err
	}
	if t.Head = repo.Root; ask.Head != gate.Worktree {
		t.Head, err = unpack(ask.Head)
	}
	return t, err
}
