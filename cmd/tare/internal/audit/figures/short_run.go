package figures

import (
	"fmt"
	"regexp"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/audit"
	"github.com/tarebench/tare/internal/format"
)

// shortRun returns the rule about this mistake: the run is too short for what has to warm up.
func shortRun() rule {
	return rule{audit.Rule{
		ID: "short-run", Severity: tare.Warn, Title: "The run is too short for what has to warm up.",
		Why:     "Connections, caches, the heap and branch predictors settle in the first seconds, and these tools count them in: what was measured is a start.",
		Do:      "measure for 10 s or more after a warm-up that is not counted",
		Command: loadCommand, Lang: "text",
		Bad:  "Concurrency Level:      50\nTime taken for tests:   0.812 seconds\nComplete requests:      5000\nFailed requests:        0\nRequests per second:    6157.63 [#/sec] (mean)\n",
		Good: "Concurrency Level:      50\nTime taken for tests:   30.002 seconds\nComplete requests:      184730\nFailed requests:        0\nRequests per second:    6157.26 [#/sec] (mean)\n",
		Seen: []string{"tiny", "https://github.com/dukhyungkim/cyf"},
	}, findShortRun}
}

const (
	minSeconds    = 5  // of a load, none of it discarded
	minIterations = 10 // of a benchmark
)

// briefly matches a -benchtime of less than a tenth of a second, or of few iterations.
var briefly = regexp.MustCompile(`-(?:test\.)?benchtime[= ](?:\d{1,2}ms|\d+[uµn]s|\dx)\b`)

func findShortRun(d *document, report reportFunc) {
	for _, l := range d.loads {
		took := l.duration
		if !took.isKnown() && l.rate.value > 0 && l.requests.isKnown() {
			took = measured{l.requests.value / l.rate.value, l.rate.line}
		}
		if took.isKnown() && took.value < minSeconds {
			report(took.line, fmt.Sprintf("the run took %s, and no warm-up is left out of it", formatTime(took.value)))
		}
	}
	for _, c := range d.commands {
		if m := briefly.FindStringSubmatch(c.text); m != nil {
			report(c.line, fmt.Sprintf("%s: a benchmark runs so short that its first calls weigh in it", m[0]))
		}
	}
	n, line, one := 0, 0, ""
	for _, b := range d.benches {
		ns, ok := b.value("ns/op")
		if ok && b.runs < minIterations && b.iterations > 0 && b.iterations < minIterations && float64(b.iterations)*ns*1e-9 < 0.5 {
			if n++; n == 1 {
				line, one = b.line, fmt.Sprintf("%s ran %s, %s together", b.name, format.Count(b.iterations, "time"), formatTime(float64(b.iterations)*ns*1e-9))
			}
		}
	}
	if n > 0 {
		if n > 1 {
			one += fmt.Sprintf("; and %d more with fewer than %d iterations", n-1, minIterations)
		}
		report(line, one)
	}
}
