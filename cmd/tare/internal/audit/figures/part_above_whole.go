package figures

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/audit"
	"github.com/tarebench/tare/internal/lazyregexp"
)

// partAboveWhole finds parts above their total, e.g. a p99 above the maximum.
func partAboveWhole() rule {
	return rule{Rule: audit.Rule{
		ID: "part-above-whole", Severity: tare.Void,
		Title:   "A part is greater than what it is a part of.",
		Why:     "A quantile cannot be above the maximum, nor a lower one above a higher one, nor a step above the request that has it: the figures are of different runs, or were typed wrongly.",
		Do:      "take all figures of a row from one run",
		Command: loadCommand,
		Bad:     "| server | p50 | p99 | max |\n|---|---|---|---|\n| a | 12 ms | 48 ms | 31 ms |\n",
		Good:    "| server | p50 | p99 | max |\n|---|---|---|---|\n| a | 12 ms | 31 ms | 48 ms |\n",
	}, find: findPartAboveWhole}
}

// A figure may exceed its limit by rounding: times a factor, plus a time. ab prints integer ms.
const (
	quantileRounding = 0.999  // of quantiles
	reportRounding   = 1.01   // of the maximum or mean
	tableRounding    = 1.005  // of times in tables
	partRounding     = 1.05   // of times with parts
	countRounding    = 1.001  // of requests
	roundedMS        = 1e-3   // s, of the maximum or mean
	roundedParts     = 1.5e-3 // s, of parts in a report of ab
)

func findPartAboveWhole(d *document, report reportFunc) {
	for _, l := range d.reports {
		findReportDisorder(l, report)
	}
	for i, t := range d.tables {
		findTableDisorder(t.figures(i), report)
	}
	for _, c := range d.groups {
		findSmallTotal(c, report)
	}
	for _, b := range d.benches {
		findPartOfBench(b, report)
	}
	findStageAboveWhole(d.benches, report)
	findTermAboveSum(d, report)
}

// findReportDisorder reports values of a load generator's report that contradict each other, such as
// a mean above the maximum.
func findReportDisorder(l *loadReport, report reportFunc) {
	qs := slices.Clone(l.quantiles)
	slices.SortStableFunc(qs, func(a, b quantileValue) int { return cmp.Compare(a.share, b.share) })
	for i := 1; i < len(qs); i++ {
		if qs[i].value < qs[i-1].value*quantileRounding {
			report(qs[i].line, fmt.Sprintf("the quantile %s is %s, that of %s is %s", formatQuantile(qs[i].share), formatTime(qs[i].value), formatQuantile(qs[i-1].share), formatTime(qs[i-1].value)))
		}
	}
	if n := len(qs); n > 0 && l.maxLatency.isKnown() && qs[n-1].value > l.maxLatency.value*reportRounding+roundedMS {
		report(qs[n-1].line, fmt.Sprintf("the quantile %s is %s, and the maximum %s", formatQuantile(qs[n-1].share), formatTime(qs[n-1].value), formatTime(l.maxLatency.value)))
	}
	if l.meanLatency.isKnown() && l.maxLatency.isKnown() && l.meanLatency.value > l.maxLatency.value*reportRounding {
		report(l.meanLatency.line, fmt.Sprintf("the mean is %s, and the maximum %s", formatTime(l.meanLatency.value), formatTime(l.maxLatency.value)))
	}
	if l.meanLatency.isKnown() && l.minLatency.isKnown() && l.minLatency.value > l.meanLatency.value*reportRounding+roundedMS {
		report(l.meanLatency.line, fmt.Sprintf("the mean is %s, and the minimum %s", formatTime(l.meanLatency.value), formatTime(l.minLatency.value)))
	}
	for _, p := range l.latencyParts {
		slack := 0.0
		if l.tool == "ab" {
			slack = roundedParts
		}
		if p.share > 0 {
			findPartAboveQuantile(l, p, report)
			continue
		}
		if l.meanLatency.isKnown() && p.value > l.meanLatency.value*partRounding+slack {
			report(p.line, fmt.Sprintf("%s takes %s of a request of %s in the mean", p.name, formatTime(p.value), formatTime(l.meanLatency.value)))
		}
	}
	if l.requests.isKnown() && l.responses.value > l.requests.value*countRounding {
		report(l.responses.line, fmt.Sprintf("the statuses are of %.0f responses, and the report has %.0f requests", l.responses.value, l.requests.value))
	}
	isExempt := l.tool == "wrk" || l.tool == "ab" // their errors may exceed the requests
	if !isExempt && l.requests.isKnown() && l.errorResponses.value > l.requests.value*countRounding {
		report(l.errorResponses.line, fmt.Sprintf("%.0f of %.0f requests failed", l.errorResponses.value, l.requests.value))
	}
}

