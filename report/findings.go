package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tarebench/tare"
)

// A finding is the message of a check about the measurements: a note, a warning, or that they are void.

const findingsHeading = "What the checks found"

// addFindings adds the findings, void ones first. Traps are contenders with a deliberate mistake, for checks to
// catch. Their findings are expected and share one line.
func (s *Section) addFindings(r *tare.Result) {
	probes := describeProbes(r)
	s.addOnly(forText, func() { s.addText(Dim, probes...) })
	s.addOnly(forMarkdown, func() { s.addList("", unlabelledItems(Plain, probes...)...) })
	marks := map[tare.Severity]Mark{tare.Void: Bad, tare.Warn: Warned, tare.Note: Dim}
	open := openFindings(r)
	var items []Item
	for i, f := range open {
		items = append(items, Item{Label: string(f.Severity), Mark: marks[f.Severity], Text: formatFinding(r, f), Advice: sharedAdvice(open, i), Check: f.Check})
	}
	if len(open) == 0 {
		s.addText(Plain, nothingFound)
	}
	s.addList("findings", items...)
	s.addText(Dim, describeTrapFindings(r))
}

// describeProbes returns a line per set of probes with the contenders that accepted some. A probe is a request
// that must be rejected.
func describeProbes(r *tare.Result) []string {
	var works, lines []string
	for _, c := range r.Conformance {
		if c.Probe && !slices.Contains(works, c.Workload) {
			works = append(works, c.Workload)
		}
	}
	for _, w := range works {
		right := 0
		var wrong []string
		for _, c := range r.Conformance {
			switch {
			case !c.Probe || c.Workload != w || c.Contender == tare.NullID || c.During: // not a test with these probes
			case c.Wrong == 0:
				right++
			default:
				wrong = append(wrong, fmt.Sprintf("%s (%d of %d otherwise)", contenderTitle(r, c.Contender), c.Wrong, c.Cases))
			}
		}
		line := fmt.Sprintf("Asked what must be refused (%s), %d of %s did as the reference does", w, right, countNoun(right+len(wrong), "contender"))
		if len(wrong) > 0 {
			line += "; not " + strings.Join(wrong, ", ")
		}
		lines = append(lines, line+".")
	}
	return lines
}

const nothingFound = "Nothing that speaks against these figures."

// openFindings returns the findings by severity, without expected ones.
func openFindings(r *tare.Result) (open []tare.Finding) {
	for _, severity := range []tare.Severity{tare.Void, tare.Warn, tare.Note} {
		for _, f := range r.Findings {
			if f.Severity == severity && !f.Expected {
				open = append(open, f)
			}
		}
	}
	return open
}

func formatFinding(r *tare.Result, f tare.Finding) string {
	return strings.Join(append([]string{f.Check}, listScope(r, f)...), " · ") + ": " + f.Message
}

// listScope returns contender, workload and metric of a finding, as far as it names them.
func listScope(r *tare.Result, f tare.Finding) []string {
	all := []string{contenderTitle(r, f.Contender), f.Workload, f.Metric}
	return slices.DeleteFunc(all, func(text string) bool { return text == "" })
}

// sharedAdvice returns the advice to print with finding i. Consecutive findings with the same advice print it
// once, after the last.
func sharedAdvice(open []tare.Finding, i int) string {
	f := open[i]
	if i+1 == len(open) {
		return f.Advice
	}
	if next := open[i+1]; next.Check == f.Check && next.Severity == f.Severity && next.Advice == f.Advice {
		return ""
	}
	return f.Advice
}

// listNotMeasured returns a line per reason, with the parts of the study that were not measured.
func listNotMeasured(r *tare.Result) []string {
	skipped := slices.Clone(r.NotWeighed)
	for _, c := range r.Contenders {
		if c.Absent() {
			skipped = append(skipped, tare.LeftContender(c.ID, c.Error))
		}
	}
	var reasons []string
	byReason := map[string][]string{}
	for _, n := range skipped {
		if len(byReason[n.Why]) == 0 {
			reasons = append(reasons, n.Why)
		}
		byReason[n.Why] = append(byReason[n.Why], n.What)
	}
	var lines []string
	for _, reason := range reasons {
		lines = append(lines, upperFirst(reason)+": "+groupByKind(byReason[reason])+".")
	}
	return lines
}

// groupByKind joins names and mentions each kind once. "contender a", "contender b" and "workload w" become
// "contenders a and b; workload w".
func groupByKind(names []string) string {
	var kinds []string // "" for other names
	byKind := map[string][]string{}
	for _, name := range names {
		kind, id, found := strings.Cut(name, " ")
		if !found || kind != "contender" && kind != "workload" {
			kind, id = "", name
		}
		kinds = appendNew(kinds, kind)
		byKind[kind] = append(byKind[kind], id)
	}
	var parts []string
	for _, kind := range kinds {
		label := kind
		if kind != "" && len(byKind[kind]) > 1 {
			label += "s"
		}
		parts = append(parts, strings.TrimSpace(label+" "+joinNames(byKind[kind])))
	}
	return strings.Join(parts, "; ")
}
