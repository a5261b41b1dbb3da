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

// Limits of the search for benchmarks.
const (
	prepareLimit    = time.Minute            // start of a package's process, including its TestMain
	onceLimit       = time.Minute            // one iteration of a benchmark and all of its sub-benchmarks
	warmFor         = 5 * time.Millisecond   // least length of a warm-up
	warmCap         = time.Second            // largest length of a warm-up
	maxOverheadRuns = 5                      // runs of one iteration; the quickest counts, which was not interrupted
	overheadTime    = 250 * time.Millisecond // time after which no more of these runs start
	shortRuns       = 4                      // iterations that must fit into Search.Within: of a longer one a budget has no rounds
	minUntimedShare = 0.25                   // least untimed part of an iteration, as a share of the timed part; less may be chance
)

// Benchmark is a benchmark that gives results, and how it runs. Its times are estimates from its very
// first runs.
type Benchmark struct {
	Package  string // key in the suite
	Name     string // in full, e.g. BenchmarkParse/small
	NSPerOp  float64
	BytesPer float64       // heap bytes per operation
	Untimed  float64       // ns of an iteration while the timer is stopped; 0 if too little to measure
	Around   time.Duration // testing's work around the iterations of one slice
	Start    time.Duration // start of the package's process
	Link     time.Duration // link of the package's binary; 0 if the binary is built once

	Fixed  time.Duration // timed work outside the loop of a run, which no iteration does; 0 if too little to measure
	Growth float64       // factor by which an iteration takes longer in a run of eight times as many; 0 if not more than maxGrowth
	Run    int64         // iterations of a run as long as Search.Run, if Fixed or Growth is not 0
	Alone  string        // why only one process of its package can run at a time; "" if several can
}

// ID returns the id of the benchmark in a study: import/path.BenchmarkName/sub.
func (b Benchmark) ID() string {
	return strings.TrimSuffix(b.Package, "_test") + "." + b.Name
}

// Elapsed returns how long an iteration takes in ns, whether it is timed or not.
func (b Benchmark) Elapsed() float64 { return b.NSPerOp + b.Untimed }

// TimedShare returns the timed share of an iteration.
func (b Benchmark) TimedShare() float64 {
	return tare.Pilot{NSPerOp: b.NSPerOp, UntimedNS: b.Untimed}.TimedShare()
}

// Left is a benchmark or package that is not measured.
type Left struct {
	ID     string
	Side   string // side that is the reason, or Both; "" if neither is
	Broken bool   // it does not build
	Late   bool   // it takes too long, or there was no time to try it
	Why    string // without the side

	OneSided bool // only one side has it, so that there is nothing to compare
}

// Both is the side of entries about both sides.
const Both = "both sides"

// String returns Why, with the side: "head does not build: …".
func (l Left) String() string {
	switch {
	case l.Broken && l.Side == Both:
		return l.Side + " do not build: " + l.Why
	case l.Broken:
		return l.Side + " does not build: " + l.Why
	case l.Side != "":
		return l.Side + ": " + l.Why
	}
	return l.Why
}

// Search selects the benchmarks to find, and configures their runs.
type Search struct {
	Pattern string                        // pattern of go test -bench
	Keep    func(id string) bool          // selects top-level benchmarks
	Skip    map[string]bool               // ids of benchmarks that are not measured
	Slice   func(Benchmark) time.Duration // length of a benchmark's slices; 0 if it has none
	Run     time.Duration                 // length of a run of a benchmark without slices
	Once    time.Duration                 // limit of one iteration of a benchmark and its sub-benchmarks; 0 means a minute

	// Within limits the time for all benchmarks; 0 means no limit. Each package gets half of the
	// remaining time, and the last one all of it. Starts of processes have half as much in addition.
	Within time.Duration
	NoTime string // reason of benchmarks that are skipped because Within is over

	Spec trial.Spec   // configuration of the processes
	Say  func(string) // reports progress
}

