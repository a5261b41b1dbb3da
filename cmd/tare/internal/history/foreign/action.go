package foreign

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/tarebench/tare/cmd/tare/internal/footprint"
)

// actionRun is github-action-benchmark's record of a commit.
type actionRun struct {
	Commit  struct{ ID, Message string }
	Date    float64 // milliseconds
	Tool    string
	Benches []actionBench
}

// actionBench is one value of a benchmark.
type actionBench struct {
	Name  string
	Value float64
	Unit  string
	Extra string // "1000 times", and on a line of its own "4 procs"
}

// readAction reads the data.js of github-action-benchmark: runs by the name of a suite.
func (f *file) readAction() error {
	start := bytes.IndexByte(f.text, '{')
	if start < 0 {
		return fmt.Errorf("not what github-action-benchmark writes: no object in it")
	}
	var data struct{ Entries map[string][]actionRun }
	err := footprint.Check(f.text[start:], reflect.TypeOf(data), footprint.Most)
	if err == nil {
		err = json.NewDecoder(bytes.NewReader(f.text[start:])).Decode(&data) // a script may end in a semicolon
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
	procsRE   = regexp.MustCompile(`(?m)^(\d+) procs$`)
	packageRE = regexp.MustCompile(`^(.*\S) \(([^()\s]+)\)$`)
)

// nameOf returns the name of the benchmark of b, with its processors, and the unit of its value.
// The other metrics of a benchmark are named "Name - B/op", and a benchmark of several packages
// "Name (package)".
func (b actionBench) nameOf() (name, unit string) {
	name, unit = b.Name, b.Unit
	if of, after, ok := strings.Cut(name, " - "); ok {
		name = of
		if metricOf(after) != "" {
			unit = after
		}
	}
	pkg := ""
	if m := packageRE.FindStringSubmatch(name); m != nil {
		name, pkg = m[1], " ("+m[2]+")"
	}
	if m := procsRE.FindStringSubmatch(b.Extra); m != nil && m[1] != "1" && !strings.HasSuffix(name, "-"+m[1]) {
		name += "-" + m[1]
	}
	return name + pkg, unit
}

// benchKey identifies the values of a benchmark in one unit.
type benchKey struct{ name, unit string }

// benchList contains the values of one run, in order, and the index of the entry of each.
type benchList struct {
	figures []figure
	entries map[benchKey]int
}

// readBenches returns the values of one run. path leads to their list in the document.
func (f *file) readBenches(benches []actionBench, path ...any) ([]figure, error) {
	// Entries with all metrics in their unit come in addition to others for each metric, unless an
	// old version wrote them.
	single, several := benchList{entries: map[benchKey]int{}}, benchList{entries: map[benchKey]int{}}
	for i, b := range benches {
		name, unit := b.nameOf()
		fields, value := strings.Fields(unit), b.Value
		refuse := func(what, right string) error {
			line, col := f.placeOf(append(slices.Clone(path), i)...)
			return f.errorAt(line, col, what, right)
		}
		list := &single
		if len(fields) > 2 {
			list = &several
		} else {
			fields = []string{unit}
		}
		for k := 0; k < len(fields); k += 2 {
			if k > 0 {
				var err error
				if value, err = strconv.ParseFloat(fields[k-1], 64); err != nil {
					return nil, refuse(fmt.Sprintf("%s: the unit %q is not a list of figures", name, unit), "e.g. ns/op, or ns/op 8 B/op 1 allocs/op")
				}
			}
			if what, right := list.add(i, figure{name, fields[k], value}, benches); what != "" {
				return nil, refuse(what, right)
			}
		}
	}
	for _, x := range several.figures {
		if _, ok := single.entries[benchKey{x.benchmark, x.unit}]; !ok {
			single.figures = append(single.figures, x)
		}
	}
	return slices.DeleteFunc(single.figures, func(x figure) bool { return !f.countKept(x.value, x.unit) }), nil
}

// add adds a value of entry i, or returns what is wrong with it and what would be right. Two of one
// name and unit may be of two packages, or two rounds: only the package in a name decides that.
func (l *benchList) add(i int, x figure, benches []actionBench) (what, right string) {
	key := benchKey{x.benchmark, x.unit}
	first, again := l.entries[key]
	switch {
	case metricOf(x.unit) == "":
	case !isMeasured(x.value):
		return fmt.Sprintf("%s: %v %s is no measurement", x.benchmark, x.value, x.unit), "a figure is not negative"
	case again && !packageRE.MatchString(x.benchmark):
		return fmt.Sprintf("a second %s in %s (%v, and %v before): of another package, or another round", x.benchmark, x.unit, benches[i].Value, benches[first].Value), "keep one, or import the output of go test"
	}
	l.figures, l.entries[key] = append(l.figures, x), i
	return "", ""
}

// placeOf returns the line and the column of a value of the document, by the keys and indexes that
// lead to it; 1 if it does not exist.
func (f *file) placeOf(path ...any) (line, col int) {
	start := max(0, bytes.IndexAny(f.text, "{["))
	dec := json.NewDecoder(bytes.NewReader(f.text[start:]))
	for _, step := range path {
		if !enterValue(dec, step) {
			return 1, 1
		}
	}
	at := start + int(dec.InputOffset())
	at += len(f.text[at:]) - len(bytes.TrimLeft(f.text[at:], " \t\r\n:,"))
	before := f.text[:at]
	from := bytes.LastIndexByte(before, '\n') + 1
	return bytes.Count(before, []byte("\n")) + 1, utf8.RuneCount(before[from:]) + 1
}

// enterValue moves a decoder, which is before an object or a list, to before the value of a key or
// the element of an index.
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
