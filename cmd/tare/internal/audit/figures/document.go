package figures

// document holds the content of a file that the rules need: figures with their lines, and
// sentences about figures.
type document struct {
	name      string
	benches   []*bench   // of go test -bench, in the order of their first runs
	stats     []statRow  // of benchstat
	loads     []*load    // of load generators
	tables    []*table   // of a page
	sentences []sentence // of a page
	commands  []command
	structs   []structSize
	limits    []limit

	measured []measure     // of all tables, benchmarks and reports; after prepare
	groups   []*comparison // of measured
}

// position names a place: the line from 1, and the heading above it.
type position struct {
	line    int
	heading string // "" if there is none
	label   string // the last short line or heading before it
	path    string // the headings of all levels above it, the outermost first
	section int    // how many headings of the first level are above it
}

// bench is a benchmark of go test -bench with its first run. What is stored does not grow
// with the number of runs.
type bench struct {
	position          // of the first run
	pkg        string // "" if the output does not say
	name       string // without Benchmark and processors
	iterations int
	values     []benchValue // of the first run
	runs       int
	repeated   int // runs whose figures all equal those of the first, to the last digit
	group      int // number of the block of lines in which the first run is
}

// benchValue is a figure of a benchmark in the unit as written.
type benchValue struct {
	value float64
	unit  string
}

// value returns the figure in a unit.
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
	runs    int     // of the side with fewer; 0 if the row does not say
	p       float64 // -1 if the row has none
	changed bool    // the row claims a change
	noRange bool    // ± ∞
	table   int
}

// measured is a figure and its line; line 0 means that the output does not have it.
type measured struct {
	value float64
	line  int
}

func (m measured) isKnown() bool { return m.line > 0 }

// quantileValue is a quantile of latencies.
type quantileValue struct {
	q     float64 // 0.99
	value float64 // s
	line  int
}

// load is the report of a load generator about one run.
type load struct {
	position
	tool        string
	url         string
	resource    string   // path of the request; "" if the output has none
	command     string   // the last command of that tool before it; "" if there is none
	threads     measured // 0 if the output has none
	connections measured
	duration    measured // s
	requests    measured
	rate        measured // answers per second
	offered     measured // requests per second that were asked for; unknown in a closed loop
	open        bool     // requests are sent at their times, whatever comes back
	mean        measured // s
	min         measured
	max         measured
	quantiles   []quantileValue
	parts       []part   // of the mean
	errors      measured // answers that are errors
	broken      measured // errors of sockets: connections that failed or broke
	timeouts    measured
	size        measured // B of one response
	dropped     measured // iterations that were not begun
	warmed      bool     // the tool discards a warm-up
}

// part is a component of a latency.
type part struct {
	name string
	measured
}

// sentence is one sentence of the prose of a page.
type sentence struct {
	position
	text string
}

// command is a command line that runs a benchmark or a server.
type command struct {
	position
	text string
}

// limit is a limit of a latency with the latency that was measured against it.
type limit struct {
	line     int
	name     string  // of the latency
	value    float64 // s
	measured float64 // s
}

// structSize is a struct of C whose size can be computed.
type structSize struct {
	position
	name string
	size int64
}
