package suite

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/contender/wire"
	"github.com/tarebench/tare/internal/build"
	"github.com/tarebench/tare/internal/lazyregexp"
	"github.com/tarebench/tare/internal/trial"
	"github.com/tarebench/tare/kinds/gobench"
)

// This file tries the benchmarks of one revision and estimates their times. For example:
// example.com/parse.BenchmarkParse/small takes 1200 ns per iteration. A slice is a timed run of a
// fixed number of iterations.

const (
	prepareLimit    = time.Minute          // start of a process, including its TestMain
	onceLimit       = time.Minute          // limit of one iteration with all sub-benchmarks
	warmFor         = 5 * time.Millisecond // least length of a warm-up
	warmCap         = time.Second
	maxOverheadRuns = 5                      // single iterations, of which the quickest counts
	overheadTime    = 250 * time.Millisecond // no more single iterations start afterwards
	shortRuns       = 4                      // iterations that must fit into Search.TimeLimit
	minUntimedShare = 0.25                   // least untimed part, as a share of the timed part
)

// Benchmark is a benchmark that gives results. Its times are estimates from its first runs.
type Benchmark struct {
	Package    string        // key in the suite
	Name       string        // e.g. BenchmarkParse/small
	NSPerOp    float64       // timed ns per iteration
	BytesPerOp float64       // heap bytes per iteration
	UntimedNS  float64       // ns per iteration while the timer is stopped; 0 if too little to measure
	Overhead   time.Duration // testing's work around a timed run
	StartTime  time.Duration // start of the package's process
	LinkTime   time.Duration // 0 if the binary is built once

	OutsideLoop   time.Duration // timed work of a run outside of the loop; 0 if too little to measure
	Growth        float64       // how many times longer an iteration takes in a longer run; 0 if at most maxGrowth
	RunIterations int64         // iterations of a run as long as Search.RunTime; 0 if slices work
	WhyAlone      string        // why its package needs a single process, or ""
}

// ID returns the id in a study: import/path.BenchmarkName/sub.
func (b Benchmark) ID() string {
	return strings.TrimSuffix(b.Package, "_test") + "." + b.Name
}

// IterationNS returns the duration of an iteration in ns, both timed and untimed.
func (b Benchmark) IterationNS() float64 { return b.NSPerOp + b.UntimedNS }

// TimedShare returns the timed share of an iteration.
func (b Benchmark) TimedShare() float64 {
	return tare.Pilot{NSPerOp: b.NSPerOp, UntimedNS: b.UntimedNS}.TimedShare()
}

// Skipped is a benchmark or package that is not measured.
type Skipped struct {
	ID        string
	Side      string // side at fault, or BothSides, or ""
	Broken    bool   // it does not build
	OutOfTime bool   // it takes too long, or there was no time to try it
	Why       string // without the side

	OneSided bool // only one side has it: there is nothing to compare
}

// BothSides is the side of entries about both sides.
const BothSides = "both sides"

// String returns Why, with the side: "head does not build: …".
func (s Skipped) String() string {
	switch {
	case s.Broken && s.Side == BothSides:
		return explainBuild(s.Side, "do not build", s.Why)
	case s.Broken:
		return explainBuild(s.Side, "does not build", s.Why)
	case s.Side != "":
		return s.Side + ": " + s.Why
	}
	return s.Why
}

// Search selects the benchmarks to find, and configures their runs.
type Search struct {
	Pattern    string                        // pattern of go test -bench
	IsSelected func(id string) bool          // selects top-level benchmarks
	SkipIDs    map[string]bool               // benchmarks that are not measured
	SliceTime  func(Benchmark) time.Duration // length of timed runs; 0 if a benchmark has none
	RunTime    time.Duration                 // length of a run of other benchmarks
	RunLimit   time.Duration                 // limit of one iteration with sub-benchmarks; 0 means a minute

	// TimeLimit limits the time for all benchmarks; 0 means no limit. Each package gets half of the
	// remaining time. Starts of processes get half as much in addition.
	TimeLimit time.Duration
	WhyNoTime string // why benchmarks are skipped after TimeLimit

	Spec trial.Spec   // configuration of the processes
	Say  func(string) // reports progress
}

// Discovered contains the result of a search on one side.
type Discovered struct {
	Benchmarks []Benchmark
	Skipped    []Skipped
	Remarks    []Remark
}