// Discover runs every selected benchmark of the suite once, measures those that give results, and
// compares their times with those of go test. found has them in the order of the sources, left the
// selected benchmarks that are skipped.
func (b *Suite) Discover(ctx context.Context, q Search) (found []Benchmark, left []Left, remarks []Remark, err error) {
	spec := q.Spec
	spec.Name = b.Side.ID + "/discover"
	d := newDiscovery(b.Side.ID)
	d.limit, d.slice, d.run = q.Once, q.Slice, q.Run
	if d.limit == 0 {
		d.limit = onceLimit
	}
	d.measureLimit, d.warmLimit = 4*d.limit, warmCap
	if q.Within > 0 {
		d.limit = min(d.limit, q.Within/2)
		d.measureLimit = min(d.measureLimit, q.Within)
		d.warmLimit = min(d.warmLimit, q.Within/shortRuns/2)
	}
	if err := b.measureLink(ctx); err != nil {
		return nil, nil, nil, err
	}
	if err := d.openConn(ctx, b, spec); err != nil {
		return nil, nil, nil, err
	}
	defer func() { d.conn.Close(context.WithoutCancel(ctx)) }()
	top, err := CompilePattern(q.Pattern)
	if err != nil {
		return nil, nil, nil, err
	}
	began := time.Now()
	d.isLate = func() bool { return q.Within > 0 && time.Since(began) > q.Within*3/2 }
	for i, t := range b.Tests {
		used := time.Since(began) - d.startTotal
		part := max(0, q.Within-used)
		if i < len(b.Tests)-1 { // a package with long benchmarks must not take all of the time
			part /= 2
		}
		d.isOver = func(share float64) bool {
			return q.Within > 0 && time.Since(began)-d.startTotal > used+time.Duration(share*float64(part))
		}
		for _, f := range t.Files {
			fileFound, fileLeft, err := d.searchFile(ctx, t.Key(f), f.Names, top, q)
			if err != nil {
				return nil, nil, nil, err
			}
			found, left = append(found, fileFound...), append(left, fileLeft...)
		}
	}
	for i := range found {
		found[i].Link = b.forecastLink(found[i].Package)
	}
	if q.Within > 0 {
		d.until = began.Add(max(time.Since(began)+q.Within/plainShare, q.Within))
	}
	remarks, err = d.compareGoTest(ctx, b, found, spec, q.Say)
	return found, left, remarks, err
}

// openConn opens a connection to the suite, and closes the previous one. The binaries of the suite
// run as they are: without a study nothing is linked again.
func (d *discovery) openConn(ctx context.Context, b *Suite, spec trial.Spec) (err error) {
	if d.conn != nil {
		d.conn.Close(context.WithoutCancel(ctx))
	}
	if d.conn, err = gobench.New().Open(ctx, build.Program{Path: b.Program}, spec); err != nil {
		return err
	}
	_, err = d.conn.Do(ctx, wire.Request{Op: wire.OpHello, Protocol: wire.Protocol, Trial: spec.Name})
	return err
}

