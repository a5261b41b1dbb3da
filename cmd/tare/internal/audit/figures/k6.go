package figures

import (
	"slices"
	"strconv"
	"strings"

	"github.com/tarebench/tare/internal/lazyregexp"
)

// This file reads the summary that k6 prints about a run.

// k6LineRE matches "http_req_duration..: avg=1.2ms p(95)=3ms". The groups are the metric and its
// values.
var k6LineRE = lazyregexp.New(`^(?:[✓✗] )?(http_req_\w+|http_reqs|iterations` +
	`|iteration_duration|dropped_iterations|vus|vus_max|data_received|data_sent|grpc_req_duration|checks)\.*\s*:\s*(.*)$`)

// k6CustomRE matches "db_query_time..: avg=2ms". A script defines such metrics for a part of each
// request. The groups are db_query_time and 2ms.
var k6CustomRE = lazyregexp.New(`^((?:server|db|sql|query|upstream|backend|handler|app)\w*_(?:time|duration|latency))\.*\s*:\s*avg=(\S+)`)

// k6LimitRE matches a threshold with its result, "✓ 'p(95)<200' p(95)=41.2ms". The groups are
// p(95), 200 (in ms) and 41.2ms.
var k6LimitRE = lazyregexp.New(`^[✓✗] '?(p\([0-9.]+\)|avg|max|med) ?<=? ?(\d+(?:\.\d+)?)'? (?:p\([0-9.]+\)|avg|max|med)=(\S+)$`)

var (
	// k6ScenariosRE matches "scenarios: (100.00%) 2 scenarios, 22 max VUs". The group is 2.
	k6ScenariosRE = lazyregexp.New(`^scenarios: \([\d.]+%\) (\d+) scenarios?\b`)
	// k6ArrivalRE matches a scenario with a rate: "* read: 900.00 iterations/s for 3m0s".
	k6ArrivalRE = lazyregexp.New(`^\* \S+: [\d.]+ iterations/s for `)
)

// readK6 reads a line of the summary of k6.
func (o *outputs) readK6(pos position, text string) bool {
	if m := k6ScenariosRE.FindStringSubmatch(text); m != nil {
		o.k6Scenarios, _ = strconv.Atoi(m[1])
		o.k6Arrival = false
		return true
	}
	o.k6Arrival = o.k6Arrival || k6ArrivalRE.MatchString(text)
	if m := k6LimitRE.FindStringSubmatch(text); m != nil {
		limitMS, measured := numberAt(m[2], pos), durationAt(m[3], pos)
		if limitMS.isKnown() && measured.isKnown() && len(o.doc.limits) < maxSentences {
			o.doc.limits = append(o.doc.limits, limit{line: pos.line, name: m[1], value: limitMS.value / 1e3, measured: measured.value})
		}
		return true
	}
	l := o.openReport("k6")
	if l != nil && strings.HasSuffix(text, " iters/s") {
		l.hasArrivalRate = true
		return true
	}
	hasDots := strings.Contains(text, "..") || strings.Contains(text, ". :") || strings.Contains(text, ".:")
	if !hasDots { // faster than the regular expressions below
		return false
	}
	if m := k6TaggedRE.FindStringSubmatch(text); m != nil {
		return o.readTagged(pos, m[1], m[2], strings.Fields(m[3]))
	}
	if m := k6LineRE.FindStringSubmatch(text); m != nil {
		o.readK6Metric(pos, m[1], strings.Fields(m[2]))
		return true
	}
	if l == nil {
		return false
	}
	m := k6CustomRE.FindStringSubmatch(text)
	if m != nil {
		l.latencyParts = append(l.latencyParts, latencyPart{name: m[1], lineValue: durationAt(m[2], pos)})
	}
	return m != nil
}

