package figures

import (
	"fmt"
	"slices"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/audit"
	"github.com/tarebench/tare/internal/format"
	"github.com/tarebench/tare/internal/lazyregexp"
)

// generatorLimit finds rates that the load generator may have limited.
func generatorLimit() rule {
	return rule{Rule: audit.Rule{
		ID: "generator-limit", Severity: tare.Warn,
		Title:   "The load generator was the limit, or may have been.",
		Why:     "A server that waits for requests is not measured: all servers above the generator's limit get the same figure.",
		Do:      "measure what the generator reaches on a server that does nothing, and compare CPU time per request where it is near",
		Command: compareCommand,
		Bad:     "Each client machine can generate at most 900 req/s.\n\n| server | rate |\n|---|---|\n| a | 870 req/s |\n| b | 610 req/s |\n",
		Good:    "Each client machine can generate at most 9000 req/s.\n\n| server | rate |\n|---|---|\n| a | 870 req/s |\n| b | 610 req/s |\n",
	}, find: findGeneratorLimit}
}

// generatorRateRE matches "generate at most 900 req/s per core". The groups are 900 and " per
// core".
var generatorRateRE = lazyregexp.New(`(?i)\b(?:generate|produce|send|push|create|sustain)s?\b[^.]{0,40}?` +
	`(\d[\d,]*(?:\.\d+)?\s?k?)\s*(?:req(?:uest)?s?\s*(?:/|per )\s*s(?:ec(?:ond)?)?|rps)\b([^.]*)`)

// generatorExhaustedRE matches a sentence about a generator at its limit.
var generatorExhaustedRE = lazyregexp.New(`(?i)\b(?:load generator|generator|wrk2?|k6|hey|oha|vegeta|ghz|ab|apachebench|client machine|test client|load client)\b` +
	`[^.,;]{0,40}\b(?:(?:was|were|is|ran|sat|pinned|stood) (?:\w+ ){0,2}(?:at )?(?:100|9\d)\s?%|maxed out|saturated|was the bottleneck|ran out of)`)

var maximumWordRE = lazyregexp.New(`(?i)\bmax|at most|up to|limit|only|no more|bottleneck`)

const (
	minBusyPercent   = 95   // percent of a processor per thread
	maxThreadPercent = 101  // percent of a processor that one thread can use, with rounding
	minReached       = 0.95 // least share of the target rate
	minNear          = 0.8  // least share of a generator's limit that is near it
)

// findGeneratorLimit reports runs and sentences about a generator at its limit.
func findGeneratorLimit(d *document, report reportFunc) {
	for _, l := range d.reports {
		l.findMissedRate(report)
		l.findOrderedRate(report)
	}
	rates := d.figures
	if len(d.reports) > 0 { // a table may have the sums of several generators
		rates = slices.DeleteFunc(slices.Clone(rates), func(f figure) bool { return f.origin < reportOrigin })
	}
	for _, s := range d.sentences {
		if m := generatorExhaustedRE.FindString(s.text); m != "" && !negationRE.MatchString(s.text) && len(d.figures) > 0 {
			report(s.line, fmt.Sprintf("%s: a generator without processor time left measures itself", quote(m)))
			continue
		}
		m := generatorRateRE.FindStringSubmatch(s.text)
		if m == nil || !maximumWordRE.MatchString(s.text) {
			continue
		}
		q, _, ok := parseQuantity(m[1] + " ")
		if !ok || q.value <= 0 {
			continue
		}
		if best := findHighestRate(rates); best.value > 0 && best.value >= minNear*q.value {
			report(s.line, fmt.Sprintf("one generator reaches %s requests per second, and line %d has %s", formatNumber(q.value), best.line, formatNumber(best.value)))
		}
	}
}

// findMissedRate reports a run below its target rate, or with a busy generator.
func (l *loadReport) findMissedRate(report reportFunc) {
	if l.droppedIterations.value > 0 {
		report(l.droppedIterations.line, fmt.Sprintf("%s were not begun: the generator had no virtual user free", format.Count(int(l.droppedIterations.value), "iteration")))
	}
	missesRequest := l.offeredRate.value > 0 && l.offeredRate.value < minReached*l.requestedRate.value
	if l.tool == "vegeta" && missesRequest {
		requested, offered := formatNumber(l.requestedRate.value), formatNumber(l.offeredRate.value)
		if rate, isLimit := l.workerLimit(); isLimit {
			report(l.rate.line, fmt.Sprintf("%s requests per second were asked for, and %s were sent: %.0f workers of %s per request send %s, so that the generator had no worker free", requested, offered, l.maxWorkers.value, formatTime(l.meanLatency.value), formatNumber(rate)))
		} else {
			report(l.offeredRate.line, fmt.Sprintf("%s requests per second were asked for, and %s were sent: vegeta waits for no answer, so that it is the limit", requested, offered))
		}
	}
	threads := max(l.threads.value, 1)
	isSingleThread := l.cpuPercent.value <= maxThreadPercent
	if l.cpuPercent.value >= minBusyPercent*threads && (l.threads.isKnown() || isSingleThread) {
		report(l.cpuPercent.line, fmt.Sprintf("the generator used %s %% of a processor, all that its threads can", formatNumber(l.cpuPercent.value)))
	}
	hasRates := l.offeredRate.isKnown() && l.rate.isKnown()
	if l.tool != "vegeta" && hasRates && l.rate.value < minReached*l.offeredRate.value {
		report(l.rate.line, fmt.Sprintf("%s requests per second were to be sent, and %s were: the rate was not reached, by the generator or the server", formatNumber(l.offeredRate.value), formatNumber(l.rate.value)))
	}
}

// asksCapacityRE matches the title of a run that looks for the capacity of a server.
var asksCapacityRE = lazyregexp.New(`(?i)\bcapacity\b|\bceiling\b|\bsaturat|\bmax(?:imum)? (?:rate|throughput|load)|\bpeak (?:rate|throughput|load)|\bcan (?:\w+ ){0,3}(?:take|handle|serve|do|sustain|carry|stand)\b|\bhow (?:many|much) .*\b(?:takes?|handles?|serves?|sustains?)\b`)

// findOrderedRate reports the rate of a command that is taken for the capacity of a server: hey with 40
// connections and -q 50 sends 2000 requests per second, and no more.
func (l *loadReport) findOrderedRate(report reportFunc) {
	const tolerance = 0.02 // share of the rate
	isCapacity := asksCapacityRE.MatchString(l.heading) || asksCapacityRE.MatchString(l.label)
	if isCapacity && l.orderedRate.value > 0 && l.rate.isKnown() && isNear(l.rate.value, l.orderedRate.value, tolerance) {
		report(l.rate.line, fmt.Sprintf("%s requests per second are the rate that %s was told to send at most (%s), and not what the server can do", formatNumber(l.rate.value), l.tool, formatNumber(l.orderedRate.value)))
	}
}

// workerLimit returns the rate of vegeta's workers. isLimit means that vegeta attained about this
// rate.
func (l *loadReport) workerLimit() (rate float64, isLimit bool) {
	const tolerance = 0.1 // share of the rate: workers also wait between requests
	if !(l.maxWorkers.value > 0) || !(l.meanLatency.value > 0) {
		return 0, false
	}
	rate = l.maxWorkers.value / l.meanLatency.value
	return rate, isNear(rate, l.offeredRate.value, tolerance)
}
