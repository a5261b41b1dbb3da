package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tarebench/tare"
)

// The top of a page uses words of the study. listTerms explains "own client" and "changes values", if they occur.
func listTerms(r *tare.Result, headline string, c Contest) []string {
	var out []string
	for _, text := range []string{describeContenderClients(r, c), describeChanges(r, headline)} {
		if text != "" {
			out = append(out, text)
		}
	}
	return out
}

// describeContenderClients explains "own client", if the answer or the first chart has such a workload.
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

// describeChanges explains how the study's subject changes values, if the headline mentions it.
func describeChanges(r *tare.Result, headline string) string {
	c, isTested := findBehaviour(r, findSubject(r))
	changes := ofClass(c.Differences, tare.DiffersInValue)
	if !isTested || len(changes) == 0 || !strings.Contains(headline, "changes ") {
		return ""
	}
	return fmt.Sprintf("How %s changes values: it %s.", c.contender.Title(), describeConsequences(changes, maxInCell))
}

// ExplainMarks explains the marks of limits and published ratios in the first chart. A text is "" if its mark is
// absent.
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
