// Package foreign reads what other tools recorded of benchmarks: the output of
// go test -bench (also with -json), gobenchdata's file, and that of github-action-benchmark.
//
// Their figures are absolute: there is no other contender of the same run to
// take a ratio to. In the results made of them each figure is therefore a ratio
// to one unit (1 ns, 1 B, 1 allocation), and has an interval only if a log
// holds a benchmark six times or more. Counts need none, and may be zero.
//
// A benchmark is what its package, its name and its processors say. If a file does not
// tell two benchmarks from two rounds of one, it is an error with the line. What has
// no result, or a unit that tare does not keep, is named.
package foreign

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/footprint"
	"github.com/tarebench/tare/cmd/tare/internal/history"
	"github.com/tarebench/tare/internal/format"
	"github.com/tarebench/tare/stats"
)

// Ids of the contenders in the results.
const (
	UnitID = "one-unit"
	RunID  = "run"
)

// figure is one value of a benchmark.
type figure struct {
	benchmark string
	unit      string // ns/op, B/op, allocs/op
	value     float64
}

// record is one run of benchmarks.
type record struct {
	pkg     string
	os      string
	arch    string
	cpu     string
	version string // of the measured program
	at      time.Time
	figures []figure
}

// Bounds of a file: a single value of a benchmark takes a kilobyte, a run with a single value four.
const (
	maxFigures = 2 << 20
	maxRuns    = 1 << 18
)

// tally counts the runs and values of a file.
type tally struct{ runs, figures int }

// add returns an error if there are too many.
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
	Left    []string       // skipped entries, a line each
}

