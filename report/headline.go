package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tarebench/tare"
)

// headlineWords limits the words of a headline.
const headlineWords = 15

// Headline returns the result in one short sentence, and the line of figures below it. The sentence answers the
// study's question, if the result has an answer. In results of earlier releases the answer was a paragraph. Such
// an answer becomes the second line.
func Headline(r *tare.Result) (headline, figures string) {
	headline, figures = oneLine(r.Answer), oneLine(r.Figures)
	if headline == "" {
		headline = genericHeadline(r)
	}
	if figures != "" || len(strings.Fields(headline)) <= headlineWords {
		return headline, figures
	}
	if counts := tallyCriteria(r); counts != "" {
		return counts, headline
	}
	return headline, ""
}

// genericHeadline returns the verdict in one sentence, from criteria or else from differences and ranks.
func genericHeadline(r *tare.Result) string {
	rulings := listRulings(r)
	switch {
	case len(rulings) == 1:
		return oneLine(rulings[0].Sentence)
	case len(rulings) > 1:
		return tallyCriteria(r)
	case len(r.Verdicts) == 0:
		return noVerdict
	}
	if found, _ := listHeadlines(r); len(found) == 1 {
		return oneLine(found[0].Sentence)
	}
	if text := describeLeaders(r); text != "" {
		return oneLine(text)
	}
	return "No criterion was requested, and by these ranks no contender is first: read the ratios."
}

// describeLeaders names the contenders that can be first by the primary metric: "By time, of 3 workloads that
// allow a ranking, these can be first: chi on 2 and mux on 1." It returns "" without a ranking.
func describeLeaders(r *tare.Result) string {
	var ids, works []string
	firsts := map[string]int{}      // workloads on which a contender can be first
	aloneFirsts := map[string]int{} // workloads on which a contender is proven first
	for _, w := range r.Workloads {
		_, first := adviseOn(r, w.ID)
		if len(first) > 0 {
			works = append(works, w.ID)
		}
		for _, f := range first {
			id := f.contender.ID
			ids = appendNew(ids, id)
			firsts[id]++
			if isProven := len(first) == 1 && f.high == 1; isProven {
				aloneFirsts[id]++
			}
		}
	}
	if len(works) == 0 {
		return ""
	}
	slices.SortStableFunc(ids, func(a, b string) int { return firsts[b] - firsts[a] })
	scope := "on " + works[0]
	switch {
	case len(works) == 2:
		scope = "on both workloads that allow a ranking"
	case len(works) > 2:
		scope = "on all " + countNoun(len(works), "workload") + " that allow a ranking"
	}
	if len(ids) == 1 && aloneFirsts[ids[0]] == len(works) {
		return fmt.Sprintf("By %s, %s was proven better than every other one ranked, %s.", primaryMetric(r), ids[0], scope)
	}
	if len(works) == 1 {
		return fmt.Sprintf("By %s, %s can be first %s: they do not differ significantly.", primaryMetric(r), strings.Join(ids, " or "), scope)
	}
	var parts []string
	for _, id := range ids {
		parts = append(parts, fmt.Sprintf("%s on %d", id, firsts[id]))
	}
	if len(ids) > maxLeaders {
		parts = append(parts[:maxLeaders], fmt.Sprintf("%d more on fewer", len(ids)-maxLeaders))
	}
	return fmt.Sprintf("By %s, of %s that allow a ranking, these can be first: %s.", primaryMetric(r), countNoun(len(works), "workload"), joinNames(parts))
}

// maxLeaders is the number of leaders that describeLeaders can name.
const maxLeaders = 4

// Legible returns text in one line of printable characters.
func Legible(text string) string { return oneLine(text) }
