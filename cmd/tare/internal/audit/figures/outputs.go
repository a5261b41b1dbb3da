package figures

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/tarebench/tare/internal/lazyregexp"
)

// This file reads what load generators print about a run: ab, ghz, hey, k6, oha, vegeta, wrk and
// wrk2. For example, the line "Requests/sec: 473.33" of wrk sets the rate of a report.

// outputs reads reports of load generators, such as wrk, line by line. Each tool has a function for
// its lines, such as readWrk. The first line starts a report, and finishReport stores it.
type outputs struct {
	doc          *document
	current      *loadReport        // nil outside reports
	otherLines   int                // lines since the last line of the report
	k6Metric     string             // metric in the last line about all requests, e.g. http_reqs
	k6Arrival    bool               // the last scenarios have arrival rates
	k6Scenarios  int                // number of the last scenarios; 0 if unknown
	section      string             // "errors" in the error distribution of hey, oha or ghz
	lastCommands map[string]command // by tool
}

const (
	idleLines    = 40 // lines of other programs within a report
	commandLines = 80 // lines between a command and its report
)

// startReport finishes the current report and starts another.
func (o *outputs) startReport(tool string, pos position) *loadReport {
	o.finishReport()
	o.current = &loadReport{position: pos, tool: tool}
	return o.current
}

// finishReport stores the current report. A report without a rate and a mean is not stored, because
// the page only explains the output.
func (o *outputs) finishReport() {
	l := o.current
	o.current, o.otherLines, o.section = nil, 0, ""
	if l == nil || !l.rate.isKnown() && !l.meanLatency.isKnown() {
		return
	}
	tool := l.tool
	if tool == "wrk" && o.lastCommands["wrk2"].line > o.lastCommands["wrk"].line {
		tool = "wrk2" // both print the same lines
	}
	if c := o.lastCommands[tool]; c.line > 0 && l.line-c.line <= commandLines {
		l.command = c.text
	}
	o.doc.reports = append(o.doc.reports, l.withOptions())
}

// openReport returns the current report if one of tools printed it, else nil.
func (o *outputs) openReport(tools ...string) *loadReport {
	if o.current == nil || !slices.Contains(tools, o.current.tool) {
		return nil
	}
	return o.current
}

// readLine reads a line. It returns true if the line belongs to a report.
func (o *outputs) readLine(pos position, text string) bool {
	if text == "" {
		return false
	}
	for _, readTool := range []func(position, string) bool{o.readWrk, o.readAB, o.readSummary, o.readVegeta, o.readK6} {
		if readTool(pos, text) {
			o.otherLines = 0
			return true
		}
	}
	if o.current == nil {
		return false
	}
	m := pidstatLineRE.FindStringSubmatch(text)
	if m == nil {
		m = timeLineRE.FindStringSubmatch(text)
	}
	if m != nil {
		o.current.cpuPercent = numberAt(m[1], pos)
		return true
	}
	if o.otherLines++; o.otherLines > idleLines {
		o.finishReport()
	}
	return false
}

// pidstatLineRE matches a line of pidstat about a load generator. The group is its processor time
// in percent.
var pidstatLineRE = lazyregexp.New(`^(?:Average:|\d\d:\d\d:\d\d(?: [AP]M)?)\s+\d+\s+\d+(?:\s+\d+\.\d+){3,4}\s+(\d+\.\d+)\s+\S+\s+(?:wrk2?|hey|oha|ab|k6|vegeta|ghz)$`)

// timeLineRE matches "1.20s user 0.31s system 98% cpu" of the command time. The group is 98.
var timeLineRE = lazyregexp.New(`\b(?:user|elapsed|real)\b.*\b(\d{1,4})%\s?(?:CPU|cpu)\b`)

// Examples: "Running 10s test @ http://127.0.0.1/", "2 threads and 50 connections", "401210
// requests in 10.00s, 50.12MB read", "Socket errors: connect 0, read 3, write 0, timeout 1".
var (
	wrkRunningRE = lazyregexp.New(`^Running \S+ test @ (\S+)`)
	wrkThreadsRE = lazyregexp.New(`^(\d+) threads? and (\d+) connections?`)
	wrkTotalRE   = lazyregexp.New(`^(\d+) requests in ([0-9.]+(?:us|ms|s|m|h)), `)
	wrkErrorsRE  = lazyregexp.New(`^Socket errors: connect (\d+), read (\d+), write (\d+), timeout (\d+)`)
)

