package figures

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"sort"
	"strings"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/audit"
	"github.com/tarebench/tare/internal/format"
	"github.com/tarebench/tare/internal/lazyregexp"
)

// This file is the rule closed-loop. In a closed loop each connection waits for a response before
// its next request. So its rate depends on the connections, and is not the capacity of the server.

// closedLoop finds rates of closed loops that are taken for a capacity. In a closed loop each
// connection waits for a response before its next request.
func closedLoop() rule {
	return rule{Rule: audit.Rule{
		ID: "closed-loop", Severity: tare.Warn,
		Title:   "The rate of a closed loop is read as the capacity of a server.",
		Why:     "In a closed loop a connection waits for its answer before it sends another request: the rate is connections ÷ latency, whatever the server could do. With a network between them it is the round trip that was measured; and at another rate the latency is another.",
		Do:      "send at fixed rates, and look for the highest at which the latency still holds",
		Command: searchCommand,
		Bad:     "## a\n\nRunning 30s test @ https://a.example/\n  4 threads and 40 connections\n    Latency   102.00ms   12.00ms 190.00ms   97.00%\n  11763 requests in 30.00s, 3.10MB read\nRequests/sec:    392.10\n\n## b\n\nRunning 30s test @ https://b.example/\n  4 threads and 40 connections\n    Latency   110.00ms   12.00ms 190.00ms   97.00%\n  10908 requests in 30.00s, 3.10MB read\nRequests/sec:    363.60\n\nServer a can handle 392 requests per second.\n",
		Good:    "## a\n\nwrk2 -t4 -c40 -d30s -R2000 https://a.example/\n\nRunning 30s test @ https://a.example/\n  4 threads and 40 connections\n  Thread calibration: mean lat.: 10.300ms, rate sampling interval: 24ms\n    Latency    10.20ms   12.00ms 190.00ms   97.00%\n  60000 requests in 30.00s, 3.10MB read\nRequests/sec:   2000.00\n\nServer a can handle 2000 requests per second.\n",
		Seen:    []string{"ingest", "https://github.com/simon-laszlo/benchmark"},
	}, find: findClosedLoop}
}

// findClosedLoop reports the rates of closed loops that the page calls a capacity. Without one, it
// reports the first slow closed loop.
func findClosedLoop(d *document, report reportFunc) {
	if findCapacityClaims(d, report) {
		return
	}
	var far []*loadReport
	for _, l := range d.reports {
		if l.isOpenLoop || l.tool == "k6" || l.meanLatency.value < minFarLatency || !l.connections.isKnown() || !l.rate.isKnown() {
			continue
		}
		inFlight := l.rate.value * l.meanLatency.value // by Little's law
		if math.Abs(inFlight/l.countConnections()-1) <= littleTolerance {
			far = append(far, l)
		}
	}
	targets := map[targetKey]bool{}
	for _, l := range d.reports {
		targets[l.target()] = true
	}
	isCompared := len(targets) > 1
	if len(far) == 0 || !isCompared && !d.hasText(capacityRE) {
		return
	}
	l := far[0]
	report(l.rate.line, fmt.Sprintf("%s: the rate, %s per second, is %.0f connections ÷ %s (and so in %s); the same server with more connections may have any rate", l.tool, formatNumber(l.rate.value), l.countConnections(), formatTime(l.meanLatency.value), format.Count(len(far), "report")))
}

var capacityRE = lazyregexp.New(`(?i)\b(?:handles?|handled|capacity|capable|can (?:serve|process|do|reach)|sustains?|supports?` +
	`|throughput|req(?:uest)?s?\s?(?:/|per )\s?s(?:ec(?:ond)?)?|rps|load)\b`)

// minFarLatency is a mean latency in s. A closed loop with a higher one mostly waits, e.g. for the
// network.
const minFarLatency = 0.05

// canServeRE matches words for a rate that a server handles.
var canServeRE = lazyregexp.New(`(?i)\b(?:handl(?:es?|ed|ing)|tak(?:es?|ing)|took|serv(?:es?|ed|ing)|process(?:es|ed)?` +
	`|sustain(?:s|ed|able)?|supports?|copes?|absorbs?|manages?|delivers?|carr(?:y|ies)` +
	`|accepts?|accommodates?|holds?|capacity|capable|can (?:do|reach|answer)|good for|enough for` +
	`|siz(?:e|ed|ing)|plan(?:s|ned|ning)?|provision\w*|budget|limit|ceiling|headroom` +
	`|max(?:imum|imal)?|at most|up to|peaks?|slo|sla)\b`)

// statedRateRE matches "2,000 req/s", "12k requests per second" or "900 rps". The group is the
// number.
var statedRateRE = lazyregexp.New(`(?i)(\d{1,3}(?:[ \x{00a0}\x{202f}]\d{3})+|\d[\d,]*(?:\.\d+)?\s?k?)\+?[\s*_\x60]*` + // 2,000
	`(?:(?:[a-z]+\s+)?[a-z]+\s*/\s*s(?:ec(?:ond)?)?\b|/\s*s(?:ec)?\b` + // requests/s
	`|(?:[a-z]+\s+){0,2}(?:per|a|each|every)\s+sec(?:ond)?\b` + // or: requests per second
	`|[rqt]ps\b)`) // or: rps

