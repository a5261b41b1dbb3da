package report

import (
	"slices"

	"github.com/tarebench/tare"
)

// A result has a verdict per difference from the baseline. The top of a report lists at most maxHeadlines, and
// maxAsides of contenders compared by status only.
const (
	maxHeadlines = 12
	maxAsides    = 6
)

// listHeadlines returns the differences at the top of a report, without those that have a criterion. If there are
// too many, it keeps the best contenders of each workload. rest is a sentence about the others, or "".
func listHeadlines(r *tare.Result) (shown []tare.Verdict, rest string) {
	for _, v := range r.Verdicts {
		if v.Criterion == "" && !isCovered(r, v) && !isStatusOnly(r, v.Contender) {
			shown = append(shown, v)
		}
	}
	all := len(shown)
	if all <= maxHeadlines {
		return shown, ""
	}
	shown = slices.DeleteFunc(shown, func(v tare.Verdict) bool { return !isBest(r, v) })
	return shown, countNoun(all-len(shown), "further statement") + " of this kind are left out here: the tables have their figures, and the result document has their sentences."
}

// isBest reports whether the contender of v can be first on the workload by the metric of v. Without ranks, the
// lowest ratio counts.
func isBest(r *tare.Result, v tare.Verdict) bool {
	var compared *tare.Comparison // comparison of the contender, or nil
	for i, c := range r.Comparisons {
		if c.Workload == v.Workload && c.Metric == v.Metric && c.Contender == v.Contender {
			compared = &r.Comparisons[i]
		}
	}
	switch {
	case compared == nil:
		return false
	case compared.RankLow > 0:
		return compared.RankLow == 1
	}
	return !slices.ContainsFunc(r.Comparisons, func(c tare.Comparison) bool {
		isComparable := c.Workload == v.Workload && c.Metric == v.Metric && c.Against == compared.Against
		contender, _ := r.Contender(c.Contender)
		return isComparable && contender.Role == tare.RoleContender && c.Ratio < compared.Ratio
	})
}

// isStatusOnly reports whether only the status of a contender's responses was checked. It does only a part of the
// work and is never ranked.
func isStatusOnly(r *tare.Result, id string) bool {
	c, ok := r.Contender(id)
	return ok && c.Role == tare.RoleApart
}

// describeAsides returns the differences of status-only contenders, or only names if they are many.
func describeAsides(r *tare.Result) []string {
	var lines, ids []string
	for _, v := range r.Verdicts {
		if v.Criterion != "" || isCovered(r, v) || !isStatusOnly(r, v.Contender) {
			continue
		}
		lines = append(lines, v.Sentence)
		ids = appendNew(ids, v.Contender)
	}
	if len(lines) <= maxAsides {
		return lines
	}
	return []string{joinNames(ids) + ": answers by status only, so that they are compared and not ranked; " +
		countNoun(len(lines), "statement") + " about them are left out here: the tables have their figures."}
}