// readWrk reads a line of wrk or wrk2.
func (o *outputs) readWrk(pos position, text string) bool {
	if o.readWrkHead(pos, text) {
		return true
	}
	l := o.openReport("wrk")
	if l == nil {
		return false
	}
	fields := strings.Fields(text)
	switch {
	case strings.HasPrefix(text, "Thread Stats"), strings.HasPrefix(text, "Transfer/sec:"), strings.HasPrefix(text, "Req/Sec "), strings.HasPrefix(text, "Latency Distribution"):
		if strings.Contains(text, "HdrHistogram") {
			l.isOpenLoop, l.discardsWarmUp = true, true
		}
	case strings.HasPrefix(text, "Thread calibration:"), strings.HasPrefix(text, "#["), strings.HasPrefix(text, "Detailed Percentile"), strings.HasPrefix(text, "Initialised "):
		l.isOpenLoop, l.discardsWarmUp = true, true // only wrk2 prints these
	case strings.HasPrefix(text, "Latency ") && len(fields) >= 4:
		mean, max := durationAt(fields[1], pos), durationAt(fields[3], pos)
		if mean.isKnown() && max.isKnown() {
			l.meanLatency, l.maxLatency = mean, max
		}
	case len(fields) == 2 && strings.HasSuffix(fields[0], "%"):
		o.addQuantile(fields[0], durationAt(fields[1], pos))
	case strings.HasPrefix(text, "Requests/sec:") && len(fields) > 1:
		l.rate = numberAt(fields[1], pos)
	case strings.HasPrefix(text, "Non-2xx or 3xx responses:") && len(fields) > 4:
		l.errorResponses = addLineValues(l.errorResponses, numberAt(fields[4], pos))
	case isPercentileRow(fields), strings.HasPrefix(text, "Value ") && strings.Contains(text, "TotalCount"), strings.Trim(text, "-") == "":
		// This is the latency spectrum of wrk2. Without it a report would end after idleLines.
	default:
		if m := wrkTotalRE.FindStringSubmatch(text); m != nil {
			l.requests, l.duration = numberAt(m[1], pos), durationAt(m[2], pos)
			return true
		}
		if m := wrkErrorsRE.FindStringSubmatch(text); m != nil {
			for _, n := range m[1:4] {
				l.socketErrors = addLineValues(l.socketErrors, numberAt(n, pos))
			}
			l.timedOut = numberAt(m[4], pos)
			return true
		}
		return false
	}
	return true
}

// readWrkHead reads the first two lines of a report: the URL, and the threads and connections.
func (o *outputs) readWrkHead(pos position, text string) bool {
	if m := wrkRunningRE.FindStringSubmatch(text); m != nil {
		l := o.startReport("wrk", pos)
		l.url = m[1]
		return true
	}
	if !strings.Contains(text, " connection") { // faster than the regular expression
		return false
	}
	m := wrkThreadsRE.FindStringSubmatch(text)
	if m == nil {
		return false
	}
	l := o.openReport("wrk")
	if l == nil || l.connections.isKnown() {
		l = o.startReport("wrk", pos)
	}
	l.threads, l.connections = numberAt(m[1], pos), numberAt(m[2], pos)
	return true
}

// isPercentileRow reports whether fields are four numbers of wrk2's spectrum. The last may be inf.
func isPercentileRow(fields []string) bool {
	return len(fields) == 4 && !slices.ContainsFunc(fields, func(field string) bool {
		_, err := strconv.ParseFloat(field, 64)
		return err != nil
	})
}

// readAB reads a line of ApacheBench.
func (o *outputs) readAB(pos position, text string) bool {
	l := o.openReport("ab")
	name, value, hasName := strings.Cut(text, ":")
	if !hasName {
		return l != nil && o.readABQuantile(pos, text)
	}
	switch name {
	case "Server Software", "Server Hostname", "Document Path", "Concurrency Level":
		if l == nil || l.connections.isKnown() {
			l = o.startReport("ab", pos)
		}
	}
	return l != nil && l.readABField(pos, name, strings.TrimSpace(value))
}

// readABQuantile reads a line such as "99%     12", in ms.
func (o *outputs) readABQuantile(pos position, text string) bool {
	if strings.HasPrefix(text, "Percentage of the requests") {
		return true
	}
	fields := strings.Fields(text)
	if len(fields) < 2 || !strings.HasSuffix(fields[0], "%") {
		return false
	}
	ms, err := strconv.ParseFloat(fields[1], 64)
	if err == nil {
		o.addQuantile(fields[0], lineValue{ms / 1e3, pos.line})
	}
	return err == nil
}

