package figures

import "github.com/tarebench/tare/internal/lazyregexp"

// document holds what was read from one file. A reader sets the first block of fields, and
// prepareFigures the second.
type document struct {
	name      string // path as the user gave it
	benches   []*bench
	statRows  []statRow
	statMeans []statMean
	reports   []*loadReport
	tables    []*table
	sentences []sentence // sentences that may be about figures
	commands  []command
	timeouts  []timeout
	structs   []structSize
	limits    []limit
	copies    []copiedBench // equal to benchmarks of an earlier file

	figures        []figure
	groups         []*figureGroup // by metric, such as a column of times
	grids          []*grid        // tables by row, sorted by line
	metricMatchers map[metricKey]labelMatcher
	groupsByOrigin [][]*figureGroup // by table or other origin, sorted by line
	ratios         ratioIndex
	comparisons    int
	verdicts       map[claimKey]verdict        // cache of judgeClaim
	textMatches    map[*lazyregexp.Regexp]bool // cache of hasText
}

// position is a line with the headings above it. Before a heading or list the others are "" or 0.
type position struct {
	line    int    // from 1
	heading string // the last heading
	label   string // the last heading or short line
	path    string // headings of all levels
	section int    // number of headings of level 1
	list    int    // line of item 1 of a numbered list
	item    int    // line of its last item
}

// bench is a benchmark of go test. To bound the memory, only its first run is stored.
type bench struct {
	position
	pkg        string // package; "" if unknown
	name       string // without "Benchmark" and the processors
	iterations int    // of the first run; 0 if unknown
	values     []benchValue
	runs       int
	equalRuns  int    // runs with the same figures as the first
	digest     uint64 // hash of all runs
	block      int    // number of the block of lines that contains it
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

// statRow is a benchmark in a table of benchstat, which compares two files.
type statRow struct {
	position
	name          string
	runs          int       // in the file with fewer; 0 if unknown
	p             float64   // p-value; -1 if unknown
	hasNoInterval bool      // ± ∞: too few runs for an interval
	table         int       // number of the table, from 1
	unit          string    // e.g. sec/op; "" if unknown
	values        []float64 // in base units; nil unless there are two
	firstValue    float64   // in base units; 0 if unknown
	files         [2]string // names in lower case
}

// statMean has the geometric means of a table of benchstat.
type statMean struct {
	line   int
	table  int     // number of the table, from 1
	unit   string  // e.g. sec/op
	change float64 // percent, from the first file to the second
}

// lineValue is a value of a report. Line 0 means unknown.
type lineValue struct {
	value float64
	line  int
}

func (m lineValue) isKnown() bool { return m.line > 0 }

// quantileValue is a quantile of latencies.
type quantileValue struct {
	share float64 // e.g. 0.99
	value float64 // s
	line  int
}

// loadReport holds the values that a load generator prints about one run. Latencies are in s.
type loadReport struct {
	position
	tool              string // ab, ghz, hey, k6, oha, vegeta, wrk or wrk2
	url               string
	requestPath       string    // "" if unknown
	command           string    // last command of the tool before the report; "" if unknown
	threads           lineValue // threads of wrk
	connections       lineValue // virtual users for k6
	duration          lineValue // s
	requests          lineValue
	rate              lineValue // responses per second
	offeredRate       lineValue // requests sent per second, or their target; unknown in a closed loop
	isOpenLoop        bool      // requests do not wait for responses
	meanLatency       lineValue
	minLatency        lineValue
	maxLatency        lineValue
	quantiles         []quantileValue
	latencyParts      []latencyPart
	errorResponses    lineValue
	socketErrors      lineValue // connections that failed or broke
	timedOut          lineValue
	responseSize      lineValue // bytes of one response
	droppedIterations lineValue // iterations of k6 that did not begin
	scenarios         int       // scenarios of k6; 0 if unknown
	hasArrivalRate    bool      // k6 begins iterations at a rate
	cpuPercent        lineValue // used by the generator; 100 is one processor
	discardsWarmUp    bool      // the tool does not record a warm-up
	requestedRate     lineValue // in vegeta's command; offeredRate is what it attained
	orderedRate       lineValue // in the command of hey, oha or ghz: they send no more
	maxWorkers        lineValue // most requests of vegeta in flight
	responses         lineValue // responses of all statuses; unknown if not counted
	tagParts          []taggedPart
}

// taggedPart has the requests of k6 with one tag.
type taggedPart struct {
	tag, value string
	mean       lineValue // s
	requests   lineValue
}

// latencyPart is a part of the mean latency, in s.
type latencyPart struct {
	name  string
	share float64 // of its quantile, e.g. 0.9; 0 for its mean
	lineValue
}

type sentence struct {
	position
	text     string
	previous string      // the previous sentence, if this one begins like "It is slower"; else ""
	starts   []lineStart // its second and further lines
}

// isRightAfter reports whether the sentence begins at most maxTextGap lines after a line of a table.
// A later item of a numbered list is not right after it.
func (s sentence) isRightAfter(line int) bool {
	isInLaterItem := 0 < s.list && s.list < line && line < s.item
	return !isInLaterItem && line < s.line && s.line-line <= maxTextGap
}

// backReferenceRE matches a sentence about the previous subject: "It is slower", or "For long texts
// it is slower".
var backReferenceRE = lazyregexp.New(`(?i)^\W*(?:it|its|this|that|they|these|their|both|here)\b|\bhere\b` +
	`|^\W*(?:for|on|in|at|with|under|with[a-z]+|beyond|above|below)\b` +
	`[^,.;:]{0,80},? (?:it|they) (?:is|are|was|were|takes?|needs?|uses?|runs?|allocates?)\b`)

// subject returns the text that names the sentence's subject: the previous sentence if this one
// begins like "It is slower".
func (s sentence) subject() string {
	if s.previous != "" {
		return s.previous
	}
	return s.text
}

// lineStart is the beginning of a line within a sentence.
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

// limit is the upper limit of a latency, with the measured latency.
type limit struct {
	line     int
	name     string  // e.g. p(95)
	value    float64 // s
	measured float64 // s
}

// structSize is a C struct on the page with its computed size.
type structSize struct {
	position
	name string
	size int64 // bytes, with padding
}
