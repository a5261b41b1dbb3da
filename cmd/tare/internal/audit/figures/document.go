package figures

import "github.com/tarebench/tare/internal/lazyregexp"

// document holds the content of a file that the rules need: figures, which are published
// measurements, and sentences about them. A reader fills in the first block of fields, and
// prepareFigures computes the second from it.
type document struct {
	name      string        // path as the user gave it
	benches   []*bench      // benchmarks of go test -bench, in the order of their first runs
	stats     []statRow     // rows of benchstat
	means     []statMean    // lines of benchstat with geometric means
	loads     []*loadReport // reports of load generators
	tables    []*table      // tables of a page
	sentences []sentence    // sentences of a page that may be about figures
	commands  []command
	timeouts  []timeout
	structs   []structSize
	limits    []limit
	copies    []copiedBench // benchmarks whose runs also are in a file read before

	figures        []figure                    // figures of all tables, benchmarks and reports
	groups         []*figureGroup              // figures by metric, such as the cells of a column of times
	grids          []*grid                     // figures of tables by row, sorted by line
	metrics        map[metricKey]labelMatcher  // finds the metrics that a text names
	groupsByOrigin [][]*figureGroup            // groups by table or other origin, sorted by line
	ratios         ratioIndex                  // ratios of two figures of a row, for all grids
	lookups        int                         // number of comparisons of statements with grids and groups, to limit them
	verdicts       map[claimKey]verdict        // cache of judgeClaim, which compares statements with figures
	texts          map[*lazyregexp.Regexp]bool // cache of hasText: whether the page has a match
}

// position is a line of a file with the headings above it.
type position struct {
	line    int    // from 1
	heading string // text of the last heading; "" before the first
	label   string // text of the last heading, or of the last short line before this one
	path    string // texts of the headings of all levels, the outermost first
	section int    // number of headings of the first level so far
	list    int    // line of item 1 of the last numbered list under the heading; 0 without a list
	item    int    // line of the last item of that list; 0 without a list
}

// bench is a benchmark of go test -bench. Only its first run is stored, so that memory
// does not grow with the number of runs.
type bench struct {
	position          // position of the first run
	pkg        string // package; "" if the output does not name it
	name       string // without "Benchmark" and the number of processors
	iterations int    // iterations of the first run; 0 if the page omits them
	values     []benchValue
	runs       int
	equalRuns  int    // number of runs that equal the first in iterations and all figures
	digest     uint64 // hash of the iterations and figures of all runs, in their order
	block      int    // number of the block of consecutive lines that contains the first run
}

// benchValue is a figure of a benchmark in the unit of the output.
type benchValue struct {
	value float64
	unit  string
}

// value returns the figure in a unit, and whether the benchmark has one.
func (b *bench) value(unit string) (float64, bool) {
	for _, v := range b.values {
		if v.unit == unit {
			return v.value, true
		}
	}
	return 0, false
}

// statRow is the row of a benchmark in a table of benchstat.
type statRow struct {
	position
	name          string
	runs          int       // number of runs of the file with fewer; 0 if the row does not give it
	p             float64   // p-value; -1 if the row has none
	hasNoInterval bool      // the row has ± ∞: too few runs for an interval
	table         int       // number of the table of benchstat, from 1
	unit          string    // unit of the table, e.g. sec/op; "" if its head has none
	values        []float64 // figures of the files, in base units; nil unless there are two
	first         float64   // figure of the first file, in base units; 0 if the row has none
	sides         [2]string // names of the files in lower case; "old" and "new" if the head has none
}

// statMean is the line of a table of benchstat with the geometric means of two files.
type statMean struct {
	line   int
	table  int     // number of the table of benchstat
	unit   string  // unit of the table, e.g. sec/op
	change float64 // change from the first file to the second, in percent
}

// lineValue is a figure of a report and its line. Line 0 means that the report does not have the
// figure.
type lineValue struct {
	value float64
	line  int
}

// isKnown reports whether the report has the figure.
func (m lineValue) isKnown() bool { return m.line > 0 }

// quantileValue is a quantile of the latencies of a report.
type quantileValue struct {
	share float64 // share of the requests that are not slower, e.g. 0.99
	value float64 // latency in s
	line  int
}

