package figures

import (
	"cmp"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/perf/benchfmt"

	"github.com/tarebench/tare/internal/lazyregexp"
)

// This file reads the output of go test -bench and the tables of benchstat. For example,
// "BenchmarkParse-8 1000000 1050 ns/op" is a run of the benchmark Parse.

// benches reads go test -bench and benchstat, line by line.
type benches struct {
	doc            *document
	feed           *lineFeed
	results        *benchfmt.Reader // nil before the first line
	known          map[benchKey]*bench
	pkg            string
	block          int // number of the current block
	lastResultLine int
	pendingName    string // benchmark whose result is on a later line; "" if none

	table         int // number of the table of benchstat; 0 outside
	tables        int // tables so far
	lastTableLine int
	unit          string
	files         [2]string // names
}

func newBenches(doc *document) benches {
	return benches{doc: doc, feed: &lineFeed{}, known: map[benchKey]*bench{}}
}

// lineFeed is a reader of one line at a time.
type lineFeed struct{ line []byte }

func (f *lineFeed) Read(p []byte) (int, error) {
	if len(f.line) == 0 {
		return 0, io.EOF
	}
	n := copy(p, f.line)
	f.line = f.line[n:]
	return n, nil
}

// isResult reports whether a line looks like "BenchmarkParse-8 1000000 1050 ns/op".
func isResult(text string) bool {
	fields := strings.Fields(text)
	if len(fields) < 4 {
		return false
	}
	if _, err := strconv.Atoi(fields[1]); err != nil {
		return false
	}
	_, err := strconv.ParseFloat(fields[2], 64)
	// benchcmp, the predecessor of benchstat, prints only numbers after a name.
	return err == nil && strings.ContainsFunc(fields[3], isLetter)
}

// processorsRE matches the end of BenchmarkParse-8.
var processorsRE = lazyregexp.New(`-\d+$`)

// readLine reads a line. It returns true if go test -bench or benchstat printed it.
func (b *benches) readLine(pos position, text string) bool {
	if pkg, ok := strings.CutPrefix(text, "pkg: "); ok {
		b.pkg = strings.TrimSpace(pkg)
		return true
	}
	for _, key := range []string{"goos: ", "goarch: ", "cpu: ", "PASS", "ok  \t"} {
		if strings.HasPrefix(text, key) {
			return true
		}
	}
	if strings.HasPrefix(text, "Benchmark") {
		if isResult(text) {
			b.pendingName = ""
			return b.addResult(pos, text)
		}
		if fields := strings.Fields(text); len(fields) > 0 && len(fields[0]) > len("Benchmark") {
			if len(fields) > 2 && fields[2] == "ns/op" {
				// Some pages omit the number of iterations. 0 means unknown.
				b.pendingName = ""
				return b.addResult(pos, fields[0]+" 0 "+strings.Join(fields[1:], " "))
			}
			b.pendingName = fields[0] // the benchmark may print lines before its result
			return len(fields) == 1
		}
	}
	if b.pendingName != "" && isResult("Benchmark "+text) {
		line := b.pendingName + "\t" + text
		b.pendingName = ""
		return b.addResult(pos, line)
	}
	return b.readStat(pos, text)
}

// addResult adds a result to the benchmark of the same name, package and headings. It returns false
// if benchfmt rejects the line.
func (b *benches) addResult(pos position, text string) bool {
	res := b.parseResult(text)
	if res == nil {
		return false
	}
	if b.lastResultLine == 0 || pos.line > b.lastResultLine+1 {
		b.block++
	}
	b.lastResultLine = pos.line
	row := &bench{
		position: pos, pkg: b.pkg, name: processorsRE.ReplaceAllString(string(res.Name.Full()), ""),
		iterations: res.Iters, block: b.block, runs: 1,
	}
	for _, v := range res.Values {
		value, unit := v.Value, v.Unit
		if v.OrigUnit != "" { // benchfmt has converted ns/op to sec/op
			value, unit = v.OrigValue, v.OrigUnit
		}
		row.values = append(row.values, benchValue{value, strings.Clone(unit)})
	}
	// Equal names under different headings are two sides.
	key := benchKey{row.pkg, string(res.Name.Full()), pos.path}
	if first := b.known[key]; first != nil {
		first.runs++
		first.addDigest(row)
		if first.iterations == row.iterations && slices.Equal(first.values, row.values) {
			first.equalRuns++
		}
		return true
	}
	b.known[key] = row
	row.addDigest(row)
	b.doc.benches = append(b.doc.benches, row)
	return true
}

// parseResult parses a result of go test -bench. It returns nil if benchfmt rejects the line.
func (b *benches) parseResult(text string) *benchfmt.Result {
	b.feed.line = append(append(b.feed.line[:0], text...), '\n')
	if b.results == nil || !b.results.Scan() { // benchfmt needs a new reader after io.EOF
		b.results = benchfmt.NewReader(b.feed, "")
		b.feed.line = append(append(b.feed.line[:0], text...), '\n')
		if !b.results.Scan() {
			return nil
		}
	}
	res, _ := b.results.Result().(*benchfmt.Result)
	return res
}

