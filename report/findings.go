package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tarebench/tare"
)

const findingsHeading = "What the checks found"

// addFindings adds the findings of the checks, void first. The expected outcomes of traps are one line: the
// tables list them.
func (s *Section) addFindings(r *tare.Result) {
	s.addOnly(forText, func() { s.addText(Dim, describeProbes(r)...) })
	s.addOnly(forMarkdown, func() { s.addList("", unlabelledItems(Plain, describeProbes(r)...)...) })
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

// describeProbes returns a line per set of invalid requests with the contenders that did not reject them as
// the reference does.
func describeProbes(r *tare.Result) []string {
	var works, lines []string
	for _, c := range r.Conformance {
		if c.Probe && !slices.Contains(works, c.Workload) {
			works = append(works, c.Workload)
		}
	}
	for _, w := range works {
		right, wrong := 0, []string(nil)
		for _, c := range r.Conformance {
			switch {
			case !c.Probe || c.Workload != w || c.Contender == tare.NullID || c.During:
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

// openFindings returns the findings by severity, without those that traps were expected to cause.
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

// formatFinding returns the check and scope of a finding, and its message.
func formatFinding(r *tare.Result, f tare.Finding) string {
	about := []string{f.Check}
	if f.Contender != "" {
		about = append(about, contenderTitle(r, f.Contender))
	}
	if f.Workload != "" {
		about = append(about, f.Workload)
	}
	if f.Metric != "" {
		about = append(about, f.Metric)
	}
	return strings.Join(about, " · ") + ": " + f.Message
}

// sharedAdvice returns the advice of finding i, or "" if the next finding has the same: several in a row share
// one, which the last prints.
func sharedAdvice(open []tare.Finding, i int) string {
	f := open[i]
	if i+1 < len(open) && open[i+1].Check == f.Check && open[i+1].Severity == f.Severity && open[i+1].Advice == f.Advice {
		return ""
	}
	return f.Advice
}

// listNotMeasured returns a line per reason with everything that was not measured for it.
func listNotMeasured(r *tare.Result) []string {
	var whys []string
	what := map[string][]string{}
	left := slices.Clone(r.NotWeighed)
	for _, c := range r.Contenders {
		if c.Absent() {
			left = append(left, tare.LeftContender(c.ID, c.Error))
		}
	}
	for _, n := range left {
		if len(what[n.Why]) == 0 {
			whys = append(whys, n.Why)
		}
		what[n.Why] = append(what[n.Why], n.What)
	}
	var lines []string
	for _, why := range whys {
		lines = append(lines, upperFirst(why)+": "+groupByKind(what[why])+".")
	}
	return lines
}

// groupByKind joins things that begin with their kind, as "workload w", with each kind once: contenders a and
// b; workload w.
func groupByKind(what []string) string {
	var sorts []string
	of := map[string][]string{}
	for _, w := range what {
		sort, id, found := strings.Cut(w, " ")
		if !found || sort != "contender" && sort != "workload" {
			sort, id = "", w
		}
		if !slices.Contains(sorts, sort) {
			sorts = append(sorts, sort)
		}
		of[sort] = append(of[sort], id)
	}
	var parts []string
	for _, sort := range sorts {
		name := sort
		if len(of[sort]) > 1 && sort != "" {
			name += "s"
		}
		parts = append(parts, strings.TrimSpace(name+" "+joinNames(of[sort])))
	}
	return strings.Join(parts, "; ")
}
