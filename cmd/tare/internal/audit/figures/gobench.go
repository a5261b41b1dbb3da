package figures

import (
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/perf/benchfmt"
)

// benches reads the output of go test -bench and the tables of benchstat, line by line.
type benches struct {
	doc     *document
	feed    *feed
	in      *benchfmt.Reader
	known   map[benchKey]*bench
	pkg     string
	group   int
	lastRow int    // line of the last benchmark
	named   string // a name that waits for its result on another line

	table    int // of benchstat; 0 outside of any
	tables   int
	lastStat int // line of its last row
}

// feed gives benchfmt one line at a time.
type feed struct{ line []byte }

func (f *feed) Read(p []byte) (int, error) {
	if len(f.line) == 0 {
		return 0, io.EOF
	}
	n := copy(p, f.line)
	f.line = f.line[n:]
	return n, nil
}

// isResult reports whether text, which begins with a name, goes on with iterations and a
// figure, as a result of go test does.
func isResult(text string) bool {
	fields := strings.Fields(text)
	if len(fields) < 4 {
		return false
	}
	if _, err := strconv.Atoi(fields[1]); err != nil {
		return false
	}
	_, err := strconv.ParseFloat(fields[2], 64)
	return err == nil && strings.ContainsFunc(fields[3], isLetter) // benchcmp prints old, new and delta
}

var processors = regexp.MustCompile(`-\d+$`)

// read reports whether the line is one of go test -bench, or of a table of benchstat.
func (b *benches) read(at position, text string) bool {
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
			b.named = ""
			return b.add(at, text)
		}
		if fields := strings.Fields(text); len(fields) > 0 && len(fields[0]) > len("Benchmark") {
			if len(fields) > 2 && fields[2] == "ns/op" {
				// Pages drop the number of iterations; 0 stands for it.
				b.named = ""
				return b.add(at, fields[0]+" 0 "+strings.Join(fields[1:], " "))
			}
			b.named = fields[0] // its result may follow what the benchmark prints
			return len(fields) == 1
		}
	}
	if b.named != "" && isResult("Benchmark "+text) {
		line := b.named + "\t" + text
		b.named = ""
		return b.add(at, line)
	}
	return b.readStat(at, text)
}

// add adds a result.
func (b *benches) add(at position, text string) bool {
	b.feed.line = append(append(b.feed.line[:0], text...), '\n')
	if b.in == nil || !b.in.Scan() {
		b.in = benchfmt.NewReader(b.feed, "")
		b.feed.line = append(append(b.feed.line[:0], text...), '\n')
		if !b.in.Scan() {
			return false
		}
	}
	res, ok := b.in.Result().(*benchfmt.Result)
	if !ok {
		return false
	}
	if b.lastRow == 0 || at.line > b.lastRow+1 {
		b.group++
	}
	b.lastRow = at.line
	row := &bench{position: at, pkg: b.pkg, name: processors.ReplaceAllString(string(res.Name.Full()), ""), iterations: res.Iters, group: b.group, runs: 1}
	for _, v := range res.Values {
		value, unit := v.Value, v.Unit
		if v.OrigUnit != "" {
			value, unit = v.OrigValue, v.OrigUnit
		}
		row.values = append(row.values, benchValue{value, strings.Clone(unit)})
	}
	// A heading between two runs of a name makes them two sides.
	key := benchKey{row.pkg, string(res.Name.Full()), at.path}
	if first := b.known[key]; first != nil {
		first.runs++
		if first.iterations == row.iterations && slices.Equal(first.values, row.values) {
			first.repeated++
		}
		return true
	}
	b.known[key] = row
	b.doc.benches = append(b.doc.benches, row)
	return true
}

// benchKey identifies the runs of one benchmark.
type benchKey struct{ pkg, name, path string }

var (
	// statHead matches the head of a table of benchstat: of today, and of before 2023.
	statHead = regexp.MustCompile(`│|^name\s+(old |time/op|alloc/op|allocs/op|speed)`)
	statOld  = regexp.MustCompile(`\(p=([0-9.]+) n=(\d+)\+(\d+)\)`)
	statNew  = regexp.MustCompile(`\(p=([0-9.]+) n=(\d+)(?:\+(\d+))?\)`)
	statOnly = regexp.MustCompile(`± +(∞|\d+%)`)
	statGain = regexp.MustCompile(`[-+]\d+(\.\d+)?%`)
)

// readStat reads a line of benchstat.
func (b *benches) readStat(at position, text string) bool {
	if (strings.HasPrefix(text, "name") || strings.Contains(text, "│")) && statHead.MatchString(text) {
		if b.tables == 0 || at.line > b.lastStat+2 {
			b.tables++
		}
		b.table, b.lastStat = b.tables, at.line
		return true
	}
	if b.table == 0 || !strings.Contains(text, "±") && !statOld.MatchString(text) {
		if text == "" {
			return false
		}
		if b.table > 0 && (strings.HasPrefix(text, "geomean") || strings.HasPrefix(text, "¹") || strings.HasPrefix(text, "²")) {
			b.lastStat = at.line
			return true
		}
		if at.line > b.lastStat+2 {
			b.table = 0
		}
		return false
	}
	b.lastStat = at.line
	row := statRow{position: at, name: strings.Fields(text)[0], p: -1, table: b.table, noRange: strings.Contains(text, "∞")}
	if m := statNew.FindStringSubmatch(text); m != nil {
		row.p, _ = strconv.ParseFloat(m[1], 64)
		row.runs, _ = strconv.Atoi(m[2])
		if n, err := strconv.Atoi(m[3]); err == nil {
			row.runs = min(row.runs, n)
		}
		before, _, _ := strings.Cut(text, "(p=")
		row.changed = statGain.MatchString(statOnly.ReplaceAllString(before, ""))
	}
	b.doc.stats = append(b.doc.stats, row)
	return true
}

func newBenches(doc *document) benches {
	return benches{doc: doc, feed: &feed{}, known: map[benchKey]*bench{}}
}
