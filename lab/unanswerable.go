package lab

import (
	"slices"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/check"
	"github.com/tarebench/tare/internal/judge"
)

// isUnanswerable reports whether no round can answer any question of the study, because no
// contender that it asks about takes part any more. It considers failures only, never an effect, so
// that it makes no verdict likelier. A fixed number of rounds is measured all the same.
func (r *run) isUnanswerable() bool {
	if r.o.Rounds > 0 {
		return false
	}
	const anyone = ""
	takesPart, lost := map[string]bool{}, map[string]bool{}
	for _, c := range r.contenders {
		switch {
		case r.dropped[c.ID]:
			lost[c.ID], lost[anyone] = true, true
		case c.Role == tare.RoleTrap:
			return false // the check that must catch it needs rounds
		case c.Role == tare.RoleContender || c.Role == tare.RoleApart:
			takesPart[c.ID], takesPart[anyone] = true, true
		case c.Role == tare.RoleBaseline:
			takesPart[c.ID] = true
		}
	}
	ids := contendersInQuestion(r.study)
	if len(ids) == 0 || len(r.o.Only.Contenders) > 0 { // then all measured ones are in question
		ids = []string{anyone}
	}
	isLost := false
	for _, id := range ids {
		if takesPart[id] {
			return false
		}
		isLost = isLost || lost[id]
	}
	return isLost
}

// contendersInQuestion returns the contenders that rounds could decide something about: those that
// the study's criteria, claims, decompositions and answers name, and "" for any of them. It names
// the baseline if a question is about the baseline by itself.
func contendersInQuestion(s tare.Study) (ids []string) {
	for _, c := range s.Criteria {
		ids = append(ids, c.Contender)
		if c.Contender == "" && c.Value != "" { // also of the baseline
			ids = append(ids, s.Baseline)
		}
	}
	for _, c := range s.Claims {
		switch c.Kind {
		case tare.ClaimStatement, tare.ClaimCount, tare.ClaimReported: // more rounds do not change them
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
		parts, _ := a.Parts() // a valid study's can be read
		for _, p := range parts {
			if f := p.Figure; f != nil && f.Form != tare.FigureWhole && f.Contender != s.Baseline {
				ids = append(ids, f.Contender)
			}
		}
	}
	return ids
}

// isVoid reports whether a look found that every criterion is void, for a reason that
// more rounds do not change. It returns false while a trap takes part, which must be
// caught.
func (r *run) isVoid(o measured) bool {
	isTrap := func(c tare.Contender) bool { return c.Role == tare.RoleTrap && !r.dropped[c.ID] }
	return !slices.ContainsFunc(r.contenders, isTrap) && judge.AllVoid(o.data, o.findings, o.verdicts, o.claims, check.Statistical)
}