// Read makes results of a file. It returns false if the file has none of the formats. at
// is when the file was made, for formats that have no time. An error about a place is a
// *history.Error.
func Read(name string, src []byte, at time.Time) (read Records, ok bool, err error) {
	text := bytes.TrimPrefix(src, []byte("\ufeff"))
	if isTable(text) {
		return read, true, &history.Error{File: name, What: "a table of benchstat", Hint: "import the output of go test that benchstat read: a table has no rounds"}
	}
	f := &file{name: name, text: text, at: at, units: map[string]int{}}
	start := bytes.TrimSpace(text[:min(len(text), sniffBytes)])
	switch {
	case isAction(start):
		err = f.readAction()
	case isBenchData(start):
		err = f.readBenchData()
	case isEvents(start):
		err = f.readEvents()
	case len(start) > 0 && start[0] != '{' && start[0] != '[' && (bytes.HasPrefix(start, []byte("Benchmark")) || bytes.Contains(text, []byte("\nBenchmark"))):
		err = f.readLog(splitLines(text), "")
	default:
		return read, false, nil
	}
	if place := (*history.Error)(nil); err != nil && !errors.As(err, &place) {
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
	read.Left = append(f.left, f.otherUnits()...)
	return read, true, nil
}

// file is a file that is being read.
type file struct {
	name  string
	text  []byte
	at    time.Time
	tally tally

	records []record
	left    []string       // skipped entries, a line each
	units   map[string]int // values in units that tare does not store
}

// sniffBytes is the length of the part of a file that identifies its format.
const sniffBytes = 4096

// benchstatRE matches the beginning of a table of benchstat: of today, of before 2023, or in CSV.
var benchstatRE = regexp.MustCompile(`(?m)^ +│.*│|^name( +old)? +(old )?(time|alloc|allocs|speed)/op|^,[^\n]*,CI(,|$)`)

// isTable reports whether text is a table of benchstat, and not the output that it read.
func isTable(text []byte) bool {
	return benchstatRE.Match(text[:min(len(text), sniffBytes)]) && !bytes.Contains(text, []byte(" ns/op"))
}

// IsForeign reports whether a file that begins with head, which begins as documents of ours do
// too, was written by another tool.
func IsForeign(head []byte) bool {
	head = bytes.TrimSpace(bytes.TrimPrefix(head, []byte("\ufeff")))
	return isAction(head) || isBenchData(head) || isEvents(head)
}

// isAction reports whether text begins as the data of github-action-benchmark: data.js, or
// the JSON of external-data-json-path.
func isAction(text []byte) bool {
	if bytes.HasPrefix(text, []byte("window.BENCHMARK_DATA")) {
		return true
	}
	has := func(key string) bool { return bytes.Contains(text, []byte(key)) }
	return bytes.HasPrefix(text, []byte("{")) && has(`"entries"`) && (has(`"lastUpdate"`) || has(`"repoUrl"`)) && !has(`"schema"`)
}

// isBenchData reports whether text begins as the file of gobenchdata.
func isBenchData(text []byte) bool {
	return bytes.HasPrefix(text, []byte("[")) && bytes.Contains(text, []byte(`"Suites"`))
}

// errorAt returns an error about a position in the file.
func (f *file) errorAt(line, col int, what, right string) error {
	return &history.Error{File: f.name, Line: line, Col: col, What: what, Hint: right}
}

// addLeft records that something in a line is skipped.
func (f *file) addLeft(line int, what string) {
	f.left = append(f.left, fmt.Sprintf("%s:%d: %s", f.name, line, what))
}

// isMeasured reports whether a value can be a measurement: it is not negative, and finite.
func isMeasured(value float64) bool { return value >= 0 && !math.IsInf(value, 1) }

// countKept reports whether a result stores a value. It counts the others: those in other units,
// and times of zero.
func (f *file) countKept(value float64, unit string) bool {
	metric := metricOf(unit)
	if metric == "" || metric == "time" && value == 0 {
		f.units[unit]++
		return false
	}
	return true
}

// otherUnits returns a line about the values that are not stored.
func (f *file) otherUnits() []string {
	if len(f.units) == 0 {
		return nil
	}
	const most = 6
	names, n := slices.Sorted(maps.Keys(f.units)), 0
	for _, x := range f.units {
		n += x
	}
	if more := len(names) - most; more > 0 {
		names = append(names[:most], fmt.Sprintf("%d other units", more))
	}
	return []string{fmt.Sprintf("%s: %s in %s: kept are ns/op above 0, B/op and allocs/op", f.name, format.Count(n, "figure"), strings.Join(names, ", "))}
}

// metricOf returns the metric of a unit; "" if tare has no such metric.
func metricOf(unit string) string {
	return map[string]string{"ns/op": "time", "B/op": "bytes", "allocs/op": "allocs"}[unit]
}

// toResult returns the record as a result; nil if it has no value in ns/op, B/op or allocs/op.
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
		if m, _ := tare.MetricNamed(key.metric); m.IsCount() { // counts are compared as counts
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

// readBenchData reads the file of gobenchdata: a list of runs.
func (f *file) readBenchData() error {
	text := bytes.TrimSpace(f.text)
	var runs []struct {
		Version string
		Date    int64
		Suites  []struct {
			Goos, Goarch, Pkg string
			Benchmarks        []struct {
				Name    string
				NsPerOp float64
				Mem     struct{ BytesPerOp, AllocsPerOp float64 }
			}
		}
	}
	if err := footprint.Unmarshal(text, &runs, footprint.Most); err != nil {
		return fmt.Errorf("not what gobenchdata writes: %w", err)
	}
	for i, run := range runs {
		seen := map[[4]string]int{} // suite of each benchmark
		for j, suite := range run.Suites {
			if err := f.tally.add(1, 3*len(suite.Benchmarks)); err != nil {
				return err
			}
			memory := false // 0 B/op also means a run without -benchmem
			for _, b := range suite.Benchmarks {
				memory = memory || b.Mem.BytesPerOp > 0 || b.Mem.AllocsPerOp > 0
			}
			r := record{pkg: cmp.Or(suite.Pkg, "benchmarks"), os: suite.Goos, arch: suite.Goarch, version: run.Version, at: time.Unix(run.Date, 0)}
			for k, b := range suite.Benchmarks {
				key := [4]string{suite.Pkg, suite.Goos, suite.Goarch, b.Name}
				if in, ok := seen[key]; ok && in != j {
					line, col := f.placeOf(i, "Suites", j, "Benchmarks", k)
					return f.errorAt(line, col, fmt.Sprintf("a second %s of package %q in one run, in another suite", b.Name, suite.Pkg), "keep one, or give each suite its Pkg")
				}
				seen[key] = j
				for unit, value := range map[string]float64{"ns/op": b.NsPerOp, "B/op": b.Mem.BytesPerOp, "allocs/op": b.Mem.AllocsPerOp} {
					if !isMeasured(value) {
						line, col := f.placeOf(i, "Suites", j, "Benchmarks", k)
						return f.errorAt(line, col, fmt.Sprintf("%s: %v %s is no measurement", b.Name, value, unit), "a figure is not negative")
					}
					if unit != "ns/op" && !memory {
						continue
					}
					if f.countKept(value, unit) {
						r.figures = append(r.figures, figure{b.Name, unit, value})
					}
				}
			}
			slices.SortStableFunc(r.figures, func(a, b figure) int {
				return cmp.Or(strings.Compare(a.benchmark, b.benchmark), strings.Compare(a.unit, b.unit))
			})
			f.records = append(f.records, r)
		}
	}
	return nil
}
