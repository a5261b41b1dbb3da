// Package figures reads published measurements: the output of go test -bench and
// benchstat, reports of load generators, and pages with tables of figures and prose about
// them. It finds mistakes in the figures and claims that they do not support.
//
// [Files.Read] recognizes a file by its content. A reader then reads the file line by line into a
// document, whose memory does not grow with the runs of a benchmark or the length of a log. Each
// rule, in a file of its own, inspects the document: a page with "b is 3x slower (4 ms vs 2 ms)" has
// a finding of the rule ratio-differs.
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
	Recognised []string // descriptions of the content, e.g. "3 reports of wrk"; empty if there are no figures
}

// rule is an audit rule with the function that reports what breaks it in a document.
type rule struct {
	audit.Rule
	find func(d *document, report reportFunc)
}

// reportFunc adds a finding. line is the line of the mistake, or 0 if the finding is about the whole file,
// and text is a sentence without a full stop.
type reportFunc func(line int, text string)

// Rules returns the rules for results and pages.
func Rules() []audit.Rule {
	var out []audit.Rule
	for _, r := range allRules() {
		r.Lang = "text"
		out = append(out, r.Rule)
	}
	return out
}

// maxPerRule limits the findings of a rule in a file. The last one gives the number of omitted
// findings.
const maxPerRule = 12

// Files reads the files of one audit. It remembers the runs of their benchmarks, to find copies of
// them in other files. The zero value has read no file.
type Files struct{ seen map[runsKey]fileBench }

// fileBench is the name of a benchmark and its file.
type fileBench struct{ file, name string }

// Read reads a file and applies all rules. name is the path as the user gave it, for
// findings and errors. The error is one line with the position.
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

// readFile reads a file in the format that its first bytes show: JSON, HTML, or else text.
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
	r.finishFile()
	return r.doc, err
}

// readLines reads a text file line by line.
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

// applyRules returns the findings of all rules, sorted by line.
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

// describeContent describes the figures of a document, e.g. "12 benchmarks of go test".
func (d *document) describeContent() []string {
	var out []string
	add := func(n int, noun, source string) {
		if n > 0 {
			out = append(out, format.Count(n, noun)+source)
		}
	}
	add(len(d.benches), "benchmark", " of go test")
	add(len(d.stats), "row", " of benchstat")
	reports := map[string]int{}
	for _, l := range d.loads {
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

// quote returns a text in quotation marks for a finding: in one line of at most 120 characters.
func quote(text string) string {
	return `"` + strings.TrimSpace(format.Line(text, 120)) + `"`
}
