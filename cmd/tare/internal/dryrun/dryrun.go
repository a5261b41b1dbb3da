// Package dryrun describes, for --dry-run, what a command that measures would build, measure and write. It
// builds and measures nothing, starts no process but git, and leaves no file.
package dryrun

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/catalog"
	"github.com/tarebench/tare/cmd/tare/internal/cmdenv"
	"github.com/tarebench/tare/cmd/tare/internal/history"
	"github.com/tarebench/tare/cmd/tare/internal/session"
	"github.com/tarebench/tare/internal/machine"
	"github.com/tarebench/tare/internal/plan"
	"github.com/tarebench/tare/lab"
	"github.com/tarebench/tare/lab/journal"
)

// Plan collects the Document of a command.
type Plan struct {
	Document

	env     cmdenv.Env
	options session.Options
	dirs    cmdenv.Dirs
	cache   string      // a temporary directory in place of the cache, for contenders that the binary carries
	remove  func()      // removes cache
	sources lab.Sources // nil until they are needed
	saves   bool        // a result is saved
}

// New returns an empty plan of a command, e.g. tare run, with options. Close ends it.
func New(env cmdenv.Env, command string, o session.Options) (*Plan, error) {
	p := &Plan{env: env, options: o, Document: Document{
		Schema: Schema, Command: command, Builds: []Build{}, Studies: []Study{}, Writes: []File{}, Notes: []string{},
	}}
	var err error
	if p.dirs, err = env.Dirs(); err != nil {
		return nil, err
	}
	if len(o.On.On) > 0 {
		if _, err := o.On.Check(); err != nil {
			return nil, err
		}
		p.Machines = o.On.On
		p.AddNote("--on: each of the machines builds and measures by itself; this one keeps the results")
	}
	if o.Resume {
		p.AddNote("--resume: it goes on with the newest unfinished run if there is one")
	}
	if p.cache, p.remove, err = machine.TempDir("dry-run"); err != nil {
		return nil, fmt.Errorf("make a directory for the contenders that tare carries: %w", err)
	}
	return p, nil
}

// Close removes the temporary files.
func (p *Plan) Close() { p.remove() }

// buildConfig returns the configuration of builds, none of which is started.
func (p *Plan) buildConfig() cmdenv.Workshop {
	return cmdenv.Workshop{Cache: p.cache, Catalog: p.env.CatalogDir(p.options.Catalog), With: p.options.With, Go: p.options.Release}
}

// FindCatalog returns the catalog that the command would use.
func (p *Plan) FindCatalog() (catalog.Catalog, error) { return p.buildConfig().FindCatalog() }

// AddNote adds a line of remarks.
func (p *Plan) AddNote(text string) { p.Notes = append(p.Notes, text) }

// AddBuild adds a build, unless the plan has it already.
func (p *Plan) AddBuild(b Build) {
	if !slices.Contains(p.Builds, b) {
		p.Builds = append(p.Builds, b)
	}
}

// AddFile adds a file that the command would write. what describes its content. If path is "", AddFile
// does nothing.
func (p *Plan) AddFile(path, what string) {
	if f := (File{path, what}); path != "" && !slices.Contains(p.Writes, f) {
		p.Writes = append(p.Writes, f)
	}
}

// AddStudies adds studies, the builds of their contenders and the files of their results. It returns an
// error if the catalog lacks a contender.
func (p *Plan) AddStudies(studies []cmdenv.Study) error {
	for _, study := range studies {
		if err := p.openSources(); err != nil {
			return err
		}
		if err := study.Vet(p.sources); err != nil {
			return err
		}
		part, err := p.AddPart(study)
		if err != nil {
			return err
		}
		for _, e := range append(slices.Clone(part.Contenders), tare.Entry{ID: tare.NullID}) {
			if err := p.AddContender(string(part.Kind), part.Dir, e); err != nil {
				return &lab.StudyError{Study: study.ID, Err: err}
			}
		}
	}
	return nil
}

// AddPart adds the part of a study that the options select, and the files of its result. It adds no builds.
func (p *Plan) AddPart(study cmdenv.Study) (tare.Study, error) {
	part, left, err := lab.Part(study.Study, p.options.Quick, p.options.Only)
	if err != nil {
		return part, &lab.StudyError{Study: study.ID, Err: err}
	}
	s := Study{ID: study.ID, Question: study.Question, Seconds: p.options.BudgetOf(study).Seconds(), Left: left}
	s.Contenders, s.Workloads = cmdenv.Study{Study: part}.Names()
	p.AddMeasurement(s, false) // s.Seconds is not a limit
	return part, nil
}

