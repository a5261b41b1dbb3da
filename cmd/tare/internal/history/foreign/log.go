package foreign

import (
	"bufio"
	"bytes"
	"cmp"
	"fmt"
	"regexp"
	"strings"

	"golang.org/x/perf/benchfmt"
)

// line is a line of a log without its end, and where it is in the file.
type line struct {
	number int
	text   []byte
}

// numbered returns the lines of a text.
func numbered(text []byte) []line {
	var lines []line
	for one := range bytes.Lines(text) {
		lines = append(lines, line{len(lines) + 1, bytes.TrimRight(one, "\r\n")})
	}
	return lines
}

// log gives the lines of a log to benchfmt as it wants them: a line with each result, and
// nothing else that begins like one.
type log struct {
	f     *file
	lines []line
	clean [][]byte // as benchfmt gets lines
	pkgs  []string // package of each line; empty: the log does not say

	begun   int // index of the line that began the benchmark without a result; -1: there is none
	pkg     string
	open    map[string]bool // packages that began and have not ended
	unnamed int             // first line whose package only the end of its package says
}

// readLog reads the output of go test -bench. The records are by package and machine. pkg
// is the package of all lines; empty if the log says it.
func (f *file) readLog(lines []line, pkg string) error {
	l := &log{f: f, lines: lines, clean: make([][]byte, len(lines)), pkgs: make([]string, len(lines)), begun: -1, pkg: pkg, open: map[string]bool{}}
	for i := range lines {
		if err := l.add(i); err != nil {
			return err
		}
	}
	l.lose("the log ends before its result")
	return l.read()
}

// tooLong is the length of lines that benchfmt does not read.
const tooLong = bufio.MaxScanTokenSize

// add takes in one line.
func (l *log) add(i int) error {
	text := l.lines[i].text
	l.pkgs[i] = l.pkg
	name, rest := cutName(text)
	switch {
	case name != "" && len(text) >= tooLong-1:
		return l.f.refuse(l.lines[i].number, 1, fmt.Sprintf("the line that begins with %.40q has %d bytes", text, len(text)), fmt.Sprintf("the line of a benchmark has less than %d", tooLong-1))
	case len(text) >= tooLong-1: // logs of tests have such lines
	case name != "":
		return l.addNamed(i, name, rest)
	case l.begun >= 0 && result.Match(text):
		begun, _ := cutName(l.lines[l.begun].text)
		l.clean[i], l.begun = fmt.Appendf(nil, "%s\t%s", begun, bytes.TrimSpace(text)), -1
	default:
		l.clean[i] = text
		return l.addOther(i, string(text))
	}
	return nil
}

var (
	// result is what follows the name of a benchmark: iterations, a figure and its unit.
	result = regexp.MustCompile(`^\s*\d+\s+[-+.0-9eE]+ \S`)
	// within is a result in the middle of a line, with a name before it.
	within = regexp.MustCompile(`Benchmark\S*\s+\d+\s+[-+.0-9eE]+ \S`)
	// processors is what go test adds to a name.
	processors = regexp.MustCompile(`-\d+$`)
	ended      = regexp.MustCompile(`^(ok  |FAIL)\t(\S+)\t`)
)

// cutName returns the name of a benchmark that a line begins with, and what follows it;
// empty if it begins with none.
func cutName(text []byte) (name string, rest []byte) {
	after, ok := bytes.CutPrefix(text, []byte("Benchmark"))
	if !ok || len(after) > 0 && after[0] >= 'a' && after[0] <= 'z' {
		return "", nil
	}
	end := bytes.IndexAny(text, " \t")
	if end < 0 {
		return string(text), nil
	}
	return string(text[:end]), text[end:]
}

// addNamed takes in a line that begins with the name of a benchmark.
func (l *log) addNamed(i int, name string, rest []byte) error {
	if l.begun >= 0 {
		begun, _ := cutName(l.lines[l.begun].text)
		if again := processors.ReplaceAllString(name, "") == processors.ReplaceAllString(begun, ""); again || strings.HasPrefix(name, begun+"/") {
			l.begun = -1 // go test -v prints names before, and those of parents
		} else {
			l.lose(fmt.Sprintf("its result is not before %.80q", name))
		}
	}
	switch {
	case result.Match(rest):
		l.clean[i] = l.lines[i].text
	case within.Match(rest):
		return l.f.refuse(l.lines[i].number, 1, "two benchmarks print into each other", "write the output of each go test into a file of its own")
	default:
		l.begun = i
	}
	return nil
}

