package foreign

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/tarebench/tare/cmd/tare/internal/footprint"
	"github.com/tarebench/tare/internal/lazyregexp"
)

// This file reads the data of github-action-benchmark: {"entries": {"Go": [run, run, …]}}

type actionRun struct {
	Commit  struct{ ID, Message string }
	Date    float64 // milliseconds
	Tool    string
	Benches []actionBench
}

// actionBench is one value of a benchmark, e.g. {"name": "BenchmarkOpen - B/op", "value": 8, "unit":
// "B/op"}.
type actionBench struct {
	Name  string
	Value float64
	Unit  string
	Extra string // e.g. "1000 times", and on another line "4 procs"
}

// readAction reads a file of github-action-benchmark, which has runs by the name of a suite.
func (f *file) readAction() error {
	start := bytes.IndexByte(f.text, '{')
	if start < 0 {
		return fmt.Errorf("not what github-action-benchmark writes: no object in it")
	}
	var data struct{ Entries map[string][]actionRun }
	err := footprint.Check(f.text[start:], reflect.TypeOf(data), footprint.Most)
	if err == nil {
		err = json.NewDecoder(bytes.NewReader(f.text[start:])).Decode(&data) // a Decoder ignores the semicolon at the end of a script
	}
	if err != nil {
		return fmt.Errorf("not what github-action-benchmark writes: %w", err)
	}
	for _, suite := range slices.Sorted(maps.Keys(data.Entries)) {
		for i, run := range data.Entries[suite] {
			if err := f.tally.add(1, len(run.Benches)); err != nil {
				return err
			}
			r := record{pkg: suite, version: run.Commit.ID, at: time.UnixMilli(int64(run.Date))}
			if r.figures, err = f.readBenches(run.Benches, "Entries", suite, i, "Benches"); err != nil {
				return err
			}
			f.records = append(f.records, r)
		}
	}
	slices.SortStableFunc(f.records, func(a, b record) int { return cmp.Or(a.at.Compare(b.at), strings.Compare(a.pkg, b.pkg)) })
	return nil
}

var (
	// procsRE matches the number of processors, its group, in actionBench.Extra: "4 procs".
	procsRE = lazyregexp.New(`(?m)^(\d+) procs$`)
	// packageRE matches a name with a package, e.g. "BenchmarkOpen (example.com/p)", in this order.
	packageRE = lazyregexp.New(`^(.*\S) \(([^()\s]+)\)$`)
)

// nameOf returns the benchmark's name, with its number of processors, and the unit. The tool writes
// further metrics as "Name - B/op", and a benchmark of several packages as "Name (package)".
func (b actionBench) nameOf() (name, unit string) {
	name, unit = b.Name, b.Unit
	if base, suffix, ok := strings.Cut(name, " - "); ok {
		name = base
		if metricOf(suffix) != "" {
			unit = suffix
		}
	}
	pkg := ""
	if m := packageRE.FindStringSubmatch(name); m != nil {
		name, pkg = m[1], " ("+m[2]+")"
	}
	if m := procsRE.FindStringSubmatch(b.Extra); m != nil {
		if procs := m[1]; procs != "1" && !strings.HasSuffix(name, "-"+procs) {
			name += "-" + procs
		}
	}
	return name + pkg, unit
}

type benchKey struct{ name, unit string }

type benchList struct {
	figures   []figure         // in the order of the file
	entries   map[benchKey]int // index of the last entry with each key
	hasRounds bool             // entries with the same key are rounds, see hasRounds
}

// hasRounds reports whether a run consists of the rounds of go test -count. Then at least two
// benchmarks have equally many entries, next to each other. In several packages they usually are not.
func hasRounds(benches []actionBench) bool {
	rounds, names, last := map[benchKey]int{}, map[string]bool{}, ""
	for _, b := range benches {
		name, unit := b.nameOf()
		if name != last && names[name] {
			return false
		}
		names[name], last = true, name
		if fields := strings.Fields(unit); len(fields) > 2 {
			unit = fields[0] + " and others" // without the values of the other metrics, which differ by round
		}
		rounds[benchKey{name, unit}]++
	}
	common := 0 // number of rounds of all benchmarks
	for _, n := range rounds {
		if common > 0 && n != common {
			return false
		}
		common = n
	}
	return len(names) > 1 && common > 1
}

