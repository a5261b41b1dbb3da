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

// line is a line of a log without its end, and its number in the file.
type line struct {
	number int
	text   []byte
}

// splitLines returns the lines of a text.
func splitLines(text []byte) []line {
	var lines []line
	for one := range bytes.Lines(text) {
		lines = append(lines, line{len(lines) + 1, bytes.TrimRight(one, "\r\n")})
	}
	return lines
}

// log prepares the lines of a log for benchfmt: a line with each result, and no other line that
// begins like one.
type log struct {
	f     *file
	lines []line
	clean [][]byte // as benchfmt gets lines
	pkgs  []string // package of each line; "" if the log does not name it

	begun   int // index of the line that began the benchmark without a result, or -1
	pkg     string
	open    map[string]bool // packages that began and have not ended
	unnamed int             // first line whose package only the end of the package names
}

// readLog reads the output of go test -bench. The records are by package and machine. pkg is the
// package of all lines; "" if the log names it.
func (f *file) readLog(lines []line, pkg string) error {
	l := &log{f: f, lines: lines, clean: make([][]byte, len(lines)), pkgs: make([]string, len(lines)), begun: -1, pkg: pkg, open: map[string]bool{}}
	for i := range lines {
		if err := l.addLine(i); err != nil {
			return err
		}
	}
	l.skipOpen("the log ends before its result")
	return l.parseResults()
}

// maxLine is the length from which on benchfmt does not read lines.
const maxLine = bufio.MaxScanTokenSize

// addLine adds one line.
func (l *log) addLine(i int) error {
	text := l.lines[i].text
	l.pkgs[i] = l.pkg
	name, rest := cutName(text)
	switch {
	case name != "" && len(text) >= maxLine-1:
		return l.f.errorAt(l.lines[i].number, 1, fmt.Sprintf("the line that begins with %.40q has %d bytes", text, len(text)), fmt.Sprintf("the line of a benchmark has less than %d", maxLine-1))
	case len(text) >= maxLine-1: // logs of tests have such lines
	case name != "":
		return l.addNamed(i, name, rest)
	case l.begun >= 0 && resultRE.Match(text):
		begun, _ := cutName(l.lines[l.begun].text)
		l.clean[i], l.begun = fmt.Appendf(nil, "%s\t%s", begun, bytes.TrimSpace(text)), -1
	default:
		l.clean[i] = text
		return l.addOther(i, string(text))
	}
	return nil
}

var (
	// resultRE matches the text after the name of a benchmark: iterations, a value and its unit.
	resultRE = regexp.MustCompile(`^\s*\d+\s+[-+.0-9eE]+ \S`)
	// withinRE matches a result in the middle of a line, with a name before it.
	withinRE = regexp.MustCompile(`Benchmark\S*\s+\d+\s+[-+.0-9eE]+ \S`)
	// processorsRE matches the suffix that go test adds to a name.
	processorsRE = regexp.MustCompile(`-\d+$`)
	endedRE      = regexp.MustCompile(`^(ok  |FAIL)\t(\S+)\t`)
)

// cutName returns the name of a benchmark that a line begins with, and the rest of the line; "" if
// it begins with none.
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

// addNamed adds a line that begins with the name of a benchmark.
func (l *log) addNamed(i int, name string, rest []byte) error {
	if l.begun >= 0 {
		begun, _ := cutName(l.lines[l.begun].text)
		if again := processorsRE.ReplaceAllString(name, "") == processorsRE.ReplaceAllString(begun, ""); again || strings.HasPrefix(name, begun+"/") {
			l.begun = -1 // go test -v prints names before, and those of parents
		} else {
			l.skipOpen(fmt.Sprintf("its result is not before %.80q", name))
		}
	}
	switch {
	case resultRE.Match(rest):
		l.clean[i] = l.lines[i].text
	case withinRE.Match(rest):
		return l.f.errorAt(l.lines[i].number, 1, "two benchmarks print into each other", "write the output of each go test into a file of its own")
	default:
		l.begun = i
	}
	return nil
}

// addOther adds a line that is of no benchmark.
func (l *log) addOther(i int, text string) error {
	if pkg, ok := strings.CutPrefix(text, "pkg: "); ok {
		l.skipOpen("its package ends before its result")
		l.pkg = strings.TrimSpace(pkg)
		l.open[l.pkg], l.unnamed = true, i+1
		return nil
	}
	if of, ok := strings.CutPrefix(strings.TrimSpace(text), "--- "); ok && l.begun >= 0 {
		what, name, _ := strings.Cut(of, ": ")
		name, _, _ = strings.Cut(name, " ")
		begun, _ := cutName(l.lines[l.begun].text)
		if (what == "FAIL" || what == "SKIP") && processorsRE.ReplaceAllString(name, "") == processorsRE.ReplaceAllString(begun, "") {
			l.skipOpen(map[string]string{"FAIL": "it failed", "SKIP": "it was skipped"}[what])
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
			l.pkgs[k] = pkg
		}
	case l.pkg != pkg && l.open[pkg]:
		return l.f.errorAt(l.lines[i].number, 1, fmt.Sprintf("%s ends among the benchmarks of %s: two go test print into each other", pkg, l.pkg), "write the output of each into a file of its own")
	case l.pkg != pkg:
		return nil // it has no benchmarks
	}
	delete(l.open, m[2])
	l.pkg, l.unnamed = "", i+1
	return nil
}

// skipOpen skips the benchmark that began and has no result.
func (l *log) skipOpen(why string) {
	if l.begun < 0 {
		return
	}
	at := l.lines[l.begun]
	name, _ := cutName(at.text)
	l.f.addLeft(at.number, fmt.Sprintf("%.200s has no result: %s", name, why))
	l.begun = -1
}

// parseResults parses the remaining lines.
func (l *log) parseResults() error {
	type origin struct{ pkg, os, arch, cpu, version string }
	f, records := l.f, map[origin]int{}
	in := benchfmt.NewReader(bytes.NewReader(bytes.Join(l.clean, []byte("\n"))), f.name)
	for in.Scan() {
		res, ok := in.Result().(*benchfmt.Result)
		if !ok {
			if wrong, ok := in.Result().(*benchfmt.SyntaxError); ok && wrong.Line > 0 && wrong.Line <= len(l.lines) {
				if name, _ := cutName(l.clean[wrong.Line-1]); name != "" {
					f.addLeft(l.lines[wrong.Line-1].number, fmt.Sprintf("%.200s: %s", name, wrong.Msg))
				}
			}
			continue // lines of tests and builds come between
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
				return f.errorAt(at, 1, fmt.Sprintf("%.200s: %v %s is no measurement", name, x, unit), "a figure is not negative")
			}
			if f.countKept(x, unit) {
				f.records[i].figures = append(f.records[i].figures, figure{name, unit, x})
			}
		}
	}
	return in.Err()
}
