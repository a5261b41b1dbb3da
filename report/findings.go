package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tarebench/tare"
)

const findingsHeading = "What the checks found"

// findings adds what the checks saw, void first. What traps were expected to
// come out as is one line: the tables say it in full.
func (s *Section) findings(r *tare.Result) {
	s.only(forText, func() { s.say(Dim, probed(r)...) })
	s.only(forMarkdown, func() { s.list("", unlabelled(Plain, probed(r)...)...) })
	marks := map[tare.Severity]Mark{tare.Void: Bad, tare.Warn: Warned, tare.Note: Dim}
	open := found(r)
	var items []Item
	for i, f := range open {
		items = append(items, Item{Label: string(f.Severity), Mark: marks[f.Severity], Text: wording(r, f), Advice: advised(open, i), Check: f.Check})
	}
	if len(open) == 0 {
		s.say(Plain, nothingFound)
	}
	s.list("findings", items...)
	s.say(Dim, trapsFound(r))
}

// probed says who refused what must be refused, a line for each set of such
// cases.
func probed(r *tare.Result) []string {
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
				wrong = append(wrong, fmt.Sprintf("%s (%d of %d otherwise)", title(r, c.Contender), c.Wrong, c.Cases))
			}
		}
		line := fmt.Sprintf("Asked what must be refused (%s), %d of %s did as the reference does", w, right, plural(right+len(wrong), "contender"))
		if len(wrong) > 0 {
			line += "; not " + strings.Join(wrong, ", ")
		}
		lines = append(lines, line+".")
	}
	return lines
}

const nothingFound = "Nothing that speaks against these figures."

// found are the findings in the order of their severity, without those that were
// expected of traps.
func found(r *tare.Result) (open []tare.Finding) {
	for _, severity := range []tare.Severity{tare.Void, tare.Warn, tare.Note} {
		for _, f := range r.Findings {
			if f.Severity == severity && !f.Expected {
				open = append(open, f)
			}
		}
	}
	return open
}

// wording is what a finding is about, and what it says.
func wording(r *tare.Result, f tare.Finding) string {
	about := []string{f.Check}
	if f.Contender != "" {
		about = append(about, title(r, f.Contender))
	}
	if f.Workload != "" {
		about = append(about, f.Workload)
	}
	if f.Metric != "" {
		about = append(about, f.Metric)
	}
	return strings.Join(about, " · ") + ": " + f.Message
}

// advised is the advice of finding i, which several in a row may share: it
// stands behind the last of them.
func advised(open []tare.Finding, i int) string {
	f := open[i]
	if i+1 < len(open) && open[i+1].Check == f.Check && open[i+1].Severity == f.Severity && open[i+1].Advice == f.Advice {
		return ""
	}
	return f.Advice
}

// notMeasured says what was left out, those that were for one reason together
// and those of one sort under its name.
func notMeasured(r *tare.Result) []string {
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
		lines = append(lines, capital(why)+": "+sorted(what[why])+".")
	}
	return lines
}

// sorted are things with their sort before them, as "workload w", each sort
// once: contenders a and b; workload w.
func sorted(what []string) string {
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
		parts = append(parts, strings.TrimSpace(name+" "+inWords(of[sort])))
	}
	return strings.Join(parts, "; ")
}
