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
	"github.com/tarebench/tare/internal/trial"
	"github.com/tarebench/tare/kinds/gobench"
)

// Limits of the search for benchmarks.
const (
	prepareLimit    = time.Minute // to start a package's process, its TestMain included
	onceLimit       = time.Minute // for one iteration of a benchmark and all below it
	warmFor         = 5 * time.Millisecond
	warmCap         = time.Second
	maxOverheadRuns = 5                      // the quickest counts: others were interrupted
	overheadTime    = 250 * time.Millisecond // after which there are no more of them
	shortRuns       = 4                      // runs in the time for all of them are the longest that are measured closer: of longer ones a budget has no rounds
	minUntimedShare = 0.25                   // of the timed part of an iteration: less may be chance
)

// Benchmark is a benchmark that gives results, and how it runs. Its values are rough: of the very
// first runs.
type Benchmark struct {
	Package  string // key in the suite
	Name     string // in full, e.g. BenchmarkParse/small
	NSPerOp  float64
	BytesPer float64       // heap bytes per operation
	Untimed  float64       // ns of an iteration while the timer is stopped; 0 if too little to measure
	Around   time.Duration // testing's work around the iterations of one slice
	Start    time.Duration // to start the package's process
	Link     time.Duration // to link the package's binary again; 0 if it is built once

	Fixed  time.Duration // of each run, in its result and not of any iteration: work outside the loop; 0 if too little to measure
	Growth float64       // factor by which an iteration takes longer in a run of eight times as many; 0 if it does not
	Run    int64         // iterations of a run as long as Search.Run, if Fixed or Growth is not 0
	Alone  string        // why no two processes of its package can run at the same time; "" if they can
}

// ID returns the id of the benchmark in a study: import/path.BenchmarkName/sub.
func (b Benchmark) ID() string {
	return strings.TrimSuffix(b.Package, "_test") + "." + b.Name
}

// Elapsed returns how long an iteration takes in ns, whether it is timed or not.
func (b Benchmark) Elapsed() float64 { return b.NSPerOp + b.Untimed }

// TimedShare returns the share of the time of an iteration that is timed.
func (b Benchmark) TimedShare() float64 {
	return tare.Pilot{NSPerOp: b.NSPerOp, UntimedNS: b.Untimed}.TimedShare()
}

// Left is a benchmark or package that is not measured.
type Left struct {
	ID     string
	Side   string // side at fault, or Both; "" if neither
	Broken bool   // it does not build
	Late   bool   // it takes too long, or there was no time to try it
	Why    string // without the side

	OneSided bool // only one revision has it, so that there is nothing to compare
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
	Pattern string                        // as go test -bench takes it
	Keep    func(id string) bool          // selects top-level benchmarks
	Slice   func(Benchmark) time.Duration // length of its slices; 0 if it will not have any
	Run     time.Duration                 // length of a run of a benchmark without slices
	Once    time.Duration                 // for one iteration of a benchmark and all below it; 0 means a minute
	Within  time.Duration                 // for all of them, of which a package gets half of the rest, and half as much for the starts of processes; 0 means no limit
	NoTime  string                        // why benchmarks are skipped that Within has no time for
	Skip    map[string]bool               // ids to skip, or not to measure closer
	Spec    trial.Spec                    // of their processes
	Say     func(string)
}

