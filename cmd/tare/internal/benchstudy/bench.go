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

// maxBuildAge is the age at which test binaries of a killed run are removed from the cache.
const maxBuildAge = 24 * time.Hour

// discoverShare is the divisor of a budget that gives the time to try the benchmarks of one side.
const discoverShare = 6

// sideBySideShare is the divisor of a budget that gives the least time to find out which benchmarks
// need a process to themselves.
const sideBySideShare = 12

// Setup configures where and how two sides are built.
type Setup struct {
	Cache     string // cache directory
	RunTag    string // tag of the run
	Guardian  *trial.Guardian
	Procs     int           // GOMAXPROCS of the benchmarks; 0 leaves it unset
	Seed      uint64        // selects the orders of functions in which instructions are counted
	SliceTime time.Duration // length of a slice; 0 means by rule, see plan.go
	RunLimit  time.Duration // limit of the first run of a benchmark, which tries it; 0 means a minute
	Say       func(string)  // reports progress
	Dir       string        // directory of the result, for flame graphs; "" to draw none

	Budget time.Duration // time limit of the user, also for trying benchmarks; 0 means no limit
}

// Bench is a comparison of two built sides: a study, and the benchmarks and sources that it needs.
type Bench struct {
	Study          tare.Study
	Sources        suite.Sources
	SliceTime      time.Duration // length of a slice
	Notes          []string      // lines about what the sides lack
	Spent          time.Duration // time spent on trying benchmarks and counting instructions
	ExpectedPilots []tare.Pilot  // forecast of the study's pilots

	benchmarks []suite.Benchmark // benchmarks that both sides have
	counted    *comparisonCounts // nil if nothing was counted

	skipped   []suite.Skipped // benchmarks and packages that are not measured
	keptTests []string        // lines about tests of base that are not replaced by tests of head
	findings  []tare.Finding  // notes for every result
	workDir   string          // directory of all files of the comparison
}

// NewBench builds both sides and finds the benchmarks that they share. Close removes the builds.
func NewBench(ctx context.Context, request Request, setup Setup) (*Bench, error) {
	s, err := findSides(ctx, request, setup.Cache)
	if err != nil {
		return nil, err
	}
	parent := filepath.Join(setup.Cache, "bench")
	if err := os.MkdirAll(parent, 0o755); err != nil {
		return nil, fmt.Errorf("make the directory of test binaries: %w", err)
	}
	gitrev.Sweep(parent, maxBuildAge)
	b := &Bench{Notes: s.notes, SliceTime: setup.SliceTime}
	for _, text := range s.notes {
		b.note(partialRevision(), "", text)
	}
	if b.SliceTime == 0 {
		b.SliceTime = sliceLength
	}
	if b.workDir, err = os.MkdirTemp(parent, "run-"); err != nil {
		return nil, fmt.Errorf("make the directory of test binaries: %w", err)
	}
	if err := b.prepareStudy(ctx, request, setup, s); err != nil {
		b.Close()
		return nil, err
	}
	return b, nil
}

// Metrics returns the metrics of a comparison; the first is primary.
func Metrics() []string { return []string{"time", "bytes", "allocs"} }

// NewRunDir makes a directory for a run. Close removes it.
func (b *Bench) NewRunDir() (string, error) {
	dir, err := os.MkdirTemp(b.workDir, "rounds-")
	if err != nil {
		return "", fmt.Errorf("make the directory of a run: %w", err)
	}
	return dir, nil
}

// Close removes all files of the comparison.
func (b *Bench) Close() { _ = os.RemoveAll(b.workDir) }

