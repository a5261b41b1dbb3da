package figures

import (
	"regexp"
	"strconv"
	"strings"
)

// outputs reads the reports of load generators, line by line. A report may stand anywhere in
// a text: in a file of its own, or in a block of a page.
type outputs struct {
	doc  *document
	last *load // the report that is being read; nil if there is none
	idle int   // lines since the last that belongs to it

	section string             // of the report: "errors" or ""
	latest  map[string]command // by tool
}

const (
	idleLines    = 40 // of something else end a report
	commandLines = 80 // after a command, a report may still be of it
)

// start ends the report before and begins another.
func (o *outputs) start(tool string, at position) *load {
	o.finish()
	o.last = &load{position: at, tool: tool}
	return o.last
}

// finish stores the report that was read. One without a figure is none: a page may explain
// the words.
func (o *outputs) finish() {
	l := o.last
	o.last, o.idle, o.section = nil, 0, ""
	if l == nil || !l.rate.isKnown() && !l.mean.isKnown() {
		return
	}
	tool := l.tool
	if tool == "wrk" && o.latest["wrk2"].line > o.latest["wrk"].line {
		tool = "wrk2"
	}
	if c := o.latest[tool]; c.line > 0 && l.line-c.line <= commandLines {
		l.command = c.text
	}
	o.doc.loads = append(o.doc.loads, l.withOptions())
}

// openReport returns the report of one of tools that is being read, or nil.
func (o *outputs) openReport(tools ...string) *load {
	if o.last == nil {
		return nil
	}
	for _, tool := range tools {
		if o.last.tool == tool {
			return o.last
		}
	}
	return nil
}

// read reports whether the line belongs to a report of a load generator.
func (o *outputs) read(at position, text string) bool {
	if text == "" {
		return false
	}
	for _, tool := range []func(position, string) bool{o.readWrk, o.readAB, o.readSummary, o.readVegeta, o.readK6} {
		if tool(at, text) {
			o.idle = 0
			return true
		}
	}
	if o.last != nil {
		if o.idle++; o.idle > idleLines {
			o.finish()
		}
	}
	return false
}

var (
	wrkRunning = regexp.MustCompile(`^Running \S+ test @ (\S+)`)
	wrkThreads = regexp.MustCompile(`^(\d+) threads? and (\d+) connections?`)
	wrkTotal   = regexp.MustCompile(`^(\d+) requests in ([0-9.]+(?:us|ms|s|m|h)), `)
	wrkErrors  = regexp.MustCompile(`^Socket errors: connect (\d+), read (\d+), write (\d+), timeout (\d+)`)
)

// readWrk reads a line of wrk or wrk2.
func (o *outputs) readWrk(at position, text string) bool {
	if m := wrkRunning.FindStringSubmatch(text); m != nil {
		l := o.start("wrk", at)
		l.url = m[1]
		return true
	}
	if !strings.Contains(text, " connection") {
	} else if m := wrkThreads.FindStringSubmatch(text); m != nil {
		l := o.openReport("wrk")
		if l == nil || l.connections.isKnown() {
			l = o.start("wrk", at)
		}
		l.threads, l.connections = numberAt(m[1], at), numberAt(m[2], at)
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
			l.open, l.warmed = true, true
		}
	case strings.HasPrefix(text, "Thread calibration:"), strings.HasPrefix(text, "#["), strings.HasPrefix(text, "Detailed Percentile"), strings.HasPrefix(text, "Initialised "):
		l.open, l.warmed = true, true // only wrk2 prints these
	case strings.HasPrefix(text, "Latency ") && len(fields) >= 4:
		mean, max := durationAt(fields[1], at), durationAt(fields[3], at)
		if mean.isKnown() && max.isKnown() {
			l.mean, l.max = mean, max
		}
	case len(fields) == 2 && strings.HasSuffix(fields[0], "%"):
		o.addQuantile(fields[0], durationAt(fields[1], at))
	case strings.HasPrefix(text, "Requests/sec:") && len(fields) > 1:
		l.rate = numberAt(fields[1], at)
	case strings.HasPrefix(text, "Non-2xx or 3xx responses:") && len(fields) > 4:
		l.errors = addMeasured(l.errors, numberAt(fields[4], at))
	default:
		if m := wrkTotal.FindStringSubmatch(text); m != nil {
			l.requests, l.duration = numberAt(m[1], at), durationAt(m[2], at)
			return true
		}
		if m := wrkErrors.FindStringSubmatch(text); m != nil {
			for _, n := range m[1:4] {
				l.broken = addMeasured(l.broken, numberAt(n, at))
			}
			l.timeouts = numberAt(m[4], at)
			return true
		}
		return false
	}
	return true
}

