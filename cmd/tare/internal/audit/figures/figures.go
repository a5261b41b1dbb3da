// Package figures reads what people publish of measurements: the output of go test -bench
// and benchstat, reports of load generators, and pages with tables of figures and prose
// about them. It finds what these figures cannot show.
//
// A file is recognised by its content. It is read line by line: memory does not grow with
// the runs of a benchmark or the length of a log.
package figures

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/tarebench/tare/cmd/tare/internal/audit"
	"github.com/tarebench/tare/cmd/tare/internal/textfile"
	"github.com/tarebench/tare/internal/format"
)

// Result holds the findings of a file.
type Result struct {
	Findings   []audit.Finding
	Recognised []string // what was read of it, e.g. "3 reports of wrk"; empty if it has no figures
}

// rule is a rule with the code that finds what breaks it.
type rule struct {
	audit.Rule
	find func(d *document, report reportFunc)
}

// reportFunc takes a finding: a line, 0 if it is about the whole file, and what is wrong.
type reportFunc func(line int, what string)

// Rules returns the rules for results and pages.
func Rules() []audit.Rule {
	var out []audit.Rule
	for _, r := range allRules() {
		out = append(out, r.Rule)
	}
	return out
}

// maxPerRule limits the findings of a rule in a file. The last says how many more there are.
const maxPerRule = 12

// Read reads a file. name is how the user named it, and stands in findings and errors. The
// error is one line with the position.
func Read(name string, src io.Reader) (Result, error) {
	doc, err := readFile(name, src)
	if err != nil {
		return Result{}, err
	}
	return Result{Findings: doc.check(), Recognised: doc.describe()}, nil
}

// readFile returns what a file holds. Its content tells which of the formats it has.
func readFile(name string, src io.Reader) (*document, error) {
	file, err := textfile.Open(src)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	head, _ := file.Peek(4096)
	r := newReader(name)
	switch start := bytes.TrimSpace(head); {
	case isReport(start):
		err = r.readReports(file)
	case isHTML(start):
		err = r.readHTML(file, 1)
	default:
		err = r.readLines(file)
	}
	r.finish()
	return r.doc, err
}

// readLines reads a text.
func (r *reader) readLines(file *textfile.File) error {
	in := bufio.NewScanner(file)
	in.Buffer(make([]byte, 64<<10), maxLine)
	for in.Scan() {
		if isBinary(in.Bytes()) {
			return fmt.Errorf("%s:%d:1: not a text: it has a zero byte", r.doc.name, r.line+1)
		}
		if err := r.readLine(in.Text()); err != nil {
			return err
		}
	}
	if err := in.Err(); errors.Is(err, bufio.ErrTooLong) {
		return fmt.Errorf("%s:%d:1: the line has more than %d bytes", r.doc.name, r.line+1, maxLine)
	} else if err != nil {
		return fmt.Errorf("%s: %w", r.doc.name, err)
	}
	return nil
}

// check returns the findings of all rules, in order of lines.
func (d *document) check() []audit.Finding {
	d.prepare()
	var out []audit.Finding
	for _, r := range allRules() {
		var found []audit.Finding
		r.find(d, func(line int, what string) {
			f := r.NewFinding(d.name, line, 0, what)
			f.Command = d.exactCommand(f.Command, line)
			found = append(found, f)
		})
		found = audit.SortFindings(found)
		if more := len(found) - maxPerRule; more > 0 {
			found = found[:maxPerRule]
			found[maxPerRule-1].What += fmt.Sprintf("; and %d more like this in the file", more)
		}
		out = append(out, found...)
	}
	return audit.SortFindings(out)
}

// describe returns what was recognised, e.g. "12 benchmarks of go test".
func (d *document) describe() []string {
	var out []string
	add := func(n int, noun, of string) {
		if n > 0 {
			out = append(out, format.Count(n, noun)+of)
		}
	}
	add(len(d.benches), "benchmark", " of go test")
	add(len(d.stats), "row", " of benchstat")
	reports := map[string]int{}
	for _, l := range d.loads {
		reports[l.tool]++
	}
	tools := make([]string, 0, len(reports))
	for tool := range reports {
		tools = append(tools, tool)
	}
	slices.SortFunc(tools, cmp.Compare[string])
	for _, tool := range tools {
		add(reports[tool], "report", " of "+tool)
	}
	n := 0
	for i, t := range d.tables {
		if len(t.measures(i)) > 0 {
			n++
		}
	}
	add(n, "table", " of figures")
	return out
}

// quote returns a text as it is quoted in a finding: in one line, and not long.
func quote(text string) string {
	return `"` + strings.TrimSpace(format.Line(text, 120)) + `"`
}