type discovery struct {
	sideID    string
	conn      trial.Conn
	runLimit  time.Duration // limit of one iteration
	sliceTime func(Benchmark) time.Duration
	runTime   time.Duration

	procs  map[string]int           // GOMAXPROCS by package
	starts map[string]time.Duration // longest start of a process, by package

	clock          searchClock
	hasTried       bool // a benchmark of any package was run
	measureLimit   time.Duration
	warmLimit      time.Duration
	isHalfTimeUsed func() bool // whether half of measureLimit has passed; nil if a test sets none
	tookLong       bool        // measureSingle reached a limit
	compareUntil   time.Time   // end of the comparison with go test; zero means no limit
}

func newDiscovery(side string) *discovery {
	return &discovery{sideID: side, procs: map[string]int{}, starts: map[string]time.Duration{}}
}

// Discover runs every selected benchmark once, measures those that give results, and compares their
// times with go test.
func (b *Suite) Discover(ctx context.Context, search Search) (found Discovered, err error) {
	search.Spec.Name = b.Side.ID + "/discover"
	d := newDiscovery(b.Side.ID)
	d.setLimits(search)
	if err := b.measureLink(ctx); err != nil {
		return found, err
	}
	defer d.closeConn(ctx)
	if err := d.reopenConn(ctx, b, search.Spec); err != nil {
		return found, err
	}
	topLevel, err := CompilePattern(search.Pattern)
	if err != nil {
		return found, err
	}
	d.clock = searchClock{limit: search.TimeLimit, began: time.Now()}
	for i, t := range b.Tests {
		d.clock.beginPackage(i == len(b.Tests)-1)
		for _, f := range t.TestFiles {
			benchmarks, skipped, err := d.searchFile(ctx, t.Key(f), f.Names, topLevel, search)
			if err != nil {
				return found, err
			}
			found.Benchmarks, found.Skipped = append(found.Benchmarks, benchmarks...), append(found.Skipped, skipped...)
		}
	}
	for i := range found.Benchmarks {
		found.Benchmarks[i].LinkTime = b.forecastLink(found.Benchmarks[i].Package)
	}
	if search.TimeLimit > 0 {
		searched := time.Since(d.clock.began)
		d.compareUntil = d.clock.began.Add(max(searched+search.TimeLimit/compareShare, search.TimeLimit))
	}
	found.Remarks, err = d.compareGoTest(ctx, b, found.Benchmarks, search.Spec, search.Say)
	return found, err
}

func (d *discovery) setLimits(search Search) {
	d.sliceTime, d.runTime = search.SliceTime, search.RunTime
	d.runLimit = cmp.Or(search.RunLimit, onceLimit)
	d.measureLimit, d.warmLimit = 4*d.runLimit, warmCap
	if search.TimeLimit > 0 { // no single benchmark may take all of the time
		d.runLimit = min(d.runLimit, search.TimeLimit/2)
		d.measureLimit = min(d.measureLimit, search.TimeLimit)
		d.warmLimit = min(d.warmLimit, search.TimeLimit/shortRuns/2)
	}
}

// searchClock divides the time of a search among packages. A package with long benchmarks must not
// take all of it.
type searchClock struct {
	limit       time.Duration // 0 means no limit
	began       time.Time
	startTotal  time.Duration // time of all starts of processes
	usedBefore  time.Duration // before the current package, without starts
	packageTime time.Duration // starts do not count
}

// beginPackage gives the next package half of the remaining time, or all of it if it is the last
// one.
func (c *searchClock) beginPackage(isLast bool) {
	c.usedBefore = time.Since(c.began) - c.startTotal
	c.packageTime = max(0, c.limit-c.usedBefore)
	if !isLast {
		c.packageTime /= 2
	}
}

func (c *searchClock) isPackageOver(share float64) bool {
	used := time.Since(c.began) - c.startTotal
	return c.limit > 0 && used > c.usedBefore+time.Duration(share*float64(c.packageTime))
}

// isSearchOver reports whether the time for all packages is used: the limit, and half as much for
// starts of processes.
func (c *searchClock) isSearchOver() bool { return c.limit > 0 && time.Since(c.began) > c.limit*3/2 }

// reopenConn opens a connection to the test binaries. They are not linked again, because no study
// runs.
func (d *discovery) reopenConn(ctx context.Context, built *Suite, spec trial.Spec) error {
	d.closeConn(ctx)
	conn, err := gobench.New().Open(ctx, build.Program{Path: built.Program}, spec)
	if err != nil {
		return err
	}
	d.conn = conn
	_, err = conn.Do(ctx, wire.Request{Op: wire.OpHello, Protocol: wire.Protocol, Trial: spec.Name})
	return err
}

func (d *discovery) closeConn(ctx context.Context) {
	if d.conn != nil {
		d.conn.Close(context.WithoutCancel(ctx))
		d.conn = nil
	}
}

