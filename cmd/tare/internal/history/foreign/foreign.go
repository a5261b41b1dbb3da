// Package foreign reads what other tools recorded of benchmarks: the output of
// go test -bench, gobenchdata's file, and that of github-action-benchmark.
//
// Their figures are absolute: there is no other contender of the same run to
// take a ratio to. In the results made of them each figure is therefore a ratio
// to one unit (1 ns, 1 B, 1 allocation), and has an interval only where a log
// holds a benchmark six times or more.
package foreign

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"reflect"
	"slices"
	"strings"
	"time"

	"golang.org/x/perf/benchfmt"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/footprint"
)

// Ids of the contenders in the results.
const (
	UnitID = "one-unit"
	RunID  = "run"
)

// figure is what one benchmark took once.
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
	version string // of what was measured
	at      time.Time
	figures []figure
}

// Bounds of what is made of a file: a figure of a benchmark that has no other takes
// a kilobyte, a run with a single figure four.
const (
	mostFigures = 2 << 20
	mostRuns    = 1 << 18
)

// tally counts what was read of a file.
type tally struct{ runs, figures int }

// add is an error where there is too much.
func (t *tally) add(runs, figures int) error {
	t.runs, t.figures = t.runs+runs, t.figures+figures
	switch {
	case t.runs > mostRuns:
		return fmt.Errorf("more than %d runs or packages; split the file", mostRuns)
	case t.figures > mostFigures:
		return fmt.Errorf("more than %d figures; split the file", mostFigures)
	}
	return nil
}

// Read makes results of a file, the oldest first. ok is false where it is in
// none of the formats. at is when it was made, for those that do not say.
func Read(name string, src []byte, at time.Time) (results []*tare.Result, ok bool, err error) {
	text := bytes.TrimSpace(bytes.TrimPrefix(src, []byte("\ufeff")))
	var records []record
	switch {
	case bytes.HasPrefix(text, []byte("window.BENCHMARK_DATA")):
		records, err = actionData(text)
	case bytes.HasPrefix(text, []byte("[")) && bytes.Contains(text[:min(len(text), 4096)], []byte(`"Suites"`)):
		records, err = benchData(text)
	case len(text) > 0 && text[0] != '{' && text[0] != '[' && (bytes.HasPrefix(text, []byte("Benchmark")) || bytes.Contains(text, []byte("\nBenchmark"))):
		records, err = log(name, text, at)
	default:
		return nil, false, nil
	}
	if err != nil {
		return nil, true, fmt.Errorf("%s: %w", name, err)
	}
	for _, r := range records {
		if res := r.result(); res != nil {
			results = append(results, res)
		}
	}
	if len(results) == 0 {
		return nil, true, fmt.Errorf("%s: no benchmark in it has ns/op, B/op or allocs/op", name)
	}
	slices.SortStableFunc(results, func(a, b *tare.Result) int { return a.Started.Compare(b.Started) })
	return results, true, nil
}

// metricOf returns the metric of a unit; empty if tare has no such metric.
func metricOf(unit string) string {
	return map[string]string{"ns/op": "time", "B/op": "bytes", "allocs/op": "allocs"}[unit]
}

// result returns the record as a result; nil if it has no figure in
// ns/op, B/op or allocs/op.
func (r record) result() *tare.Result {
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
	rounds, known := map[row]int{}, map[string]bool{}
	for _, f := range r.figures {
		metric := metricOf(f.unit)
		if metric == "" || !(f.value > 0) || math.IsInf(f.value, 0) {
			continue
		}
		if !slices.Contains(out.Metrics, metric) {
			out.Metrics = append(out.Metrics, metric)
		}
		if !known[f.benchmark] {
			known[f.benchmark] = true
			out.Workloads = append(out.Workloads, tare.Workload{ID: f.benchmark, Op: f.benchmark})
		}
		i, ok := rounds[row{f.benchmark, metric}]
		if !ok {
			i = len(out.Rounds)
			rounds[row{f.benchmark, metric}] = i
			out.Rounds = append(out.Rounds, tare.Effects{Workload: f.benchmark, Metric: metric, A: RunID, B: UnitID})
		}
		out.Rounds[i].Effects = append(out.Rounds[i].Effects, math.Log(f.value))
		out.RoundsDone = max(out.RoundsDone, len(out.Rounds[i].Effects))
	}
	if len(out.Rounds) == 0 {
		return nil
	}
	order := []string{"time", "bytes", "allocs"}
	slices.SortFunc(out.Metrics, func(a, b string) int { return cmp.Compare(slices.Index(order, a), slices.Index(order, b)) })
	return out
}

