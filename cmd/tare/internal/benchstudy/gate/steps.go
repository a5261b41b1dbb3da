package gate

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/tarebench/tare/cmd/tare/internal/project"
	"github.com/tarebench/tare/internal/plan"
)

// step is one action for the user: a sentence, and the lines to type or copy, if any.
type step struct {
	Text string
	Code []string
}

// nextSteps returns the actions that the report advises: about broken packages, the worst row, the first
// void row and undecided rows.
func (rep *Report) nextSteps() []step {
	var out []step
	first := func(o Outcome) (Row, bool) {
		for _, r := range rep.Rows {
			if r.Outcome == o && r.Waived == nil {
				return r, true
			}
		}
		return Row{}, false
	}
	for _, l := range rep.Left {
		if l.Broken {
			out = append(out, step{fmt.Sprintf("Mend %s: go test -run '^$' -bench . on it shows what is wrong.", rep.shortName(l.What)), nil})
			break
		}
	}
	if r, ok := first(Worse); ok {
		if command := rep.benchCommand(r); command != "" {
			out = append(out, step{fmt.Sprintf("Measure %s alone on your own machine, before and after a fix:", rep.shortName(r.Benchmark)), []string{command}})
		}
		switch {
		case rep.Record: // the change is on the branch already: there is nothing to accept
		case rep.review != "":
			out = append(out, step{"If it is worth its price, a reviewer accepts it, approving the change with a line", []string{rep.review}})
		default:
			out = append(out, step{fmt.Sprintf("If it is worth its price, let it pass until some day: in %s, committed with the change,", rep.projectFile()), rep.waiverEntries()})
		}
	}
	if r, ok := first(Void); ok {
		text := "What is void does not count, whatever its figures: " + r.Sentence
		if r.Advice != "" {
			text += "; " + r.Advice
		}
		out = append(out, step{strings.TrimSuffix(text, ".") + ".", nil})
	}
	if r, ok := first(Open); ok && (rep.Blocked || rep.On == project.WarnOpen) {
		out = append(out, rep.undecidedStep(r))
	}
	return out
}

// undecidedStep advises how to decide the open rows: more rounds, a longer budget, or a quieter
// machine. worst is the first open row.
func (rep *Report) undecidedStep(worst Row) step {
	needed, budget := 0, 0.0 // rounds, and seconds with a tenth as reserve
	known := true            // the number of rounds is known for every open row
	for _, r := range rep.Rows {
		if r.Outcome != Open || r.Waived != nil {
			continue
		}
		n := max(r.Needed, plan.MinRounds)
		known = known && r.Needed > 0 && r.result.RoundsDone > 0 && n > r.result.RoundsDone
		needed = max(needed, n)
		if known {
			budget = max(budget, 1.1*r.result.Seconds*float64(n)/float64(r.result.RoundsDone)+1)
		}
	}
	withCommand := func(text, flag, value string) step {
		if rep.commands.Gate == nil {
			return step{text + ".", nil}
		}
		return step{text + ":", []string{rep.commands.Gate(flag, value)}}
	}
	if known && (worst.Machine != "" || rep.commands.Rounds) {
		return withCommand("To tell what could not be told, measure more rounds", "rounds", strconv.Itoa(needed))
	}
	if known && budget > 1 {
		text := fmt.Sprintf("%.0fs", budget)
		return withCommand(fmt.Sprintf("To tell what could not be told, measure longer: about %d rounds, which a budget of %s holds", needed, text), "budget", text)
	}
	text := "To tell what could not be told, measure on a quieter machine, gate fewer benchmarks (bench: run: in " + rep.projectFile() + "), or allow a wider margin."
	if command := rep.benchCommand(worst); command != "" {
		return step{text + " One alone is told sooner:", []string{command}}
	}
	return step{text, nil}
}

// projectFile returns the printed path of tare.yaml, or its name and how to make one.
func (rep *Report) projectFile() string {
	if rep.config == "" {
		return project.FileName + " (tare init writes one)"
	}
	return rep.config
}

// benchCommand returns the command that measures the benchmark of a row by itself; "" if the row is not
// of a Go benchmark.
func (rep *Report) benchCommand(r Row) string {
	pkg := packageOf(r.Benchmark)
	if pkg == "" || rep.commands.Bench == nil {
		return ""
	}
	name := strings.TrimPrefix(r.Benchmark, pkg+".")
	parts := strings.Split(name, "/")
	for i, p := range parts {
		parts[i] = "^" + regexp.QuoteMeta(p) + "$"
	}
	return rep.commands.Bench(strings.TrimSuffix(pkg, "_test"), strings.Join(parts, "/"))
}

// maxWaivers limits the entries of accept in a report; the other benchmarks are only named.
const maxWaivers = 3

// waiverEntries returns the lines of tare.yaml that waive the rows that are worse.
func (rep *Report) waiverEntries() []string {
	lines := []string{"accept:"}
	metrics := map[string][]string{}
	var order []string
	for _, r := range rep.Rows {
		if r.Outcome == Worse && r.Waived == nil {
			if metrics[r.Benchmark] == nil {
				order = append(order, r.Benchmark)
			}
			metrics[r.Benchmark] = append(metrics[r.Benchmark], r.Metric)
		}
	}
	for _, benchmark := range order[:min(len(order), maxWaivers)] {
		lines = append(lines, "  - benchmark: "+yamlQuoted("^"+regexp.QuoteMeta(benchmark)+"$"))
		if ms := metrics[benchmark]; len(ms) == 1 { // without a metric the entry is about all of them
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

// Worst returns the outcome that decides the exit code: void, then worse, then rows that could not
// be decided if they fail; else not worse.
func (rep *Report) Worst() Outcome {
	if rep.Outcome == Void {
		return Void
	}
	for _, o := range []Outcome{Void, Worse, Open} {
		if slices.ContainsFunc(rep.Rows, func(r Row) bool { return r.Outcome == o && r.Fails(rep.On) }) {
			return o
		}
	}
	if rep.Blocked { // a required metric was not measured, and on_inconclusive is fail
		return Open
	}
	return NoWorse
}