// searchFile finds the benchmarks of one test file. It runs each once, in at most half of the
// package's time. Then it measures those that give results.
func (d *discovery) searchFile(ctx context.Context, key string, names []string, topLevel *regexp.Regexp, search Search) (found []Benchmark, skipped []Skipped, err error) {
	tried := 0
	for _, name := range names {
		b := Benchmark{Package: key, Name: name}
		if !topLevel.MatchString(name) || !search.IsSelected(b.ID()) || search.SkipIDs[b.ID()] {
			continue
		}
		// The first benchmark of a file does not depend on the package's time, and the first of all
		// on no time.
		isFirstOfFile, isFirstOfAll := tried == 0, !d.hasTried
		hasPackageTime := isFirstOfFile || !d.clock.isPackageOver(0.5)
		hasSearchTime := isFirstOfAll || !d.clock.isSearchOver()
		if !hasPackageTime || !hasSearchTime {
			skipped = append(skipped, search.newOutOfTime(b))
			continue
		}
		tried++
		d.hasTried = true
		search.Say(fmt.Sprintf("%s: running %s once", d.sideID, b.ID()))
		below, belowSkipped, err := d.searchBelow(ctx, b, search.Pattern)
		if err != nil {
			return nil, nil, err
		}
		found, skipped = append(found, below...), append(skipped, belowSkipped...)
	}
	found = slices.DeleteFunc(found, func(b Benchmark) bool { return search.SkipIDs[b.ID()] })
	measured, unmeasured, err := d.measureAll(ctx, found, search)
	return measured, append(skipped, unmeasured...), err
}

func (s Search) newOutOfTime(b Benchmark) Skipped {
	return Skipped{ID: b.ID(), OutOfTime: true, Why: s.WhyNoTime}
}

// measureAll measures each benchmark of found by itself, and returns those that it could measure in
// the same order. If there is a time limit, it begins with the fastest.
func (d *discovery) measureAll(ctx context.Context, found []Benchmark, search Search) (measured []Benchmark, skipped []Skipped, err error) {
	order := make([]int, len(found)) // indices of found
	for i := range order {
		order[i] = i
	}
	if search.TimeLimit > 0 {
		slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(found[a].NSPerOp, found[b].NSPerOp) })
	}
	isMeasured := map[string]bool{}
	for n, i := range order {
		b := &found[i]
		isLong := search.TimeLimit > 0 && time.Duration(b.NSPerOp) > search.TimeLimit/shortRuns
		isFirst := n == 0 // measured in any case
		hasNoTime := !isFirst && (d.clock.isPackageOver(1) || d.clock.isSearchOver())
		if isLong || hasNoTime {
			skipped = append(skipped, search.newOutOfTime(*b))
			continue
		}
		why, err := d.measureSingle(ctx, b)
		switch {
		case err != nil:
			return nil, nil, err
		case why == "":
			isMeasured[b.Name] = true
		case search.TimeLimit > 0 && d.tookLong:
			skipped = append(skipped, search.newOutOfTime(*b))
		default:
			skipped = append(skipped, d.newSkipped(*b, why))
		}
	}
	return slices.DeleteFunc(found, func(b Benchmark) bool { return !isMeasured[b.Name] }), skipped, nil
}

// searchBelow runs a top-level benchmark once, and returns the sub-benchmarks that give results.
// Their times are equal shares of the run.
func (d *discovery) searchBelow(ctx context.Context, top Benchmark, pattern string) (found []Benchmark, skipped []Skipped, err error) {
	set := map[string]string{gobench.SetRegexp: pattern}
	const plain, withSkipped = 0, 1 // test cases of runOnce
	outcomes, took, err := d.runOnce(ctx, top, set, plain)
	hasOutcome := slices.ContainsFunc(outcomes, func(o gobench.Outcome) bool { return hasTime(o) || o.Failed })
	if err == nil && !hasOutcome {
		// The process may be about to end in a panic: package testing continues for a moment.
		outcomes, _, err = d.runOnce(ctx, top, set, withSkipped)
	}
	if te := (*tare.TrialError)(nil); errors.As(err, &te) {
		return nil, []Skipped{d.skippedByExit(top, te)}, nil
	}
	if err != nil {
		return nil, nil, err
	}
	names, failures := splitOutcomes(outcomes)
	if len(names)+len(failures) == 0 && !strings.Contains(pattern, "/") {
		failures = []failure{{top.Name, "it gives no result in ns/op"}}
	}
	for _, f := range failures {
		names = slices.DeleteFunc(names, func(n string) bool { return n == f.name })
		if f.name == top.Name && len(names)+len(failures) > 1 {
			continue // a sub-benchmark failed, which has an entry
		}
		skipped = append(skipped, d.newSkipped(Benchmark{Package: top.Package, Name: f.name}, f.why))
	}
	for _, name := range names {
		b := top
		b.Name, b.NSPerOp = name, float64(took)/float64(len(names))
		found = append(found, b)
	}
	return found, skipped, nil
}

