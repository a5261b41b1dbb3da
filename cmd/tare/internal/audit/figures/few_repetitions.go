package figures

import (
	"fmt"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/audit"
	"github.com/tarebench/tare/internal/format"
)

// minRuns is the least number of runs of each side of a comparison. The U test of benchstat needs
// six for a 95 % interval, and some of eight may be disturbed.
const minRuns = 8

// fewRepetitions finds sides with several runs, but fewer than minRuns.
func fewRepetitions() rule {
	return rule{Rule: audit.Rule{
		ID: "few-repetitions", Severity: tare.Note,
		Title:   "Each side was run fewer than eight times.",
		Why:     "With few runs, the interval is wider than most differences, and one disturbed run decides.",
		Do:      "run each side eight times or more (go test -count=10), in turns",
		Command: benchAllCommand,
		Bad:     "BenchmarkParse-8   1000   1200 ns/op\nBenchmarkParse-8   1000   1260 ns/op\nBenchmarkParse-8   1000   1190 ns/op\n",
		Good:    "BenchmarkParse-8   1000   1200 ns/op\nBenchmarkParse-8   1000   1260 ns/op\nBenchmarkParse-8   1000   1190 ns/op\nBenchmarkParse-8   1000   1215 ns/op\nBenchmarkParse-8   1000   1201 ns/op\nBenchmarkParse-8   1000   1222 ns/op\nBenchmarkParse-8   1000   1197 ns/op\nBenchmarkParse-8   1000   1233 ns/op\n",
		Seen:    []string{"ingest", "https://github.com/YafimK/StorageBenchmark"},
	}, find: findFewRepetitions}
}

// findFewRepetitions reports benchmarks, targets of load generators and rows of benchstat with
// several, but fewer than minRuns runs. The rule single-run reports single runs.
func findFewRepetitions(d *document, report reportFunc) {
	isFew := func(runs int) bool { return runs > 1 && runs < minRuns }
	if n, first := countBenches(d, isFew); n > 0 {
		report(first, fmt.Sprintf("%s run more than once, but fewer than %d times", format.Count(n, "benchmark"), minRuns))
	}
	if n, first := countTargets(d, isFew); n > 0 {
		report(first, fmt.Sprintf("%s with more than one report, but fewer than %d", format.Count(n, "target"), minRuns))
	}
	fewest, line, n := minRuns, 0, 0 // least number of runs, line of the first row, number of rows
	for _, s := range d.statRows {
		if s.hasNoInterval || s.runs > 0 && s.runs < minRuns {
			if n++; line == 0 {
				line = s.line
			}
			if s.runs > 0 {
				fewest = min(fewest, s.runs)
			}
		}
	}
	if n > 0 {
		text := fmt.Sprintf("%s of benchstat with fewer than %d runs of a side", format.Count(n, "row"), minRuns)
		if fewest < minRuns {
			text += fmt.Sprintf(", as few as %d", fewest)
		}
		report(line, text)
	}
}
