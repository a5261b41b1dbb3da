package benchstudy

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/benchstudy/suite"
	"github.com/tarebench/tare/cmd/tare/internal/gitrev"
	"github.com/tarebench/tare/internal/trial"
	"github.com/tarebench/tare/kinds/gobench"
)

// workAge is the age at which test binaries of a killed run are removed from the cache.
const workAge = 24 * time.Hour

// trialShare divides a budget: the benchmarks of one side are tried in one such part of it.
const trialShare = 6

// sideBySideShare divides a budget: at least one such part tries whether processes can run together.
const sideBySideShare = 12

// Place configures where and how two sides are built.
type Place struct {
	Cache    string // directory
	Run      string // tag of the run
	Guardian *trial.Guardian
	Procs    int           // GOMAXPROCS of the benchmarks; 0 leaves it unset
	Slice    time.Duration // length of a slice; 0 if by rule
	Once     time.Duration // for one run of a benchmark before it is measured; 0 means a minute
	Say      func(string)
	Dir      string // of the result, for flame graphs; "" if none is drawn

	Budget time.Duration // the user's, which also limits the time to try benchmarks; 0 if none
}

// Bench is a comparison of two built sides: a study, and the benchmarks and sources that it needs.
type Bench struct {
	Study    tare.Study
	Sources  suite.Sources
	Slice    time.Duration // length of a slice
	Notes    []string      // about what the sides lack, a line each
	Spent    time.Duration // on trying benchmarks
	Expected []tare.Pilot  // forecast of the study's pilots

	benchmarks []suite.Benchmark // of both sides
	counted    *comparisonCounts // nil if nothing was counted

	left      []suite.Left
	keptTests []string // lines about tests of base that are not replaced by those of head
	findings  []tare.Finding
	work      string
}

// NewBench builds both sides and finds the benchmarks that they share. Close removes the builds.
func NewBench(ctx context.Context, a Asked, p Place) (*Bench, error) {
	s, err := findSides(ctx, a, p.Cache)
	if err != nil {
		return nil, err
	}
	all := filepath.Join(p.Cache, "bench")
	if err := os.MkdirAll(all, 0o755); err != nil {
		return nil, fmt.Errorf("make the directory of test binaries: %w", err)
	}
	gitrev.Sweep(all, workAge)
	b := &Bench{Notes: s.notes, Slice: p.Slice}
	for _, text := range s.notes {
		b.note(partialRevision(), "", text)
	}
	if b.Slice == 0 {
		b.Slice = sliceLength
	}
	if b.work, err = os.MkdirTemp(all, "run-"); err != nil {
		return nil, fmt.Errorf("make the directory of test binaries: %w", err)
	}
	if err := b.prepareStudy(ctx, a, p, s); err != nil {
		b.Close()
		return nil, err
	}
	return b, nil
}

// Metrics returns the metrics of a comparison; the first is primary.
func Metrics() []string { return []string{"time", "bytes", "allocs"} }

// Room makes a directory for a run. Close removes it.
func (b *Bench) Room() (string, error) {
	dir, err := os.MkdirTemp(b.work, "rounds-")
	if err != nil {
		return "", fmt.Errorf("make the directory of a run: %w", err)
	}
	return dir, nil
}

// Close removes all files of the comparison.
func (b *Bench) Close() { _ = os.RemoveAll(b.work) }