// searchFile finds the benchmarks of one test file. It runs each once, in at most half of the
// package's time, and then measures those that give results. With a limit the fastest come first.
func (d *discovery) searchFile(ctx context.Context, key string, names []string, top *regexp.Regexp, q Search) (found []Benchmark, left []Left, err error) {
	tried := 0
	for _, name := range names {
		b := Benchmark{Package: key, Name: name}
		if !top.MatchString(name) || !q.Keep(b.ID()) || q.Skip[b.ID()] {
			continue
		}
		if tried > 0 && d.isOver(0.5) || d.tried && d.isLate() { // the first is tried in any case
			left = append(left, Left{ID: b.ID(), Late: true, Why: q.NoTime})
			continue
		}
		tried++
		d.tried = true
		q.Say(fmt.Sprintf("%s: running %s once", d.side, b.ID()))
		below, leftBelow, err := d.searchBelow(ctx, b, q.Pattern)
		if err != nil {
			return nil, nil, err
		}
		found, left = append(found, below...), append(left, leftBelow...)
	}
	found = slices.DeleteFunc(found, func(b Benchmark) bool { return q.Skip[b.ID()] })
	order := make([]int, len(found))
	for i := range order {
		order[i] = i
	}
	if q.Within > 0 {
		slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(found[a].NSPerOp, found[b].NSPerOp) })
	}
	isMeasured := make([]bool, len(found))
	for n, i := range order {
		b := &found[i]
		isLong := q.Within > 0 && time.Duration(b.NSPerOp) > q.Within/shortRuns
		noTime := n > 0 && (d.isOver(1) || d.isLate())
		if isLong || noTime {
			left = append(left, Left{ID: b.ID(), Late: true, Why: q.NoTime})
			continue
		}
		why, err := d.measureSingle(ctx, b)
		switch {
		case err != nil:
			return nil, nil, err
		case why == "":
			isMeasured[i] = true
		case q.Within > 0 && d.tookLong:
			left = append(left, Left{ID: b.ID(), Late: true, Why: q.NoTime})
		default:
			left = append(left, d.newLeft(*b, why))
		}
	}
	var measured []Benchmark
	for i, b := range found {
		if isMeasured[i] {
			measured = append(measured, b)
		}
	}
	return measured, left, nil
}

// discovery is the search for the benchmarks of one side.
type discovery struct {
	side  string
	conn  trial.Conn                    // connection to the suite
	limit time.Duration                 // limit of the run of one iteration
	slice func(Benchmark) time.Duration // Search.Slice
	run   time.Duration                 // Search.Run

	procs  map[string]int           // GOMAXPROCS by package
	starts map[string]time.Duration // longest start of a process, by package

	startTotal   time.Duration            // time of all starts of processes together
	isOver       func(share float64) bool // reports whether that share of the package's time is used
	isLate       func() bool              // reports whether the time for all benchmarks, with starts, is used
	tried        bool                     // a benchmark was tried
	measureLimit time.Duration            // limit of measureSingle
	warmLimit    time.Duration            // limit of a warm-up
	isHalfUsed   func() bool              // reports whether half of measureLimit is used; nil means no
	tookLong     bool                     // the last call of measureSingle reached a limit
	until        time.Time                // end of the comparison with go test; zero means no limit
}

func newDiscovery(side string) *discovery {
	return &discovery{side: side, procs: map[string]int{}, starts: map[string]time.Duration{}}
}

// searchBelow runs a top-level benchmark and its sub-benchmarks once, and returns those that give
// results. Their times are equal shares of the time of the run.
func (d *discovery) searchBelow(ctx context.Context, top Benchmark, pattern string) (found []Benchmark, left []Left, err error) {
	all, took, err := d.runOnce(ctx, top, map[string]string{gobench.SetRegexp: pattern}, 0)
	var te *tare.TrialError
	if err == nil && !slices.ContainsFunc(all, func(o gobench.Outcome) bool { return hasTime(o) || o.Failed }) {
		// The process may be about to end in a panic: testing continues for a moment.
		all, _, err = d.runOnce(ctx, top, map[string]string{gobench.SetRegexp: pattern}, 1)
	}
	if errors.As(err, &te) {
		return nil, []Left{d.describeLost(top, te)}, nil
	}
	if err != nil {
		return nil, nil, err
	}
	var names []string
	var failures []failure
	for _, o := range all {
		switch {
		case hasTime(o) && !slices.Contains(names, o.Name):
			names = append(names, o.Name)
		case o.Failed || o.Skipped:
			failures = append(failures, failureOf(o))
		}
	}
	if len(names)+len(failures) == 0 && !strings.Contains(pattern, "/") {
		failures = []failure{{top.Name, "it gives no result in ns/op"}}
	}
	for _, f := range failures {
		names = slices.DeleteFunc(names, func(n string) bool { return n == f.name })
		if f.name == top.Name && len(names)+len(failures) > 1 {
			continue // it failed because of a sub-benchmark, which has an entry
		}
		left = append(left, d.newLeft(Benchmark{Package: top.Package, Name: f.name}, f.why))
	}
	for _, name := range names {
		b := top
		b.Name, b.NSPerOp = name, float64(took)/float64(len(names))
		found = append(found, b)
	}
	return found, left, nil
}