// readAB reads a line of ApacheBench.
func (o *outputs) readAB(at position, text string) bool {
	name, rest, ok := strings.Cut(text, ":")
	if !ok {
		l := o.openReport("ab")
		if l != nil && strings.HasPrefix(text, "Percentage of the requests") {
			return true
		}
		if fields := strings.Fields(text); l != nil && len(fields) >= 2 && strings.HasSuffix(fields[0], "%") {
			if ms, err := strconv.ParseFloat(fields[1], 64); err == nil {
				o.addQuantile(fields[0], measured{ms / 1e3, at.line})
				return true
			}
		}
		return false
	}
	rest = strings.TrimSpace(rest)
	l := o.openReport("ab")
	switch name {
	case "Server Software", "Server Hostname", "Document Path", "Concurrency Level":
		if l == nil || l.connections.isKnown() {
			l = o.start("ab", at)
		}
	}
	if l == nil {
		return false
	}
	fields := strings.Fields(rest)
	first := ""
	if len(fields) > 0 {
		first = fields[0]
	}
	switch name {
	case "Document Path":
		l.resource = rest
	case "Server Software", "Server Port", "Keep-Alive requests", "Transfer rate", "Write errors", "Total transferred", "HTML transferred":
	case "Server Hostname":
		l.url = rest
	case "Document Length":
		l.size = numberAt(first, at)
	case "Concurrency Level":
		l.connections = numberAt(first, at)
	case "Time taken for tests":
		l.duration = numberAt(first, at)
	case "Complete requests":
		l.requests = numberAt(first, at)
	case "Failed requests", "Non-2xx responses": // an answer may be counted by both
		if n := numberAt(first, at); n.value >= l.errors.value {
			l.errors = n
		}
	case "Requests per second":
		l.rate = numberAt(first, at)
	case "Time per request":
		return true
	case "Connect", "Processing", "Waiting", "Total":
		if len(fields) != 5 {
			return false
		}
		mean, max := numberAt(fields[1], at), numberAt(fields[4], at)
		mean.value, max.value = mean.value/1e3, max.value/1e3
		if name == "Total" {
			min := numberAt(fields[0], at)
			min.value /= 1e3
			l.min, l.mean, l.max = min, mean, max
		} else {
			l.parts = append(l.parts, part{name, mean})
		}
	default:
		return false
	}
	return true
}

// inPercent matches a line of a distribution of hey, oha or ghz.
var inPercent = regexp.MustCompile(`^([0-9.]+) ?%%? in ([0-9.]+) ?(ns|µs|us|ms|secs?|s)\b`)

// counts matches a number of responses by status or error.
var counts = regexp.MustCompile(`^\[(\w+)\]\s+(\d+) responses?`)

// readSummary reads a line of hey, oha or ghz, which print one another's form.
func (o *outputs) readSummary(at position, text string) bool {
	if text == "Summary:" {
		o.start("hey", at)
		return true
	}
	l := o.openReport("hey", "oha", "ghz")
	if l == nil {
		return false
	}
	if m := inPercent.FindStringSubmatch(text); m != nil {
		o.addQuantile(m[1]+"%", durationAt(m[2]+strings.TrimSuffix(m[3], "ecs"), at))
		return true
	}
	if m := counts.FindStringSubmatch(text); m != nil {
		n := numberAt(m[2], at)
		if l.tool != "ghz" {
			l.requests = addMeasured(l.requests, n)
		}
		if m[1] != "OK" && m[1][0] != '2' && m[1][0] != '3' {
			l.errors = addMeasured(l.errors, n)
		}
		return true
	}
	if o.section == "errors" && strings.HasPrefix(text, "[") {
		if n, _, ok := strings.Cut(text[1:], "]"); ok {
			if !strings.Contains(text, "aborted due to deadline") && l.tool != "ghz" {
				l.errors = addMeasured(l.errors, numberAt(n, at))
			}
			return true
		}
	}
	name, rest, ok := strings.Cut(text, ":")
	if !ok {
		return false
	}
	value := strings.Join(strings.Fields(rest), "")
	switch name {
	case "Total":
		l.duration = durationAt(value, at)
	case "Slowest":
		l.max = durationAt(value, at)
	case "Fastest":
		l.min = durationAt(value, at)
	case "Average":
		l.mean = durationAt(value, at)
	case "Requests/sec":
		l.rate = numberAt(value, at)
	case "Success rate":
		l.tool = "oha"
	case "Count":
		l.tool, l.requests = "ghz", numberAt(value, at)
	case "Size/request":
		if q, _, ok := parseQuantity(strings.TrimSpace(rest)); ok {
			l.size = measured{q.value, at.line}
		}
	case "Error distribution":
		o.section = "errors"
	case "Response time histogram", "Latency distribution", "Response time distribution", "Status code distribution", "Total data", "Size/sec", "Details (average, fastest, slowest)", "Name":
		o.section = ""
	default:
		return false
	}
	return true
}