// otherLengthRE matches responses of another length than the first.
var otherLengthRE = lazyregexp.New(`\bLength: (\d+)\b`)

// readABField sets a field of ApacheBench's report. It returns false for unknown names and invalid
// values.
func (l *loadReport) readABField(pos position, name, value string) bool {
	fields := strings.Fields(value)
	first := ""
	if len(fields) > 0 {
		first = fields[0]
	}
	switch name {
	case "Document Path":
		l.requestPath = value
	case "Server Software", "Server Port", "Keep-Alive requests", "Transfer rate", "Write errors", "Total transferred", "HTML transferred", "Time per request":
		// No rule needs these lines.
	case "Server Hostname":
		l.url = value
	case "Document Length":
		l.responseSize = numberAt(first, pos)
	case "Concurrency Level":
		l.connections = numberAt(first, pos)
	case "Time taken for tests":
		l.duration = numberAt(first, pos)
	case "Complete requests":
		l.requests = numberAt(first, pos)
	case "Failed requests", "Non-2xx responses": // both may count the same response
		if n := numberAt(first, pos); n.value >= l.errorResponses.value {
			l.errorResponses = n
		}
	case "(Connect": // "0, Receive: 0, Length: 12, Exceptions: 0)"
		// A service may send bodies of different lengths: this is no failure.
		if m := otherLengthRE.FindStringSubmatch(value); m != nil {
			n, _ := strconv.ParseFloat(m[1], 64)
			if l.errorResponses.value -= n; l.errorResponses.value <= 0 {
				l.errorResponses = lineValue{}
			}
		}
	case "Requests per second":
		l.rate = numberAt(first, pos)
	case "Connect", "Processing", "Waiting", "Total":
		return l.readABTimes(pos, name, fields)
	default:
		return false
	}
	return true
}

// readABTimes reads the columns min, mean, sd, median and max, in ms.
func (l *loadReport) readABTimes(pos position, name string, fields []string) bool {
	if len(fields) != 5 {
		return false
	}
	min, mean, max := numberAt(fields[0], pos), numberAt(fields[1], pos), numberAt(fields[4], pos)
	min.value, mean.value, max.value = min.value/1e3, mean.value/1e3, max.value/1e3
	if name == "Total" {
		l.minLatency, l.meanLatency, l.maxLatency = min, mean, max
	} else {
		l.latencyParts = append(l.latencyParts, latencyPart{name: name, lineValue: mean})
	}
	return true
}

// quantileLineRE matches "99% in 0.1900 secs". The groups are 99, 0.1900 and secs.
var quantileLineRE = lazyregexp.New(`^([0-9.]+) ?%%? in ([0-9.]+) ?(ns|µs|us|ms|secs?|s)\b`)

// statusCountRE matches "[200] 20000 responses". The groups are 200 and 20000.
var statusCountRE = lazyregexp.New(`^\[(\w+)\]\s+(\d+) responses?`)

// readSummary reads a line of hey, oha or ghz. A report counts as hey's until a line is typical of
// another tool.
func (o *outputs) readSummary(pos position, text string) bool {
	if text == "Summary:" {
		o.startReport("hey", pos)
		return true
	}
	l := o.openReport("hey", "oha", "ghz")
	if l == nil {
		return false
	}
	if m := quantileLineRE.FindStringSubmatch(text); m != nil {
		o.addQuantile(m[1]+"%", durationAt(m[2]+strings.TrimSuffix(m[3], "ecs"), pos))
		return true
	}
	if m := statusCountRE.FindStringSubmatch(text); m != nil {
		l.addStatus(m[1], numberAt(m[2], pos))
		return true
	}
	if o.section == "errors" && strings.HasPrefix(text, "[") {
		if n, _, ok := strings.Cut(text[1:], "]"); ok {
			// Requests that oha aborts at the end are not errors. ghz prints errors by status, too:
			// addStatus counts them.
			if !strings.Contains(text, "aborted due to deadline") && l.tool != "ghz" {
				l.errorResponses = addLineValues(l.errorResponses, numberAt(n, pos))
			}
			return true
		}
	}
	name, value, ok := strings.Cut(text, ":")
	if !ok {
		return false
	}
	switch name {
	case "Error distribution":
		o.section = "errors"
	case "Response time histogram", "Latency distribution", "Response time distribution", "Status code distribution", "Total data", "Size/sec", "Details (average, fastest, slowest)", "Name":
		o.section = ""
	default:
		return l.readSummaryField(pos, name, value)
	}
	return true
}