// prepareStudy lists the packages with benchmarks, builds both sides and runs every benchmark once.
// The benchmarks that both sides have become the workloads of the study; all others are skipped.
func (b *Bench) prepareStudy(ctx context.Context, request Request, setup Setup, s *sides) error {
	for _, side := range []*suite.Side{s.base, s.head} {
		if err := side.Resolve(ctx, b.workDir); err != nil {
			return err
		}
	}
	renamed := map[string]string{}
	if request.Base != "" {
		var err error
		if renamed, err = s.findRenames(ctx); err != nil {
			return err
		}
	}
	var headTests map[string]string // lines about packages of which base runs the tests of head
	if request.Tests == TestsOfHead {
		var err error
		if headTests, b.keptTests, err = s.useHeadTests(ctx, request, renamed, b.workDir, setup.Say); err != nil {
			return err
		}
	}
	tests, err := b.listTests(ctx, request, s, renamed)
	if err != nil {
		return err
	}
	if request.Bench == "" {
		request.Bench = "."
	}
	keep := request.Shard.FilterIDs(tests)
	if inShard := keep; s.reach != nil {
		keep = func(id string) bool { return s.reach.ReachesBenchmark(id) && inShard(id) }
	}
	spec := trial.Spec{Run: setup.RunTag, Guardian: setup.Guardian}
	if setup.Procs > 0 {
		spec.Env = []string{fmt.Sprintf("GOMAXPROCS=%d", setup.Procs)}
	}
	b.Sources = suite.Sources{Suites: map[string]*suite.Suite{}, Titles: s.titles, Module: modulePath(tests[Head])}
	audited, err := auditTests(ctx, tests[Head])
	if err != nil {
		return err
	}
	found := map[string][]suite.Benchmark{}
	var skipped []suite.Skipped
	var remarks []suite.Remark
	search := suite.Search{
		Pattern: request.Bench, IsSelected: keep, SkipIDs: map[string]bool{},
		SliceTime: b.sliceTime, RunTime: wholeLength, RunLimit: setup.RunLimit, TimeLimit: setup.Budget / discoverShare,
		WhyNoTime: fmt.Sprintf("left out: a budget of %v has no time to try it; a longer --budget does", setup.Budget),
		Spec:      spec, Say: setup.Say,
	}
	for _, side := range []*suite.Side{s.base, s.head} {
		sideFound, sideSkipped, sideRemarks, err := b.discoverSide(ctx, request, setup, side, tests[side.ID], search)
		if err != nil {
			return err
		}
		found[side.ID] = sideFound
		skipped = append(skipped, sideSkipped...)
		remarks = append(remarks, sideRemarks...)
	}
	skipped = mergeSides(skipped)
	b.skip(skipped...)
	shared := b.sharedBenchmarks(found[Base], found[Head], skipped)
	if len(shared) == 0 {
		return b.noneError(request)
	}
	if shared, err = b.findAlone(ctx, setup, search, shared); err != nil {
		return err
	}
	b.noteRemarks(remarks, shared)
	b.noteTests(headTests, shared)
	b.noteAudit(audited, shared)
	for _, from := range slices.Sorted(maps.Keys(renamed)) {
		b.note(renamedModule(), "", fmt.Sprintf("the module %s of base is %s in head", from, renamed[from]))
	}
	b.Study = tare.Study{
		ID:       "bench " + b.Sources.Module,
		Question: fmt.Sprintf("%s: %s against %s", b.Sources.Module, s.titles[Head], s.titles[Base]),
		Kind:     gobench.Name, Baseline: Base, Contenders: []tare.Entry{{ID: Base}, {ID: Head}},
		Metrics: Metrics(), Dir: s.head.UserDir,
	}
	b.benchmarks = shared
	b.planSlices(shared)
	b.noteSameCode(shared)
	return nil
}

// discoverSide builds one side and runs each of its benchmarks once. With a budget it adds the
// benchmarks that it has no time for to q.Skip: the side after it does not try them.
func (b *Bench) discoverSide(ctx context.Context, request Request, setup Setup, side *suite.Side, tests []suite.Tests, search suite.Search) (found []suite.Benchmark, skipped []suite.Skipped, remarks []suite.Remark, err error) {
	built, err := suite.Build(ctx, side, tests, request.Bench, b.workDir, setup.Say)
	if err != nil {
		return nil, nil, nil, err
	}
	b.Sources.Suites[side.ID] = built
	if side.OneBuild && !request.OneBuild {
		b.note(oneLayout(), "", fmt.Sprintf("the linker of %s cannot put functions in another order: it was built once", side.ID))
	}
	for _, t := range tests {
		if why, ok := built.Failed[t.Package.Name()]; ok {
			skipped = append(skipped, suite.Skipped{ID: t.Package.Name(), Side: side.ID, Broken: true, Why: why})
		}
	}
	began := time.Now()
	found, failures, remarks, err := built.Discover(ctx, search)
	if err != nil {
		return nil, nil, nil, err
	}
	b.Spent += time.Since(began)
	for _, l := range failures {
		if l.OutOfTime && setup.Budget > 0 {
			search.SkipIDs[l.ID] = true
		}
	}
	return found, append(skipped, failures...), remarks, nil
}