// splitOutcomes returns the names of benchmarks with a time, and the benchmarks that failed or were
// skipped. A benchmark can be in both, e.g. if its second run fails.
func splitOutcomes(outcomes []gobench.Outcome) (names []string, failures []failure) {
	for _, o := range outcomes {
		switch {
		case hasTime(o) && !slices.Contains(names, o.Name):
			names = append(names, o.Name)
		case o.Failed || o.Skipped:
			failures = append(failures, failureOf(o))
		}
	}
	return names, failures
}

func (d *discovery) skippedByExit(b Benchmark, te *tare.TrialError) Skipped {
	entry := d.newSkipped(b, d.describeExit(te))
	entry.OutOfTime = te.Class == tare.ErrDeadline
	return entry
}

func (d *discovery) newSkipped(b Benchmark, why string) Skipped {
	return Skipped{ID: b.ID(), Side: d.sideID, Why: why}
}

// runOnce prepares b and runs it once, as test case 0 or 1. Case 1 reports more about skipped
// benchmarks. It returns the outcomes of b and its sub-benchmarks, and the time of the run.
func (d *discovery) runOnce(ctx context.Context, b Benchmark, set map[string]string, testCase int) ([]gobench.Outcome, time.Duration, error) {
	if err := d.prepareBenchmark(ctx, b, set); err != nil {
		return nil, 0, err
	}
	ctx, cancel := context.WithTimeout(ctx, d.runLimit)
	defer cancel()
	reply, err := d.conn.Do(ctx, wire.Request{Op: wire.OpAnswer, On: b.ID(), Cases: []int{testCase}})
	if err != nil || len(reply.Answers) == 0 {
		return nil, 0, err
	}
	var outcomes []gobench.Outcome
	if err := json.Unmarshal(reply.Answers[0].Output, &outcomes); err != nil {
		return nil, 0, &tare.TrialError{Class: tare.ErrProtocol, Message: fmt.Sprintf("read the outcomes of %s: %v", b.ID(), err)}
	}
	return outcomes, time.Duration(reply.WallNS), nil
}

// prepareBenchmark prepares b, and starts the process of its package if none runs. It records how
// long that takes, and the GOMAXPROCS of the process.
func (d *discovery) prepareBenchmark(ctx context.Context, b Benchmark, set map[string]string) error {
	ctx, cancel := context.WithTimeout(ctx, prepareLimit)
	defer cancel()
	began := time.Now()
	reply, err := d.conn.Do(ctx, wire.Request{Op: wire.OpPrepare, Workload: &wire.Workload{ID: b.ID(), Fixture: b.Package, Op: b.Name, Set: set}})
	start := time.Since(began)
	d.clock.startTotal += start
	d.starts[b.Package] = max(d.starts[b.Package], start)
	if reply.GOMAXPROCS > 0 {
		d.procs[b.Package] = reply.GOMAXPROCS
	}
	return err
}

// measureSingle measures b by itself, within d.measureLimit, and sets its times. It returns why b
// cannot be measured, or "" if it was.
func (d *discovery) measureSingle(ctx context.Context, b *Benchmark) (why string, err error) {
	if _, b.Overhead, err = d.runOnce(ctx, *b, nil, 0); err != nil {
		return d.whyExited(err)
	}
	b.StartTime = d.starts[b.Package]
	limited, cancel := context.WithTimeout(ctx, d.measureLimit) // covers all the following steps
	began := time.Now()
	d.isHalfTimeUsed = func() bool { return time.Since(began) > d.measureLimit/2 }
	d.tookLong = false
	defer func() {
		d.tookLong = d.tookLong || limited.Err() != nil
		cancel()
	}()
	warm, why, err := d.warmUp(limited, b)
	if err != nil || why != "" {
		return why, err
	}
	if err := d.measureOverhead(limited, b); err != nil {
		return d.whyExited(err)
	}
	b.splitTime(warm)
	setUps := minGrowRuns * 2 * b.Overhead // testing sets a benchmark up twice in each run of checkGrowth
	hasSlices := d.sliceTime(*b) > 0       // otherwise checkGrowth runs nothing
	if hasSlices && time.Since(began)+setUps > d.measureLimit/2 {
		d.tookLong = true
		return fmt.Sprintf("it takes too long: testing takes %v to set it up for every run", b.Overhead), nil
	}
	return d.checkGrowth(limited, b)
}

