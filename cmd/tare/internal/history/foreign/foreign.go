// Package foreign reads benchmarks that other tools recorded. It reads the output of go test -bench
// (also with -json), and the files of gobenchdata and of github-action-benchmark.
//
// Results of tare are ratios, but these values are absolute. So [Read] compares each value with one
// unit (1 ns, 1 B, 1 allocation). A value has an interval only if a log contains the benchmark at least
// six times. Counts need no interval, and may be zero.
//
// A benchmark is identified by its package, its name and its number of processors. In some files, two
// values may be of two benchmarks or of two rounds of one benchmark. Then Read fails and names the
// line. It lists benchmarks without a result, and units that tare does not store.
package foreign

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/footprint"
	"github.com/tarebench/tare/cmd/tare/internal/history"
	"github.com/tarebench/tare/internal/format"
	"github.com/tarebench/tare/internal/lazyregexp"
	"github.com/tarebench/tare/stats"
)

// Ids of the contenders in the results.
const (
	UnitID = "one-unit" // one unit of the metric
	RunID  = "run"      // the recorded values
)

type figure struct {
	benchmark string
	unit      string // unit as in the file, e.g. ns/op
	value     float64
}

// record is one run of a package, which becomes a result.
type record struct {
	pkg     string
	os      string
	arch    string
	cpu     string
	version string // version of the measured program
	at      time.Time
	figures []figure
}

// Bounds of a file, which limit memory. A value takes up to 1 KB, and a run with one value 4 KB.
const (
	maxFigures = 2 << 20
	maxRuns    = 1 << 18
)

type tally struct{ runs, figures int }

func (t *tally) add(runs, figures int) error {
	t.runs, t.figures = t.runs+runs, t.figures+figures
	switch {
	case t.runs > maxRuns:
		return fmt.Errorf("more than %d runs or packages; split the file", maxRuns)
	case t.figures > maxFigures:
		return fmt.Errorf("more than %d figures; split the file", maxFigures)
	}
	return nil
}

// Records contains the results of a file.
type Records struct {
	Results []*tare.Result // the oldest first
	Omitted []string       // descriptions of skipped entries, a line each
}

// Read makes results of a file. It returns false if the file has none of the formats. Some formats have
// no time; then at is used. Errors are a *history.Error.
func Read(name string, src []byte, at time.Time) (read Records, ok bool, err error) {
	text := bytes.TrimPrefix(src, []byte("\ufeff"))
	if isTable(text) {
		return read, true, &history.Error{File: name, What: "a table of benchstat", Hint: "import the output of go test that benchstat read: a table has no rounds"}
	}
	f := &file{name: name, text: text, at: at, units: map[string]int{}}
	start := bytes.TrimSpace(text[:min(len(text), sniffBytes)])
	isJSON := bytes.HasPrefix(start, []byte("{")) || bytes.HasPrefix(start, []byte("["))
	inLaterLine := len(start) > 0 && bytes.Contains(text, []byte("\nBenchmark"))
	hasBenchmark := inLaterLine || bytes.HasPrefix(start, []byte("Benchmark"))
	switch {
	case isAction(start):
		err = f.readAction()
	case isBenchData(start):
		err = f.readBenchData()
	case isEvents(start):
		err = f.readEvents()
	case !isJSON && hasBenchmark:
		err = f.readLog(splitLines(text), "")
	default:
		return read, false, nil
	}
	if located := (*history.Error)(nil); err != nil && !errors.As(err, &located) {
		err = &history.Error{File: name, What: err.Error()}
	}
	if err != nil {
		return read, true, err
	}
	for _, r := range f.records {
		if res := r.toResult(); res != nil {
			read.Results = append(read.Results, res)
		}
	}
	if len(read.Results) == 0 {
		return read, true, &history.Error{File: name, What: "no benchmark in it has ns/op, B/op or allocs/op"}
	}
	slices.SortStableFunc(read.Results, func(a, b *tare.Result) int { return a.Started.Compare(b.Started) })
	read.Omitted = append(f.omitted, f.otherUnits()...)
	return read, true, nil
}

type file struct {
	name  string
	text  []byte
	at    time.Time // time of the file
	tally tally     // runs and values so far

	records []record
	omitted []string       // describe skipped entries, a line each
	units   map[string]int // number of values that tare does not store, by unit
}

// sniffBytes is the length of the start that shows the format.
const sniffBytes = 4096