// findAlone finds the benchmarks that need a process to themselves. It takes at most what is left of
// half the budget, but at least one sideBySideShare-th of the budget, and skips the benchmarks that
// it has no time for.
func (b *Bench) findAlone(ctx context.Context, setup Setup, search suite.Search, shared []suite.Benchmark) ([]suite.Benchmark, error) {
	if setup.Budget > 0 {
		search.TimeLimit = max(setup.Budget/2-b.Spent, setup.Budget/sideBySideShare)
	}
	began := time.Now()
	tried, err := suite.FindAlone(ctx, b.Sources.Suites[Base], b.Sources.Suites[Head], shared, search)
	b.Spent += time.Since(began)
	for _, m := range shared {
		if err == nil && !slices.ContainsFunc(tried, func(t suite.Benchmark) bool { return t.ID() == m.ID() }) {
			b.skip(suite.Skipped{ID: m.ID(), OutOfTime: true, Why: search.WhyNoTime})
		}
	}
	return tried, err
}

// listTests returns the packages with benchmarks, by side. It returns only packages that both sides
// have, in the same order for both, and skips the others. renamed has the new paths of modules.
func (b *Bench) listTests(ctx context.Context, request Request, s *sides, renamed map[string]string) (map[string][]suite.Tests, error) {
	bySide := map[string]map[string]suite.Tests{} // by side and package name
	var order []string                            // package names
	for _, side := range []*suite.Side{s.head, s.base} {
		packages, err := side.List(ctx, request.Packages)
		if err != nil {
			return nil, err
		}
		if side == s.head && request.Changed {
			var partial error
			if packages, partial, err = s.filterReached(ctx, packages); err != nil {
				return nil, err
			}
			if partial != nil {
				b.Notes = append(b.Notes, firstLine(partial.Error()))
			}
		}
		bySide[side.ID] = map[string]suite.Tests{}
		for _, p := range packages {
			if side == s.head && p.OutsideWork() {
				return nil, usageError("%s in %s is in no module that go.work lists; go work use adds one, and GOWORK=off in the environment leaves go.work out", p.ImportPath, side.UserDir)
			}
			if side == s.base {
				p.HeadPath = renamePath(p.ImportPath, renamed)
			}
			if t := suite.FindTests(p); len(t.Files) > 0 {
				bySide[side.ID][p.Name()] = t
				if !slices.Contains(order, p.Name()) && (side == s.head || !request.Changed) {
					order = append(order, p.Name())
				}
			} else if p.Error != nil && side == s.head && !strings.Contains(p.Error.Err, "no Go files") {
				b.skip(suite.Skipped{ID: p.ImportPath, Side: side.ID, Why: firstLine(p.Error.Err)})
			}
		}
	}
	shared := map[string][]suite.Tests{}
	for _, path := range order {
		inBase, okBase := bySide[Base][path]
		inHead, okHead := bySide[Head][path]
		switch {
		case okBase && okHead:
			shared[Base], shared[Head] = append(shared[Base], inBase), append(shared[Head], inHead)
		case okBase:
			b.skip(suite.Skipped{ID: path, Why: "it has benchmarks in " + Base + " only", OneSided: true})
		default:
			b.skip(suite.Skipped{ID: path, Why: "it has benchmarks in " + Head + " only", OneSided: true})
		}
	}
	if len(shared[Head]) == 0 {
		return nil, b.noneError(request)
	}
	return shared, nil
}

// noneError returns the error that there is no benchmark to measure.
func (b *Bench) noneError(a Request) error { return noBenchmarksError(a, b.skipped) }