// addStatus adds a line such as "[200] 20000 responses". For ghz the status is e.g. OK.
func (l *loadReport) addStatus(status string, count lineValue) {
	if l.tool == "ghz" {
		l.responses = addLineValues(l.responses, count)
	} else {
		l.requests = addLineValues(l.requests, count)
	}
	if isErrorStatus(status) {
		l.errorResponses = addLineValues(l.errorResponses, count)
	}
}

// readSummaryField sets a field of the report of hey, oha or ghz. It returns false for unknown
// names.
func (l *loadReport) readSummaryField(pos position, name, text string) bool {
	value := strings.Join(strings.Fields(text), "")
	switch name {
	case "Total":
		l.duration = durationAt(value, pos)
	case "Slowest":
		l.maxLatency = durationAt(value, pos)
	case "Fastest":
		l.minLatency = durationAt(value, pos)
	case "Average":
		l.meanLatency = durationAt(value, pos)
	case "Requests/sec":
		l.rate = numberAt(value, pos)
	case "Success rate":
		l.tool = "oha"
	case "Count":
		l.tool, l.requests = "ghz", numberAt(value, pos)
	case "Size/request":
		if q, _, ok := parseQuantity(strings.TrimSpace(text)); ok {
			l.responseSize = lineValue{q.value, pos.line}
		}
	case "req write", "resp wait", "resp read":
		// The averages are over all requests. "DNS+dialup" is missing: few requests open a
		// connection.
		mean, _, _ := strings.Cut(value, ",")
		if p := durationAt(strings.TrimSuffix(mean, "ecs"), pos); p.isKnown() {
			l.latencyParts = append(l.latencyParts, latencyPart{name: name, lineValue: p})
		}
	default:
		return false
	}
	return true
}

// vegetaLineRE matches "Requests      [total, rate, throughput]  3000, 100.03, 99.98". The groups
// are Requests, the names and the values.
var vegetaLineRE = lazyregexp.New(`^(Requests|Duration|Latencies|Bytes In|Bytes Out|Success|Status Codes)\s+\[([^\]]+)\]\s+(.*)$`)

// labelRateRE matches the heading "rate: 500/s". The group is 500/s.
var labelRateRE = lazyregexp.New(`(?i)\brate[ =:]+(\d+/\d*s)\b`)

// readVegeta reads a line of vegeta report.
func (o *outputs) readVegeta(pos position, text string) bool {
	if !strings.Contains(text, " [") {
		return false
	}
	m := vegetaLineRE.FindStringSubmatch(text)
	if m == nil {
		return false
	}
	l := o.openReport("vegeta")
	if m[1] == "Requests" || l == nil {
		l = o.startReport("vegeta", pos)
		l.isOpenLoop = true
		if m := labelRateRE.FindStringSubmatch(pos.label); m != nil {
			l.requestedRate = rateAt(m[1], pos)
		}
	}
	names, values := strings.Split(m[2], ","), strings.Split(m[3], ",")
	for i, name := range names[:min(len(names), len(values))] {
		o.readVegetaField(pos, m[1], strings.TrimSpace(name), strings.TrimSpace(values[i]))
	}
	return true
}

// readVegetaField reads one value, e.g. of the topic Requests and the name rate.
func (o *outputs) readVegetaField(pos position, topic, name, value string) {
	l := o.current
	switch topic + " " + name {
	case "Requests total":
		l.requests = numberAt(value, pos)
	case "Requests rate":
		l.offeredRate = numberAt(value, pos) // the rate of sending
	case "Requests throughput":
		l.rate = numberAt(value, pos)
	case "Duration total":
		l.duration = durationAt(value, pos)
	case "Latencies mean":
		l.meanLatency = durationAt(value, pos)
	case "Latencies min":
		l.minLatency = durationAt(value, pos)
	case "Latencies max":
		l.maxLatency = durationAt(value, pos)
	case "Bytes In mean":
		l.responseSize = numberAt(value, pos)
	case "Success ratio":
		if ratio := numberAt(strings.TrimSuffix(value, "%"), pos); ratio.isKnown() && l.requests.isKnown() {
			l.errorResponses = lineValue{(1 - ratio.value/100) * l.requests.value, pos.line}
		}
	default:
		if topic == "Latencies" {
			o.addQuantile(strings.TrimSuffix(name, "th")+"%", durationAt(value, pos))
		}
	}
}

