package figures

import (
	"fmt"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/audit"
	"github.com/tarebench/tare/internal/format"
	"github.com/tarebench/tare/internal/lazyregexp"
)

// shortRun finds runs that end before the program has warmed up.
func shortRun() rule {
	return rule{Rule: audit.Rule{
		ID: "short-run", Severity: tare.Warn,
		Title:   "The run is too short for what has to warm up.",
		Why:     "Connections, caches, the heap and branch predictors settle in the first seconds, and these tools count them in: what was measured is a start.",
		Do:      "measure for 10 s or more after a warm-up that is not counted",
		Command: loadCommand,
		Bad:     "Concurrency Level:      50\nTime taken for tests:   0.812 seconds\nComplete requests:      5000\nFailed requests:        0\nRequests per second:    6157.63 [#/sec] (mean)\n",
		Good:    "Concurrency Level:      50\nTime taken for tests:   30.002 seconds\nComplete requests:      184730\nFailed requests:        0\nRequests per second:    6157.26 [#/sec] (mean)\n",
		Seen:    []string{"tiny", "https://github.com/dukhyungkim/cyf"},
	}, find: findShortRun}
}

const (
	minSeconds      = 5   // least duration, in s
	calibration     = 10  // s; wrk2 does not record the start of a run
	minCompiled     = 30  // s; for a server that is compiled while it runs, as by a JVM
	minIterations   = 10  // of one run of a benchmark, or of all
	minBenchSeconds = 0.5 // s; a longer benchmark needs fewer iterations
)

// shortBenchtimeRE matches a -benchtime below 0.1 s or 10 iterations.
var shortBenchtimeRE = lazyregexp.New(`-(?:test\.)?benchtime[= ](?:\d{1,2}ms|\d+[uµn]s|\dx)\b`)

var (
	// compiledLateRE matches a virtual machine that compiles late, such as "JVM".
	compiledLateRE = lazyregexp.New(`\bJVM\b|\bJDK\b|\bJRE\b|\bOpenJDK\b|\bHotSpot\b|\bJIT\b|\bJava \d+`)
	// warmUpRE matches words about a warm-up or a program that ran before.
	warmUpRE = lazyregexp.New(`(?i)\bwarm|\bsteady|\bdiscard|\bnot counted\b|\bnative[- ]image\b|\bafter \d+ min|\bmin(?:ute)?s? (?:of the same load )?before\b`)
)

func findShortRun(d *document, report reportFunc) {
	isCold := len(d.reports) > 0 && d.hasText(compiledLateRE) && !d.hasText(warmUpRE)
	for _, l := range d.reports {
		duration := l.duration
		if !duration.isKnown() && l.rate.value > 0 && l.requests.isKnown() {
			duration = lineValue{l.requests.value / l.rate.value, l.rate.line}
		}
		switch recorded := duration.value - calibration; {
		case !duration.isKnown():
		case duration.value < minSeconds:
			report(duration.line, fmt.Sprintf("the run took %s, and no warm-up is left out of it", formatTime(duration.value)))
		case l.tool == "wrk2" && recorded < minSeconds:
			report(duration.line, fmt.Sprintf("the run took %s, of which wrk2 does not record the first %s: its latencies are those of the last %s", formatTime(duration.value), formatTime(calibration), formatTime(max(recorded, 0))))
		case duration.value < minCompiled && isCold:
			report(duration.line, fmt.Sprintf("the run took %s and has no warm-up, and the program is compiled while it runs", formatTime(duration.value)))
		}
	}
	for _, c := range d.commands {
		if m := shortBenchtimeRE.FindStringSubmatch(c.text); m != nil {
			report(c.line, fmt.Sprintf("%s: a benchmark runs so short that its first calls weigh in it", m[0]))
		}
	}
	n, line, text := 0, 0, "" // benchmarks, and the finding of the first one
	for _, b := range d.benches {
		ns, ok := b.value("ns/op")
		seconds := float64(b.iterations) * ns * 1e-9
		isShort := b.iterations > 0 && b.iterations < minIterations && seconds < minBenchSeconds
		if ok && isShort && b.runs < minIterations {
			if n++; n == 1 {
				line, text = b.line, fmt.Sprintf("%s ran %s, %s together", b.name, format.Count(b.iterations, "time"), formatTime(seconds))
			}
		}
	}
	if n > 0 {
		if n > 1 {
			text += fmt.Sprintf("; and %d more with fewer than %d iterations", n-1, minIterations)
		}
		report(line, text)
	}
}