// readK6Metric reads fields such as avg=1.2ms. A metric that the report already has starts the next
// report.
func (o *outputs) readK6Metric(pos position, name string, fields []string) {
	o.k6Metric = name
	l := o.openReport("k6")
	isDuration := name == "http_req_duration" || name == "grpc_req_duration"
	isNext := l != nil && (isDuration && l.meanLatency.isKnown() || name == "data_received" && l.rate.isKnown())
	if l == nil || isNext {
		l = o.startReport("k6", pos)
		l.hasArrivalRate, l.scenarios = o.k6Arrival, o.k6Scenarios
	}
	keyed := map[string]lineValue{} // values of the fields with =
	for _, f := range fields {
		if key, value, ok := strings.Cut(f, "="); ok {
			keyed[key] = durationAt(value, pos)
		}
	}
	switch {
	case isDuration:
		l.meanLatency, l.minLatency, l.maxLatency = keyed["avg"], keyed["min"], keyed["max"]
		o.addQuantile("50%", keyed["med"])
		for key, value := range keyed {
			if percent, ok := strings.CutPrefix(key, "p("); ok {
				o.addQuantile(strings.TrimSuffix(percent, ")")+"%", value)
			}
		}
	case name == "http_req_waiting" || name == "http_req_sending" || name == "http_req_receiving":
		for key, value := range keyed {
			if share, ok := k6Share(key); ok && value.isKnown() {
				l.latencyParts = append(l.latencyParts, latencyPart{name: name, share: share, lineValue: value})
			}
		}
	case name == "http_reqs" && len(fields) > 1:
		l.requests, l.rate = numberAt(fields[0], pos), numberAt(strings.TrimSuffix(fields[1], "/s"), pos)
	case name == "http_req_failed" && len(fields) > 1:
		// Old versions print "0.18% ✓ 65 ✗ 34201", with ✓ for failures. New ones print "0.18% 65
		// out of 34266".
		if n := numberAt(fields[1], pos); n.isKnown() {
			l.errorResponses = n
		} else if len(fields) > 2 && fields[1] == "✓" {
			l.errorResponses = numberAt(fields[2], pos)
		}
	case name == "dropped_iterations" && len(fields) > 0:
		l.droppedIterations, l.hasArrivalRate = numberAt(fields[0], pos), true
	case name == "vus_max" && len(fields) > 0:
		l.connections = numberAt(fields[0], pos)
	}
}

// k6Share returns the share of a quantile: 0.9 for p(90), 0.5 for med, and 0 for avg, the mean. It returns
// false for other keys.
func k6Share(key string) (share float64, ok bool) {
	switch key {
	case "avg":
		return 0, true
	case "med":
		return 0.5, true
	}
	percent, ok := strings.CutPrefix(strings.TrimSuffix(key, ")"), "p(")
	share, err := strconv.ParseFloat(percent, 64)
	return share / 100, ok && err == nil
}

// k6TaggedRE matches "{ name:login }..: avg=3ms". This line is about the requests with a tag. The
// groups are name, login and the values.
var k6TaggedRE = lazyregexp.New(`^(?:[✓✗] )?\{ *(\w+):([^{}]+?) *\}\.*\s*:\s*(.*)$`)

const maxTagged = 200

// readTagged reads the values of the requests with a tag. The last line about all requests names
// their metric.
func (o *outputs) readTagged(pos position, tag, value string, fields []string) bool {
	l := o.openReport("k6")
	if l == nil {
		return false
	}
	i := slices.IndexFunc(l.tagParts, func(p taggedPart) bool { return p.tag == tag && p.value == value })
	if i < 0 {
		if len(l.tagParts) >= maxTagged {
			return true
		}
		i = len(l.tagParts)
		l.tagParts = append(l.tagParts, taggedPart{tag: tag, value: value})
	}
	switch o.k6Metric {
	case "http_req_duration", "grpc_req_duration":
		for _, f := range fields {
			if mean, ok := strings.CutPrefix(f, "avg="); ok {
				l.tagParts[i].mean = durationAt(mean, pos)
			}
		}
	case "http_reqs":
		if len(fields) > 0 {
			l.tagParts[i].requests = numberAt(fields[0], pos)
		}
	}
	return true
}
