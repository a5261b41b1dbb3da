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
	"github.com/tarebench/tare/cmd/tare/internal/benchstudy/gate"
	"github.com/tarebench/tare/cmd/tare/internal/catalog"
	"github.com/tarebench/tare/cmd/tare/internal/cmdenv"
	"github.com/tarebench/tare/cmd/tare/internal/gitrev"
	"github.com/tarebench/tare/cmd/tare/internal/loadstudy"
	"github.com/tarebench/tare/cmd/tare/internal/project"
	"github.com/tarebench/tare/cmd/tare/internal/routestudy"
	"github.com/tarebench/tare/cmd/tare/internal/session"
	"github.com/tarebench/tare/contender/codec"
	"github.com/tarebench/tare/internal/atomicfile"
	"github.com/tarebench/tare/internal/format"
	"github.com/tarebench/tare/lab"
)

// This file measures the parts of tare.yaml that are not go test benchmarks. The two sides are the
// repository before a change (the base) and after it (the head). For example, it makes a study (a plan
// for measuring) for
//
//	json: [testdata/order.json]
//
// In it, JSON codecs of the base's versions decode and encode this document, and so do the head's. The
// measured programs are called contenders. Many are in tare's catalog. Begin to read at
// measureExtraStudies.

// extraStudies makes and measures the studies of tare.yaml that are not go test benchmarks.
type extraStudies struct {
	session        *session.Session
	request        gate.Request
	measured       *gate.Measured // gets the results; has those of go test benchmarks already
	repoDirs       gate.SidePaths // directories of the repository before and after the change
	projectDirs    gate.SidePaths // directories of the project in the repository
	catalog        catalog.Catalog
	moduleVersions gate.ModuleVersions // finds a contender's modules that the change updates
	config         string              // path of tare.yaml in the repository

	studies []gate.Measurement // studies, documents and routes
	servers []gate.Measurement // measured last
}

// measureExtraStudies adds the results of tare.yaml's studies, documents, routes and servers to m.
func measureExtraStudies(ctx context.Context, env cmdenv.Env, request gate.Request, p *session.Progress, m *gate.Measured) error {
	rules := request.Project
	if len(rules.Studies)+len(rules.JSON)+len(rules.Routes)+len(rules.Load) == 0 {
		return nil
	}
	const studyBudget = 0 // 0: each study has its own budget
	return session.With(ctx, env, gateOptions(request, studyBudget), p, func(ctx context.Context, s *session.Session) error {
		e := &extraStudies{session: s, request: request, measured: m}
		if err := e.openSides(ctx); err != nil {
			return err
		}
		dir, err := os.MkdirTemp(s.Dirs.Cache, ".gate-")
		if err != nil {
			return fmt.Errorf("make a directory for what a gate builds: %w", err)
		}
		defer os.RemoveAll(dir)
		for _, add := range []func() error{e.addStudies, e.addDocuments, e.addRoutes} {
			if err := add(); err != nil {
				return err
			}
		}
		if err := e.buildServers(ctx, dir); err != nil {
			return err
		}
		if err := e.runStudies(ctx, e.studies); err != nil {
			return err
		}
		s.Sources = loadstudy.Servers{} // the servers are built already
		return e.runStudies(ctx, e.servers)
	})
}

func (e *extraStudies) openSides(ctx context.Context) error {
	repo, err := gitrev.Find(ctx, e.request.Project.Dir)
	if err != nil {
		return err
	}
	if e.repoDirs, err = unpackSides(ctx, repo, e.request, e.session.Dirs.Cache); err != nil {
		return err
	}
	e.projectDirs = gate.SidePaths{Base: filepath.Join(e.repoDirs.Base, repo.Prefix), Head: filepath.Join(e.repoDirs.Head, repo.Prefix)}
	e.config = path.Join(filepath.ToSlash(repo.Prefix), project.FileName)
	if e.catalog, err = e.session.FindCatalog(""); err != nil {
		return err
	}
	e.moduleVersions, err = newModuleVersions(ctx, e.catalog, e.projectDirs)
	return err
}

func (e *extraStudies) placeError(place project.Place, message string) error {
	return cmdenv.Usage(fmt.Sprintf("%s:%d:%d: %s", e.config, place.Line, place.Col, message), "")
}

// addStudy adds a comparison for each contender that the change can have made slower. The argument file
// is its entry in tare.yaml.
func (e *extraStudies) addStudy(study tare.Study, file project.File) error {
	comparisons, skipped, err := gate.Studies(study, e.request, e.repoDirs, e.moduleVersions)
	var unknown *lab.UnknownError
	if errors.As(err, &unknown) {
		return e.placeError(file.Place, file.Path+": "+err.Error())
	} else if err != nil {
		return fmt.Errorf("%s: %w", file.Path, err)
	}
	for _, c := range comparisons {
		c.Requirements.Place = gate.Place{File: e.config, Line: file.Line}
		e.studies = append(e.studies, c)
	}
	e.measured.Skipped = append(e.measured.Skipped, skipped...)
	if len(comparisons)+len(skipped) == 0 {
		e.measured.Notes = append(e.measured.Notes, file.Path+": nothing to compare: the change alters no version of its contenders' modules, and none of them is a program of this repository")
	}
	return nil
}

func (e *extraStudies) addStudies() error {
	for _, f := range e.request.Project.Studies {
		study, err := e.readStudy(f)
		if err != nil {
			return e.placeError(f.Place, format.Line(err.Error(), 0))
		}
		if err := e.addStudy(study.Study, f); err != nil {
			return err
		}
	}
	return nil
}

