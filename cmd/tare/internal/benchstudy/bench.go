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

// trialShare is the divisor of a budget that gives the time to try the benchmarks of one side.
const trialShare = 6

// sideBySideShare is the divisor of a budget that gives the least time to find out which benchmarks
// need a process to themselves.
const sideBySideShare = 12

// Place configures where and how two sides are built.
type Place struct {
	Cache    string // cache directory
	Run      string // tag of the run
	Guardian *trial.Guardian
	Procs    int           // GOMAXPROCS of the benchmarks; 0 leaves it unset
	Seed     uint64        // selects the orders of functions in which instructions are counted
	Slice    time.Duration // length of a slice; 0 means by rule, see plan.go
	Once     time.Duration // limit of the first run of a benchmark, which tries it; 0 means a minute
	Say      func(string)  // reports progress
	Dir      string        // directory of the result, for flame graphs; "" to draw none

	Budget time.Duration // time limit of the user, also for trying benchmarks; 0 means no limit
}

// Bench is a comparison of two built sides: a study, and the benchmarks and sources that it needs.
type Bench struct {
	Study    tare.Study
	Sources  suite.Sources
	Slice    time.Duration // length of a slice
	Notes    []string      // lines about what the sides lack
	Spent    time.Duration // time spent on trying benchmarks and counting instructions
	Expected []tare.Pilot  // forecast of the study's pilots

	benchmarks []suite.Benchmark // benchmarks that both sides have
	counted    *comparisonCounts // nil if nothing was counted

	left      []suite.Left   // benchmarks and packages that are not measured
	keptTests []string       // lines about tests of base that are not replaced by tests of head
	findings  []tare.Finding // notes for every result
	work      string         // directory of all files of the comparison
}

