package report

import (
	"slices"

	"github.com/tarebench/tare"
)

// maxHeadlines is the number of differences up to which the top lists all; of more it lists the best of each
// workload.
const maxHeadlines = 12

// maxAsides is the number of differences of status-only contenders that the top lists.
const maxAsides = 6

// listHeadlines returns the differences without a criterion for the top, and a sentence about those that only
// the tables have, or "" if there are none.
func listHeadlines(r *tare.Result) (told []tare.Verdict, rest string) {
	for _, v := range r.Verdicts {
		if v.Criterion == "" && !isCovered(r, v) && !isStatusOnly(r, v.Contender) {
			told = append(told, v)
		}
	}
	all := len(told)
	if all <= maxHeadlines {
		return told, ""
	}
	told = slices.DeleteFunc(told, func(v tare.Verdict) bool { return !isBest(r, v) })
	return told, countNoun(all-len(told), "further statement") + " of this kind would stand here: the tables have their figures, the result document their sentences."
}

// isBest reports whether the contender of v can be first on its workload by its metric. Without ranks it
// reports whether no ratio to the baseline is better.
func isBest(r *tare.Result, v tare.Verdict) bool {
	var own *tare.Comparison
	leader := true
	for i, c := range r.Comparisons {
		if c.Workload == v.Workload && c.Metric == v.Metric && c.Contender == v.Contender {
			own = &r.Comparisons[i]
		}
	}
	if own == nil || own.RankLow > 0 {
		return own != nil && own.RankLow == 1
	}
	for _, c := range r.Comparisons {
		who, _ := r.Contender(c.Contender)
		if c.Workload == v.Workload && c.Metric == v.Metric && who.Role == tare.RoleContender && c.Against == own.Against && c.Ratio < own.Ratio {
			leader = false
		}
	}
	return leader
}

// isStatusOnly reports whether only the status of a contender's responses was compared. Such a contender is
// never ranked.
func isStatusOnly(r *tare.Result, id string) bool {
	c, ok := r.Contender(id)
	return ok && c.Role == tare.RoleApart
}

// describeAsides returns the differences of status-only contenders: each in a line if they are few, otherwise
// the contenders' names.
func describeAsides(r *tare.Result) []string {
	var lines, who []string
	for _, v := range r.Verdicts {
		if v.Criterion != "" || isCovered(r, v) || !isStatusOnly(r, v.Contender) {
			continue
		}
		lines = append(lines, v.Sentence)
		if !slices.Contains(who, v.Contender) {
			who = append(who, v.Contender)
		}
	}
	if len(lines) <= maxAsides {
		return lines
	}
	return []string{joinNames(who) + ": answers by status only, so that they are compared and not ranked; " +
		countNoun(len(lines), "statement") + " about them would stand here, and the tables have their figures."}
}
