package figures

import "github.com/tarebench/tare/internal/lazyregexp"

// document holds what was read from one file. A reader fills in the first block of fields.
// prepareFigures computes the second block.
type document struct {
	name      string     // path as the user gave it
	benches   []*bench   // in the order of their first runs
	stats     []statRow  // rows of benchstat
	means     []statMean // geometric means of benchstat
	loads     []*loadReport
	tables    []*table
	sentences []sentence // sentences that may be about figures
	commands  []command
	timeouts  []timeout
	structs   []structSize
	limits    []limit
	copies    []copiedBench // equal to benchmarks in an earlier file

	figures        []figure                    // of all tables, benchmarks and reports
	groups         []*figureGroup              // by metric, such as a column of times
	grids          []*grid                     // figures of tables by row, sorted by line
	metrics        map[metricKey]labelMatcher  // finds the metrics that a text names
	groupsByOrigin [][]*figureGroup            // groups by table or other origin, sorted by line
	ratios         ratioIndex                  // ratios of two figures of a row
	lookups        int                         // comparisons so far
	verdicts       map[claimKey]verdict        // cache of judgeClaim
	texts          map[*lazyregexp.Regexp]bool // cache of hasText
}

// position is a line with the headings above it.
type position struct {
	line    int    // from 1
	heading string // last heading; "" before the first
	label   string // last heading or short line before this one
	path    string // headings of all levels, the outermost first
	section int    // number of headings of the first level so far
	list    int    // line of item 1 of a numbered list; 0 without a list
	item    int    // line of its last item; 0 without a list
}

// bench is a benchmark of go test. Only its first run is stored, to bound the memory.
type bench struct {
	position          // of the first run
	pkg        string // package; "" if unknown
	name       string // without "Benchmark" and the number of processors
	iterations int    // of the first run; 0 if unknown
	values     []benchValue
	runs       int
	equalRuns  int    // runs that equal the first in all figures
	digest     uint64 // hash of all runs in their order
	block      int    // number of the block of lines with the first run
}

type benchValue struct {
	value float64
	unit  string
}

func (b *bench) value(unit string) (float64, bool) {
	for _, v := range b.values {
		if v.unit == unit {
			return v.value, true
		}
	}
	return 0, false
}

// statRow is the row of a benchmark in a table of benchstat. benchstat compares two files of
// results.
type statRow struct {
	position
	name          string
	runs          int       // of the file with fewer; 0 if unknown
	p             float64   // p-value; -1 without one
	hasNoInterval bool      // it has ± ∞: too few runs for an interval
	table         int       // number of the table, from 1
	unit          string    // of the table, e.g. sec/op; "" if unknown
	values        []float64 // in base units; nil unless there are two files
	first         float64   // of the first file, in base units; 0 if unknown
	sides         [2]string // names of the files in lower case
}

// statMean is a line of benchstat with geometric means.
type statMean struct {
	line   int
	table  int     // number of the table, from 1
	unit   string  // of the table, e.g. sec/op
	change float64 // from the first file to the second, in percent
}

// lineValue is a value of a report. Line 0 means unknown.
type lineValue struct {
	value float64
	line  int
}

func (m lineValue) isKnown() bool { return m.line > 0 }

// quantileValue is a quantile of the latencies.
type quantileValue struct {
	share float64 // of the requests that are not slower, e.g. 0.99
	value float64 // s
	line  int
}

// loadReport is what a load generator prints about one run. Latencies are in s.
type loadReport struct {
	position
	tool              string // ab, ghz, hey, k6, oha, vegeta, wrk or wrk2
	url               string
	requestPath       string    // "" if unknown
	command           string    // the last command of the tool before it; "" if unknown
	threads           lineValue // threads of wrk
	connections       lineValue // virtual users for k6
	duration          lineValue // s
	requests          lineValue
	rate              lineValue // responses per second
	offeredRate       lineValue // requests sent per second, or their target; unknown in a closed loop
	isOpenLoop        bool      // requests are sent without waiting for responses
	mean              lineValue // latency
	min               lineValue // latency
	max               lineValue // latency
	quantiles         []quantileValue
	parts             []part
	errors            lineValue // error responses
	socketErrors      lineValue // connections that failed or broke
	timeouts          lineValue // requests that timed out
	responseSize      lineValue // bytes of one response
	droppedIterations lineValue // iterations of k6 that did not begin
	scenarios         int       // scenarios of k6; 0 if unknown
	hasArrivalRate    bool      // k6 begins iterations at a rate
	cpuPercent        lineValue // used by the generator; 100 is one processor
	discardsWarmUp    bool
	requestedRate     lineValue // in vegeta's command; offeredRate is what it attained
	maxWorkers        lineValue // the most requests of vegeta in flight
	responses         lineValue // responses of all statuses; unknown if not counted
	tagParts          []taggedPart
}

// taggedPart is about the requests of k6 with one value of a tag.
type taggedPart struct {
	tag, value string
	mean       lineValue // latency in s
	requests   lineValue
}

// part is a part of the mean latency, in s.
type part struct {
	name string
	lineValue
}

type sentence struct {
	position
	text   string
	before string      // the previous sentence, for "It is slower"; else ""
	starts []lineStart // of its second and further lines
}

// isRightAfter reports whether a sentence is at most maxTextGap lines after a line. It returns
// false in a later item of a numbered list.
func (s sentence) isRightAfter(line int) bool {
	isInLaterItem := 0 < s.list && s.list < line && line < s.item
	return !isInLaterItem && line < s.line && s.line-line <= maxTextGap
}

// backReferenceRE matches a sentence about the previous subject: "It is slower", or "For long texts
// it is slower".
var backReferenceRE = lazyregexp.New(`(?i)^\W*(?:it|its|this|that|they|these|their|both|here)\b|\bhere\b|^\W*(?:for|on|in|at|with|under|with[a-z]+|beyond|above|below)\b[^,.;:]{0,80},? (?:it|they) (?:is|are|was|were|takes?|needs?|uses?|runs?|allocates?)\b`)

// subject returns the text with the name of the sentence's subject.
func (s sentence) subject() string {
	if s.before != "" {
		return s.before
	}
	return s.text
}

// lineStart is where a line begins in the text of a sentence.
type lineStart struct{ offset, line int }

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
	option  string // e.g. -t 5
	seconds float64
}

// limit is the upper limit of a latency.
type limit struct {
	line     int
	name     string  // e.g. p(95)
	value    float64 // s
	measured float64 // s
}

// structSize is a struct of C.
type structSize struct {
	position
	name string
	size int64 // bytes, with padding
}
