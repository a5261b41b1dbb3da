package gate

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/tarebench/tare/cmd/tare/internal/project"
	"github.com/tarebench/tare/internal/plan"
	"github.com/tarebench/tare/kinds/gobench"
)

// This file composes the end of a gate's report: what to do about bad or undecided rows.

// step is one action for the user: a sentence, and lines to copy.
type step struct {
	text  string
	lines []string // nil for none
}

func (rep *Report) nextSteps() []step {
	var steps []step
	firstRow := func(o Outcome) (Row, bool) {
		for _, r := range rep.Rows {
			if r.isUnwaived(o) {
				return r, true
			}
		}
		return Row{}, false
	}
	for _, entry := range rep.Skipped {
		if entry.Broken {
			steps = append(steps, step{text: fmt.Sprintf("Mend %s: go test -run '^$' -bench . on it shows what is wrong.", rep.shortName(entry.What))})
			break
		}
	}
	if r, ok := firstRow(Worse); ok {
		if command := rep.benchCommand(r); command != "" {
			steps = append(steps, step{text: fmt.Sprintf("Measure %s alone on your own machine, before and after a fix:", rep.shortName(r.Benchmark)), lines: []string{command}})
		}
		switch {
		case rep.Record:
			// The change is merged already: there is nothing to accept.
		case rep.requiredLine != "":
			steps = append(steps, step{text: "If it is worth its price, a reviewer accepts it, approving the change with a line", lines: []string{rep.requiredLine}})
		default:
			steps = append(steps, step{text: fmt.Sprintf("If it is worth its price, let it pass until some day: in %s, committed with the change,", rep.projectFile()), lines: rep.waiverEntries()})
		}
	}
	if r, ok := firstRow(Void); ok {
		text := "What is void does not count, whatever its figures: " + r.Sentence
		if r.Advice != "" {
			text += "; " + r.Advice
		}
		steps = append(steps, step{text: strings.TrimSuffix(text, ".") + "."})
	}
	if r, ok := firstRow(Open); ok && (rep.Blocked || rep.OnInconclusive == project.WarnOpen) {
		steps = append(steps, rep.undecidedStep(r))
	}
	return steps
}

// forecastUndecided returns the number of rounds that would decide every open row. The time for
// them in seconds has a reserve: a tenth and one second.
func (rep *Report) forecastUndecided() (rounds int, seconds float64, isKnown bool) {
	isKnown = true
	for _, r := range rep.Rows {
		if !r.isUnwaived(Open) {
			continue
		}
		n, done := max(r.RoundsNeeded, plan.MinRounds), r.result.RoundsDone
		isKnown = isKnown && r.RoundsNeeded > 0 && done > 0 && n > done
		rounds = max(rounds, n)
		if isKnown {
			seconds = max(seconds, 1.1*r.result.Seconds*float64(n)/float64(done)+1)
		}
	}
	return rounds, seconds, isKnown
}

// undecidedStep advises how to decide the open rows: by more rounds, a longer budget or, without a
// forecast, a quieter machine. worst is the first open row.
func (rep *Report) undecidedStep(worst Row) step {
	rounds, seconds, isKnown := rep.forecastUndecided()
	withCommand := func(text, flag, value string) step {
		if rep.commands.Gate == nil {
			return step{text: text + "."}
		}
		return step{text: text + ":", lines: []string{rep.commands.Gate(flag, value)}}
	}
	areRoundsSet := worst.Machine != "" || rep.commands.Rounds
	if isKnown && areRoundsSet {
		return withCommand("To tell what could not be told, measure more rounds", "rounds", strconv.Itoa(rounds))
	}
	if isKnown && seconds > 1 {
		text := fmt.Sprintf("%.0fs", seconds)
		return withCommand(fmt.Sprintf("To tell what could not be told, measure longer: about %d rounds, which a budget of %s holds", rounds, text), "budget", text)
	}
	text := "To tell what could not be told, measure on a quieter machine, gate fewer benchmarks (bench: run: in " + rep.projectFile() + "), or allow a wider margin."
	if command := rep.benchCommand(worst); command != "" {
		return step{text: text + " One alone is told sooner:", lines: []string{command}}
	}
	return step{text: text}
}

func (rep *Report) projectFile() string {
	if rep.configFile == "" {
		return project.FileName + " (tare init writes one)"
	}
	return rep.configFile
}

func (rep *Report) benchCommand(r Row) string {
	pkg := packageOf(r.Benchmark)
	if pkg == "" || rep.commands.Bench == nil {
		return ""
	}
	name := strings.TrimPrefix(r.Benchmark, pkg+".")
	return rep.commands.Bench(strings.TrimSuffix(pkg, "_test"), gobench.Exactly(name))
}

// maxWaivers limits the printed entries of accept.
const maxWaivers = 3

func (rep *Report) waiverEntries() []string {
	lines := []string{"accept:"}
	metrics := map[string][]string{}
	var order []string
	for _, r := range rep.Rows {
		if r.isUnwaived(Worse) {
			if metrics[r.Benchmark] == nil {
				order = append(order, r.Benchmark)
			}
			metrics[r.Benchmark] = append(metrics[r.Benchmark], r.Metric)
		}
	}
	for _, benchmark := range order[:min(len(order), maxWaivers)] {
		lines = append(lines, "  - benchmark: "+yamlQuoted("^"+regexp.QuoteMeta(benchmark)+"$"))
		if ms := metrics[benchmark]; len(ms) == 1 { // without a metric, an entry waives all metrics
			lines = append(lines, "    metric: "+ms[0])
		}
		lines = append(lines, "    until: YYYY-MM-DD", "    reason: why it is worth it")
	}
	if rest := order[min(len(order), maxWaivers):]; len(rest) > 0 {
		lines = append(lines, "  # and likewise: "+strings.Join(rest, ", "))
	}
	return lines
}

func yamlQuoted(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }

// Worst returns the outcome that decides the exit code.
func (rep *Report) Worst() Outcome {
	if rep.Outcome == Void {
		return Void
	}
	for _, o := range []Outcome{Void, Worse, Open} {
		if slices.ContainsFunc(rep.Rows, func(r Row) bool { return r.Outcome == o && r.Fails(rep.OnInconclusive) }) {
			return o
		}
	}
	if rep.Blocked { // a required metric was not measured, and on_inconclusive is fail
		return Open
	}
	return NoWorse
}