// bracketed matches a line of vegeta: what it reports, the names of the figures, the figures.
var bracketed = regexp.MustCompile(`^(Requests|Duration|Latencies|Bytes In|Bytes Out|Success|Status Codes)\s+\[([^\]]+)\]\s+(.*)$`)

// readVegeta reads a line of vegeta report.
func (o *outputs) readVegeta(at position, text string) bool {
	if !strings.Contains(text, " [") {
		return false
	}
	m := bracketed.FindStringSubmatch(text)
	if m == nil {
		return false
	}
	l := o.openReport("vegeta")
	if m[1] == "Requests" || l == nil {
		l = o.start("vegeta", at)
		l.open = true
	}
	names, values := strings.Split(m[2], ","), strings.Split(m[3], ",")
	for i, name := range names {
		if i >= len(values) {
			break
		}
		name, value := strings.TrimSpace(name), strings.TrimSpace(values[i])
		switch m[1] + " " + name {
		case "Requests total":
			l.requests = numberAt(value, at)
		case "Requests rate":
			l.offered, l.rate = numberAt(value, at), numberAt(value, at)
		case "Requests throughput":
			l.rate = numberAt(value, at)
		case "Duration total":
			l.duration = durationAt(value, at)
		case "Latencies mean":
			l.mean = durationAt(value, at)
		case "Latencies min":
			l.min = durationAt(value, at)
		case "Latencies max":
			l.max = durationAt(value, at)
		case "Bytes In mean":
			l.size = numberAt(value, at)
		case "Success ratio":
			if ratio := numberAt(strings.TrimSuffix(value, "%"), at); ratio.isKnown() && l.requests.isKnown() {
				l.errors = measured{(1 - ratio.value/100) * l.requests.value, at.line}
			}
		default:
			if m[1] == "Latencies" {
				o.addQuantile(strings.TrimSuffix(name, "th")+"%", durationAt(value, at))
			}
		}
	}
	return true
}

// k6Line matches a metric of k6: its name, dots, and what it measured.
var k6Line = regexp.MustCompile(`^(?:[✓✗] )?(http_req_\w+|http_reqs|iterations|iteration_duration|dropped_iterations|vus|vus_max|data_received|data_sent|grpc_req_duration|checks)\.*\s*:\s*(.*)$`)

// k6Limit matches a threshold of k6 with its result.
var k6Limit = regexp.MustCompile(`^[✓✗] '?(p\([0-9.]+\)|avg|max|med) ?<=? ?(\d+(?:\.\d+)?)'? (?:p\([0-9.]+\)|avg|max|med)=(\S+)$`)