var quotesLatencyRE = lazyregexp.New(`(?i)\blatenc|\bp\d\d|\d\s?(?:ms|µs|us)\b|\b9\d(?:\.\d+)?\s?(?:%|th\b|percent)`)

// namedCapacityRE matches the name of a run that states a capacity at a latency: "capacity at p99".
var namedCapacityRE = lazyregexp.New(`(?i)\bcapacity\b[^'"]{0,40}\b(?:p\d\d[\d.]*|latency|\d+\s?ms)\b`)

// findCapacityClaims reports rates of closed loops that are called a capacity at a latency. It
// returns true if it found one.
func findCapacityClaims(d *document, report reportFunc) bool {
	found := false
	for _, l := range d.reports {
		if m := namedCapacityRE.FindString(l.command); m != "" && !l.isOpenLoop && l.tool != "k6" && l.rate.isKnown() {
			report(l.rate.line, fmt.Sprintf("the run is called %s, and is a closed loop (%s): at %s per second with other connections, or a burst, the latency is another", quote(m), l.tool, formatNumber(l.rate.value)))
			found = true
		}
	}
	rates := d.closedLoopRates()
	for _, s := range d.sentences {
		text := stripMarks(s.text)
		if !canServeRE.MatchString(text) || !quotesLatencyRE.MatchString(text) {
			continue
		}
		if negationRE.MatchString(strings.ReplaceAll(text, "can", "")) {
			continue // "can" is a negation elsewhere, but "can handle" is the claim
		}
		if rate, offset, l := d.findRateInReports(s.text); l != nil {
			report(s.lineAt(offset), fmt.Sprintf("%s per second come from a closed loop (%s, line %d): at that rate with other connections, or a burst, the latency is another", formatNumber(rate), l.tool, l.rate.line))
			found = true
		} else if rate, offset, line := findRateInTables(rates, s.text); line > 0 {
			report(s.lineAt(offset), fmt.Sprintf("%s per second (line %d) come from a closed loop, as the commands of the page are: at that rate with other connections, or a burst, the latency is another", formatNumber(rate), line))
			found = true
		}
	}
	return found
}

// quoteTolerance is the share by which a rate in the text may be rounded.
const quoteTolerance = 0.02

var (
	loopCommandRE = lazyregexp.New(`^(?:wrk|ab|hey|oha|ghz)\b`)
	// ratedCommandRE matches an option for a fixed rate: the loop is open.
	ratedCommandRE = lazyregexp.New(`\s(?:-R|--rate|-q|--rps|-r)[ =]?\d`)
)

// closedLoopRates returns the rates in the tables, sorted. It returns nil unless all commands that
// send requests are closed loops.
func (d *document) closedLoopRates() []figure {
	loops := 0
	for _, c := range d.commands {
		switch {
		case strings.HasPrefix(c.text, "vegeta"), strings.HasPrefix(c.text, "k6"), strings.HasPrefix(c.text, "wrk2"), ratedCommandRE.MatchString(c.text):
			return nil
		case loopCommandRE.MatchString(c.text):
			loops++
		}
	}
	if loops == 0 {
		return nil
	}
	var rates []figure
	for _, f := range d.figures {
		if f.isOfTable() && f.kind == rateKind {
			rates = append(rates, f)
		}
	}
	slices.SortStableFunc(rates, func(a, b figure) int { return cmp.Compare(a.value, b.value) })
	return rates
}

// findRateInTables returns the first rate in a text that is one of rates, which are sorted, and its
// offset in the text. line is the table's line, or 0 if no rate is found.
func findRateInTables(rates []figure, text string) (rate float64, offset, line int) {
	if len(rates) == 0 {
		return 0, 0, 0
	}
	for _, m := range statedRateRE.FindAllStringSubmatchIndex(text, maxFigures) {
		q, _, ok := parseQuantity(text[m[2]:m[3]] + " ")
		i := sort.Search(len(rates), func(i int) bool { return rates[i].value >= q.value*(1-quoteTolerance) })
		if ok && i < len(rates) && isNear(q.value, rates[i].value, quoteTolerance) {
			return q.value, m[0], rates[i].line
		}
	}
	return 0, 0, 0
}

// findRateInReports returns the first rate in a text that a report of a closed loop has, its offset,
// and the report. The report is nil if no rate is found.
func (d *document) findRateInReports(text string) (rate float64, offset int, l *loadReport) {
	for _, m := range statedRateRE.FindAllStringSubmatchIndex(text, maxFigures) {
		q, _, ok := parseQuantity(text[m[2]:m[3]] + " ")
		if !ok {
			continue
		}
		for _, l := range d.reports {
			if !l.isOpenLoop && l.tool != "k6" && isNear(q.value, l.rate.value, quoteTolerance) {
				return q.value, m[0], l
			}
		}
	}
	return 0, 0, nil
}
