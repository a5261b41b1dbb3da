package figures

import (
	"fmt"
	"strings"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/audit"
	"github.com/tarebench/tare/internal/lazyregexp"
)

// fewRequests finds quantiles that depend on a few requests, such as p99 of 200.
func fewRequests() rule {
	return rule{Rule: audit.Rule{
		ID: "few-requests", Severity: tare.Warn,
		Title:   "A quantile is of too few requests.",
		Why:     "P99 of 200 requests is the second slowest: the next run has another. Ten requests or more have to lie beyond a quantile before it means anything.",
		Do:      "send requests for longer: 1,000 for p99, 10,000 for p99.9",
		Command: loadCommand,
		Bad:     "Summary:\n  Total:\t12.1000 secs\n  Slowest:\t0.2100 secs\n  Fastest:\t0.0120 secs\n  Average:\t0.0310 secs\n  Requests/sec:\t16.5289\n\nLatency distribution:\n  50% in 0.0290 secs\n  99% in 0.1900 secs\n\nStatus code distribution:\n  [200]\t200 responses\n",
		Good:    "Summary:\n  Total:\t12.1000 secs\n  Slowest:\t0.2100 secs\n  Fastest:\t0.0020 secs\n  Average:\t0.0060 secs\n  Requests/sec:\t1652.89\n\nLatency distribution:\n  50% in 0.0050 secs\n  99% in 0.0190 secs\n\nStatus code distribution:\n  [200]\t20000 responses\n",
		Seen:    []string{"https://github.com/bojand/ghz", "https://github.com/dukhyungkim/cyf", "https://github.com/chinmay-sawant/gopdfsuit"},
	}, find: findFewRequests}
}

const (
	// minBeyond is the least number of requests beyond a quantile. roundingSlack allows for the
	// rounding of 1 - share.
	minBeyond     = 10
	roundingSlack = 1e-6
	// maxPercent excludes higher quantiles except those of benchmarks. Many tools print these for
	// any number of requests.
	maxPercent = 99.91
)

// isTooFew reports whether a quantile, in percent, has fewer than minBeyond of n requests beyond
// it.
func isTooFew(n, percent float64) bool { return n*(1-percent/100) < minBeyond-roundingSlack }

func findFewRequests(d *document, report reportFunc) {
	for _, l := range d.reports {
		requests := l.countRequests()
		if requests <= 0 {
			continue
		}
		var lowest quantileValue // the higher ones have still fewer requests
		for _, q := range l.quantiles {
			isLower := lowest.line == 0 || q.share < lowest.share
			if beyond := requests * (1 - q.share); beyond < minBeyond-roundingSlack && q.share < maxPercent/100 && isLower {
				lowest = q
			}
		}
		if lowest.line > 0 {
			report(lowest.line, fmt.Sprintf("%s of %.0f requests: %s of them are beyond it", formatQuantile(lowest.share), requests, formatNumber(requests*(1-lowest.share))))
		}
	}
	for _, b := range d.benches {
		for _, v := range b.values {
			name, _, _ := strings.Cut(v.unit, "-") // e.g. p99-ns/op
			percent := parseQuantileName(name)
			isUpper := percent > 50 && percent < 100
			if n := float64(b.iterations); isUpper && n > 0 && isTooFew(n, percent) {
				report(b.line, fmt.Sprintf("%s of %s is of %d operations: %s of them are beyond it", v.unit, b.name, b.iterations, formatNumber(n*(1-percent/100))))
				break
			}
		}
	}
	for _, t := range d.tables {
		findFewInRows(t, report)
	}
}

var requestsHeaderRE = lazyregexp.New(`(?i)^(?:#|total |number of |no\. of )?(?:requests|reqs?\.?|samples|calls)(?: sent| total)?$`)

// findFewInRows reports rows with too few requests for one of their quantiles.
func findFewInRows(t *table, report reportFunc) {
	t.eachCount(requestsHeaderRE, func(row tableRow, cell string, n float64) {
		for i := range min(len(t.header), len(row.cells)) {
			percent := parseQuantileName(t.header[i])
			isUpper := percent > 50 && percent < maxPercent
			if _, ok := parseCell(row.cells[i]); ok && isUpper && isTooFew(n, percent) {
				report(row.line, fmt.Sprintf("%s of %s requests: %s of them are beyond it", t.header[i], cell, formatNumber(n*(1-percent/100))))
				break
			}
		}
	})
}

// eachCount visits the rows with a count of 1 or more.
func (t *table) eachCount(header *lazyregexp.Regexp, visit func(row tableRow, cell string, n float64)) {
	column := -1
	for i, h := range t.header {
		if header.MatchString(strings.TrimSpace(h)) {
			column = i
		}
	}
	for _, row := range t.rows {
		if column < 0 || column >= len(row.cells) {
			continue
		}
		if n, ok := parseCell(row.cells[column]); ok && n.kind == plainKind && n.value >= 1 {
			visit(row, row.cells[column], n.value)
		}
	}
}
