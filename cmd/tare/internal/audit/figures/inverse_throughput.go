package figures

import (
	"fmt"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/audit"
	"github.com/tarebench/tare/internal/lazyregexp"
)

// inverseThroughput finds throughputs that were computed from latencies.
func inverseThroughput() rule {
	return rule{Rule: audit.Rule{
		ID: "inverse-throughput", Severity: tare.Warn,
		Title:   "Throughput and latency are one figure: each is 1 divided by the other.",
		Why:     "One of the two was not measured. With several workers (RunParallel) ns/op is wall time over the operations of all: it is a throughput, and a latency is as many times longer as there are workers.",
		Do:      "measure the latency of single requests at a rate, and the throughput by itself",
		Command: loadCommand,
		Bad:     "| side | latency (ns/op) | throughput (ops/sec) |\n|---|---|---|\n| a | 125,000 | 8,000 |\n| b | 400,000 | 2,500 |\n",
		Good:    "| side | latency (ns/op) | throughput (ops/sec) |\n|---|---|---|\n| a | 1,125,000 | 8,000 |\n| b | 3,100,000 | 2,500 |\n",
		Seen:    []string{"users"},
	}, find: findInverseThroughput}
}

// saysLatencyRE matches "ns/op is the latency".
var saysLatencyRE = lazyregexp.New(`(?i)ns/op\b[^|]*\b(?:represents?|is|means?|measures?|shows?)\s+(?:the\s+)?latency|represents? latency`)

const (
	inverseTolerance = 0.002 // share by which time × rate may differ from 1
	minInverseRate   = 100   // lower rates have too few digits
)

// findInverseThroughput reports tables with rate = 1 ÷ time in each row, or else tables that call
// ns/op a latency.
func findInverseThroughput(d *document, report reportFunc) {
	found := false
	for i, t := range d.tables {
		if rows, inverse := countInverse(t.figures(i)); rows > 1 && rows == inverse {
			found = true
			report(t.line, fmt.Sprintf("in all %d rows the throughput is 1 ÷ the time of an operation", rows))
		}
	}
	if found {
		return
	}
	const maxNameLength = 40 // bytes; a longer first cell is no name
	for _, t := range d.tables {
		for _, row := range t.rows {
			for _, cell := range row.cells[1:] {
				if len(row.cells[0]) < maxNameLength && saysLatencyRE.MatchString(row.cells[0]+" "+cell) {
					report(row.line, "ns/op is read as latency")
				}
			}
		}
	}
}

// countInverse counts the rows of a table with a time and a rate, and those with rate = 1 ÷ time.
func countInverse(all []figure) (rows, inverse int) {
	type row struct{ time, rate figure } // the first of each
	byLine := map[int]row{}
	for _, f := range all {
		r := byLine[f.line]
		switch {
		case f.kind == timeKind && r.time.line == 0:
			r.time = f
		case f.kind == rateKind && r.rate.line == 0:
			r.rate = f
		}
		byLine[f.line] = r
	}
	for _, r := range byLine {
		if !(r.time.value > 0) || !(r.rate.value > 0) {
			continue
		}
		rows++
		if isNear(r.time.value*r.rate.value, 1, inverseTolerance) && r.rate.raw >= minInverseRate {
			inverse++
		}
	}
	return rows, inverse
}
