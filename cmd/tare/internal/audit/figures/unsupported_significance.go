package figures

import (
	"fmt"
	"strings"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/audit"
	"github.com/tarebench/tare/internal/lazyregexp"
)

// unsupportedSignificance returns the rule unsupported-significance, which findUnsupportedSignificance applies.
func unsupportedSignificance() rule {
	return rule{Rule: audit.Rule{
		ID: "unsupported-significance", Severity: tare.Warn,
		Title:   "Significance is stated, and nothing on the page supports it.",
		Why:     "Significance is a statement about repetitions. A longer run (-benchtime) narrows the mean of that run, and predicts nothing of the next.",
		Do:      "repeat each side eight times or more and give the interval, or p and n",
		Command: benchAllCommand,
		Bad:     "Run with -benchtime=5s for statistically significant results.\n\n| side | time |\n|---|---|\n| a | 1180 ns |\n| b | 1105 ns |\n",
		Good:    "Run with -count=10 and compared by benchstat for statistically significant results.\n\n| side | time |\n|---|---|\n| a | 1180 ns ± 2% |\n| b | 1105 ns ± 1% |\n",
		Seen:    []string{"routing", "json-encode", "ffi"},
	}, find: findUnsupportedSignificance}
}

var (
	// gained matches a stated change, significant a statement of significance, and supported
	// the signs of repetitions and intervals.
	gained      = lazyregexp.New(`(?i)\b(?:faster|slower|improve\w*|gain\w*|regress\w*|speed-?up|win)\b`)
	significant = lazyregexp.New(`(?i)\bstatistical(?:ly)?\s+(?:\w+\s+)?(?:significan\w*|stab\w+|reliab\w+|robust\w*|valid\w*|confiden\w+|meaningful|sound|accura\w+)`)
	supported   = lazyregexp.New(`(?i)±|\+/-|p\s?[=<]\s?0?\.\d|p-value|\bn\s?=\s?\d|95\s?%|99\s?% (?:ci|confidence)|confidence interval|standard deviation|std ?dev|-count[= ]?\d|benchstat|welch|mann|t-test|bootstrap|coefficient of variation`)
)

// findUnsupportedSignificance reports sentences that state a change of a benchmark for
// which benchstat finds none, and significance without any sign of repetitions.
func findUnsupportedSignificance(d *document, report reportFunc) {
	const maxP = 0.05                 // benchstat's level of significance
	unchanged := map[string]statRow{} // rows in which benchstat finds no change, by name
	for _, row := range d.stats {
		if row.p > maxP {
			unchanged[strings.ToLower(processors.ReplaceAllString(row.name, ""))] = row
		}
	}
	for _, s := range d.sentences {
		m := gained.FindString(s.text)
		if len(unchanged) == 0 || m == "" || negation.MatchString(s.text) {
			continue
		}
		for _, word := range strings.Fields(strings.ToLower(s.text)) {
			if row, ok := unchanged[strings.Trim(word, ".,:;`*")]; ok {
				report(s.line, fmt.Sprintf("%s is said of %s, and benchstat has p=%v for it (line %d)", quote(m), row.name, row.p, row.line))
				break
			}
		}
	}
	figures := len(d.benches) + len(d.loads)
	for i, t := range d.tables {
		figures += len(t.measures(i))
	}
	if figures == 0 || len(d.stats) > 0 || d.hasText(supported) {
		return
	}
	for _, b := range d.benches {
		if b.runs >= minRuns {
			return
		}
	}
	for _, s := range d.sentences {
		if m := significant.FindString(s.text); m != "" && !negation.MatchString(s.text) {
			report(s.line, fmt.Sprintf("%s: the page has no number of runs, no interval and no p", quote(m)))
		}
	}
}