// describeLost returns the entry of a benchmark that ended its process or reached the limit.
func (d *discovery) describeLost(b Benchmark, te *tare.TrialError) Left {
	l := d.newLeft(b, d.describeExit(te))
	l.Late = te.Class == tare.ErrDeadline
	return l
}

func (d *discovery) newLeft(b Benchmark, why string) Left {
	return Left{ID: b.ID(), Side: d.side, Why: why}
}

// runOnce prepares b and runs it once, as the given case. Case 1 reports more about skipped
// benchmarks than case 0. It returns the outcomes of b and its sub-benchmarks, and the time.
func (d *discovery) runOnce(ctx context.Context, b Benchmark, set map[string]string, testCase int) ([]gobench.Outcome, time.Duration, error) {
	if err := d.prepareBenchmark(ctx, b, set); err != nil {
		return nil, 0, err
	}
	ctx, cancel := context.WithTimeout(ctx, d.limit)
	defer cancel()
	a, err := d.conn.Do(ctx, wire.Request{Op: wire.OpAnswer, On: b.ID(), Cases: []int{testCase}})
	if err != nil || len(a.Answers) == 0 {
		return nil, 0, err
	}
	var all []gobench.Outcome
	if err := json.Unmarshal(a.Answers[0].Output, &all); err != nil {
		return nil, 0, &tare.TrialError{Class: tare.ErrProtocol, Message: fmt.Sprintf("read the outcomes of %s: %v", b.ID(), err)}
	}
	return all, time.Duration(a.WallNS), nil
}

// prepareBenchmark has the suite prepare b, which starts the process of its package if none runs, and
// records the time and GOMAXPROCS.
func (d *discovery) prepareBenchmark(ctx context.Context, b Benchmark, set map[string]string) error {
	ctx, cancel := context.WithTimeout(ctx, prepareLimit)
	defer cancel()
	began := time.Now()
	a, err := d.conn.Do(ctx, wire.Request{Op: wire.OpPrepare, Workload: &wire.Workload{ID: b.ID(), Fixture: b.Package, Op: b.Name, Set: set}})
	start := time.Since(began)
	d.startTotal += start
	d.starts[b.Package] = max(d.starts[b.Package], start)
	if a.GOMAXPROCS > 0 {
		d.procs[b.Package] = a.GOMAXPROCS
	}
	return err
}