func (b *Bench) prepareStudy(ctx context.Context, a Asked, p Place, s *sides) error {
	for _, side := range []*suite.Side{s.base, s.head} {
		if err := side.Resolve(ctx, b.work); err != nil {
			return err
		}
	}
	renamed := map[string]string{}
	if a.Base != "" {
		var err error
		if renamed, err = s.findRenames(ctx); err != nil {
			return err
		}
	}
	var ofHead map[string]string
	if a.Tests == TestsOfHead {
		var err error
		if ofHead, b.keptTests, err = s.useHeadTests(ctx, a, renamed, b.work, p.Say); err != nil {
			return err
		}
	}
	tests, err := b.listTests(ctx, a, s, renamed)
	if err != nil {
		return err
	}
	if a.Bench == "" {
		a.Bench = "."
	}
	keep := a.Shard.filterIDs(tests)
	if part := keep; s.reach != nil {
		keep = func(id string) bool { return s.reach.Benchmark(id) && part(id) }
	}
	spec := trial.Spec{Run: p.Run, Guardian: p.Guardian}
	if p.Procs > 0 {
		spec.Env = []string{fmt.Sprintf("GOMAXPROCS=%d", p.Procs)}
	}
	b.Sources = suite.Sources{Suites: map[string]*suite.Suite{}, Titles: s.titles, Module: modulePath(tests[Head])}
	audited, err := auditTests(ctx, tests[Head])
	if err != nil {
		return err
	}
	found := map[string][]suite.Benchmark{}
	var left []suite.Left
	var remarked []suite.Remark
	late := map[string]bool{}
	search := suite.Search{
		Pattern: a.Bench, Keep: keep, Once: p.Once, Spec: spec, Say: p.Say, Slice: b.sliceTime, Run: wholeLength,
		Within: p.Budget / trialShare, NoTime: fmt.Sprintf("left out: a budget of %v has no time to try it; a longer --budget does", p.Budget), Skip: late,
	}
	for _, side := range []*suite.Side{s.base, s.head} {
		built, err := suite.Build(ctx, side, tests[side.ID], a.Bench, b.work, p.Say)
		if err != nil {
			return err
		}
		for _, t := range tests[side.ID] {
			if why, ok := built.Failed[t.Package.Name()]; ok {
				left = append(left, suite.Left{ID: t.Package.Name(), Side: side.ID, Broken: true, Why: why})
			}
		}
		b.Sources.Suites[side.ID] = built
		if side.OneBuild && !a.OneBuild {
			b.note(oneLayout(), "", fmt.Sprintf("the linker of %s cannot put functions in another order: it was built once", side.ID))
		}
		began := time.Now()
		some, lost, remarks, err := built.Discover(ctx, search)
		if err != nil {
			return err
		}
		b.Spent += time.Since(began)
		for _, l := range lost {
			late[l.ID] = late[l.ID] || l.Late && p.Budget > 0
		}
		found[side.ID], left = some, append(left, lost...)
		remarked = append(remarked, remarks...)
	}
	left = mergeSides(left)
	b.addLeft(left...)
	shared := b.sharedBenchmarks(found[Base], found[Head], left)
	if len(shared) == 0 {
		return b.noneError(a)
	}
	if shared, err = b.findAlone(ctx, p, search, shared); err != nil {
		return err
	}
	b.noteRemarks(remarked, shared)
	b.noteTests(ofHead, shared)
	b.noteAudit(audited, shared)
	for _, from := range slices.Sorted(maps.Keys(renamed)) {
		b.note(renamedModule(), "", fmt.Sprintf("the module %s of base is %s in head", from, renamed[from]))
	}
	b.Study = tare.Study{
		ID: "bench " + b.Sources.Module, Question: fmt.Sprintf("%s: %s against %s", b.Sources.Module, s.titles[Head], s.titles[Base]),
		Kind: gobench.Name, Baseline: Base, Contenders: []tare.Entry{{ID: Base}, {ID: Head}},
		Metrics: Metrics(), Dir: s.head.Home,
	}
	b.benchmarks = shared
	b.planSlices(shared)
	b.noteSameCode(shared)
	return nil
}

// findAlone finds the benchmarks that need a process to themselves, within the remaining time to
// try benchmarks, and omits those that it has no time for.
func (b *Bench) findAlone(ctx context.Context, p Place, q suite.Search, shared []suite.Benchmark) ([]suite.Benchmark, error) {
	if p.Budget > 0 {
		q.Within = max(p.Budget/2-b.Spent, p.Budget/sideBySideShare)
	}
	began := time.Now()
	tried, err := suite.FindAlone(ctx, b.Sources.Suites[Base], b.Sources.Suites[Head], shared, q)
	b.Spent += time.Since(began)
	for _, m := range shared {
		if err == nil && !slices.ContainsFunc(tried, func(t suite.Benchmark) bool { return t.ID() == m.ID() }) {
			b.addLeft(suite.Left{ID: m.ID(), Late: true, Why: q.NoTime})
		}
	}
	return tried, err
}

// listTests returns the packages with benchmarks of each side. Both sides have the same packages:
// the others are skipped and named.
func (b *Bench) listTests(ctx context.Context, a Asked, s *sides, renamed map[string]string) (map[string][]suite.Tests, error) {
	has := map[string]map[string]suite.Tests{}
	var order []string
	for _, side := range []*suite.Side{s.head, s.base} {
		packages, err := side.List(ctx, a.Packages)
		if err != nil {
			return nil, err
		}
		if side == s.head && a.Changed {
			var partial error
			if packages, partial, err = s.filterReached(ctx, packages); err != nil {
				return nil, err
			}
			if partial != nil {
				b.Notes = append(b.Notes, firstLine(partial.Error()))
			}
		}
		has[side.ID] = map[string]suite.Tests{}
		for _, p := range packages {
			if side == s.head && p.OutsideWork() {
				return nil, usageError("%s in %s is in no module that go.work lists; go work use adds one, and GOWORK=off in the environment leaves go.work out", p.ImportPath, side.Home)
			}
			if side == s.base {
				p.As = renamePath(p.ImportPath, renamed)
			}
			if t := suite.Find(p); len(t.Files) > 0 {
				has[side.ID][p.Name()] = t
				if !slices.Contains(order, p.Name()) && (side == s.head || !a.Changed) {
					order = append(order, p.Name())
				}
			} else if p.Error != nil && side == s.head && !strings.Contains(p.Error.Err, "no Go files") {
				b.addLeft(suite.Left{ID: p.ImportPath, Side: side.ID, Why: firstLine(p.Error.Err)})
			}
		}
	}
	out := map[string][]suite.Tests{}
	for _, path := range order {
		inBase, okBase := has[Base][path]
		inHead, okHead := has[Head][path]
		switch {
		case okBase && okHead:
			out[Base], out[Head] = append(out[Base], inBase), append(out[Head], inHead)
		case okBase:
			b.addLeft(suite.Left{ID: path, Why: "it has benchmarks in " + Base + " only", OneSided: true})
		default:
			b.addLeft(suite.Left{ID: path, Why: "it has benchmarks in " + Head + " only", OneSided: true})
		}
	}
	if len(out[Head]) == 0 {
		return nil, b.noneError(a)
	}
	return out, nil
}