// log reads the output of go test -bench: a record for each package.
func log(name string, text []byte, at time.Time) ([]record, error) {
	lines, err := readable(text)
	if err != nil {
		return nil, err
	}
	var records []record
	var read tally
	of := map[string]int{} // records by package
	in := benchfmt.NewReader(lines, name)
	for in.Scan() {
		res, ok := in.Result().(*benchfmt.Result)
		if !ok {
			continue // lines of tests and builds stand between
		}
		pkg := cmp.Or(res.GetConfig("pkg"), "benchmarks")
		i, ok := of[pkg]
		if !ok {
			if err := read.add(1, 0); err != nil {
				return nil, err
			}
			i = len(records)
			of[pkg] = i
			records = append(records, record{
				pkg: pkg, os: res.GetConfig("goos"), arch: res.GetConfig("goarch"), cpu: res.GetConfig("cpu"), at: at,
				version: cmp.Or(res.GetConfig("commit"), res.GetConfig("experiment-commit")),
			})
		}
		if err := read.add(0, len(res.Values)); err != nil {
			return nil, err
		}
		for _, v := range res.Values {
			x, unit := v.Value, v.Unit
			if v.OrigUnit != "" {
				x, unit = v.OrigValue, v.OrigUnit
			}
			records[i].figures = append(records[i].figures, figure{"Benchmark" + string(res.Name.Full()), unit, x})
		}
	}
	return records, in.Err()
}

// readable is text with empty lines in place of those that benchfmt cannot read: it
// ends at the first that is too long. Logs of tests have such lines. A benchmark that
// has one is an error.
func readable(text []byte) (io.Reader, error) {
	const tooLong = bufio.MaxScanTokenSize
	var parts []io.Reader
	from, at := 0, 0
	for line := range bytes.Lines(text) {
		begin := at
		at += len(line)
		if line = bytes.TrimSuffix(line, []byte("\n")); len(line) < tooLong {
			continue
		}
		if bytes.HasPrefix(line, []byte("Benchmark")) {
			return nil, fmt.Errorf("the line that begins with %.40q has %d bytes, but the line of a benchmark must have less than %d", line, len(line), tooLong)
		}
		parts = append(parts, bytes.NewReader(text[from:begin]))
		from = begin + len(line)
	}
	return io.MultiReader(append(parts, bytes.NewReader(text[from:]))...), nil
}

// benchData reads the file of gobenchdata: a list of runs.
func benchData(text []byte) ([]record, error) {
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
		return nil, fmt.Errorf("not what gobenchdata writes: %w", err)
	}
	var records []record
	var read tally
	for _, run := range runs {
		for _, suite := range run.Suites {
			if err := read.add(1, 3*len(suite.Benchmarks)); err != nil {
				return nil, err
			}
			r := record{pkg: cmp.Or(suite.Pkg, "benchmarks"), os: suite.Goos, arch: suite.Goarch, version: run.Version, at: time.Unix(run.Date, 0)}
			for _, b := range suite.Benchmarks {
				for unit, value := range map[string]float64{"ns/op": b.NsPerOp, "B/op": b.Mem.BytesPerOp, "allocs/op": b.Mem.AllocsPerOp} {
					r.figures = append(r.figures, figure{b.Name, unit, value})
				}
			}
			slices.SortStableFunc(r.figures, func(a, b figure) int {
				return cmp.Or(strings.Compare(a.benchmark, b.benchmark), strings.Compare(a.unit, b.unit))
			})
			records = append(records, r)
		}
	}
	return records, nil
}

// actionData reads the data.js of github-action-benchmark: runs by the name of
// a suite.
func actionData(text []byte) ([]record, error) {
	start := bytes.IndexByte(text, '{')
	if start < 0 {
		return nil, fmt.Errorf("not what github-action-benchmark writes: no object in it")
	}
	var data struct {
		Entries map[string][]struct {
			Commit  struct{ ID, Message string }
			Date    float64 // milliseconds
			Tool    string
			Benches []struct {
				Name  string
				Value float64
				Unit  string
			}
		}
	}
	err := footprint.Check(text[start:], reflect.TypeOf(data), footprint.Most)
	if err == nil {
		err = json.NewDecoder(bytes.NewReader(text[start:])).Decode(&data) // a script may end in a semicolon
	}
	if err != nil {
		return nil, fmt.Errorf("not what github-action-benchmark writes: %w", err)
	}
	var records []record
	var read tally
	for suite, runs := range data.Entries {
		for _, run := range runs {
			if err := read.add(1, len(run.Benches)); err != nil {
				return nil, err
			}
			r := record{pkg: suite, version: run.Commit.ID, at: time.UnixMilli(int64(run.Date))}
			for _, b := range run.Benches {
				name, unit := b.Name, b.Unit
				// github-action-benchmark names the other metrics of a benchmark "Name - B/op".
				if of, after, ok := strings.Cut(name, " - "); ok {
					name, unit = of, cmp.Or(metricUnit(after), unit)
				}
				r.figures = append(r.figures, figure{name, unit, b.Value})
			}
			records = append(records, r)
		}
	}
	slices.SortStableFunc(records, func(a, b record) int { return cmp.Or(a.at.Compare(b.at), strings.Compare(a.pkg, b.pkg)) })
	return records, nil
}

// metricUnit returns unit if it is ns/op, B/op or allocs/op, and else nothing.
func metricUnit(unit string) string {
	if metricOf(unit) == "" {
		return ""
	}
	return unit
}