// findPartAboveQuantile reports a quantile of a part above that of the whole. In each request the part takes at most
// as long as the whole, so that no quantile can be above.
func findPartAboveQuantile(l *loadReport, p latencyPart, report reportFunc) {
	for _, q := range l.quantiles {
		if q.share == p.share && p.value > q.value*reportRounding {
			report(p.line, fmt.Sprintf("%s of %s is %s, and that of the complete request %s", formatQuantile(p.share), p.name, formatTime(p.value), formatTime(q.value)))
			return
		}
	}
}

// partUnitRE matches a part of the time, such as layout-ns/op. The group is layout.
var partUnitRE = lazyregexp.New(`(?i)^([a-z]+)[-_]ns/op$`)

// notPartRE matches names of times that may be above the mean time.
var notPartRE = lazyregexp.New(`(?i)^(?:p\d+|max|worst|slowest|latency|total|all|sum|wall|cpu|user|sys|elapsed|real|wait\w*|thread\w*|goroutine\w*)`)

func findPartOfBench(b *bench, report reportFunc) {
	ns, ok := b.value("ns/op")
	if !ok || !(ns > 0) {
		return
	}
	for _, v := range b.values {
		m := partUnitRE.FindStringSubmatch(v.unit)
		if m != nil && !notPartRE.MatchString(m[1]) && v.value > ns*partRounding {
			report(b.line, fmt.Sprintf("%s of %s takes %s ns of an operation of %s ns", m[1], b.name, formatNumber(v.value), formatNumber(ns)))
			return
		}
	}
}

// Examples: Import/whole is a total, and Import/stage=read is a stage.
var (
	wholeNameRE = lazyregexp.New(`(?i)/(?:(?:stage|step|phase|part)=)?(?:whole|total|all|full|complete|end[-_]?to[-_]?end|e2e)$`)
	stageNameRE = lazyregexp.New(`(?i)/(?:stage|step|phase|part)=[^/]+$`)
)

// findStageAboveWhole reports a stage that takes longer than all stages together.
func findStageAboveWhole(benches []*bench, report reportFunc) {
	for _, whole := range benches[:min(len(benches), maxMixParts)] {
		ns, ok := whole.value("ns/op")
		if !ok || !wholeNameRE.MatchString(whole.name) {
			continue
		}
		for _, stage := range benches[:min(len(benches), maxMixParts)] {
			value, _ := stage.value("ns/op")
			isPart := stage.pkg == whole.pkg && cutLast(stage.name) == cutLast(whole.name) && stageNameRE.MatchString(stage.name) && !wholeNameRE.MatchString(stage.name)
			if isPart && value > ns*partRounding {
				report(stage.line, fmt.Sprintf("%s takes %s, and %s takes %s", stage.name, formatTime(value*1e-9), whole.name, formatTime(ns*1e-9)))
			}
		}
	}
}

// sumDefinitionRE matches "full = parse + plan + resolve". The groups are full and the terms.
var sumDefinitionRE = lazyregexp.New(`\b(\w+) ?= ?(\w+(?: \+ \w+)+)`)

// wholeDefinitionRE matches "Ingest/all runs parse, validate and store". The groups are all and the terms.
var wholeDefinitionRE = lazyregexp.New(`(?i)\b(\w+) (?:runs|does|is|performs|includes|contains|covers|executes|calls|combines|chains|consists of|goes through|is made of)(?: both| all of)? ((?:\w+, )*\w+,? (?:and|then) \w+)`)

// wholeTerms returns the terms of which a text says that they make the whole, in lower case, or nil.
func wholeTerms(text, whole string) []string {
	if m := sumDefinitionRE.FindStringSubmatch(text); m != nil && strings.EqualFold(whole, m[1]) {
		return strings.Split(strings.ToLower(m[2]), " + ")
	}
	if m := wholeDefinitionRE.FindStringSubmatch(text); m != nil && strings.EqualFold(whole, m[1]) {
		return splitWords(m[2]) // "and" is the name of no term
	}
	return nil
}