// NewBench builds both sides and finds the benchmarks that they share. Close removes the builds.
func NewBench(ctx context.Context, a Asked, p Place) (*Bench, error) {
	s, err := findSides(ctx, a, p.Cache)
	if err != nil {
		return nil, err
	}
	parent := filepath.Join(p.Cache, "bench")
	if err := os.MkdirAll(parent, 0o755); err != nil {
		return nil, fmt.Errorf("make the directory of test binaries: %w", err)
	}
	gitrev.Sweep(parent, workAge)
	b := &Bench{Notes: s.notes, Slice: p.Slice}
	for _, text := range s.notes {
		b.note(partialRevision(), "", text)
	}
	if b.Slice == 0 {
		b.Slice = sliceLength
	}
	if b.work, err = os.MkdirTemp(parent, "run-"); err != nil {
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

// prepareStudy lists the packages with benchmarks, builds both sides and runs every benchmark once.
// The benchmarks that both sides have become the workloads of the study; all others are skipped.
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
	var headTests map[string]string // lines about packages of which base runs the tests of head
	if a.Tests == TestsOfHead {
		var err error
		if headTests, b.keptTests, err = s.useHeadTests(ctx, a, renamed, b.work, p.Say); err != nil {
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
	keep := a.Shard.FilterIDs(tests)
	if inShard := keep; s.reach != nil {
		keep = func(id string) bool { return s.reach.Benchmark(id) && inShard(id) }
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
	var remarks []suite.Remark
	search := suite.Search{
		Pattern: a.Bench, Keep: keep, Skip: map[string]bool{},
		Slice: b.sliceTime, Run: wholeLength, Once: p.Once, Within: p.Budget / trialShare,
		NoTime: fmt.Sprintf("left out: a budget of %v has no time to try it; a longer --budget does", p.Budget),
		Spec:   spec, Say: p.Say,
	}
	for _, side := range []*suite.Side{s.base, s.head} {
		sideFound, sideLeft, sideRemarks, err := b.discoverSide(ctx, a, p, side, tests[side.ID], search)
		if err != nil {
			return err
		}
		found[side.ID] = sideFound
		left = append(left, sideLeft...)
		remarks = append(remarks, sideRemarks...)
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
		Metrics: Metrics(), Dir: s.head.Home,
	}
	b.benchmarks = shared
	b.planSlices(shared)
	b.noteSameCode(shared)
	return nil
}

// discoverSide builds one side and runs each of its benchmarks once. With a budget it adds the
// benchmarks that it has no time for to q.Skip: the side after it does not try them.
func (b *Bench) discoverSide(ctx context.Context, a Asked, p Place, side *suite.Side, tests []suite.Tests, q suite.Search) (found []suite.Benchmark, left []suite.Left, remarks []suite.Remark, err error) {
	built, err := suite.Build(ctx, side, tests, a.Bench, b.work, p.Say)
	if err != nil {
		return nil, nil, nil, err
	}
	b.Sources.Suites[side.ID] = built
	if side.OneBuild && !a.OneBuild {
		b.note(oneLayout(), "", fmt.Sprintf("the linker of %s cannot put functions in another order: it was built once", side.ID))
	}
	for _, t := range tests {
		if why, ok := built.Failed[t.Package.Name()]; ok {
			left = append(left, suite.Left{ID: t.Package.Name(), Side: side.ID, Broken: true, Why: why})
		}
	}
	began := time.Now()
	found, failed, remarks, err := built.Discover(ctx, q)
	if err != nil {
		return nil, nil, nil, err
	}
	b.Spent += time.Since(began)
	for _, l := range failed {
		if l.Late && p.Budget > 0 {
			q.Skip[l.ID] = true
		}
	}
	return found, append(left, failed...), remarks, nil
}

// findAlone finds the benchmarks that need a process to themselves. It takes at most what is left of
// half the budget, but at least one sideBySideShare-th of the budget, and skips the benchmarks that
// it has no time for.
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

// listTests returns the packages with benchmarks, by side. It returns only packages that both sides
// have, in the same order for both, and skips the others. renamed has the new paths of modules.
func (b *Bench) listTests(ctx context.Context, a Asked, s *sides, renamed map[string]string) (map[string][]suite.Tests, error) {
	bySide := map[string]map[string]suite.Tests{} // by side and package name
	var order []string                            // package names
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
		bySide[side.ID] = map[string]suite.Tests{}
		for _, p := range packages {
			if side == s.head && p.OutsideWork() {
				return nil, usageError("%s in %s is in no module that go.work lists; go work use adds one, and GOWORK=off in the environment leaves go.work out", p.ImportPath, side.Home)
			}
			if side == s.base {
				p.As = renamePath(p.ImportPath, renamed)
			}
			if t := suite.Find(p); len(t.Files) > 0 {
				bySide[side.ID][p.Name()] = t
				if !slices.Contains(order, p.Name()) && (side == s.head || !a.Changed) {
					order = append(order, p.Name())
				}
			} else if p.Error != nil && side == s.head && !strings.Contains(p.Error.Err, "no Go files") {
				b.addLeft(suite.Left{ID: p.ImportPath, Side: side.ID, Why: firstLine(p.Error.Err)})
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
			b.addLeft(suite.Left{ID: path, Why: "it has benchmarks in " + Base + " only", OneSided: true})
		default:
			b.addLeft(suite.Left{ID: path, Why: "it has benchmarks in " + Head + " only", OneSided: true})
		}
	}
	if len(shared[Head]) == 0 {
		return nil, b.noneError(a)
	}
	return shared, nil
}

// noneError returns the error that there is no benchmark to measure.
func (b *Bench) noneError(a Asked) error { return noBenchmarks(a, b.left) }

// noBenchmarks returns the error for an empty selection. It names the filters in effect, and the
// first skipped benchmark.
func noBenchmarks(a Asked, left []suite.Left) error {
	patterns := strings.Join(a.Packages, " ")
	if patterns == "" {
		patterns = "./..."
	}
	var filters []string
	if a.Bench != "" && a.Bench != "." {
		filters = append(filters, "matches "+a.Bench)
	}
	if a.Changed {
		filters = append(filters, "is reached by what changed")
	}
	if a.Shard.Of > 1 {
		filters = append(filters, fmt.Sprintf("is in part %d of %d", a.Shard.Index, a.Shard.Of))
	}
	message := strings.TrimSpace("no benchmark in " + patterns + " " + strings.Join(filters, " and "))
	if len(left) > 0 {
		message += fmt.Sprintf(" on both sides; %s: %s", left[0].ID, left[0])
	}
	anyLate := slices.ContainsFunc(left, func(l suite.Left) bool { return l.Late }) // then the budget is the reason
	return &UsageError{What: message, Nothing: !anyLate}
}

// sharedBenchmarks returns the benchmarks that both sides have, in the order of head. Each has the
// larger times and sizes of the two sides, and the shorter run. It skips the other benchmarks; those
// in left are skipped already.
func (b *Bench) sharedBenchmarks(base, head []suite.Benchmark, left []suite.Left) []suite.Benchmark {
	var out []suite.Benchmark
	for _, h := range head {
		i := slices.IndexFunc(base, func(o suite.Benchmark) bool { return o.ID() == h.ID() })
		if i < 0 {
			b.skipOneSided(h, Head, left)
			continue
		}
		o := base[i]
		h.NSPerOp, h.BytesPer = max(h.NSPerOp, o.NSPerOp), max(h.BytesPer, o.BytesPer)
		h.Untimed = max(h.Untimed, o.Untimed)
		h.Around, h.Start = max(h.Around, o.Around), max(h.Start, o.Start)
		h.Link = max(h.Link, o.Link)
		h.Fixed, h.Growth = max(h.Fixed, o.Fixed), max(h.Growth, o.Growth)
		if h.Run == 0 || o.Run > 0 && o.Run < h.Run { // 0 means that the side has no length of a run
			h.Run = o.Run
		}
		out = append(out, h)
	}
	for _, o := range base {
		if !slices.ContainsFunc(head, func(h suite.Benchmark) bool { return o.ID() == h.ID() }) {
			b.skipOneSided(o, Base, left)
		}
	}
	return out
}

// skipOneSided skips a benchmark that only one side has. It adds nothing if left has the reason
// already: an entry for the benchmark, for a benchmark above it, or for its package.
func (b *Bench) skipOneSided(o suite.Benchmark, side string, left []suite.Left) {
	known := slices.ContainsFunc(left, func(l suite.Left) bool {
		return l.ID == o.ID() || strings.HasPrefix(o.ID(), l.ID+"/") || strings.HasPrefix(o.ID(), l.ID+".")
	})
	if !known {
		b.addLeft(suite.Left{ID: o.ID(), Why: "it is in " + side + " only", OneSided: true})
	}
}

// Left returns the skipped benchmarks and packages, with the reason and the side at fault.
func (b *Bench) Left() []suite.Left { return slices.Clone(b.left) }

// addLeft skips benchmarks or packages. It adds each entry once.
func (b *Bench) addLeft(left ...suite.Left) {
	for _, l := range left {
		if !slices.Contains(b.left, l) {
			b.left = append(b.left, l)
		}
	}
}

// mergeSides replaces two entries that differ only in their side by one of [suite.Both].
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