// openSources sets p.sources, unless it is set.
func (p *Plan) openSources() (err error) {
	if p.sources == nil {
		p.sources, err = p.env.Lab.Sources(p.buildConfig())
	}
	return err
}

// AddContender adds the build of a contender, one of the compared programs. A contender that runs already,
// or that a command starts, has no build.
func (p *Plan) AddContender(kind, studyDir string, e tare.Entry) error {
	if err := p.openSources(); err != nil {
		return err
	}
	described, ok := p.sources.(cmdenv.CatalogSources)
	if !ok || e.Launch() != tare.LaunchProgram {
		return nil
	}
	d, err := described.Describe(kind, studyDir, e)
	if err != nil {
		return err
	}
	p.AddBuild(Build{Name: d.Name, Revision: strings.Join(d.Modules, " "), Sources: p.printedDir(d.Dir), Go: d.Go})
	return nil
}

// printedDir returns a directory of sources as it is printed. Sources that are a part of the tare binary
// are in a temporary directory now; the command would write them into the cache.
func (p *Plan) printedDir(dir string) string {
	if rel, err := filepath.Rel(p.cache, dir); err == nil && filepath.IsLocal(rel) {
		return filepath.Join(p.dirs.Cache, rel)
	}
	return dir
}

// AddMeasurement adds a study and the files of its result. If isLimit is set, the study ends after
// s.Seconds; otherwise it continues until it has the least number of rounds. The options can set a number
// of rounds instead of the time.
func (p *Plan) AddMeasurement(s Study, isLimit bool) {
	switch {
	case p.options.Rounds > 0:
		s.Rounds, s.Seconds = p.options.Rounds, 0
	case isLimit: // there is no least number of rounds
	case p.options.User || p.options.Until > 0:
		s.Least = plan.LeastRounds(len(s.Workloads), 1)
	default:
		s.Least = plan.MinRounds
	}
	p.AddUnsaved(s)
	what := []string{history.ResultName, journal.FileName}
	if !p.options.NoPage {
		what = append(what, cmdenv.PageName)
	}
	if len(p.options.Profile) > 0 {
		what = append(what, "profiles")
	}
	p.AddFile(filepath.Join(p.dirs.Results(s.ID), "TIME-SEED"), strings.Join(what, ", "))
	p.saves = true
}

// AddUnsaved adds a measurement whose result is only printed.
func (p *Plan) AddUnsaved(s Study) {
	if s.Left == nil {
		s.Left = []tare.NotWeighed{}
	}
	p.Studies = append(p.Studies, s)
	p.addSeconds()
}

// AddLeft adds parts to the list of what the last added study does not measure.
func (p *Plan) AddLeft(left ...tare.NotWeighed) {
	last := &p.Studies[len(p.Studies)-1]
	last.Left = append(last.Left, left...)
}

// AddClaims adds the page about the claims of all studies: published statements that the studies check.
func (p *Plan) AddClaims() {
	p.AddFile(filepath.Join(p.dirs.Data, cmdenv.ClaimsName), "what became of the claims, as a page")
}

// Print prints the document, with what every command writes: the cache, the key and the file of --output.
func (p *Plan) Print() error {
	p.finish()
	if p.options.Format.Name == "json" {
		return cmdenv.PrintJSON(p.env.Out, p.Document)
	}
	return p.Text(p.env.Out)
}

// Say calls say with each line of the text that Print prints.
func (p *Plan) Say(say func(line string)) error {
	p.finish()
	var text strings.Builder
	if err := p.Text(&text); err != nil {
		return err
	}
	for line := range strings.Lines(text.String()) {
		say(strings.TrimRight(line, "\n"))
	}
	return nil
}

// finish adds the notes and files that are the same for every command.
func (p *Plan) finish() {
	if len(p.Builds) > 0 {
		p.AddNote("building comes on top of the time, and takes longest the first time")
	}
	if len(p.Studies) > 0 {
		p.AddFile(p.dirs.Cache, "builds, and what else can be made again")
	}
	if p.saves {
		p.AddFile(filepath.Join(p.dirs.Data, session.KeyName), "the key that seals results, unless it is there")
	}
	p.AddFile(p.options.Out, "the JSON")
}