const maxQuantiles = 200

// addQuantile adds a quantile with a name such as "99%" to the current report. It ignores other
// names and unknown values.
func (o *outputs) addQuantile(name string, value lineValue) {
	percent, err := strconv.ParseFloat(strings.TrimSuffix(name, "%"), 64)
	isPercentage := err == nil && percent > 0 && percent <= 100
	if !isPercentage || !value.isKnown() || len(o.current.quantiles) > maxQuantiles {
		return
	}
	o.current.quantiles = append(o.current.quantiles, quantileValue{share: percent / 100, value: value.value, line: value.line})
}

// numberAt parses a number in the line of pos. The result is unknown if text is not a number or is
// negative.
func numberAt(text string, pos position) lineValue {
	value, _, rest, ok := parseNumber(text)
	if !ok || value < 0 || strings.ContainsAny(rest, "0123456789") {
		return lineValue{}
	}
	return lineValue{value, pos.line}
}

// durationAt parses a duration such as 1.35s, 214us, 1m30s or 0.0018secs. The value is in s.
func durationAt(text string, pos position) lineValue {
	total, rest := 0.0, text
	for rest != "" {
		value, _, after, ok := parseNumber(rest)
		if !ok || value < 0 {
			return lineValue{}
		}
		end := strings.IndexFunc(after, func(r rune) bool { return r >= '0' && r <= '9' })
		if end < 0 {
			end = len(after)
		}
		size := 0.0 // seconds; 0 for an unknown unit
		switch unit := strings.TrimSpace(after[:end]); unit {
		case "m":
			size = 60
		case "h":
			size = 3600
		default:
			if u, ok := findUnit(unit); ok && u.kind == timeKind {
				size = u.size
			}
		}
		if size == 0 {
			return lineValue{}
		}
		total += value * size
		rest = after[end:]
	}
	return lineValue{total, pos.line}
}

// addLineValues returns a + b, or the known one of them. The result has the line of a, or that of b
// if a is 0.
func addLineValues(a, b lineValue) lineValue {
	switch {
	case !a.isKnown():
		return b
	case !b.isKnown():
		return a
	case a.value == 0:
		return b
	}
	return lineValue{a.value + b.value, a.line}
}

// withOptions sets fields of a report from the options of its command, because tools do not print
// all of them. It returns l.
func (l *loadReport) withOptions() *loadReport {
	findOption := func(names ...string) (string, bool) {
		for _, name := range names {
			if m := regexp.MustCompile(`(?:^|\s)` + name + `[= ]?([^\s-]\S*)`).FindStringSubmatch(l.command); m != nil {
				return m[1], true
			}
		}
		return "", false
	}
	pos := position{line: l.line}
	switch l.tool {
	case "wrk":
		if rate, ok := findOption("-R", "--rate"); ok {
			l.offeredRate, l.isOpenLoop, l.discardsWarmUp = numberAt(rate, pos), true, true
		}
		if l.discardsWarmUp {
			l.tool = "wrk2"
		}
	case "vegeta":
		if rate, ok := findOption("--?rate"); ok {
			l.requestedRate = rateAt(rate, pos)
		}
		if n, ok := findOption("--?max-workers"); ok {
			l.maxWorkers = numberAt(n, pos)
		}
	case "hey", "oha", "ghz":
		if c, ok := findOption("-c", "--concurrency"); ok && !l.connections.isKnown() {
			l.connections = numberAt(c, pos)
		}
		if rate, ok := findOption("-q", "--rps", "-r"); ok {
			l.isOpenLoop, l.orderedRate = true, numberAt(rate, pos)
			if l.tool == "hey" { // its rate is that of each connection
				const connections = 50 // without -c
				l.orderedRate.value *= cmp.Or(l.connections.value, connections)
			}
		}
	}
	return l
}

// rateAt parses a rate of vegeta: 500, 500/s or 30/1m. The value is in requests per second.
func rateAt(text string, pos position) lineValue {
	count, unit, hasUnit := strings.Cut(text, "/")
	rate := numberAt(count, pos)
	if !hasUnit || !rate.isKnown() {
		return rate
	}
	if unit != "" && (unit[0] < '0' || unit[0] > '9') {
		unit = "1" + unit
	}
	seconds := durationAt(unit, pos).value
	if !(seconds > 0) {
		return lineValue{}
	}
	rate.value /= seconds
	return rate
}
