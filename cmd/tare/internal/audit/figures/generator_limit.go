package figures

import (
	"fmt"
	"slices"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/audit"
	"github.com/tarebench/tare/internal/format"
	"github.com/tarebench/tare/internal/lazyregexp"
)

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

// generatorRateRE matches the rate that a generator can send. The first group is its number.
var generatorRateRE = lazyregexp.New(`(?i)\b(?:generate|produce|send|push|create|sustain)s?\b[^.]{0,40}?(\d[\d,]*(?:\.\d+)?\s?k?)\s*(?:req(?:uest)?s?\s*(?:/|per )\s*s(?:ec(?:ond)?)?|rps)\b([^.]*)`)

// generatorExhaustedRE matches a statement that a generator was at its limit.
var generatorExhaustedRE = lazyregexp.New(`(?i)\b(?:load generator|generator|wrk2?|k6|hey|oha|vegeta|ghz|ab|apachebench|client machine|test client|load client)\b[^.,;]{0,40}\b(?:(?:was|were|is|ran|sat|pinned|stood) (?:\w+ ){0,2}(?:at )?(?:100|9\d)\s?%|maxed out|saturated|was the bottleneck|ran out of)`)

// maximumWordRE matches words for a greatest rate.
var maximumWordRE = lazyregexp.New(`(?i)\bmax|at most|up to|limit|only|no more|bottleneck`)

const (
	fullShare = 95   // percent of a processor per thread from which on the generator has no time left
	fullest   = 101  // percent of a processor that one thread uses at most
	heldShare = 0.95 // share of the target rate from which on it is attained
	nearShare = 0.8  // share of a generator's limit from which on a rate is near it
)

// workerLimit returns the rate in requests per second that the workers of vegeta can send if each
// waits for its response, and whether this is why the requested rate was not attained.
func (l *loadReport) workerLimit() (rate float64, isLimit bool) {
	const tolerance = 0.1 // share of the rate: workers also wait between requests
	if !(l.maxWorkers.value > 0) || !(l.mean.value > 0) || !(l.offeredRate.value > 0) || l.offeredRate.value >= heldShare*l.requestedRate.value {
		return 0, false
	}
	rate = l.maxWorkers.value / l.mean.value
	return rate, isNear(rate, l.offeredRate.value, tolerance)
}

// findGeneratorLimit reports runs that did not reach their target rate, and sentences about
// a generator that was exhausted or whose limit is near a rate on the page.
func findGeneratorLimit(d *document, report reportFunc) {
	for _, l := range d.loads {
		if l.droppedIterations.value > 0 {
			report(l.droppedIterations.line, fmt.Sprintf("%s were not begun: the generator had no virtual user free", format.Count(int(l.droppedIterations.value), "iteration")))
		}
		if rate, isLimit := l.workerLimit(); isLimit {
			report(l.rate.line, fmt.Sprintf("%s requests per second were asked for, and %s were sent: %.0f workers of %s per request send %s, so that the generator had no worker free", formatNumber(l.requestedRate.value), formatNumber(l.offeredRate.value), l.maxWorkers.value, formatTime(l.mean.value), formatNumber(rate)))
		} else if l.tool == "vegeta" && l.offeredRate.value > 0 && l.offeredRate.value < heldShare*l.requestedRate.value {
			report(l.offeredRate.line, fmt.Sprintf("%s requests per second were asked for, and %s were sent: vegeta waits for no answer, so that it is the limit", formatNumber(l.requestedRate.value), formatNumber(l.offeredRate.value)))
		}
		if threads := max(l.threads.value, 1); l.cpuPercent.value >= fullShare*threads && (l.threads.isKnown() || l.cpuPercent.value <= fullest) {
			report(l.cpuPercent.line, fmt.Sprintf("the generator used %s %% of a processor, all that its threads can", formatNumber(l.cpuPercent.value)))
		}
		hasRates := l.offeredRate.isKnown() && l.rate.isKnown()
		if l.tool != "vegeta" && hasRates && l.rate.value < heldShare*l.offeredRate.value {
			report(l.rate.line, fmt.Sprintf("%s requests per second were to be sent, and %s were: the rate was not reached, by the generator or the server", formatNumber(l.offeredRate.value), formatNumber(l.rate.value)))
		}
	}
	rates := d.figures
	if len(d.loads) > 0 { // a table may have the sums of several generators
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
		if best := findHighestRate(rates); best.value > 0 && best.value >= nearShare*q.value {
			report(s.line, fmt.Sprintf("one generator reaches %s requests per second, and line %d has %s", formatNumber(q.value), best.line, formatNumber(best.value)))
		}
	}
}