// readK6 reads a line of the summary of k6.
func (o *outputs) readK6(at position, text string) bool {
	if m := k6Limit.FindStringSubmatch(text); m != nil {
		most, got := numberAt(m[2], at), durationAt(m[3], at)
		if most.isKnown() && got.isKnown() && len(o.doc.limits) < maxSentences {
			o.doc.limits = append(o.doc.limits, limit{at.line, m[1], most.value / 1e3, got.value})
		}
		return true
	}
	if !strings.Contains(text, "..") && !strings.Contains(text, ". :") && !strings.Contains(text, ".:") {
		return false
	}
	m := k6Line.FindStringSubmatch(text)
	if m == nil {
		return false
	}
	name, fields := m[1], strings.Fields(m[2])
	l := o.openReport("k6")
	timing := name == "http_req_duration" || name == "grpc_req_duration"
	if l == nil || timing && l.mean.isKnown() || name == "data_received" && l.rate.isKnown() {
		l = o.start("k6", at)
	}
	keyed := map[string]measured{}
	for _, f := range fields {
		if key, value, ok := strings.Cut(f, "="); ok {
			keyed[key] = durationAt(value, at)
		}
	}
	switch {
	case timing:
		l.mean, l.min, l.max = keyed["avg"], keyed["min"], keyed["max"]
		o.addQuantile("50%", keyed["med"])
		for key, value := range keyed {
			if q, ok := strings.CutPrefix(key, "p("); ok {
				o.addQuantile(strings.TrimSuffix(q, ")")+"%", value)
			}
		}
	case name == "http_req_waiting" || name == "http_req_sending" || name == "http_req_receiving":
		if mean := keyed["avg"]; mean.isKnown() {
			l.parts = append(l.parts, part{name, mean})
		}
	case name == "http_reqs" && len(fields) > 1:
		l.requests, l.rate = numberAt(fields[0], at), numberAt(strings.TrimSuffix(fields[1], "/s"), at)
	case name == "http_req_failed" && len(fields) > 1:
		// "0.18% ✓ 65 ✗ 34201" counts failures by ✓; later versions print "0.18% 65 out of 34266".
		if n := numberAt(fields[1], at); n.isKnown() {
			l.errors = n
		} else if len(fields) > 2 && fields[1] == "✓" {
			l.errors = numberAt(fields[2], at)
		}
	case name == "dropped_iterations" && len(fields) > 0:
		l.dropped = numberAt(fields[0], at)
	case name == "vus_max" && len(fields) > 0:
		l.connections = numberAt(fields[0], at)
	}
	return true
}

// addQuantile adds a quantile, given as "99%", to the report that is being read.
func (o *outputs) addQuantile(name string, value measured) {
	q, err := strconv.ParseFloat(strings.TrimSuffix(name, "%"), 64)
	if err != nil || !(q > 0) || q > 100 || !value.isKnown() || len(o.last.quantiles) > 200 {
		return
	}
	o.last.quantiles = append(o.last.quantiles, quantileValue{q / 100, value.value, value.line})
}

// numberAt returns the number that text is, with its line; unknown if it is none.
func numberAt(text string, at position) measured {
	value, _, rest, ok := parseNumber(text)
	if !ok || value < 0 || strings.ContainsAny(rest, "0123456789") {
		return measured{}
	}
	return measured{value, at.line}
}

// durationAt returns a duration such as 1.35s, 214us or 0.0018secs in seconds; unknown if text
// is none.
func durationAt(text string, at position) measured {
	total, rest := 0.0, text
	for rest != "" {
		value, _, after, ok := parseNumber(rest)
		if !ok || value < 0 {
			return measured{}
		}
		end := strings.IndexFunc(after, func(r rune) bool { return r >= '0' && r <= '9' })
		if end < 0 {
			end = len(after)
		}
		size := 0.0
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
			return measured{}
		}
		total, rest = total+value*size, after[end:]
	}
	return measured{total, at.line}
}

// addMeasured returns the sum of a and b, at the line of the one that is not 0.
func addMeasured(a, b measured) measured {
	switch {
	case !a.isKnown():
		return b
	case !b.isKnown():
		return a
	case a.value == 0:
		return measured{a.value + b.value, b.line}
	}
	return measured{a.value + b.value, a.line}
}

// withOptions completes a report with what its command line says: tools do not print
// everything that they were asked for.
func (l *load) withOptions() *load {
	option := func(names ...string) (string, bool) {
		for _, name := range names {
			if m := regexp.MustCompile(`(?:^|\s)` + name + `[= ]?([^\s-]\S*)`).FindStringSubmatch(l.command); m != nil {
				return m[1], true
			}
		}
		return "", false
	}
	at := position{line: l.line}
	switch l.tool {
	case "wrk":
		if rate, ok := option("-R", "--rate"); ok {
			l.offered, l.open, l.warmed = numberAt(rate, at), true, true
		}
		if l.warmed {
			l.tool = "wrk2"
		}
	case "hey", "oha", "ghz":
		if c, ok := option("-c", "--concurrency"); ok && !l.connections.isKnown() {
			l.connections = numberAt(c, at)
		}
		if _, ok := option("-q", "--rps", "-r"); ok {
			l.open = true
		}
	}
	return l
}