// benchstatRE matches the head of a table of benchstat: "  │ old.txt │ …", "name  old time/op  …"
// (before 2023) or CSV.
var benchstatRE = lazyregexp.New(`(?m)^ +│.*│|^name( +old)? +(old )?(time|alloc|allocs|speed)/op|^,[^\n]*,CI(,|$)`)

// isTable reports whether text is a table of benchstat, not its input.
func isTable(text []byte) bool {
	return benchstatRE.Match(text[:min(len(text), sniffBytes)]) && !bytes.Contains(text, []byte(" ns/op"))
}

// IsForeign reports whether a JSON file that begins with head was written by another tool.
func IsForeign(head []byte) bool {
	head = bytes.TrimSpace(bytes.TrimPrefix(head, []byte("\ufeff")))
	return isAction(head) || isBenchData(head) || isEvents(head)
}

// isAction reports whether text begins a file of github-action-benchmark: data.js, or the JSON of
// external-data-json-path.
func isAction(text []byte) bool {
	if bytes.HasPrefix(text, []byte("window.BENCHMARK_DATA")) {
		return true
	}
	has := func(key string) bool { return bytes.Contains(text, []byte(key)) }
	hasKeys := has(`"entries"`) && (has(`"lastUpdate"`) || has(`"repoUrl"`))
	isTare := has(`"schema"`) // a document of tare
	return bytes.HasPrefix(text, []byte("{")) && hasKeys && !isTare
}

func isBenchData(text []byte) bool {
	return bytes.HasPrefix(text, []byte("[")) && bytes.Contains(text, []byte(`"Suites"`))
}

func (f *file) errorAt(line, col int, what, hint string) error {
	return &history.Error{File: f.name, Line: line, Col: col, What: what, Hint: hint}
}

func (f *file) addOmitted(line int, what string) {
	f.omitted = append(f.omitted, fmt.Sprintf("%s:%d: %s", f.name, line, what))
}

func isMeasured(value float64) bool { return value >= 0 && !math.IsInf(value, 1) }

// countKept reports whether results store a value. They do not store other units and times of zero.
func (f *file) countKept(value float64, unit string) bool {
	metric := metricOf(unit)
	if metric == "" || metric == "time" && value == 0 {
		f.units[unit]++
		return false
	}
	return true
}

func (f *file) otherUnits() []string {
	if len(f.units) == 0 {
		return nil
	}
	const maxNames = 6
	names, n := slices.Sorted(maps.Keys(f.units)), 0
	for _, x := range f.units {
		n += x
	}
	if more := len(names) - maxNames; more > 0 {
		names = append(names[:maxNames], fmt.Sprintf("%d other units", more))
	}
	return []string{fmt.Sprintf("%s: %s in %s: stored are ns/op above 0, B/op and allocs/op", f.name, format.Count(n, "figure"), strings.Join(names, ", "))}
}

// metricOf returns the metric of a unit, or "".
func metricOf(unit string) string {
	return map[string]string{"ns/op": "time", "B/op": "bytes", "allocs/op": "allocs"}[unit]
}

