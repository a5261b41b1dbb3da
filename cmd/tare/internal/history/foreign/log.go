package foreign

import (
	"bufio"
	"bytes"
	"cmp"
	"fmt"
	"strings"

	"golang.org/x/perf/benchfmt"

	"github.com/tarebench/tare/internal/lazyregexp"
)

// This file reads the output of go test -bench. A result is a line such as "BenchmarkOpen-8   1000
// 1234 ns/op". Tests may print anything in between: then a name and its result are on different lines.

type line struct {
	number int // line number, from 1
	text   []byte
}

func splitLines(text []byte) []line {
	var lines []line
	for l := range bytes.Lines(text) {
		lines = append(lines, line{number: len(lines) + 1, text: bytes.TrimRight(l, "\r\n")})
	}
	return lines
}

// log prepares the lines of a log for the parser benchfmt. Each result is on one line, and no other
// line begins like a result. addLine builds the clean lines, parseResults parses them.
type log struct {
	f     *file
	lines []logLine

	begun   int             // index of the line with a name whose result is not found yet, or -1
	pkg     string          // "" if it is not known yet
	open    map[string]bool // packages that have begun and not ended
	unnamed int             // index of the first line after the last package: a line such as "ok …" will name their package
}

type logLine struct {
	line
	clean []byte // the line as benchfmt gets it; empty if it is skipped
	pkg   string // "" if the log does not name it
}

// readLog reads the output of go test -bench, and adds a record for each package and machine. If the
// log does not name its packages, pkg is the package of all lines.
func (f *file) readLog(lines []line, pkg string) error {
	l := &log{f: f, begun: -1, pkg: pkg, open: map[string]bool{}}
	for i := range lines {
		l.lines = append(l.lines, logLine{line: lines[i]})
		if err := l.addLine(i); err != nil {
			return err
		}
	}
	l.skipOpen("the log ends before its result")
	return l.parseResults()
}

// maxLine is the length of lines that benchfmt cannot read.
const maxLine = bufio.MaxScanTokenSize

func (l *log) addLine(i int) error {
	text := l.lines[i].text
	l.lines[i].pkg = l.pkg
	name, rest := cutName(text)
	switch {
	case name != "" && len(text) >= maxLine-1:
		return l.f.errorAt(l.lines[i].number, 1, fmt.Sprintf("the line that begins with %.40q has %d bytes", text, len(text)), fmt.Sprintf("the line of a benchmark has less than %d", maxLine-1))
	case len(text) >= maxLine-1:
		// Skip the line: output of a test may have long lines.
	case name != "":
		return l.addNamed(i, name, rest)
	case l.begun >= 0 && resultRE.Match(text):
		begun, _ := cutName(l.lines[l.begun].text) // the result belongs to this name, on an earlier line
		l.lines[i].clean, l.begun = fmt.Appendf(nil, "%s\t%s", begun, bytes.TrimSpace(text)), -1
	default:
		l.lines[i].clean = text
		return l.addOther(i, string(text))
	}
	return nil
}

var (
	// resultRE matches the text after a name: iterations, a value and its unit, "   1000   1234 ns/op".
	resultRE = lazyregexp.New(`^\s*\d+\s+[-+.0-9eE]+ \S`)
	// withinRE matches a result in the middle of a line, with a name before it.
	withinRE = lazyregexp.New(`Benchmark\S*\s+\d+\s+[-+.0-9eE]+ \S`)
	// processorsRE matches the suffix with the number of processors that go test adds to a name.
	processorsRE = lazyregexp.New(`-\d+$`)
	// endedRE matches the end of a package: outcome and path, as in "ok       example.com/parse
	// 2.345s".
	endedRE = lazyregexp.New(`^(ok  |FAIL)\t(\S+)\t`)
)

// cutName splits a line after the name of a benchmark.
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

func trimProcessors(name string) string { return processorsRE.ReplaceAllString(name, "") }

