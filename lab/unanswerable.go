package lab

import (
	"slices"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/check"
	"github.com/tarebench/tare/internal/judge"
)

// isUnanswerable reports whether every contender in question has been dropped, so that more rounds
// cannot answer anything. It considers failures only and never a measured difference, so it makes no
// verdict likelier.
func (r *run) isUnanswerable() bool {
	if r.opts.Rounds > 0 {
		return false
	}
	const anyone = "" // the id of a question about all contenders
	takesPart, lost := map[string]bool{}, map[string]bool{}
	for _, c := range r.contenders {
		switch {
		case r.dropped[c.ID]:
			lost[c.ID], lost[anyone] = true, true
		case c.Role == tare.RoleTrap: // a contender that reproduces a published mistake
			return false // the check that must catch it needs rounds
		case c.Role == tare.RoleContender || c.Role == tare.RoleApart:
			takesPart[c.ID], takesPart[anyone] = true, true
		case c.Role == tare.RoleBaseline:
			takesPart[c.ID] = true
		}
	}
	ids := contendersInQuestion(r.study)
	if len(ids) == 0 || len(r.opts.Only.Contenders) > 0 { // all measured contenders are in question
		ids = []string{anyone}
	}
	if slices.ContainsFunc(ids, func(id string) bool { return takesPart[id] }) {
		return false
	}
	return slices.ContainsFunc(ids, func(id string) bool { return lost[id] })
}

// contendersInQuestion returns the ids of the contenders in questions that rounds can decide. The id
// "" means all. The baseline is included only if a question is about itself.
func contendersInQuestion(s tare.Study) (ids []string) {
	for _, c := range s.Criteria {
		ids = append(ids, c.Contender)
		if c.Contender == "" && c.Value != "" { // a criterion on a value applies to the baseline, too
			ids = append(ids, s.Baseline)
		}
	}
	for _, c := range s.Claims {
		switch c.Kind {
		case tare.ClaimStatement, tare.ClaimCount, tare.ClaimReported: // their outcome does not depend on rounds
		default:
			ids = append(ids, c.Contender)
		}
	}
	for _, d := range s.Decompose {
		for _, step := range d.Steps {
			ids = append(ids, step.To)
		}
	}
	for _, a := range s.Answer {
		parts, _ := a.Parts() // no error: the study is valid
		for _, p := range parts {
			if f := p.Figure; f != nil && f.Form != tare.FigureWhole && f.Contender != s.Baseline {
				ids = append(ids, f.Contender)
			}
		}
	}
	return ids
}

// areCriteriaVoid reports whether every criterion is void for reasons that more rounds do not
// change. It returns false while a trap, which repeats a published mistake, takes part: checks may
// need more rounds to catch it.
func (r *run) areCriteriaVoid(judged judgedRounds) bool {
	isTrap := func(c tare.Contender) bool { return c.Role == tare.RoleTrap && !r.dropped[c.ID] }
	return !slices.ContainsFunc(r.contenders, isTrap) && judge.AllVoid(judged.data, judged.findings, judged.verdicts, judged.claims, check.Statistical)
}