// toResult returns the record as a result, or nil if it has no values. Each value is a round in which
// RunID is compared with UnitID.
func (r record) toResult() *tare.Result {
	out := &tare.Result{
		Schema: tare.ResultSchema, Study: "recorded " + r.pkg, Question: "What did other tools record of " + r.pkg + "?",
		Kind: "gobench",
		Run: tare.Run{
			Started: r.at.UTC(), Stopped: "recorded", Seed: "1", Budget: "recorded elsewhere",
			Machine: tare.Machine{OS: r.os, Arch: r.arch, CPU: r.cpu},
		},
		Design: tare.Design{Contenders: []tare.Contender{
			{ID: UnitID, Kind: "gobench", Role: tare.RoleBaseline, Name: "one unit"},
			{ID: RunID, Kind: "gobench", Role: tare.RoleContender, Name: r.pkg, Version: r.version},
		}},
	}
	type row struct{ benchmark, metric string }
	var rows []row
	figures, known := map[row][]float64{}, map[string]bool{}
	for _, f := range r.figures {
		metric := metricOf(f.unit)
		if !slices.Contains(out.Metrics, metric) {
			out.Metrics = append(out.Metrics, metric)
		}
		if !known[f.benchmark] {
			known[f.benchmark] = true
			out.Workloads = append(out.Workloads, tare.Workload{ID: f.benchmark, Op: f.benchmark})
		}
		key := row{f.benchmark, metric}
		if figures[key] == nil {
			rows = append(rows, key)
		}
		figures[key] = append(figures[key], f.value)
		out.RoundsDone = max(out.RoundsDone, len(figures[key]))
	}
	if len(rows) == 0 {
		return nil
	}
	for _, key := range rows {
		values := figures[key]
		if slices.Min(values) > 0 {
			e := tare.Effects{Workload: key.benchmark, Metric: key.metric, A: RunID, B: UnitID}
			for _, x := range values {
				e.Effects = append(e.Effects, math.Log(x))
			}
			out.Rounds = append(out.Rounds, e)
		}
		if m, _ := tare.MetricNamed(key.metric); m.IsCount() { // history compares counts, not their ratios
			median := stats.Median(values)
			out.Values = append(out.Values,
				tare.Value{Workload: key.benchmark, Contender: UnitID, Metric: key.metric, Value: 1, Low: 1, High: 1, Unit: m.Unit, Rounds: len(values)},
				tare.Value{Workload: key.benchmark, Contender: RunID, Metric: key.metric, Value: median, Low: median, High: median, Unit: m.Unit, Rounds: len(values)})
		}
	}
	order := []string{"time", "bytes", "allocs"}
	slices.SortFunc(out.Metrics, func(a, b string) int { return cmp.Compare(slices.Index(order, a), slices.Index(order, b)) })
	return out
}

type benchDataSuite struct {
	Goos, Goarch, Pkg string
	Benchmarks        []benchDataBenchmark
}

type benchDataBenchmark struct {
	Name    string
	NsPerOp float64
	Mem     struct{ BytesPerOp, AllocsPerOp float64 }
}

// readBenchData reads a list of runs.
func (f *file) readBenchData() error {
	text := bytes.TrimSpace(f.text)
	var runs []struct {
		Version string
		Date    int64 // seconds since 1970
		Suites  []benchDataSuite
	}
	if err := footprint.Unmarshal(text, &runs, footprint.Most); err != nil {
		return fmt.Errorf("not what gobenchdata writes: %w", err)
	}
	for i, run := range runs {
		seen := map[[4]string]int{} // index of the suite of each benchmark
		for j, suite := range run.Suites {
			if err := f.tally.add(1, 3*len(suite.Benchmarks)); err != nil {
				return err
			}
			r := record{pkg: cmp.Or(suite.Pkg, "benchmarks"), os: suite.Goos, arch: suite.Goarch, version: run.Version, at: time.Unix(run.Date, 0)}
			for k, b := range suite.Benchmarks {
				key := [4]string{suite.Pkg, suite.Goos, suite.Goarch, b.Name}
				if other, ok := seen[key]; ok && other != j {
					line, col := f.placeOf(i, "Suites", j, "Benchmarks", k)
					return f.errorAt(line, col, fmt.Sprintf("a second %s of package %q in one run, in another suite", b.Name, suite.Pkg), "keep one, or give each suite its Pkg")
				}
				seen[key] = j
				for _, x := range b.figures(suite.hasMemory()) {
					if !isMeasured(x.value) {
						line, col := f.placeOf(i, "Suites", j, "Benchmarks", k)
						return f.errorAt(line, col, fmt.Sprintf("%s: %v %s is no measurement", b.Name, x.value, x.unit), "a figure is not negative")
					}
					if f.countKept(x.value, x.unit) {
						r.figures = append(r.figures, x)
					}
				}
			}
			slices.SortStableFunc(r.figures, func(a, b figure) int { return strings.Compare(a.benchmark, b.benchmark) })
			f.records = append(f.records, r)
		}
	}
	return nil
}

// hasMemory returns false if all are 0: the run was without -benchmem.
func (s benchDataSuite) hasMemory() bool {
	return slices.ContainsFunc(s.Benchmarks, func(b benchDataBenchmark) bool { return b.Mem.BytesPerOp != 0 || b.Mem.AllocsPerOp != 0 })
}

func (b benchDataBenchmark) figures(hasMemory bool) []figure {
	duration := figure{benchmark: b.Name, unit: "ns/op", value: b.NsPerOp}
	if !hasMemory {
		return []figure{duration}
	}
	return []figure{
		{benchmark: b.Name, unit: "B/op", value: b.Mem.BytesPerOp},
		{benchmark: b.Name, unit: "allocs/op", value: b.Mem.AllocsPerOp},
		duration,
	}
}