// Discover runs every selected benchmark of the suite once, and returns those that give results, in
// the order of the sources.
func (b *Suite) Discover(ctx context.Context, q Search) (found []Benchmark, left []Left, remarks []Remark, err error) {
	spec := q.Spec
	spec.Name = b.Side.ID + "/discover"
	d := newDiscovery(b.Side.ID)
	d.limit, d.slice, d.run = q.Once, q.Slice, q.Run
	if d.limit == 0 {
		d.limit = onceLimit
	}
	d.closer, d.warm = 4*d.limit, warmCap
	if q.Within > 0 {
		d.limit, d.closer, d.warm = min(d.limit, q.Within/2), min(d.closer, q.Within), min(d.warm, q.Within/shortRuns/2)
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
		from := time.Since(began) - d.starting
		part := max(0, q.Within-from)
		if i < len(b.Tests)-1 { // few packages start quickly in every round, and one with long benchmarks must not take all time
			part /= 2
		}
		d.isOver = func(share float64) bool {
			return q.Within > 0 && time.Since(began)-d.starting > from+time.Duration(share*float64(part))
		}
		for _, f := range t.Files {
			some, lost, err := d.searchFile(ctx, t.Key(f), f.Names, top, q)
			if err != nil {
				return nil, nil, nil, err
			}
			found, left = append(found, some...), append(left, lost...)
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

// openConn opens a connection to the suite, and closes the one before. It is of no study: nothing
// is linked again for it.
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

// searchFile finds the benchmarks of one test file: it runs each once, and then measures them
// closer, the fastest first, as far as there is time.
func (d *discovery) searchFile(ctx context.Context, key string, names []string, top *regexp.Regexp, q Search) (found []Benchmark, left []Left, err error) {
	tried := 0
	for _, name := range names {
		all := Benchmark{Package: key, Name: name}
		if !top.MatchString(name) || !q.Keep(all.ID()) || q.Skip[all.ID()] {
			continue
		}
		if tried > 0 && d.isOver(0.5) || d.tried && d.isLate() {
			left = append(left, Left{ID: all.ID(), Late: true, Why: q.NoTime})
			continue
		}
		tried++
		d.tried = true
		q.Say(fmt.Sprintf("%s: running %s once", d.side, all.ID()))
		some, lost, err := d.searchBelow(ctx, all, q.Pattern)
		if err != nil {
			return nil, nil, err
		}
		found, left = append(found, some...), append(left, lost...)
	}
	found = slices.DeleteFunc(found, func(b Benchmark) bool { return q.Skip[b.ID()] })
	order := make([]int, len(found))
	for i := range order {
		order[i] = i
	}
	if q.Within > 0 {
		slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(found[a].NSPerOp, found[b].NSPerOp) })
	}
	isOut := make([]bool, len(found))
	for n, i := range order {
		b := &found[i]
		isLong := q.Within > 0 && time.Duration(b.NSPerOp) > q.Within/shortRuns
		if isOut[i] = isLong || n > 0 && (d.isOver(1) || d.isLate()); isOut[i] {
			left = append(left, Left{ID: b.ID(), Late: true, Why: q.NoTime})
			continue
		}
		why, err := d.measureSingle(ctx, b)
		if err != nil {
			return nil, nil, err
		}
		switch isOut[i] = why != ""; {
		case isOut[i] && q.Within > 0 && d.tookLong:
			left = append(left, Left{ID: b.ID(), Late: true, Why: q.NoTime})
		case isOut[i]:
			left = append(left, d.newLeft(*b, why))
		}
	}
	n := -1
	return slices.DeleteFunc(found, func(Benchmark) bool { n++; return isOut[n] }), left, nil
}

// discovery is the search for the benchmarks of one side.
type discovery struct {
	conn  trial.Conn
	limit time.Duration
	slice func(Benchmark) time.Duration
	run   time.Duration
	side  string

	procs    map[string]int           // GOMAXPROCS by package
	starts   map[string]time.Duration // of the process of each package, the longest
	starting time.Duration            // of all of them together
	isOver   func(share float64) bool // whether that share of the time for a package is over
	isLate   func() bool              // whether starts of processes have taken too much of the time for all
	tried    bool                     // one benchmark at least
	closer   time.Duration            // for a closer look at a benchmark
	warm     time.Duration            // of that, for a warm-up
	tookLong bool                     // the last closer look
	until    time.Time                // when the comparison with go test must end; zero means no limit
	isUp     func() bool              // whether half of the time for it is up; nil if it is not
}

func newDiscovery(side string) *discovery {
	return &discovery{side: side, procs: map[string]int{}, starts: map[string]time.Duration{}}
}

// searchBelow runs one benchmark once with all that are below it. The time of each that it returns
// is its share of that run.
func (d *discovery) searchBelow(ctx context.Context, top Benchmark, pattern string) (found []Benchmark, left []Left, err error) {
	all, took, err := d.runOnce(ctx, top, map[string]string{gobench.SetRegexp: pattern}, 0)
	var te *tare.TrialError
	if err == nil && !slices.ContainsFunc(all, func(o gobench.Outcome) bool { return hasTime(o) || o.Failed }) {
		// A panic may become visible only now: testing continues for a moment.
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
			continue // because of one below it
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

// describeLost returns the entry of a benchmark that ended its process.
func (d *discovery) describeLost(b Benchmark, te *tare.TrialError) Left {
	l := d.newLeft(b, d.describeExit(te))
	l.Late = te.Class == tare.ErrDeadline
	return l
}

func (d *discovery) newLeft(b Benchmark, why string) Left {
	return Left{ID: b.ID(), Side: d.side, Why: why}
}

// runOnce prepares b and runs it once. Case 1 reports more about skipped benchmarks.
func (d *discovery) runOnce(ctx context.Context, b Benchmark, set map[string]string, which int) ([]gobench.Outcome, time.Duration, error) {
	if err := d.prepareBenchmark(ctx, b, set); err != nil {
		return nil, 0, err
	}
	ctx, cancel := context.WithTimeout(ctx, d.limit)
	defer cancel()
	a, err := d.conn.Do(ctx, wire.Request{Op: wire.OpAnswer, On: b.ID(), Cases: []int{which}})
	if err != nil || len(a.Answers) == 0 {
		return nil, 0, err
	}
	var all []gobench.Outcome
	if err := json.Unmarshal(a.Answers[0].Output, &all); err != nil {
		return nil, 0, &tare.TrialError{Class: tare.ErrProtocol, Message: fmt.Sprintf("read the outcomes of %s: %v", b.ID(), err)}
	}
	return all, time.Duration(a.WallNS), nil
}

func (d *discovery) prepareBenchmark(ctx context.Context, b Benchmark, set map[string]string) error {
	ctx, cancel := context.WithTimeout(ctx, prepareLimit)
	defer cancel()
	began := time.Now()
	a, err := d.conn.Do(ctx, wire.Request{Op: wire.OpPrepare, Workload: &wire.Workload{ID: b.ID(), Fixture: b.Package, Op: b.Name, Set: set}})
	start := time.Since(began)
	d.starting += start
	d.starts[b.Package] = max(d.starts[b.Package], start)
	if a.GOMAXPROCS > 0 {
		d.procs[b.Package] = a.GOMAXPROCS
	}
	return err
}

// measureSingle measures b by itself. It returns why b gives no result, or "".
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
	limited, cancel := context.WithTimeout(ctx, d.closer) // for all of the following
	looked := time.Now()
	d.tookLong = false
	defer func() {
		d.tookLong = d.tookLong || limited.Err() != nil
		cancel()
	}()
	a, err := d.conn.Do(limited, wire.Request{Op: wire.OpWarm, On: b.ID(), MinNS: warmFor.Nanoseconds(), CapNS: d.warm.Nanoseconds()})
	if err != nil || a.Errors > 0 {
		return whyNoResult(*b, a), err
	}
	b.NSPerOp = float64(a.WallNS) / float64(a.Ops)
	m, err := d.conn.Do(limited, wire.Request{Op: wire.OpStats, On: b.ID(), Ops: a.Ops})
	if err != nil || m.Errors > 0 {
		return whyNoResult(*b, m), err
	}
	b.BytesPer = float64(m.Bytes) / float64(m.Ops)
	began := time.Now()
	for i := 0; i < maxOverheadRuns && time.Since(began) < overheadTime; i++ {
		one, err := d.conn.Do(limited, wire.Request{Op: wire.OpAnswer, On: b.ID(), Cases: []int{0}})
		if errors.As(err, &te) {
			return d.describeExit(te), nil
		}
		if err != nil {
			return "", err
		}
		b.Around = min(b.Around, time.Duration(one.WallNS))
	}
	if m.Ops == a.Ops {
		a.UntimedNS = min(a.UntimedNS, m.UntimedNS)
	}
	b.splitTime(a)
	d.isUp = func() bool { return time.Since(looked) > d.closer/2 }
	if tests := minGrowRuns * 2 * b.Around; d.slice(*b) > 0 && time.Since(looked)+tests > d.closer/2 {
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

// splitTime divides the time of one iteration with all around it, which is in b.Around, by a run of
// many: into timed, untimed, and testing's work for each run. It does that twice if there are
// several iterations: the first is run by itself.
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

var endedRE = regexp.MustCompile(`^ended during \w+ with `)

// whyNoResult returns why a reply contains no result of b.
func whyNoResult(b Benchmark, a wire.Reply) string {
	if why, ok := strings.CutPrefix(a.Message, b.Name+" failed: "); ok {
		return "it fails: " + why
	}
	return a.Message
}

// describeExit returns how a benchmark ended its process.
func (d *discovery) describeExit(te *tare.TrialError) string {
	how, starts := endedRE.ReplaceAllString(te.Message, ""), strings.Contains(te.Message, " "+wire.OpHello+" w")
	switch {
	case te.Class == tare.ErrExit && starts:
		return "its test binary ends before any benchmark runs, in TestMain or an init: " + how
	case te.Class == tare.ErrExit:
		return "it ends the process: " + how
	case te.Class == tare.ErrDeadline && starts:
		return fmt.Sprintf("its TestMain or an init takes too long: no benchmark began within %v", prepareLimit)
	case te.Class == tare.ErrDeadline:
		return fmt.Sprintf("it takes too long: it did not end within %v", d.limit)
	}
	return te.Error()
}

// failure is a benchmark that gave no result.
type failure struct{ name, why string }

// failureOf returns a benchmark that failed or was skipped with the reason.
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