// addOther takes in a line that is of no benchmark.
func (l *log) addOther(i int, text string) error {
	if pkg, ok := strings.CutPrefix(text, "pkg: "); ok {
		l.lose("its package ends before its result")
		l.pkg = strings.TrimSpace(pkg)
		l.open[l.pkg], l.unnamed = true, i+1
		return nil
	}
	if of, ok := strings.CutPrefix(strings.TrimSpace(text), "--- "); ok && l.begun >= 0 {
		what, name, _ := strings.Cut(of, ": ")
		name, _, _ = strings.Cut(name, " ")
		begun, _ := cutName(l.lines[l.begun].text)
		if (what == "FAIL" || what == "SKIP") && processors.ReplaceAllString(name, "") == processors.ReplaceAllString(begun, "") {
			l.lose(map[string]string{"FAIL": "it failed", "SKIP": "it was skipped"}[what])
		}
		return nil
	}
	m := ended.FindStringSubmatch(text)
	if m == nil {
		return nil
	}
	l.lose("its package ends before its result")
	switch pkg := m[2]; {
	case l.pkg == "":
		for k := l.unnamed; k < i; k++ {
			l.pkgs[k] = pkg
		}
	case l.pkg != pkg && l.open[pkg]:
		return l.f.refuse(l.lines[i].number, 1, fmt.Sprintf("%s ends among the benchmarks of %s: two go test print into each other", pkg, l.pkg), "write the output of each into a file of its own")
	case l.pkg != pkg:
		return nil // it has no benchmarks
	}
	delete(l.open, m[2])
	l.pkg, l.unnamed = "", i+1
	return nil
}

// lose leaves out the benchmark that began and has no result.
func (l *log) lose(why string) {
	if l.begun < 0 {
		return
	}
	at := l.lines[l.begun]
	name, _ := cutName(at.text)
	l.f.leave(at.number, fmt.Sprintf("%.200s has no result: %s", name, why))
	l.begun = -1
}

// read reads the lines that are left.
func (l *log) read() error {
	type origin struct{ pkg, os, arch, cpu, version string }
	f, records := l.f, map[origin]int{}
	in := benchfmt.NewReader(bytes.NewReader(bytes.Join(l.clean, []byte("\n"))), f.name)
	for in.Scan() {
		res, ok := in.Result().(*benchfmt.Result)
		if !ok {
			if wrong, ok := in.Result().(*benchfmt.SyntaxError); ok && wrong.Line > 0 && wrong.Line <= len(l.lines) {
				if name, _ := cutName(l.clean[wrong.Line-1]); name != "" {
					f.leave(l.lines[wrong.Line-1].number, fmt.Sprintf("%.200s: %s", name, wrong.Msg))
				}
			}
			continue // lines of tests and builds stand between
		}
		_, number := res.Pos()
		at := l.lines[number-1].number
		key := origin{cmp.Or(l.pkgs[number-1], "benchmarks"), res.GetConfig("goos"), res.GetConfig("goarch"), res.GetConfig("cpu"), cmp.Or(res.GetConfig("commit"), res.GetConfig("experiment-commit"))}
		i, ok := records[key]
		if !ok {
			if err := f.tally.add(1, 0); err != nil {
				return err
			}
			i = len(f.records)
			records[key] = i
			f.records = append(f.records, record{pkg: key.pkg, os: key.os, arch: key.arch, cpu: key.cpu, at: f.at, version: key.version})
		}
		if err := f.tally.add(0, len(res.Values)); err != nil {
			return err
		}
		for _, v := range res.Values {
			x, unit := v.Value, v.Unit
			if v.OrigUnit != "" {
				x, unit = v.OrigValue, v.OrigUnit
			}
			name := "Benchmark" + string(res.Name.Full())
			if metricOf(unit) != "" && !isMeasured(x) {
				return f.refuse(at, 1, fmt.Sprintf("%.200s: %v %s is no measurement", name, x, unit), "a figure is not negative")
			}
			if f.keeps(x, unit) {
				f.records[i].figures = append(f.records[i].figures, figure{name, unit, x})
			}
		}
	}
	return in.Err()
}