func (l *log) addNamed(i int, name string, rest []byte) error {
	if l.begun >= 0 {
		begun, _ := cutName(l.lines[l.begun].text)
		isRepeated := trimProcessors(name) == trimProcessors(begun)
		if isRepeated || strings.HasPrefix(name, begun+"/") {
			l.begun = -1 // not an error: go test -v also prints each name, and the names of parents, before the results
		} else {
			l.skipOpen(fmt.Sprintf("its result is not before %.80q", name))
		}
	}
	switch {
	case resultRE.Match(rest):
		l.lines[i].clean = l.lines[i].text
	case withinRE.Match(rest):
		return l.f.errorAt(l.lines[i].number, 1, "two benchmarks print into each other", "write the output of each go test into a file of its own")
	default: // the result is on a later line
		l.begun = i
	}
	return nil
}

// addOther adds a line that may begin or end a package.
func (l *log) addOther(i int, text string) error {
	if pkg, ok := strings.CutPrefix(text, "pkg: "); ok {
		l.skipOpen("its package ends before its result")
		l.pkg = strings.TrimSpace(pkg)
		l.open[l.pkg], l.unnamed = true, i+1
		return nil
	}
	if status, ok := strings.CutPrefix(strings.TrimSpace(text), "--- "); ok && l.begun >= 0 {
		outcome, name, _ := strings.Cut(status, ": ")
		name, _, _ = strings.Cut(name, " ")
		begun, _ := cutName(l.lines[l.begun].text)
		reason, noResult := map[string]string{"FAIL": "it failed", "SKIP": "it was skipped"}[outcome]
		if noResult && trimProcessors(name) == trimProcessors(begun) {
			l.skipOpen(reason)
		}
		return nil
	}
	m := endedRE.FindStringSubmatch(text)
	if m == nil {
		return nil
	}
	l.skipOpen("its package ends before its result")
	switch pkg := m[2]; {
	case l.pkg == "":
		for k := l.unnamed; k < i; k++ {
			l.lines[k].pkg = pkg
		}
	case l.pkg != pkg && l.open[pkg]:
		return l.f.errorAt(l.lines[i].number, 1, fmt.Sprintf("%s ends among the benchmarks of %s: two go test print into each other", pkg, l.pkg), "write the output of each into a file of its own")
	case l.pkg != pkg:
		return nil // a package without benchmarks
	}
	delete(l.open, m[2])
	l.pkg, l.unnamed = "", i+1
	return nil
}

// skipOpen records that a begun benchmark has no result.
func (l *log) skipOpen(why string) {
	if l.begun < 0 {
		return
	}
	begun := l.lines[l.begun]
	name, _ := cutName(begun.text)
	l.f.addOmitted(begun.number, fmt.Sprintf("%.200s has no result: %s", name, why))
	l.begun = -1
}

func (l *log) parseResults() error {
	type origin struct{ pkg, os, arch, cpu, version string }
	f, records := l.f, map[origin]int{} // indices of f.records
	var text []byte
	for _, x := range l.lines {
		text = append(append(text, x.clean...), '\n')
	}
	in := benchfmt.NewReader(bytes.NewReader(text), f.name)
	for in.Scan() {
		res, ok := in.Result().(*benchfmt.Result)
		if !ok {
			if wrong, ok := in.Result().(*benchfmt.SyntaxError); ok && wrong.Line > 0 && wrong.Line <= len(l.lines) {
				if name, _ := cutName(l.lines[wrong.Line-1].clean); name != "" {
					f.addOmitted(l.lines[wrong.Line-1].number, fmt.Sprintf("%.200s: %s", name, wrong.Msg))
				}
			}
			continue // a line of a test or a build
		}
		_, number := res.Pos()
		fileLine := l.lines[number-1].number
		key := origin{
			pkg: cmp.Or(l.lines[number-1].pkg, "benchmarks"), os: res.GetConfig("goos"), arch: res.GetConfig("goarch"), cpu: res.GetConfig("cpu"),
			version: cmp.Or(res.GetConfig("commit"), res.GetConfig("experiment-commit")), // lines "commit: 1a2b3c4"
		}
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
			if v.OrigUnit != "" { // benchfmt has converted the unit
				x, unit = v.OrigValue, v.OrigUnit
			}
			name := "Benchmark" + string(res.Name.Full())
			if metricOf(unit) != "" && !isMeasured(x) {
				return f.errorAt(fileLine, 1, fmt.Sprintf("%.200s: %v %s is no measurement", name, x, unit), "a figure is not negative")
			}
			if f.countKept(x, unit) {
				f.records[i].figures = append(f.records[i].figures, figure{benchmark: name, unit: unit, value: x})
			}
		}
	}
	return in.Err()
}
