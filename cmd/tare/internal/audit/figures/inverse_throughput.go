package figures

import (
	"fmt"
	"regexp"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/audit"
)

// inverseThroughput returns the rule about this mistake: throughput and latency are one figure: each is 1 divided by the other.
func inverseThroughput() rule {
	return rule{audit.Rule{
		ID: "inverse-throughput", Severity: tare.Warn, Title: "Throughput and latency are one figure: each is 1 divided by the other.",
		Why:     "One of the two was not measured. With several workers (RunParallel) ns/op is wall time over the operations of all: it is a throughput, and a latency is as many times longer as there are workers.",
		Do:      "measure the latency of single requests at a rate, and the throughput by itself",
		Command: loadCommand, Lang: "text",
		Bad:  "| side | latency (ns/op) | throughput (ops/sec) |\n|---|---|---|\n| a | 125,000 | 8,000 |\n| b | 400,000 | 2,500 |\n",
		Good: "| side | latency (ns/op) | throughput (ops/sec) |\n|---|---|---|\n| a | 1,125,000 | 8,000 |\n| b | 3,100,000 | 2,500 |\n",
		Seen: []string{"users"},
	}, findInverseThroughput}
}

var saysLatency = regexp.MustCompile(`(?i)ns/op\b[^|]*\b(?:represents?|is|means?|measures?|shows?)\s+(?:the\s+)?latency|represents? latency`)

func findInverseThroughput(d *document, report reportFunc) {
	found := false
	for i, t := range d.tables {
		bySubject := map[int][2]measure{}
		for _, m := range t.measures(i) {
			pair := bySubject[m.line]
			switch m.kind {
			case timeKind:
				if pair[0].line == 0 {
					pair[0] = m
				}
			case rateKind:
				if pair[1].line == 0 {
					pair[1] = m
				}
			}
			bySubject[m.line] = pair
		}
		n, inverse := 0, 0
		for _, p := range bySubject {
			if p[0].value > 0 && p[1].value > 0 {
				n++
				if isNear(p[0].value*p[1].value, 1, 0.002) && p[1].raw >= 100 {
					inverse++
				}
			}
		}
		if n > 1 && n == inverse {
			found = true
			report(t.line, fmt.Sprintf("in all %d rows the throughput is 1 ÷ the time of an operation", n))
		}
	}
	if found {
		return
	}
	for _, t := range d.tables {
		for _, row := range t.rows {
			for _, cell := range row.cells[1:] {
				if len(row.cells[0]) < 40 && saysLatency.MatchString(row.cells[0]+" "+cell) {
					report(row.line, "ns/op is read as latency")
				}
			}
		}
	}
}