// noneError returns the error that there is nothing to measure.
func (b *Bench) noneError(a Asked) error { return noBenchmarks(a, b.left) }

// noBenchmarks returns the error for an empty selection. It names the filters in effect, and the
// first skipped benchmark.
func noBenchmarks(a Asked, left []suite.Left) error {
	where := strings.Join(a.Packages, " ")
	if where == "" {
		where = "./..."
	}
	var which []string
	if a.Bench != "" && a.Bench != "." {
		which = append(which, "matches "+a.Bench)
	}
	if a.Changed {
		which = append(which, "is reached by what changed")
	}
	if a.Shard.Of > 1 {
		which = append(which, fmt.Sprintf("is in part %d of %d", a.Shard.Index, a.Shard.Of))
	}
	what := strings.TrimSpace("no benchmark in " + where + " " + strings.Join(which, " and "))
	if len(left) > 0 {
		what += fmt.Sprintf(" on both sides; %s: %s", left[0].ID, left[0])
	}
	return &UsageError{What: what, Nothing: !slices.ContainsFunc(left, func(l suite.Left) bool { return l.Late })}
}

// sharedBenchmarks returns the benchmarks of both sides in the order of head, each with the worse
// of the two sides' properties.
func (b *Bench) sharedBenchmarks(base, head []suite.Benchmark, left []suite.Left) []suite.Benchmark {
	var out []suite.Benchmark
	for _, h := range head {
		i := slices.IndexFunc(base, func(o suite.Benchmark) bool { return o.ID() == h.ID() })
		if i < 0 {
			b.oneSided(h, Head, left)
			continue
		}
		h.NSPerOp, h.BytesPer = max(h.NSPerOp, base[i].NSPerOp), max(h.BytesPer, base[i].BytesPer)
		h.Untimed = max(h.Untimed, base[i].Untimed)
		h.Around, h.Start = max(h.Around, base[i].Around), max(h.Start, base[i].Start)
		h.Link = max(h.Link, base[i].Link)
		h.Fixed, h.Growth = max(h.Fixed, base[i].Fixed), max(h.Growth, base[i].Growth)
		if run := base[i].Run; h.Run == 0 || run > 0 && run < h.Run {
			h.Run = run
		}
		out = append(out, h)
	}
	for _, o := range base {
		if !slices.ContainsFunc(head, func(h suite.Benchmark) bool { return o.ID() == h.ID() }) {
			b.oneSided(o, Base, left)
		}
	}
	return out
}

// oneSided skips a benchmark that only one side has, unless the reason is known.
func (b *Bench) oneSided(o suite.Benchmark, side string, left []suite.Left) {
	known := slices.ContainsFunc(left, func(l suite.Left) bool {
		return l.ID == o.ID() || strings.HasPrefix(o.ID(), l.ID+"/") || strings.HasPrefix(o.ID(), l.ID+".")
	})
	if !known {
		b.addLeft(suite.Left{ID: o.ID(), Why: "it is in " + side + " only", OneSided: true})
	}
}

// Left returns the skipped benchmarks and packages, with the reason and the side at fault.
func (b *Bench) Left() []suite.Left { return slices.Clone(b.left) }

func (b *Bench) addLeft(left ...suite.Left) {
	for _, l := range left {
		if !slices.Contains(b.left, l) {
			b.left = append(b.left, l)
		}
	}
}

// mergeSides joins equal entries of both sides into one.
func mergeSides(left []suite.Left) []suite.Left {
	var all []suite.Left
	for _, l := range left {
		i := slices.IndexFunc(all, func(o suite.Left) bool { return o.ID == l.ID && o.Why == l.Why && o.Broken == l.Broken })
		if i >= 0 && all[i].Side != l.Side {
			all[i].Side = suite.Both
			continue
		}
		all = append(all, l)
	}
	return all
}

// filterIDs returns a predicate for the benchmark ids of shard s. Every id belongs to exactly one
// shard.
func (s Shard) filterIDs(tests map[string][]suite.Tests) func(id string) bool {
	if s.Of <= 1 {
		return func(string) bool { return true }
	}
	var ids []string
	for _, side := range tests {
		for _, t := range side {
			for _, f := range t.Files {
				for _, name := range f.Names {
					ids = append(ids, suite.Benchmark{Package: t.Key(f), Name: name}.ID())
				}
			}
		}
	}
	slices.Sort(ids)
	ids = slices.Compact(ids)
	return func(id string) bool { return slices.Index(ids, id)%s.Of == s.Index-1 }
}

// modulePath returns the module of the first package.
func modulePath(tests []suite.Tests) string {
	if p := tests[0].Package; p.Module != nil {
		return p.Module.Path
	}
	return tests[0].Package.ImportPath
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	return line
}
