package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tarebench/tare"
)

// A criterion is a limit that a study sets in advance. Its result for a contender on a workload is a ruling, in a
// verdict.

const (
	criteriaHeading = "What was asked of each"
	criteriaMeans   = "Each criterion is a limit that the study sets; below it, each field says whether the contender of its column meets it on the workload of its row. Open: neither met nor not met yet. The result document has a sentence with figures for each."
	maxRulings      = 12 // verdicts that the top of a report lists one by one
	maxOpenRulings  = 6  // if there are more: the same for one criterion and ruling, except met
)

// listRulings returns the verdicts on criteria. Other verdicts are about differences without a criterion.
func listRulings(r *tare.Result) []tare.Verdict {
	return slices.DeleteFunc(slices.Clone(r.Verdicts), func(v tare.Verdict) bool { return v.Criterion == "" })
}

// hasManyRulings reports whether the verdicts on criteria are too many to list.
func hasManyRulings(r *tare.Result) bool { return len(listRulings(r)) > maxRulings }

func rulingOrder() []tare.Ruling {
	return []tare.Ruling{tare.NotMet, tare.VoidRuling, tare.Inconclusive, tare.Met}
}

type criterion struct {
	text     string
	verdicts []tare.Verdict
}

func listCriteria(r *tare.Result) []criterion {
	var out []criterion
	for _, v := range listRulings(r) {
		i := slices.IndexFunc(out, func(c criterion) bool { return c.text == v.Criterion })
		if i < 0 {
			i = len(out)
			out = append(out, criterion{text: v.Criterion})
		}
		out[i].verdicts = append(out[i].verdicts, v)
	}
	return out
}

func (c criterion) withResult(ruling tare.Ruling) []tare.Verdict {
	return slices.DeleteFunc(slices.Clone(c.verdicts), func(v tare.Verdict) bool { return v.Verdict != ruling })
}

// listIDs returns the distinct ids in the verdicts of c. Pass contenderOf or workloadOf.
func (c criterion) listIDs(id func(tare.Verdict) string) []string {
	return listDistinct(c.verdicts, id)
}

func contenderOf(v tare.Verdict) string { return v.Contender }
func workloadOf(v tare.Verdict) string  { return v.Workload }

// summarize returns the verdicts with this ruling, or one that counts them if they are many.
func (c criterion) summarize(ruling tare.Ruling) []tare.Verdict {
	verdicts := c.withResult(ruling)
	areFew := len(verdicts) <= 1 || ruling != tare.Met && len(verdicts) <= maxOpenRulings
	switch {
	case areFew:
		return verdicts
	case len(verdicts) == len(c.verdicts):
		return []tare.Verdict{{Criterion: c.text, Verdict: ruling, Sentence: fmt.Sprintf("%s: for %s.", c.text, c.describeScope())}}
	}
	return []tare.Verdict{{Criterion: c.text, Verdict: ruling, Sentence: fmt.Sprintf("%s: in %d of %d cases.", c.text, len(verdicts), len(c.verdicts))}}
}

// topVerdicts returns the verdicts for the top of a report.
func topVerdicts(r *tare.Result) []tare.Verdict {
	if !hasManyRulings(r) {
		return listRulings(r)
	}
	var out []tare.Verdict
	for _, c := range listCriteria(r) {
		for _, ruling := range rulingOrder() {
			out = append(out, c.summarize(ruling)...)
		}
	}
	return out
}

func (c criterion) describeScope() string {
	contenders, workloads := c.listIDs(contenderOf), c.listIDs(workloadOf)
	contenderText, workloadText := "all "+countNoun(len(contenders), "contender"), "all "+countNoun(len(workloads), "workload")
	if len(contenders) == 1 {
		contenderText = contenders[0]
	}
	if len(workloads) == 1 {
		workloadText = workloads[0]
	}
	return contenderText + " on " + workloadText
}

func explainDifference(r *tare.Result) string {
	bases := joinShareBases(r)
	if bases == "" {
		return ""
	}
	operation := strings.TrimSuffix(operationsNoun(r), "s")
	return fmt.Sprintf(" A difference is how much more a contender takes than %s on that workload, as a share of what %[1]s takes for a whole %s on %s: the part of it that the choice decides.", r.Baseline(), operation, bases)
}

// joinShareBases names the workloads that criteria on differences take shares of. For "cpu difference <= 5% of
// socket/health" it is socket/health.
func joinShareBases(r *tare.Result) string {
	var workloads []string
	for _, c := range listCriteria(r) {
		rule, isDifference := strings.CutPrefix(c.text, c.verdicts[0].Metric+" "+string(tare.RuleDifference)+" ")
		_, workload, hasBase := strings.Cut(rule, " of ")
		if isDifference && hasBase && !slices.Contains(workloads, workload) {
			workloads = append(workloads, workload)
		}
	}
	return joinNames(workloads)
}

// addCriteria adds a table per criterion if the top of the report cannot list all verdicts.
func (s *Section) addCriteria(r *tare.Result) {
	if !hasManyRulings(r) {
		return
	}
	s.addText(Dim, criteriaMeans+explainDifference(r))
	for _, c := range listCriteria(r) {
		s.addSpace()
		s.addOnly(forText|forMarkdown, func() { s.addText(Bold, c.text+":") })
		s.addTable("", c.text, c.newTable(r))
	}
}

func (c criterion) newTable(r *tare.Result) Table {
	contenders := c.listIDs(contenderOf)
	t := Table{Columns: []Column{{Name: "workload"}}}
	for _, id := range contenders {
		t.Columns = append(t.Columns, Column{Name: contenderTitle(r, id)})
	}
	for _, w := range c.listIDs(workloadOf) {
		line := Row{Cells: []Field{{Text: w}}}
		for _, id := range contenders {
			line.Cells = append(line.Cells, c.resultField(id, w))
		}
		t.Rows = append(t.Rows, line)
	}
	return t
}

func (c criterion) resultField(contender, workload string) Field {
	i := slices.IndexFunc(c.verdicts, func(v tare.Verdict) bool { return v.Contender == contender && v.Workload == workload })
	if i < 0 {
		return Field{Text: noValue}
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
	return Field{Text: noValue}
}