// whyExited returns why a benchmark cannot be measured, if err reports that it ended its process or
// reached a limit. It returns any other err as other.
func (d *discovery) whyExited(err error) (why string, other error) {
	if te := (*tare.TrialError)(nil); errors.As(err, &te) {
		return d.describeExit(te), nil
	}
	return "", err
}

// warmUp runs b for some milliseconds, and sets b.NSPerOp and b.BytesPerOp. It returns the reply to
// the first run, or why b gives no result.
func (d *discovery) warmUp(ctx context.Context, b *Benchmark) (warm wire.Reply, why string, err error) {
	warm, err = d.conn.Do(ctx, wire.Request{Op: wire.OpWarm, On: b.ID(), MinNS: warmFor.Nanoseconds(), CapNS: d.warmLimit.Nanoseconds()})
	if err != nil || warm.Errors > 0 {
		return warm, whyNoResult(*b, warm), err
	}
	b.NSPerOp = float64(warm.WallNS) / float64(warm.Ops)
	stats, err := d.conn.Do(ctx, wire.Request{Op: wire.OpStats, On: b.ID(), Ops: warm.Ops})
	if err != nil || stats.Errors > 0 {
		return warm, whyNoResult(*b, stats), err
	}
	b.BytesPerOp = float64(stats.Bytes) / float64(stats.Ops)
	if stats.Ops == warm.Ops { // the shorter of two equal runs was not interrupted
		warm.UntimedNS = min(warm.UntimedNS, stats.UntimedNS)
	}
	return warm, "", nil
}

// measureOverhead repeats runs of one iteration, and stores the shortest time in b.Overhead.
func (d *discovery) measureOverhead(ctx context.Context, b *Benchmark) error {
	began := time.Now()
	for i := 0; i < maxOverheadRuns && time.Since(began) < overheadTime; i++ {
		reply, err := d.conn.Do(ctx, wire.Request{Op: wire.OpAnswer, On: b.ID(), Cases: []int{0}})
		if err != nil {
			return err
		}
		b.Overhead = min(b.Overhead, time.Duration(reply.WallNS))
	}
	return nil
}

func hasTime(o gobench.Outcome) bool {
	_, ok := o.Values["ns/op"]
	return ok
}

// splitTime divides b.Overhead, the time of a run of one iteration, into the timed and the untimed
// part. The work of package testing remains in b.Overhead. many is a run of several iterations. It
// includes that work twice, as testing runs the first iteration by itself.
func (b *Benchmark) splitTime(many wire.Reply) {
	b.Overhead = max(0, b.Overhead-time.Duration(b.NSPerOp))
	if many.Ops > 1 {
		b.UntimedNS = float64(many.UntimedNS-2*b.Overhead.Nanoseconds()) / float64(many.Ops-1)
	}
	if b.UntimedNS < minUntimedShare*b.NSPerOp {
		b.UntimedNS = 0
	}
	b.Overhead = max(0, b.Overhead-time.Duration(b.UntimedNS))
}

// exitPrefixRE matches the start of a message about the end of a process, before the exit status.
var exitPrefixRE = lazyregexp.New(`^ended during \w+ with `)

func whyNoResult(b Benchmark, reply wire.Reply) string {
	if why, ok := strings.CutPrefix(reply.Message, b.Name+" failed: "); ok {
		return "it fails: " + why
	}
	return reply.Message
}

func (d *discovery) describeExit(te *tare.TrialError) string {
	ending := exitPrefixRE.ReplaceAllString(te.Message, "")
	inStart := strings.Contains(te.Message, " "+wire.OpHello+" w") // for example "no answer to hello within …"
	switch {
	case te.Class == tare.ErrExit && inStart:
		return "its test binary ends before any benchmark runs, in TestMain or an init: " + ending
	case te.Class == tare.ErrExit:
		return "it ends the process: " + ending
	case te.Class == tare.ErrDeadline && inStart:
		return fmt.Sprintf("its TestMain or an init takes too long: no benchmark began within %v", prepareLimit)
	case te.Class == tare.ErrDeadline:
		return fmt.Sprintf("it takes too long: it did not end within %v", d.runLimit)
	}
	return te.Error()
}

type failure struct{ name, why string }

func failureOf(o gobench.Outcome) failure {
	why := "it fails"
	if o.Skipped {
		why = "it is skipped"
	}
	if o.Why != "" {
		why += ": " + o.Why
	}
	return failure{o.Name, why}
}