// measureSingle measures b by itself, within d.measureLimit, and sets its times. It returns why b is
// not measured, or "". The steps are a run of one iteration, a warm-up, a run that counts bytes, more
// runs of one iteration for testing's overhead, and the test of growth.
func (d *discovery) measureSingle(ctx context.Context, b *Benchmark) (why string, err error) {
	var te *tare.TrialError
	_, b.Around, err = d.runOnce(ctx, *b, nil, 0)
	if errors.As(err, &te) {
		return d.describeExit(te), nil
	}
	if err != nil {
		return "", err
	}
	b.Start = d.starts[b.Package]
	limited, cancel := context.WithTimeout(ctx, d.measureLimit) // of all the following steps
	began := time.Now()
	d.tookLong = false
	defer func() {
		d.tookLong = d.tookLong || limited.Err() != nil
		cancel()
	}()
	warm, err := d.conn.Do(limited, wire.Request{Op: wire.OpWarm, On: b.ID(), MinNS: warmFor.Nanoseconds(), CapNS: d.warmLimit.Nanoseconds()})
	if err != nil || warm.Errors > 0 {
		return whyNoResult(*b, warm), err
	}
	b.NSPerOp = float64(warm.WallNS) / float64(warm.Ops)
	stats, err := d.conn.Do(limited, wire.Request{Op: wire.OpStats, On: b.ID(), Ops: warm.Ops})
	if err != nil || stats.Errors > 0 {
		return whyNoResult(*b, stats), err
	}
	b.BytesPer = float64(stats.Bytes) / float64(stats.Ops)
	overheadBegan := time.Now()
	for i := 0; i < maxOverheadRuns && time.Since(overheadBegan) < overheadTime; i++ {
		one, err := d.conn.Do(limited, wire.Request{Op: wire.OpAnswer, On: b.ID(), Cases: []int{0}})
		if errors.As(err, &te) {
			return d.describeExit(te), nil
		}
		if err != nil {
			return "", err
		}
		b.Around = min(b.Around, time.Duration(one.WallNS))
	}
	if stats.Ops == warm.Ops { // two runs of the same length: the shorter untimed part was not interrupted
		warm.UntimedNS = min(warm.UntimedNS, stats.UntimedNS)
	}
	b.splitTime(warm)
	d.isHalfUsed = func() bool { return time.Since(began) > d.measureLimit/2 }
	// Testing sets a benchmark up twice in each run of checkGrowth.
	if setUps := minGrowRuns * 2 * b.Around; d.slice(*b) > 0 && time.Since(began)+setUps > d.measureLimit/2 {
		d.tookLong = true
		return fmt.Sprintf("it takes too long: testing takes %v to set it up for every run", b.Around), nil
	}
	return d.checkGrowth(limited, b)
}

// hasTime reports whether a benchmark has a result in ns/op.
func hasTime(o gobench.Outcome) bool {
	_, ok := o.Values["ns/op"]
	return ok
}

// splitTime divides the time of a run of one iteration, which is in b.Around, into timed, untimed and
// testing's work for each run. many is a run of several iterations; testing works around it twice, as
// it runs the first iteration by itself.
func (b *Benchmark) splitTime(many wire.Reply) {
	b.Around = max(0, b.Around-time.Duration(b.NSPerOp))
	if many.Ops > 1 {
		b.Untimed = float64(many.UntimedNS-2*b.Around.Nanoseconds()) / float64(many.Ops-1)
	}
	if b.Untimed < minUntimedShare*b.NSPerOp {
		b.Untimed = 0
	}
	b.Around = max(0, b.Around-time.Duration(b.Untimed))
}

// endedRE matches the start of a message about the end of a process; the exit status comes after it.
var endedRE = lazyregexp.New(`^ended during \w+ with `)

// whyNoResult returns why a reply contains no result of b.
func whyNoResult(b Benchmark, a wire.Reply) string {
	if why, ok := strings.CutPrefix(a.Message, b.Name+" failed: "); ok {
		return "it fails: " + why
	}
	return a.Message
}

// describeExit describes how a benchmark ended its process, or which limit it reached.
func (d *discovery) describeExit(te *tare.TrialError) string {
	how := endedRE.ReplaceAllString(te.Message, "")
	inStart := strings.Contains(te.Message, " "+wire.OpHello+" w") // "ended during hello with …" or "no answer to hello within …"
	switch {
	case te.Class == tare.ErrExit && inStart:
		return "its test binary ends before any benchmark runs, in TestMain or an init: " + how
	case te.Class == tare.ErrExit:
		return "it ends the process: " + how
	case te.Class == tare.ErrDeadline && inStart:
		return fmt.Sprintf("its TestMain or an init takes too long: no benchmark began within %v", prepareLimit)
	case te.Class == tare.ErrDeadline:
		return fmt.Sprintf("it takes too long: it did not end within %v", d.limit)
	}
	return te.Error()
}

// failure is a benchmark that gave no result.
type failure struct{ name, why string }

// failureOf converts the outcome of a benchmark that failed or was skipped.
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
