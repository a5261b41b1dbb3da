package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tarebench/tare"
)

const (
	criteriaHeading = "What was asked of each"
	criteriaMeans   = "One field is one criterion compared with one contender on one workload. Open: neither met nor not met yet. A sentence with figures for each is in the result document."
	ruledMost       = 12 // rulings that are told one by one at the top
	openMost        = 6  // rulings of one kind, other than met, that are told one by one all the same
)

// ruled are the verdicts on criteria.
func ruled(r *tare.Result) []tare.Verdict {
	return slices.DeleteFunc(slices.Clone(r.Verdicts), func(v tare.Verdict) bool { return v.Criterion == "" })
}

// crowded reports whether there are too many rulings to tell one by one.
func crowded(r *tare.Result) bool { return len(ruled(r)) > ruledMost }

// rulings is the order in which rulings are summed up.
func rulings() []tare.Ruling {
	return []tare.Ruling{tare.NotMet, tare.VoidRuling, tare.Inconclusive, tare.Met}
}

// criterion is one criterion with all verdicts on it.
type criterion struct {
	text     string
	verdicts []tare.Verdict
}

// asks are the criteria in the order of their verdicts.
func asks(r *tare.Result) []criterion {
	var out []criterion
	for _, v := range ruled(r) {
		i := slices.IndexFunc(out, func(c criterion) bool { return c.text == v.Criterion })
		if i < 0 {
			i = len(out)
			out = append(out, criterion{text: v.Criterion})
		}
		out[i].verdicts = append(out[i].verdicts, v)
	}
	return out
}

// came are the verdicts on a criterion that came out so.
func (c criterion) came(ruling tare.Ruling) []tare.Verdict {
	return slices.DeleteFunc(slices.Clone(c.verdicts), func(v tare.Verdict) bool { return v.Verdict != ruling })
}

// ids are the different contenders, or whatever else of says, that a criterion
// was compared with.
func (c criterion) ids(of func(tare.Verdict) string) []string {
	var out []string
	for _, v := range c.verdicts {
		if !slices.Contains(out, of(v)) {
			out = append(out, of(v))
		}
	}
	return out
}

func contenderOf(v tare.Verdict) string { return v.Contender }
func workloadOf(v tare.Verdict) string  { return v.Workload }

// summed are the verdicts that came out so in as few of them as say it: each by
// itself where they are few, otherwise one that counts them.
func (c criterion) summed(ruling tare.Ruling) []tare.Verdict {
	came := c.came(ruling)
	switch {
	case len(came) == 0:
		return nil
	case len(came) == 1 || ruling != tare.Met && len(came) <= openMost:
		return came
	case len(came) == len(c.verdicts):
		return []tare.Verdict{{Criterion: c.text, Verdict: ruling, Sentence: fmt.Sprintf("%s: for %s.", c.text, c.everybody())}}
	}
	return []tare.Verdict{{Criterion: c.text, Verdict: ruling, Sentence: fmt.Sprintf("%s: in %d of %d cases.", c.text, len(came), len(c.verdicts))}}
}

// topmost are the verdicts on criteria as the top of a report tells them.
func topmost(r *tare.Result) []tare.Verdict {
	if !crowded(r) {
		return ruled(r)
	}
	var out []tare.Verdict
	for _, c := range asks(r) {
		for _, ruling := range rulings() {
			out = append(out, c.summed(ruling)...)
		}
	}
	return out
}

// everybody is whom a criterion was compared with.
func (c criterion) everybody() string {
	contenders, workloads := c.ids(contenderOf), c.ids(workloadOf)
	who, on := "all "+plural(len(contenders), "contender"), "all "+plural(len(workloads), "workload")
	if len(contenders) == 1 {
		who = contenders[0]
	}
	if len(workloads) == 1 {
		on = workloads[0]
	}
	return who + " on " + on
}

// differenceMeans explains criteria on differences, where there are any.
func differenceMeans(r *tare.Result) string {
	of := sharedOut(r)
	if of == "" {
		return ""
	}
	one := strings.TrimSuffix(done(r), "s")
	return fmt.Sprintf(" A difference is what a contender takes more than %s on that workload, as a share of what %[1]s takes for a whole %s on %s: how much of that the choice decides.", r.Baseline(), one, of)
}

// sharedOut names the workloads of which differences are said to be a share;
// empty where no criterion asks for one.
func sharedOut(r *tare.Result) string {
	var of []string
	for _, c := range asks(r) {
		rule, ok := strings.CutPrefix(c.text, c.verdicts[0].Metric+" "+string(tare.RuleDifference)+" ")
		if _, workload, found := strings.Cut(rule, " of "); ok && found && !slices.Contains(of, workload) {
			of = append(of, workload)
		}
	}
	return inWords(of)
}

// criteria adds who was ruled on how, where that is too much for the top.
func (s *Section) criteria(r *tare.Result) {
	if !crowded(r) {
		return
	}
	s.say(Dim, criteriaMeans+differenceMeans(r))
	for _, c := range asks(r) {
		s.space()
		s.only(forText|forMarkdown, func() { s.say(Bold, c.text+":") })
		s.show("", c.text, c.table(r))
	}
}

// table is a row for every workload and a column for every contender.
func (c criterion) table(r *tare.Result) Table {
	contenders := c.ids(contenderOf)
	t := Table{Columns: []Column{{Name: "workload"}}}
	for _, id := range contenders {
		t.Columns = append(t.Columns, Column{Name: title(r, id)})
	}
	for _, w := range c.ids(workloadOf) {
		line := Row{Cells: []Field{{Text: w}}}
		for _, id := range contenders {
			line.Cells = append(line.Cells, c.field(id, w))
		}
		t.Rows = append(t.Rows, line)
	}
	return t
}

// field is what became of a criterion for a contender on a workload.
func (c criterion) field(contender, workload string) Field {
	i := slices.IndexFunc(c.verdicts, func(v tare.Verdict) bool { return v.Contender == contender && v.Workload == workload })
	if i < 0 {
		return Field{Text: nothing}
	}
	switch c.verdicts[i].Verdict {
	case tare.Met:
		return Field{"met", Good}
	case tare.NotMet:
		return Field{"not met", Bad}
	case tare.VoidRuling:
		return Field{"void", Bad}
	case tare.Inconclusive:
		return Field{"open", Warned}
	}
	return Field{Text: nothing}
}
