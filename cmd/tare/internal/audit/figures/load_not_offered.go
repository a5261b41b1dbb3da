package figures

import (
	"fmt"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/audit"
	"github.com/tarebench/tare/internal/lazyregexp"
)

// loadNotOffered finds expected loads above all measured rates.
func loadNotOffered() rule {
	return rule{Rule: audit.Rule{
		ID: "load-not-offered", Severity: tare.Warn,
		Title:   "The load that is expected was never sent.",
		Why:     "Servers were compared at another load than they are for: whether any holds the expected one is not known.",
		Do:      "send at the expected rate and above, and ask for the latency there",
		Command: "tare load --rate 1500/s --slo 'p99<50ms,errors<0.1%' http://127.0.0.1:8080/",
		Bad:     "We expect a load of about 2000 req/s.\n\n| server | rate |\n|---|---|\n| a | 870 req/s |\n| b | 610 req/s |\n",
		Good:    "We expect a load of about 500 req/s.\n\n| server | rate |\n|---|---|\n| a | 870 req/s |\n| b | 610 req/s |\n",
		Seen:    []string{"ingest"},
	}, find: findLoadNotOffered}
}

// expectedRateRE matches "expect a load of about 2000 req/s". The group is 2000.
var expectedRateRE = lazyregexp.New(`(?i)\b(?:expect(?:ed|s)?|estimated?|anticipat\w+|peak|target|required?)\b` +
	`[^.]{0,30}\b(?:load|traffic|rate|throughput)\b[^.\d]{0,40}?` +
	`(\d[\d,]*k?)\s*(?:req(?:uest)?s?\s*(?:/|per )\s*s(?:ec(?:ond)?)?|rps)\b`)

// findLoadNotOffered reports an expected rate that no rate on the page reaches.
func findLoadNotOffered(d *document, report reportFunc) {
	const reachedShare = 0.95 // a rate of this share counts as the expected one
	for _, s := range d.sentences {
		m := expectedRateRE.FindStringSubmatch(s.text)
		if m == nil { // emphasis may hide the words: "expect **2000** req/s"
			m = expectedRateRE.FindStringSubmatch(stripMarks(s.text))
		}
		if m == nil {
			continue
		}
		q, _, ok := parseQuantity(m[1] + " ") // the space ends the k of "2k"
		if !ok {
			continue
		}
		best := findHighestRate(d.figures)
		if best.value > 0 && best.value < reachedShare*q.value {
			report(s.line, fmt.Sprintf("%s requests per second are expected; the highest rate on the page is %s (line %d)", formatNumber(q.value), formatNumber(best.value), best.line))
		}
	}
}

// findHighestRate returns the figure with the highest rate. It returns the zero figure if there is
// no rate.
func findHighestRate(figures []figure) (highest figure) {
	for _, f := range figures {
		if f.kind == rateKind && f.value > highest.value {
			highest = f
		}
	}
	return highest
}

// stripMarks removes ` and * from a sentence.
func stripMarks(text string) string {
	out := make([]byte, 0, len(text))
	for i := range len(text) {
		if c := text[i]; c != '`' && c != '*' {
			out = append(out, c)
		}
	}
	return string(out)
}