// readStudy reads a study bundled with tare, or a file of the head. Its errors have the path as it
// is in tare.yaml.
func (e *extraStudies) readStudy(f project.File) (cmdenv.Study, error) {
	if f.Bundled() {
		study, err := e.session.ReadStudy(f.Path)
		if err == nil && !slices.Contains(e.session.Bundled(), f.Path) {
			err = fmt.Errorf("there is no bundled study %s", f.Path)
		}
		return study, err
	}
	src, err := e.readSource(f)
	if err != nil {
		return cmdenv.Study{}, err
	}
	study, err := cmdenv.ParseStudy(f.Path, src)
	study.Dir = filepath.Join(e.projectDirs.Head, filepath.FromSlash(path.Dir(f.Path)))
	return study, err
}

// readSource reads a file of the head: a study, a document or a list of routes.
func (e *extraStudies) readSource(f project.File) ([]byte, error) {
	src, err := atomicfile.ReadStart(filepath.Join(e.projectDirs.Head, filepath.FromSlash(f.Path)), routestudy.MostBytes)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("there is no %s in the head", f.Path)
	}
	if err != nil {
		return nil, fmt.Errorf("cannot read %s: %w", f.Path, cmdenv.Cause(err))
	}
	return src, nil
}

// addDocuments adds a study of JSON codecs for each document, which decodes it into any and encodes it
// again. Its contenders are the first variant of every codec in the catalog. It omits the traps: codecs
// that repeat a published mistake on purpose.
func (e *extraStudies) addDocuments() error {
	for _, f := range e.request.Project.JSON {
		if _, err := e.readSource(f); err != nil {
			return e.placeError(f.Place, err.Error())
		}
		name := strings.TrimSuffix(path.Base(f.Path), path.Ext(f.Path))
		file := filepath.Join(e.projectDirs.Head, filepath.FromSlash(f.Path))
		study := tare.Study{
			ID: "json", Question: "Do JSON codecs of another version take longer on " + f.Path + "?", Kind: codec.Kind,
			Dir: filepath.Dir(file), Metrics: []string{"time"},
			Workloads: []tare.Workload{
				{ID: plainID(name) + "/decode", File: filepath.Base(file), Op: codec.OpAny},
				{ID: plainID(name) + "/encode", File: filepath.Base(file), Op: codec.OpMarshal},
			},
		}
		for _, leaf := range e.catalog.Leaves() {
			if m := leaf.Manifest; m.Kind == codec.Kind && !m.Trap {
				study.Contenders = append(study.Contenders, tare.Entry{ID: m.IDs()[0]})
			}
		}
		if err := e.addStudy(study, f); err != nil {
			return err
		}
	}
	return nil
}

// plainID returns name with "-" instead of characters that ids cannot contain, or "document" if
// nothing else remains.
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

func (e *extraStudies) addRoutes() error {
	for _, f := range e.request.Project.Routes {
		src, err := e.readSource(f)
		if err != nil {
			return e.placeError(f.Place, err.Error())
		}
		doc, err := routestudy.Read(f.Path, src)
		if err != nil {
			return e.placeError(f.Place, format.Line(err.Error(), 0))
		}
		study, _, err := e.session.RoutesStudy(doc)
		if err != nil {
			return err
		}
		if err := e.addStudy(study.Study, f); err != nil {
			return err
		}
	}
	return nil
}

// runStudies measures each study of list, and adds its results and skipped workloads to e.measured.
func (e *extraStudies) runStudies(ctx context.Context, list []gate.Measurement) error {
	if e.measured.Requirements == nil {
		e.measured.Requirements = map[string]gate.Requirements{}
	}
	for _, m := range list {
		m.Study.ID = e.uniqueID(m.Study.ID)
		e.measured.Requirements[m.Study.ID] = m.Requirements
		// Latencies are measured in long segments, for which the quick budget is too short.
		hasSegments := slices.ContainsFunc(m.Study.Workloads, func(w tare.Workload) bool { return w.Traffic != nil && w.Traffic.Segment > 0 })
		options := &e.session.Options
		options.Quick = !options.User && !hasSegments // User: the flags set a budget
		before := len(e.session.Results)
		if err := e.session.MeasureAllQuietly(ctx, []cmdenv.Study{{Study: m.Study}}); err != nil {
			return err
		}
		added := e.session.Results[before:]
		e.measured.Results = append(e.measured.Results, added...)
		e.measured.Nothing = "" // there is something to compare
		for _, res := range added {
			for _, skipped := range res.NotWeighed {
				name := m.Requirements.Name + " " + strings.TrimPrefix(skipped.What, "workload ")
				e.measured.Skipped = append(e.measured.Skipped, gate.Skipped{What: name, Why: skipped.Why})
			}
		}
	}
	return nil
}

// uniqueID returns id, or id-2, id-3 and so on if an earlier study has that id.
func (e *extraStudies) uniqueID(id string) string {
	unique := id
	for n := 2; ; n++ {
		if _, taken := e.measured.Requirements[unique]; !taken {
			return unique
		}
		unique = fmt.Sprintf("%s-%d", id, n)
	}
}

// unpackSides returns the directories of the repository before and after the change. It unpacks
// revisions into the cache. If the head is the user's working tree, it returns that directory.
func unpackSides(ctx context.Context, repo gitrev.Repo, request gate.Request, cache string) (dirs gate.SidePaths, err error) {
	unpack := func(name string) (string, error) {
		rev, err := repo.Resolve(ctx, name)
		if err != nil {
			return "", err
		}
		dir, _, err := repo.Extract(ctx, rev, cache)
		return dir, err
	}
	if dirs.Base, err = unpack(request.Base); err != nil {
		return dirs, err
	}
	if request.Head == gate.Worktree {
		dirs.Head = repo.Root
		return dirs, nil
	}
	dirs.Head, err = unpack(request.Head)
	return dirs, err
}
