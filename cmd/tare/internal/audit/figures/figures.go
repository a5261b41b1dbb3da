// Package figures finds mistakes in published measurements: results of tools and pages. For
// example, a page says "b is 3x slower (4 ms vs 2 ms)". The rule ratio-differs reports this
// sentence.
//
// The files of the package use these words:
//   - A page is a text with tables, such as a README.
//   - A figure is a measurement, such as 4 ms.
//   - A claim is a comparison in a sentence, such as "3x slower".
//   - A side is one of the compared things, such as b.
//   - A report is what a load generator prints about one run.
//   - A label names a row of a table, and a header names a column.
//
// [Files.Read] reads a file into a document (see document.go). Then each rule looks for its
// mistake. Each rule has a file, such as ratio_differs.go.
package figures

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/tarebench/tare/cmd/tare/internal/audit"
	"github.com/tarebench/tare/cmd/tare/internal/textfile"
	"github.com/tarebench/tare/internal/format"
)

// Result holds the findings of a file.
type Result struct {
	Findings   []audit.Finding
	Recognised []string // e.g. "3 reports of wrk"; empty without figures
}

type rule struct {
	audit.Rule
	find func(d *document, report reportFunc)
}

// reportFunc adds a finding. Line 0 means the entire file. The text has no full stop.
type reportFunc func(line int, text string)

// Rules returns the rules of this package.
func Rules() []audit.Rule {
	var out []audit.Rule
	for _, r := range allRules() {
		r.Lang = "text"
		out = append(out, r.Rule)
	}
	return out
}

// maxPerRule limits the findings of a rule in a file. The last one counts the omitted ones.
const maxPerRule = 12

// Files reads the files of one audit. It remembers benchmarks, to find copies in other files. The
// zero value is ready for use.
type Files struct{ seen map[runsKey]fileBench }

type fileBench struct{ file, name string }

// Read reads a file and applies all rules. name is for findings and errors.
func (f *Files) Read(name string, src io.Reader) (Result, error) {
	doc, err := readFile(name, src)
	if err != nil {
		return Result{}, err
	}
	if f.seen == nil {
		f.seen = map[runsKey]fileBench{}
	}
	doc.findCopies(f.seen)
	return Result{Findings: doc.applyRules(), Recognised: doc.describeContent()}, nil
}

func readFile(name string, src io.Reader) (*document, error) {
	file, err := textfile.Open(src)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	head, _ := file.Peek(4096)
	r := newReader(name)
	switch start := bytes.TrimSpace(head); {
	case isJSONReport(start):
		err = r.readReports(file)
	case isHTML(start):
		err = r.readHTML(file, 1)
	default:
		err = r.readLines(file)
	}
	r.finishFile()
	return r.doc, err
}

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

func (d *document) applyRules() []audit.Finding {
	d.prepareFigures()
	var out []audit.Finding
	for _, r := range allRules() {
		var found []audit.Finding
		r.find(d, func(line int, text string) {
			const unknownColumn = 0
			f := r.NewFinding(d.name, line, unknownColumn, text)
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

// describeContent returns texts such as "12 benchmarks of go test".
func (d *document) describeContent() []string {
	var out []string
	add := func(n int, noun, source string) {
		if n > 0 {
			out = append(out, format.Count(n, noun)+source)
		}
	}
	add(len(d.benches), "benchmark", " of go test")
	add(len(d.statRows), "row", " of benchstat")
	reports := map[string]int{}
	for _, l := range d.reports {
		reports[l.tool]++
	}
	for _, tool := range slices.Sorted(maps.Keys(reports)) {
		add(reports[tool], "report", " of "+tool)
	}
	tables := 0
	for i, t := range d.tables {
		if len(t.figures(i)) > 0 {
			tables++
		}
	}
	add(tables, "table", " of figures")
	return out
}

// quote returns a text in quotation marks, in one line of at most 120 characters.
func quote(text string) string {
	return `"` + strings.TrimSpace(format.Line(text, 120)) + `"`
}