// addDigest adds a run to the hash: FNV-1a with numbers in place of bytes.
func (b *bench) addDigest(run *bench) {
	const prime = 1099511628211
	b.digest = (b.digest ^ uint64(run.iterations)) * prime
	for _, v := range run.values {
		b.digest = (b.digest ^ math.Float64bits(v.value)) * prime
	}
}

type benchKey struct{ pkg, name, path string }

var (
	// statHeadRE matches the first line of a table.
	statHeadRE = lazyregexp.New(`│|^name\s+(old |time/op|alloc/op|allocs/op|speed)`)
	// oldStatRE matches "(p=0.008 n=10+9)" of versions before 2023.
	oldStatRE = lazyregexp.New(`\(p=([0-9.]+) n=(\d+)\+(\d+)\)`)
	// anyStatRE also matches "(p=0.008 n=10)". The groups are 0.008, 10 and, in old versions, 9.
	anyStatRE = lazyregexp.New(`\(p=([0-9.]+) n=(\d+)(?:\+(\d+))?\)`)
	// statFigureRE matches "4.12µ ± 2%". The groups are 4.12 and µ.
	statFigureRE = lazyregexp.New(`([0-9.]+)([nµumkKMGT]?i?)(?:s|B|B/s)? *± *(?:∞|\d+%)`)
	// statUnitRE matches the unit of a table, e.g. sec/op.
	statUnitRE = lazyregexp.New(`(?:^|[\s│])(?:sec/op|time/op|(?:\w+-)?B/op|alloc/op|allocs/op|B/s|speed)(?:\s|│|$)`)
)

// maxStatGap is the largest distance between two lines of one table of benchstat, in lines.
const maxStatGap = 2

// readStatHead reads the head of a table of benchstat: the names of the files, or the unit.
func (b *benches) readStatHead(text string) {
	if m := statUnitRE.FindString(text); m != "" {
		b.unit = strings.Trim(m, " \t│")
		if strings.HasPrefix(text, "name") { // versions before 2023 print no names
			b.files = [2]string{"old", "new"}
		}
		return
	}
	var files []string
	for _, cell := range strings.Split(text, "│") {
		if cell = strings.TrimSpace(cell); cell != "" {
			files = append(files, strings.ToLower(strings.TrimSuffix(cell, ".txt")))
		}
	}
	if b.files = [2]string{"old", "new"}; len(files) == 2 && files[0] != files[1] {
		b.files = [2]string(files)
	}
}

var statPrefixes = map[string]float64{
	"n": 1e-9, "µ": 1e-6, "u": 1e-6, "m": 1e-3, "k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12,
	"Ki": 1 << 10, "Mi": 1 << 20, "Gi": 1 << 30,
}

// meanChangeRE matches "geomean  4.1µ  3.9µ  -4.88%". The group is -4.88.
var meanChangeRE = lazyregexp.New(`^geomean\s.*\s([+-]\d+(?:\.\d+)?)%$`)

// readStat reads a line of benchstat. It returns true if the line belongs to a table.
func (b *benches) readStat(pos position, text string) bool {
	if (strings.HasPrefix(text, "name") || strings.Contains(text, "│")) && statHeadRE.MatchString(text) {
		if b.tables == 0 || pos.line > b.lastTableLine+maxStatGap {
			b.tables++
		}
		b.table, b.lastTableLine = b.tables, pos.line
		b.readStatHead(text)
		return true
	}
	if b.table == 0 || text == "" { // an empty line may be within a table
		return false
	}
	isFooter := strings.HasPrefix(text, "geomean") || strings.HasPrefix(text, "¹") || strings.HasPrefix(text, "²")
	switch {
	case strings.Contains(text, "±") || oldStatRE.MatchString(text):
		b.lastTableLine = pos.line
		b.addStatRow(pos, text)
		return true
	case isFooter:
		b.lastTableLine = pos.line
		if m := meanChangeRE.FindStringSubmatch(text); m != nil {
			change, _ := strconv.ParseFloat(m[1], 64)
			b.doc.statMeans = append(b.doc.statMeans, statMean{line: pos.line, table: b.table, unit: b.unit, change: change})
		}
		return true
	case pos.line > b.lastTableLine+maxStatGap:
		b.table = 0
	}
	return false
}

func (b *benches) addStatRow(pos position, text string) {
	row := statRow{
		position: pos, name: strings.Fields(text)[0], p: -1, table: b.table,
		hasNoInterval: strings.Contains(text, "∞"), unit: b.unit, files: b.files,
	}
	for _, m := range statFigureRE.FindAllStringSubmatch(text, maxCells) {
		value, _ := strconv.ParseFloat(m[1], 64)
		row.values = append(row.values, value*cmp.Or(statPrefixes[m[2]], 1))
	}
	if len(row.values) > 0 {
		row.firstValue = row.values[0]
	}
	if len(row.values) != 2 { // only tables of two files are compared
		row.values = nil
	}
	if m := anyStatRE.FindStringSubmatch(text); m != nil {
		row.p, _ = strconv.ParseFloat(m[1], 64)
		row.runs, _ = strconv.Atoi(m[2])
		if n, err := strconv.Atoi(m[3]); err == nil {
			row.runs = min(row.runs, n)
		}
	}
	b.doc.statRows = append(b.doc.statRows, row)
}