// findTermAboveSum reports a sub-benchmark that takes longer than the whole of which it is a term. A comment or a
// sentence defines the whole.
func findTermAboveSum(d *document, report reportFunc) {
	lastName := func(b *bench) string { return strings.ToLower(b.name[strings.LastIndex(b.name, "/")+1:]) }
	benches, definitions := d.benches[:min(len(d.benches), maxMixParts)], d.findSentences(wholeDefinitionRE)
	for _, whole := range benches {
		ns, ok := whole.value("ns/op")
		terms := wholeTerms(whole.path, lastName(whole))
		for _, s := range definitions {
			if terms == nil {
				terms = wholeTerms(s.text, lastName(whole))
			}
		}
		if !ok || terms == nil {
			continue
		}
		for _, part := range benches {
			value, _ := part.value("ns/op")
			isTerm := part != whole && part.pkg == whole.pkg && cutLast(part.name) == cutLast(whole.name) && slices.Contains(terms, lastName(part))
			if isTerm && value > ns*partRounding {
				report(part.line, fmt.Sprintf("%s takes %s, and %s, which contains it, takes %s", part.name, formatTime(value*1e-9), whole.name, formatTime(ns*1e-9)))
			}
		}
	}
}

// totalRowRE matches the label of a row with the sum of the others.
var totalRowRE = lazyregexp.New(`(?i)^(?:total|sum|overall|whole request|full request|end[- ]to[- ]end)\b(?: time| latency| duration)?$`)

// findSmallTotal reports a total that is smaller than a figure above it.
func findSmallTotal(c *figureGroup, report reportFunc) {
	if c.kind == rateKind || c.origin < 0 {
		return
	}
	for _, total := range c.figures {
		if !totalRowRE.MatchString(total.subject) {
			continue
		}
		for _, part := range c.figures {
			if part.value > total.value*tableRounding && part.line < total.line {
				report(total.line, fmt.Sprintf("%s is %s, and %s in it is %s", quote(total.subject), formatValue(total.quantity), quote(part.subject), formatValue(part.quantity)))
				break
			}
		}
	}
}

// parseQuantileName returns a percentage: 99 for p99, 99% and 99th, and 99.9 for p999. The maximum
// is 100, and the minimum little more than 0. 0 means no quantile.
func parseQuantileName(header string) float64 {
	header = strings.Trim(strings.ToLower(header), " :")
	if !strings.HasPrefix(header, "p(") {
		header, _, _ = strings.Cut(header, "(")
	}
	header = strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(header), " latency"))
	header = strings.TrimSpace(strings.TrimPrefix(header, "latency "))
	if strings.HasPrefix(header, "min") || header == "fastest" {
		return 1e-6
	}
	if strings.HasPrefix(header, "max") || header == "slowest" {
		return 100
	}
	if strings.HasPrefix(header, "med") {
		return 50
	}
	m := quantileNameRE.FindStringSubmatch(header)
	if m == nil || m[1] == "" && m[3] == "" {
		return 0 // a plain number
	}
	q, err := strconv.ParseFloat(m[2], 64)
	if err != nil || q > 100 && q < 999 {
		return 0
	}
	for q > 100 { // p999 is p99.9
		q /= 10
	}
	return q
}

// quantileNameRE matches p99, p(99), 99% and 99th. The groups are p or p(, 99, and % or th.
var quantileNameRE = lazyregexp.New(`^(p\(?)?(\d{1,5}(?:\.\d+)?)\)?(%|th)?$`)

// findTableDisorder reports a p50 above the p99 of the same side.
func findTableDisorder(all []figure, report reportFunc) {
	for i, first := range all {
		for _, second := range all[i+1 : min(len(all), i+maxCells)] {
			if first.kind != timeKind || second.kind != timeKind || first.subject != second.subject {
				continue
			}
			isRowPerMetric := first.metric != second.metric && first.column == second.column
			if first.line != second.line && !isRowPerMetric {
				continue // two rows with the same label
			}
			lower, higher := first, second
			low, high := parseQuantileName(lower.metric), parseQuantileName(higher.metric)
			if low > high {
				low, high, lower, higher = high, low, higher, lower
			}
			if low > 0 && high > low && lower.value > higher.value*tableRounding {
				report(higher.line, fmt.Sprintf("%s of %s is %s, and %s is %s", lower.metric, quote(lower.subject), formatTime(lower.value), higher.metric, formatTime(higher.value)))
			}
		}
	}
}
