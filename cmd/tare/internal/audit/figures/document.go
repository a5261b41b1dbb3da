package figures

import "github.com/tarebench/tare/internal/lazyregexp"

// document holds the content of a file that the rules need: figures with their lines, and
// sentences about figures. A reader fills it, and prepareMeasures completes it.
type document struct {
	name      string     // path as the user gave it
	benches   []*bench   // benchmarks of go test -bench, in the order of their first runs
	stats     []statRow  // rows of benchstat
	means     []statMean // of the tables of benchstat
	loads     []*load    // reports of load generators
	tables    []*table   // tables of a page
	sentences []sentence // sentences of a page that may be about figures
	commands  []command
	timeouts  []timeout
	structs   []structSize
	limits    []limit
	copies    []copiedBench // benchmarks with the runs of one in a file read before

	measured []measure                   // figures of all tables, benchmarks and reports
	groups   []*comparison               // figures of measured that compare with each other
	grids    []*grid                     // figures of tables by row
	metrics  map[metricKey]naming        // metrics of the groups with one origin and kind
	blocks   [][]*comparison             // groups by origin, sorted by line
	ratios   ratioIndex                  // ratios in all rows of grids
	lookups  int                         // number of grids and groups that statements were compared with
	verdicts map[claimKey]verdict        // of the claims that a rule has judged
	texts    map[*lazyregexp.Regexp]bool // whether the page has a match, of the patterns that rules have asked for
}

// position is a line of a file with the headings above it.
type position struct {
	line    int    // from 1
	heading string // text of the last heading; "" before the first
	label   string // text of the last heading, or of the last short line before this one
	path    string // texts of the headings of all levels, the outermost first
	section int    // number of headings of the first level so far
	list    int    // line of item 1 of the last numbered list under the heading; 0 before one
	item    int    // line of the last item of that list
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
	repeated   int    // number of runs that equal the first in iterations and all figures
	digest     uint64 // hash of the iterations and figures of all runs, in their order
	group      int    // number of the block of consecutive lines that contains the first run
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
	name    string
	runs    int       // number of runs of the side with fewer; 0 if the row does not give it
	p       float64   // p-value; -1 if the row has none
	changed bool      // the row states a change in percent
	noRange bool      // the row has ± ∞: too few runs for an interval
	table   int       // number of the table of benchstat, from 1
	unit    string    // unit of the table, e.g. sec/op; "" if its head has none
	values  []float64 // figures of the files, in base units; nil unless there are two
	first   float64   // figure of the first file, in base units; 0 if the row has none
	sides   [2]string // names of the files in lower case; old and new if the head omits them
}

// statMean is the line of a table of benchstat with the geometric means of two files.
type statMean struct {
	line   int
	table  int // number of the table of benchstat
	unit   string
	change float64 // in percent
}

// measured is a figure and its line; line 0 means that the output does not have it.
type measured struct {
	value float64
	line  int
}

// isKnown reports whether the output has the figure.
func (m measured) isKnown() bool { return m.line > 0 }

// quantileValue is a quantile of the latencies of a report.
type quantileValue struct {
	q     float64 // share of the requests, e.g. 0.99
	value float64 // latency in s
	line  int
}

// load is the report of a load generator about one run. Figures that the report does not
// have are unknown (see measured).
type load struct {
	position
	tool        string // ab, ghz, hey, k6, oha, vegeta, wrk or wrk2
	url         string
	resource    string   // path of the request; "" if the output has none
	command     string   // the last command of the tool before the report; "" without a command
	threads     measured // threads of wrk
	connections measured // connections, or virtual users of k6
	duration    measured // s
	requests    measured
	rate        measured // responses per second
	offered     measured // target rate in requests per second; unknown in a closed loop
	open        bool     // open loop: requests are sent at their times, without waiting for responses
	mean        measured // mean, least and greatest latency in s
	min         measured
	max         measured
	quantiles   []quantileValue
	parts       []part   // components of the mean latency
	errors      measured // responses that are errors
	broken      measured // socket errors: connections that failed or broke
	timeouts    measured
	size        measured // bytes of one response
	dropped     measured // iterations that k6 did not begin
	paced       bool     // k6 begins iterations at a rate
	busy        measured // share of a processor that the generator used, in percent
	warmed      bool     // the tool discards a warm-up
	asked       measured // rate that the command of vegeta asks for; offered is the rate that it attained
	workers     measured // most requests of vegeta in flight
	counted     measured // responses of all statuses, if the report also has a number of requests
	tagged      []taggedPart
}

// taggedPart holds the figures of k6 about the requests with one value of a tag.
type taggedPart struct {
	tag, value     string
	mean, requests measured
}

// part is a component of the mean latency, in s.
type part struct {
	name string
	measured
}

// sentence is one sentence of the prose of a page.
type sentence struct {
	position
	text   string
	before string      // the sentence before it in its paragraph, if it refers back to that; else ""
	starts []lineStart // lines after the first
}

// isRightAfter reports whether the sentence is shortly after a line of a table, and in no other item of a
// numbered list.
func (s sentence) isRightAfter(line int) bool {
	isOtherItem := 0 < s.list && s.list < line && line < s.item
	return !isOtherItem && line < s.line && s.line-line <= maxTextGap
}

// back matches a sentence whose subject is that of the sentence before it.
var back = lazyregexp.New(`(?i)^\W*(?:it|its|this|that|they|these|their|both|here)\b|\bhere\b`)

// subject returns the text that names the subject of a sentence: the sentence before it if it refers
// back to that, else its own text.
func (s sentence) subject() string {
	if s.before != "" {
		return s.before
	}
	return s.text
}

// lineStart is a line of a sentence and the byte of the text with which it begins.
type lineStart struct{ offset, line int }

// lineAt returns the line of a byte of the text.
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

// timeout is a time after which a script or a command ends a request.
type timeout struct {
	line  int
	text  string  // of the option
	value float64 // s
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
