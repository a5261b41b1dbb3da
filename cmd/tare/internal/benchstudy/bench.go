package benchstudy

import (
	"cmp"
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

// This file prepares a comparison of Go benchmarks on two revisions, base and head. NewBench builds
// the test binaries of both and runs each benchmark once. It makes a study of the benchmarks that
// both sides have: a plan that package lab carries out.

const maxBuildAge = 24 * time.Hour

// Divisors of the user's time budget.
const (
	discoverShare   = 6  // at most a sixth for trying one side
	sideBySideShare = 12 // at least a twelfth for finding benchmarks that need a separate process
)

// Setup configures how both sides are built, and how their benchmarks are tried.
type Setup struct {
	Cache     string // cache directory
	RunTag    string // marks the processes of this run of tare
	Guardian  *trial.Guardian
	Procs     int           // GOMAXPROCS; 0 leaves it unset
	Seed      uint64        // chooses orders of functions
	SliceTime time.Duration // length of a slice, one timed piece of a benchmark; 0 means by rule, see plan.go
	RunLimit  time.Duration // limit of a benchmark's first run; 0 means a minute
	Say       func(string)  // reports progress
	Dir       string        // directory of the result, for flame graphs; "" to draw none

	Budget time.Duration // 0 means no limit
}

// Bench is a study of two built sides, with the benchmarks and sources that it needs.
type Bench struct {
	Study          tare.Study
	Sources        suite.Sources
	SliceTime      time.Duration // length of a slice
	Notes          []string      // about files that a side lacks
	Spent          time.Duration // includes trying benchmarks and counting instructions
	ExpectedPilots []tare.Pilot  // forecast of short runs that time operations

	benchmarks []suite.Benchmark // both sides have them
	distances  map[string]int    // calls from a benchmark to the nearest code that differs, by id; may be missing
	counted    *comparisonCounts // nil if nothing was counted

	skipped   []suite.Skipped
	keptTests []string       // lines about tests of base that stay
	findings  []tare.Finding // notes for every result
	workDir   string         // directory of all files of the comparison
}

// NewBench builds both sides and finds the benchmarks that they share. The caller must call Close,
// which removes the builds.
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
	b := &Bench{Notes: s.notes, SliceTime: cmp.Or(setup.SliceTime, sliceLength)}
	for _, text := range s.notes {
		b.note(partialRevision(), "", text)
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

// NewRunDir makes a directory for the files of a run. Close removes it.
func (b *Bench) NewRunDir() (string, error) {
	dir, err := os.MkdirTemp(b.workDir, "rounds-")
	if err != nil {
		return "", fmt.Errorf("make the directory of a run: %w", err)
	}
	return dir, nil
}

// Close removes all files of the comparison.
func (b *Bench) Close() { _ = os.RemoveAll(b.workDir) }

// prepareStudy builds both sides and runs every benchmark once.
func (b *Bench) prepareStudy(ctx context.Context, request Request, setup Setup, s *sides) (err error) {
	for _, side := range []*suite.Side{s.base, s.head} {
		if err := side.Resolve(ctx, b.workDir); err != nil {
			return err
		}
	}
	var renamed map[string]string // module paths in head, by those in base
	if request.Base != "" {
		if renamed, err = s.findRenames(ctx); err != nil {
			return err
		}
	}
	var headTests map[string]string // lines about packages of which base runs head's tests
	if request.Tests == TestsOfHead {
		if headTests, b.keptTests, err = s.useHeadTests(ctx, request, renamed, b.workDir, setup.Say); err != nil {
			return err
		}
	}
	tests, err := b.listTests(ctx, request, s, renamed)
	if err != nil {
		return err
	}
	request.Bench = cmp.Or(request.Bench, ".")
	b.Sources = suite.Sources{Suites: map[string]*suite.Suite{}, Titles: s.titles, Module: modulePath(tests[Head])}
	audited, err := auditTests(ctx, tests[Head])
	if err != nil {
		return err
	}
	var remarks []suite.Remark
	if b.benchmarks, remarks, err = b.discoverShared(ctx, request, setup, s, tests); err != nil {
		return err
	}
	b.noteRemarks(remarks, b.benchmarks)
	b.noteTests(headTests, b.benchmarks)
	b.noteAudit(audited, b.benchmarks)
	for _, from := range slices.Sorted(maps.Keys(renamed)) {
		b.note(renamedModule(), "", fmt.Sprintf("the module %s of base is %s in head", from, renamed[from]))
	}
	b.Study = tare.Study{
		ID:       "bench " + b.Sources.Module,
		Question: fmt.Sprintf("%s: %s against %s", b.Sources.Module, s.titles[Head], s.titles[Base]),
		Kind:     gobench.Name, Baseline: Base, Contenders: []tare.Entry{{ID: Base}, {ID: Head}},
		Metrics: Metrics(), Dir: s.head.UserDir,
	}
	b.planSlices(b.benchmarks)
	b.noteSameCode(b.benchmarks)
	return nil
}

// discoverShared builds both sides and returns the benchmarks that give results on both.
func (b *Bench) discoverShared(ctx context.Context, request Request, setup Setup, s *sides, tests map[string][]suite.Tests) ([]suite.Benchmark, []suite.Remark, error) {
	isInShard := request.Shard.FilterIDs(tests)
	isSelected := isInShard
	if s.reach != nil {
		isSelected = func(id string) bool { return s.reach.ReachesBenchmark(id) && isInShard(id) }
	}
	search := suite.Search{
		Pattern: request.Bench, IsSelected: isSelected, SkipIDs: map[string]bool{},
		SliceTime: b.sliceTime, RunTime: wholeLength, RunLimit: setup.RunLimit, TimeLimit: setup.Budget / discoverShare,
		WhyNoTime: fmt.Sprintf("left out: a budget of %v has no time to try it; a longer --budget does", setup.Budget),
		Spec:      trial.Spec{Run: setup.RunTag, Guardian: setup.Guardian}, Say: setup.Say,
	}
	if setup.Procs > 0 {
		search.Spec.Env = []string{fmt.Sprintf("GOMAXPROCS=%d", setup.Procs)}
	}
	base, err := b.discoverSide(ctx, request, setup, s.base, tests[Base], search)
	if err != nil {
		return nil, nil, err
	}
	head, err := b.discoverSide(ctx, request, setup, s.head, tests[Head], search)
	if err != nil {
		return nil, nil, err
	}
	skipped := mergeSides(slices.Concat(base.Skipped, head.Skipped))
	b.addSkipped(skipped...)
	shared := b.sharedBenchmarks(base.Benchmarks, head.Benchmarks, skipped)
	if len(shared) == 0 {
		return nil, nil, noBenchmarksError(request, b.skipped)
	}
	shared, err = b.findAlone(ctx, setup, search, shared)
	return shared, slices.Concat(base.Remarks, head.Remarks), err
}

// discoverSide builds one side and runs each of its benchmarks once. If the time ends, it adds the
// other benchmarks to search.SkipIDs, so that the second side skips them, too.
func (b *Bench) discoverSide(ctx context.Context, request Request, setup Setup, side *suite.Side, tests []suite.Tests, search suite.Search) (found suite.Discovered, err error) {
	built, err := suite.Build(ctx, side, tests, request.Bench, b.workDir, setup.Say)
	if err != nil {
		return found, err
	}
	b.Sources.Suites[side.ID] = built
	if side.OneBuild && !request.OneBuild {
		b.note(oneLayout(), "", fmt.Sprintf("the linker of %s cannot put functions in another order: it was built once", side.ID))
	}
	began := time.Now()
	if found, err = built.Discover(ctx, search); err != nil {
		return found, err
	}
	b.Spent += time.Since(began)
	for _, entry := range found.Skipped {
		if entry.OutOfTime && setup.Budget > 0 {
			search.SkipIDs[entry.ID] = true
		}
	}
	var broken []suite.Skipped
	for _, t := range tests {
		if why, ok := built.Failed[t.Package.Name()]; ok {
			broken = append(broken, suite.Skipped{ID: t.Package.Name(), Side: side.ID, Broken: true, Why: why})
		}
	}
	found.Skipped = slices.Concat(broken, found.Skipped)
	return found, nil
}

// findAlone finds the benchmarks that need a separate process. It stops when half of the budget is
// used, but not before it has spent a twelfth. It skips the benchmarks that it has no time for.
func (b *Bench) findAlone(ctx context.Context, setup Setup, search suite.Search, shared []suite.Benchmark) ([]suite.Benchmark, error) {
	if setup.Budget > 0 {
		search.TimeLimit = max(setup.Budget/2-b.Spent, setup.Budget/sideBySideShare)
	}
	began := time.Now()
	tried, err := suite.FindAlone(ctx, b.Sources.Suites[Base], b.Sources.Suites[Head], shared, search)
	b.Spent += time.Since(began)
	for _, m := range shared {
		if err == nil && indexOf(tried, m) < 0 {
			b.addSkipped(suite.Skipped{ID: m.ID(), OutOfTime: true, Why: search.WhyNoTime})
		}
	}
	return tried, err
}

func indexOf(list []suite.Benchmark, m suite.Benchmark) int {
	return slices.IndexFunc(list, func(other suite.Benchmark) bool { return other.ID() == m.ID() })
}

// listTests returns the packages with benchmarks that both sides have, by side and in the same
// order. It adds the others to b.skipped. renamed has module paths in head by those in base.
func (b *Bench) listTests(ctx context.Context, request Request, s *sides, renamed map[string]string) (map[string][]suite.Tests, error) {
	packages, err := s.head.List(ctx, request.Packages)
	if err != nil {
		return nil, err
	}
	if request.Changed {
		var partial error
		if packages, partial, err = s.filterReached(ctx, packages); err != nil {
			return nil, err
		}
		if partial != nil {
			b.Notes = append(b.Notes, firstLine(partial.Error()))
		}
	}
	if err := b.skipBroken(packages, s.head.UserDir); err != nil {
		return nil, err
	}
	inHead, headNames := findTests(packages)
	if packages, err = s.base.List(ctx, request.Packages); err != nil {
		return nil, err
	}
	for i := range packages {
		packages[i].HeadPath = renamePath(packages[i].ImportPath, renamed)
	}
	inBase, baseNames := findTests(packages)
	shared := map[string][]suite.Tests{}
	for _, name := range headNames {
		if base, ok := inBase[name]; ok {
			shared[Base], shared[Head] = append(shared[Base], base), append(shared[Head], inHead[name])
		} else {
			b.addSkipped(suite.Skipped{ID: name, Why: "it has benchmarks in " + Head + " only", OneSided: true})
		}
	}
	for _, name := range baseNames {
		if _, ok := inHead[name]; !ok && !request.Changed {
			b.addSkipped(suite.Skipped{ID: name, Why: "it has benchmarks in " + Base + " only", OneSided: true})
		}
	}
	if len(shared[Head]) == 0 {
		return nil, noBenchmarksError(request, b.skipped)
	}
	return shared, nil
}

// skipBroken skips packages of head that the go command cannot load and that have no benchmarks.
// Packages with benchmarks fail later, when they are built. It returns an error if go.work omits a
// module.
func (b *Bench) skipBroken(packages []suite.Package, userDir string) error {
	for _, p := range packages {
		if p.OutsideWork() {
			return usageError("%s in %s is in no module that go.work lists; go work use adds one, and GOWORK=off in the environment leaves go.work out", p.ImportPath, userDir)
		}
		isBroken := p.Error != nil && !strings.Contains(p.Error.Err, "no Go files")
		hasBenchmarks := len(suite.FindTests(p).TestFiles) > 0
		if isBroken && !hasBenchmarks {
			b.addSkipped(suite.Skipped{ID: p.ImportPath, Side: Head, Why: firstLine(p.Error.Err)})
		}
	}
	return nil
}

func findTests(packages []suite.Package) (tests map[string]suite.Tests, names []string) {
	tests = map[string]suite.Tests{}
	for _, p := range packages {
		t := suite.FindTests(p)
		if len(t.TestFiles) == 0 {
			continue
		}
		if _, ok := tests[p.Name()]; !ok {
			names = append(names, p.Name())
		}
		tests[p.Name()] = t
	}
	return tests, names
}

// noBenchmarksError returns the error for an empty selection of benchmarks. It names the filters in
// effect and the first skipped benchmark.
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
	isBudgetShort := slices.ContainsFunc(skipped, func(s suite.Skipped) bool { return s.OutOfTime })
	return &UsageError{What: message, Nothing: !isBudgetShort}
}

// sharedBenchmarks returns the benchmarks that both sides have, in the order of head. It adds the
// others to b.skipped, unless skipped names them already.
func (b *Bench) sharedBenchmarks(base, head []suite.Benchmark, skipped []suite.Skipped) []suite.Benchmark {
	var shared []suite.Benchmark
	for _, m := range head {
		if i := indexOf(base, m); i >= 0 {
			shared = append(shared, joinEstimates(m, base[i]))
		} else {
			b.skipOneSided(m, Head, skipped)
		}
	}
	for _, m := range base {
		if indexOf(head, m) < 0 {
			b.skipOneSided(m, Base, skipped)
		}
	}
	return shared
}

// joinEstimates returns head with the larger times and sizes of both sides, and the smaller number
// of iterations of a run.
func joinEstimates(head, base suite.Benchmark) suite.Benchmark {
	m := head
	m.NSPerOp, m.BytesPerOp, m.UntimedNS = max(m.NSPerOp, base.NSPerOp), max(m.BytesPerOp, base.BytesPerOp), max(m.UntimedNS, base.UntimedNS)
	m.Overhead, m.StartTime, m.LinkTime = max(m.Overhead, base.Overhead), max(m.StartTime, base.StartTime), max(m.LinkTime, base.LinkTime)
	m.OutsideLoop, m.Growth = max(m.OutsideLoop, base.OutsideLoop), max(m.Growth, base.Growth)
	isShorter := base.RunIterations > 0 && base.RunIterations < m.RunIterations // 0: the side runs in slices
	if m.RunIterations == 0 || isShorter {
		m.RunIterations = base.RunIterations
	}
	return m
}

// skipOneSided adds a benchmark that only one side has to b.skipped. It adds nothing if skipped
// names the benchmark, its parent or its package already.
func (b *Bench) skipOneSided(m suite.Benchmark, side string, skipped []suite.Skipped) {
	isKnown := slices.ContainsFunc(skipped, func(entry suite.Skipped) bool {
		return entry.ID == m.ID() || strings.HasPrefix(m.ID(), entry.ID+"/") || strings.HasPrefix(m.ID(), entry.ID+".")
	})
	if !isKnown {
		b.addSkipped(suite.Skipped{ID: m.ID(), Why: "it is in " + side + " only", OneSided: true})
	}
}

// Skipped returns the skipped benchmarks and packages, with reasons.
func (b *Bench) Skipped() []suite.Skipped { return slices.Clone(b.skipped) }

func (b *Bench) addSkipped(entries ...suite.Skipped) {
	for _, entry := range entries {
		if !slices.Contains(b.skipped, entry) {
			b.skipped = append(b.skipped, entry)
		}
	}
}

// mergeSides makes one entry of two that differ only in their side, with the side [suite.BothSides].
func mergeSides(skipped []suite.Skipped) []suite.Skipped {
	var all []suite.Skipped
	for _, entry := range skipped {
		i := slices.IndexFunc(all, func(o suite.Skipped) bool { return o.ID == entry.ID && o.Why == entry.Why && o.Broken == entry.Broken })
		if i >= 0 && all[i].Side != entry.Side {
			all[i].Side = suite.BothSides
			continue
		}
		all = append(all, entry)
	}
	return all
}

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
