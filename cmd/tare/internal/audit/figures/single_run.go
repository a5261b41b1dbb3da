package figures

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/audit"
	"github.com/tarebench/tare/internal/format"
	"github.com/tarebench/tare/internal/lazyregexp"
)

// This file is the rule single-run. It finds comparisons in which each side ran once, so that
// nothing shows how far figures vary.

// singleRun finds comparisons with one run of each side.
func singleRun() rule {
	return rule{Rule: audit.Rule{
		ID: "single-run", Severity: tare.Warn,
		Title:   "Each side was run once.",
		Why:     "One run cannot tell a difference from what the machine did at that time: the same program differs from run to run by several percent, and by more after it is linked again.",
		Do:      "run each side eight times or more, in turns, and give the interval",
		Command: benchAllCommand,
		Bad:     "BenchmarkOld-8   1000000   1050 ns/op\nBenchmarkNew-8   1100000   1010 ns/op\n",
		Good:    "BenchmarkOld-8   1000000   1050 ns/op\nBenchmarkOld-8   1000000   1071 ns/op\nBenchmarkOld-8   1000000   1044 ns/op\nBenchmarkOld-8   1000000   1062 ns/op\nBenchmarkOld-8   1000000   1049 ns/op\nBenchmarkOld-8   1000000   1058 ns/op\nBenchmarkOld-8   1000000   1055 ns/op\nBenchmarkOld-8   1000000   1047 ns/op\n",
		Seen:    []string{"routing", "json-encode", "tiny", "users", "ffi"},
	}, find: findSingleRun}
}

// findSingleRun reports benchmarks, reports and tables with one run of each side. It skips pages
// that mention repetitions.
func findSingleRun(d *document, report reportFunc) {
	if d.hasText(repeatedRunsRE) {
		return
	}
	isSingle := func(runs int) bool { return runs == 1 }
	if n, first := countBenches(d, isSingle); n > 1 && n == len(d.benches) && len(d.statRows) == 0 {
		report(first, fmt.Sprintf("each of %s was run once", format.Count(n, "benchmark")))
	}
	if n, first := countTargets(d, isSingle); n > 1 {
		report(first, fmt.Sprintf("%s of a load generator, one of each target", format.Count(n, "report")))
	}
	if len(d.benches) > 0 || len(d.reports) > 0 || len(d.statRows) > 0 {
		return
	}
	for i, t := range d.tables {
		timings := 0
		for _, f := range t.figures(i) {
			if f.kind == timeKind || f.kind == rateKind {
				timings++
			}
		}
		if timings > 1 && !t.hasText(spreadSignRE) {
			report(t.line, "the table has one figure for each cell, and the page gives neither the number of runs nor how much they differ")
			return
		}
	}
}

var (
	// repeatedRunsRE matches repetitions such as "10 runs". spreadSignRE matches a sign of them in
	// a table, such as ±.
	repeatedRunsRE = lazyregexp.New(`(?i)-count[= ]?\d|\$\(seq (?:1 )?\d+\)|\{1\.\.\d+\}` + // -count=10, $(seq 10)
		`|\b(?:\d+|` + numberWords + `) ` + // 10 timed runs
		`(?:\w+ )?(?:runs|times (?:for )?each|iterations each|repetitions|samples|rounds|copies|passes` +
		`|trials|measurements|repeats|replays|executions)\b` +
		`|\bmedians\b|\b(?:median|average|mean|best|min|minimum|geomean) (?:\w+ )?(?:of|over|across|results)` + // mean of
		`|\brepeated\b|±|\bst?d ?dev|standard deviation|confidence|interval` + // ± 5 ns
		`|\bruns\b[^.]{0,30}\b(?:averaged|median)|several (?:runs|times)|multiple (?:runs|times)` + // runs are averaged
		`|benchstat|benchmark\.js|criterion|hyperfine|jmh`) // benchstat
	spreadSignRE = lazyregexp.New(`(?i)±|\+/-|\bstd?dev|\bstd\b|deviation|confidence|variance|\bCI\b|\bruns\b|samples`)
)

// hasText reports whether a sentence, a command or a table of the page matches pattern. It caches
// the result, because rules call it often.
func (d *document) hasText(pattern *lazyregexp.Regexp) bool {
	found, isKnown := d.textMatches[pattern]
	if !isKnown {
		found = d.searchText(pattern)
		if d.textMatches == nil {
			d.textMatches = map[*lazyregexp.Regexp]bool{}
		}
		d.textMatches[pattern] = found
	}
	return found
}

