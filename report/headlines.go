package report

import (
	"slices"

	"github.com/tarebench/tare"
)

// foundMost is how many differences are told one by one at the top; beyond it
// only the best of each workload are, and the tables have the rest.
const foundMost = 12

// asideMost is how many of them are where a side stands apart.
const asideMost = 6

// headlines are the differences without a criterion to tell at the top, and what
// to say of those that are left to the tables; empty where none is.
func headlines(r *tare.Result) (told []tare.Verdict, rest string) {
	for _, v := range r.Verdicts {
		if v.Criterion == "" && !toldElsewhere(r, v) && !isApart(r, v.Contender) {
			told = append(told, v)
		}
	}
	all := len(told)
	if all <= foundMost {
		return told, ""
	}
	told = slices.DeleteFunc(told, func(v tare.Verdict) bool { return !best(r, v) })
	return told, plural(all-len(told), "further statement") + " of this kind would stand here: the tables have their figures, the result document their sentences."
}

// best reports whether the contender of v can be first on its workload by the
// measure it speaks of; where nobody has a rank, whether no ratio to the
// baseline is better.
func best(r *tare.Result, v tare.Verdict) bool {
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

// isApart reports whether a contender stands apart: what it takes is told, and
// never as if it were to be had instead of the others.
func isApart(r *tare.Result, id string) bool {
	c, ok := r.Contender(id)
	return ok && c.Role == tare.RoleApart
}

// asides are the differences of those who stand apart, in lines of their own:
// one by one where they are few, otherwise who they are.
func asides(r *tare.Result) []string {
	var lines, who []string
	for _, v := range r.Verdicts {
		if v.Criterion != "" || toldElsewhere(r, v) || !isApart(r, v.Contender) {
			continue
		}
		lines = append(lines, v.Sentence)
		if !slices.Contains(who, v.Contender) {
			who = append(who, v.Contender)
		}
	}
	if len(lines) <= asideMost {
		return lines
	}
	return []string{inWords(who) + ": answers by status only, so that they are compared and not ranked; " +
		plural(len(lines), "statement") + " about them would stand here, and the tables have their figures."}
}