// readBenches returns the values of one run. Errors name the path of the list.
func (f *file) readBenches(benches []actionBench, path ...any) ([]figure, error) {
	// An entry may have several metrics in its unit, such as ns/op 8 B/op 1 allocs/op. The tool then
	// also writes an entry for each metric, except in old versions.
	areRounds := hasRounds(benches)
	single, combined := benchList{entries: map[benchKey]int{}, hasRounds: areRounds}, benchList{entries: map[benchKey]int{}, hasRounds: areRounds}
	for i, b := range benches {
		name, unit := b.nameOf()
		fields, value := strings.Fields(unit), b.Value
		newError := func(what, hint string) error {
			line, col := f.placeOf(append(slices.Clone(path), i)...)
			return f.errorAt(line, col, what, hint)
		}
		list := &single
		if len(fields) > 2 {
			list = &combined
		} else {
			fields = []string{unit} // it may contain a space
		}
		for k := 0; k < len(fields); k += 2 {
			if k > 0 {
				var err error
				if value, err = strconv.ParseFloat(fields[k-1], 64); err != nil {
					return nil, newError(fmt.Sprintf("%s: the unit %q is not a list of figures", name, unit), "e.g. ns/op, or ns/op 8 B/op 1 allocs/op")
				}
			}
			x := figure{benchmark: name, unit: fields[k], value: value}
			if what, hint := list.addFigure(i, x, benches); what != "" {
				return nil, newError(what, hint)
			}
		}
	}
	for _, x := range combined.figures {
		if _, ok := single.entries[benchKey{x.benchmark, x.unit}]; !ok {
			single.figures = append(single.figures, x)
		}
	}
	return slices.DeleteFunc(single.figures, func(x figure) bool { return !f.countKept(x.value, x.unit) }), nil
}

// addFigure adds a value of entry i, or returns what is wrong with it and a hint. Equal names are two
// rounds if the name contains the package, or if the run consists of rounds.
func (l *benchList) addFigure(i int, x figure, benches []actionBench) (what, hint string) {
	key := benchKey{x.benchmark, x.unit}
	first, isRepeated := l.entries[key]
	switch {
	case metricOf(x.unit) == "":
		// Results do not store this unit. countKept counts it later.
	case !isMeasured(x.value):
		return fmt.Sprintf("%s: %v %s is no measurement", x.benchmark, x.value, x.unit), "a figure is not negative"
	case isRepeated && !l.hasRounds && !packageRE.MatchString(x.benchmark):
		return fmt.Sprintf("a second %s in %s (%v, and %v before): of another package, or another round", x.benchmark, x.unit, benches[i].Value, benches[first].Value), "keep one, or import the output of go test"
	}
	l.figures, l.entries[key] = append(l.figures, x), i
	return "", ""
}

// placeOf returns the line and the column of a value of the document, or 1, 1.
func (f *file) placeOf(path ...any) (line, col int) {
	start := max(0, bytes.IndexAny(f.text, "{["))
	dec := json.NewDecoder(bytes.NewReader(f.text[start:]))
	for _, step := range path {
		if !enterValue(dec, step) {
			return 1, 1
		}
	}
	offset := start + int(dec.InputOffset())
	offset += len(f.text[offset:]) - len(bytes.TrimLeft(f.text[offset:], " \t\r\n:,")) // skip what precedes the value
	before := f.text[:offset]
	lineStart := bytes.LastIndexByte(before, '\n') + 1
	return bytes.Count(before, []byte("\n")) + 1, utf8.RuneCount(before[lineStart:]) + 1
}

// enterValue moves a decoder from the start of an object or a list to one of its values.
func enterValue(dec *json.Decoder, step any) bool {
	if _, err := dec.Token(); err != nil {
		return false
	}
	for i := 0; dec.More(); i++ {
		found := false
		switch want := step.(type) {
		case int:
			found = i == want
		case string:
			key, err := dec.Token()
			name, ok := key.(string)
			if err != nil || !ok {
				return false
			}
			found = strings.EqualFold(name, want)
		}
		if found {
			return true
		}
		var skip json.RawMessage
		if err := dec.Decode(&skip); err != nil {
			return false
		}
	}
	return false
}