// loadReport is the report of a load generator about one run.
type loadReport struct {
	position
	tool              string // ab, ghz, hey, k6, oha, vegeta, wrk or wrk2
	url               string
	requestPath       string    // path of the request; "" if the output has none
	command           string    // the last command of the tool before the report; "" without a command
	threads           lineValue // threads of wrk
	connections       lineValue // connections, or virtual users of k6
	duration          lineValue // s
	requests          lineValue
	rate              lineValue // responses per second
	offeredRate       lineValue // sent requests per second, or the target; unknown in a closed loop
	isOpenLoop        bool      // requests are sent at their times, without waiting for responses
	mean              lineValue // mean latency in s
	min               lineValue // least latency in s
	max               lineValue // greatest latency in s
	quantiles         []quantileValue
	parts             []part    // components of the mean latency
	errors            lineValue // error responses
	socketErrors      lineValue // connections that failed or broke
	timeouts          lineValue // requests that timed out
	responseSize      lineValue // bytes of one response
	droppedIterations lineValue // iterations that k6 did not begin
	scenarios         int       // scenarios of k6; 0 if the output does not list them
	hasArrivalRate    bool      // k6 begins iterations at a rate
	cpuPercent        lineValue // processor time of the generator, in percent of one processor
	discardsWarmUp    bool      // the tool does not record a warm-up
	requestedRate     lineValue // rate that vegeta's command requests; offeredRate is what it attained
	maxWorkers        lineValue // maximum number of vegeta's requests in flight
	responses         lineValue // responses of all statuses, if the report also counts requests
	tagParts          []taggedPart
}

// taggedPart holds the figures of k6 about the requests with one value of a tag.
type taggedPart struct {
	tag, value string
	mean       lineValue // mean latency in s
	requests   lineValue // number of requests
}

// part is a component of the mean latency, in s.
type part struct {
	name string
	lineValue
}

// sentence is one sentence of the prose of a page.
type sentence struct {
	position
	text   string
	before string      // the previous sentence of the paragraph if this one refers to it, else ""
	starts []lineStart // beginnings of its second and further lines
}

// isRightAfter reports whether the sentence begins at most maxTextGap lines after a line of a table, and
// not in a later item of a numbered list.
func (s sentence) isRightAfter(line int) bool {
	isInLaterItem := 0 < s.list && s.list < line && line < s.item
	return !isInLaterItem && line < s.line && s.line-line <= maxTextGap
}

// backReferenceRE matches a sentence that refers to the subject of the previous one: "It is slower", or "For
// long texts it is slower".
var backReferenceRE = lazyregexp.New(`(?i)^\W*(?:it|its|this|that|they|these|their|both|here)\b|\bhere\b|^\W*(?:for|on|in|at|with|under|with[a-z]+|beyond|above|below)\b[^,.;:]{0,80},? (?:it|they) (?:is|are|was|were|takes?|needs?|uses?|runs?|allocates?)\b`)

// subject returns the text that names the subject of a sentence: the previous sentence if this one
// refers to it, else its own text.
func (s sentence) subject() string {
	if s.before != "" {
		return s.before
	}
	return s.text
}

// lineStart is a line of a sentence and the offset in bytes at which the line begins in the text.
type lineStart struct{ offset, line int }

// lineAt returns the line of the byte at an offset of the text.
func (s sentence) lineAt(offset int) int {
	line := s.line
	for _, start := range s.starts {
		if start.offset <= offset {
			line = start.line
		}
	}
	return line
}

// command is a command line that runs a benchmark or a server.
type command struct {
	position
	text string
}

// timeout is the time after which a load generator ends a request.
type timeout struct {
	line    int
	option  string // text of the option that sets it, e.g. -t 5
	seconds float64
}

// limit is the upper limit of a latency, with the measured latency.
type limit struct {
	line     int
	name     string  // name of the latency, e.g. p(95)
	value    float64 // limit in s
	measured float64 // measured latency in s
}

// structSize is a struct of C whose size can be computed.
type structSize struct {
	position
	name string
	size int64 // bytes, with padding
}