func (d *document) searchText(pattern *lazyregexp.Regexp) bool {
	return slices.ContainsFunc(d.sentences, func(s sentence) bool { return pattern.MatchString(s.text) }) ||
		slices.ContainsFunc(d.commands, func(c command) bool { return pattern.MatchString(c.text) }) ||
		slices.ContainsFunc(d.tables, func(t *table) bool { return t.hasText(pattern) })
}

// hasText reports whether a cell of the table matches pattern.
func (t *table) hasText(pattern *lazyregexp.Regexp) bool {
	return slices.ContainsFunc(t.header, pattern.MatchString) ||
		slices.ContainsFunc(t.rows, func(r tableRow) bool { return slices.ContainsFunc(r.cells, pattern.MatchString) })
}

// countBenches counts the benchmarks whose number of runs selects accepts. It also returns the line
// of the first.
func countBenches(d *document, selects func(runs int) bool) (n, firstLine int) {
	for _, b := range d.benches {
		if selects(b.runs) {
			if n++; n == 1 {
				firstLine = b.line
			}
		}
	}
	return n, firstLine
}

// targetKey identifies a target under one load.
type targetKey struct {
	tool, url, path, label string
	connections, offered   float64
}

func countTargets(d *document, selects func(runs int) bool) (n, firstLine int) {
	runs := map[targetKey]int{}
	for _, l := range d.reports {
		runs[l.target()]++
	}
	for _, l := range d.reports {
		if selects(runs[l.target()]) {
			if n++; n == 1 {
				firstLine = l.line
			}
			runs[l.target()] = -1 // count each target once
		}
	}
	return n, firstLine
}

// runLabelRE matches "run 3".
var runLabelRE = lazyregexp.New(`(?i)^(?:results?|run|test|trial|attempt|round|try|iteration|pass|take)?\s*#?\d+[.:]?$`)

var notLettersRE = lazyregexp.New(`[^A-Za-z]+`)

// runSuffixRE matches " # run 3" in "wrk http://a/ # run 3".
var runSuffixRE = lazyregexp.New(`(?i)[\s(#,:-]*\b(?:run|test|trial|attempt|round|iteration|pass|repetition)\s*#?\d+(?:\s*(?:/|of)\s*\d+)?\)?[.:]?$`)

// runPrefixRE matches "run 3: " in "run 3: rate 500/s".
var runPrefixRE = lazyregexp.New(`(?i)^(?:run|test|trial|attempt|round|iteration|pass|repetition)\s*#?\d+\s*[:,-]\s*`)

// target returns the key of all runs of one target.
func (l *loadReport) target() targetKey {
	removeRunNumber := func(text string) string {
		return runPrefixRE.ReplaceAllString(runSuffixRE.ReplaceAllString(text, ""), "")
	}
	key := targetKey{
		tool: l.tool, url: l.url, path: removeRunNumber(l.path), label: removeRunNumber(l.label),
		connections: l.connections.value, offered: l.offeredRate.value,
	}
	if l.requestedRate.isKnown() {
		key.offered = l.requestedRate.value // offeredRate is attained and differs from run to run
	}
	hasHeadings := l.path != ""
	if !hasHeadings {
		key.label = notLettersRE.ReplaceAllString(key.label, " ") // numbers distinguish runs, not targets
		return key
	}
	key.url = "" // headings name the target, and not each report has a URL
	if runLabelRE.MatchString(l.label) {
		key.label = ""
	}
	return key
}

var (
	// statedRunsRE matches "five timed runs". The group is "five".
	statedRunsRE = lazyregexp.New(`(?i)\b(\d+|` + numberWords + `)\s+(?:\w+\s+)?(?:runs|repetitions|samples|rounds|trials|measurements|repeats)\b`)
	numerals     = map[string]float64{"one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10, "twelve": 12, "fifteen": 15, "sixteen": 16, "twenty": 20, "thirty": 30, "thirty-two": 32, "sixty-four": 64, "fifty": 50, "hundred": 100}
)

// numberWords is a regular expression for numbers in words.
const numberWords = `three|four|five|six|seven|eight|nine|ten|twelve|fifteen|sixteen|twenty|thirty-two|thirty|sixty-four|fifty|hundred`

// parseNumeral returns a number in digits or words, such as 3 for "three". It returns 0 for other
// texts.
func parseNumeral(text string) float64 {
	if n, err := strconv.ParseFloat(text, 64); err == nil {
		return n
	}
	return numerals[strings.ToLower(text)]
}

// countStatedRuns returns the greatest number of runs in a sentence, or 0.
func (d *document) countStatedRuns() float64 {
	greatest := 0.0
	for _, s := range d.sentences {
		for _, m := range statedRunsRE.FindAllStringSubmatch(s.text, maxFigures) {
			greatest = max(greatest, parseNumeral(m[1]))
		}
	}
	return greatest
}