// noBenchmarksError returns the error for an empty selection. It names the filters in effect, and the
// first skipped benchmark.
func noBenchmarksError(request Request, skipped []suite.Skipped) error {
	patterns := strings.Join(request.Packages, " ")
	if patterns == "" {
		patterns = "./..."
	}
	var filters []string
	if request.Bench != "" && request.Bench != "." {
		filters = append(filters, "matches "+request.Bench)
	}
	if request.Changed {
		filters = append(filters, "is reached by what changed")
	}
	if request.Shard.Of > 1 {
		filters = append(filters, fmt.Sprintf("is in part %d of %d", request.Shard.Index, request.Shard.Of))
	}
	message := strings.TrimSpace("no benchmark in " + patterns + " " + strings.Join(filters, " and "))
	if len(skipped) > 0 {
		message += fmt.Sprintf(" on both sides; %s: %s", skipped[0].ID, skipped[0])
	}
	anyLate := slices.ContainsFunc(skipped, func(l suite.Skipped) bool { return l.OutOfTime }) // then the budget is the reason
	return &UsageError{What: message, Nothing: !anyLate}
}

// sharedBenchmarks returns the benchmarks that both sides have, in the order of head. Each has the
// larger times and sizes of the two sides, and the shorter run. It skips the other benchmarks; those
// in skipped are skipped already.
func (b *Bench) sharedBenchmarks(base, head []suite.Benchmark, skipped []suite.Skipped) []suite.Benchmark {
	var out []suite.Benchmark
	for _, h := range head {
		i := slices.IndexFunc(base, func(o suite.Benchmark) bool { return o.ID() == h.ID() })
		if i < 0 {
			b.skipOneSided(h, Head, skipped)
			continue
		}
		o := base[i]
		h.NSPerOp, h.BytesPerOp = max(h.NSPerOp, o.NSPerOp), max(h.BytesPerOp, o.BytesPerOp)
		h.UntimedNS = max(h.UntimedNS, o.UntimedNS)
		h.Overhead, h.StartTime = max(h.Overhead, o.Overhead), max(h.StartTime, o.StartTime)
		h.LinkTime = max(h.LinkTime, o.LinkTime)
		h.OutsideLoop, h.Growth = max(h.OutsideLoop, o.OutsideLoop), max(h.Growth, o.Growth)
		if h.RunIterations == 0 || o.RunIterations > 0 && o.RunIterations < h.RunIterations { // 0 means that the side has no length of a run
			h.RunIterations = o.RunIterations
		}
		out = append(out, h)
	}
	for _, o := range base {
		if !slices.ContainsFunc(head, func(h suite.Benchmark) bool { return o.ID() == h.ID() }) {
			b.skipOneSided(o, Base, skipped)
		}
	}
	return out
}

// skipOneSided skips a benchmark that only one side has. It adds nothing if skipped has the reason
// already: an entry for the benchmark, for a benchmark above it, or for its package.
func (b *Bench) skipOneSided(o suite.Benchmark, side string, skipped []suite.Skipped) {
	known := slices.ContainsFunc(skipped, func(l suite.Skipped) bool {
		return l.ID == o.ID() || strings.HasPrefix(o.ID(), l.ID+"/") || strings.HasPrefix(o.ID(), l.ID+".")
	})
	if !known {
		b.skip(suite.Skipped{ID: o.ID(), Why: "it is in " + side + " only", OneSided: true})
	}
}

// Skipped returns the skipped benchmarks and packages, with the reason and the side at fault.
func (b *Bench) Skipped() []suite.Skipped { return slices.Clone(b.skipped) }

// skip skips benchmarks or packages. It adds each entry once.
func (b *Bench) skip(entries ...suite.Skipped) {
	for _, l := range entries {
		if !slices.Contains(b.skipped, l) {
			b.skipped = append(b.skipped, l)
		}
	}
}

// mergeSides replaces two entries that differ only in their side by one of [suite.Both].
func mergeSides(skipped []suite.Skipped) []suite.Skipped {
	var all []suite.Skipped
	for _, l := range skipped {
		i := slices.IndexFunc(all, func(o suite.Skipped) bool { return o.ID == l.ID && o.Why == l.Why && o.Broken == l.Broken })
		if i >= 0 && all[i].Side != l.Side {
			all[i].Side = suite.BothSides
			continue
		}
		all = append(all, l)
	}
	return all
}

// modulePath returns the path of the first package's module, or of the package if it has no module.
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
