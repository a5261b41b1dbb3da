package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tarebench/tare"
)

// listTerms returns explanations of the words at the top of a page that only readers of the study know: own clients and
// changed values.
func listTerms(r *tare.Result, headline string, c Contest) []string {
	var out []string
	for _, text := range []string{describeContenderClients(r, c), describeChanges(r, headline)} {
		if text != "" {
			out = append(out, text)
		}
	}
	return out
}

// describeContenderClients explains own clients if the answer or the first charts have a workload with them.
func describeContenderClients(r *tare.Result, c Contest) string {
	var works []string
	for _, w := range r.Workloads {
		isQuoted := slices.ContainsFunc(r.Quotes, func(q tare.Quote) bool { return q.Workload == w.ID })
		isDrawn := slices.ContainsFunc(c.Panels, func(p Panel) bool { return slices.Contains(strings.Split(p.Name, panelSeparator), oneLine(w.ID)) })
		if sendsByContender(w) && (isQuoted || isDrawn) {
			works = append(works, w.ID)
		}
	}
	if len(works) == 0 {
		return ""
	}
	return fmt.Sprintf("Own client (%s): each contender’s own client sends the requests, from a process of its own; on the other workloads the load generator of tare sends them.", joinNames(works))
}

// describeChanges explains how the subject of the study changes values if the headline says that it does.
func describeChanges(r *tare.Result, headline string) string {
	c, isTested := findBehaviour(r, findSubject(r))
	changes := ofClass(c.Differences, tare.DiffersInValue)
	if !isTested || len(changes) == 0 || !strings.Contains(headline, "changes ") {
		return ""
	}
	return fmt.Sprintf("How %s changes values: it %s.", c.contender.Title(), describeConsequences(changes, maxInCell))
}

// ExplainMarks returns what the marks of limits and of published ratios in the first chart mean, each "" if the chart
// has none.
func (c Contest) ExplainMarks() (asked, published string) {
	for _, p := range c.Panels {
		for _, row := range slices.Concat(p.Rows, p.Rest) {
			for _, l := range row.Lines {
				for _, x := range l.Claims {
					if x.Asked != "" {
						asked = "asked: limit of a criterion"
					}
					if x.Published {
						published = "published: in " + orDefault(c.Source, "a publication")
					}
				}
			}
		}
	}
	return asked, published
}
