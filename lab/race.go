package lab

import (
	"slices"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/judge"
	"github.com/tarebench/tare/lab/journal"
)

// leaders is the number of contenders that must be proven faster than another on all its workloads
// before that one is retired.
const leaders = 3

// retireTrailing removes contenders that are proven slower than the leaders from later rounds.
// judged is the judgement of the done rounds. A contender that a question is about stays. All stay
// if there is time to rank all.
func (r *run) retireTrailing(judged judgedRounds, done int) error {
	if !r.isReduced() || done >= r.plan.RoundsPlanned {
		return nil
	}
	needed := findSubjects(r.study).contenders
	isSubject := func(id string) bool { return needed[id] || needed[""] } // "" means that a question is about all contenders
	retired := false
	for _, id := range judge.Trailing(judged.data, judged.comparisons, leaders) {
		if isSubject(id) || !slices.Contains(r.plan.Contenders, id) {
			continue
		}
		retired = true
		r.plan.Retired = append(r.plan.Retired, tare.Retired{Contender: id, After: done})
		isID := func(other string) bool { return other == id }
		r.plan.Contenders = slices.DeleteFunc(slices.Clone(r.plan.Contenders), isID)
		for i := range r.plan.Slices {
			r.plan.Slices[i].Contenders = slices.DeleteFunc(slices.Clone(r.plan.Slices[i].Contenders), isID)
		}
		r.sendProgress(Event{Phase: "race", Contender: id, Round: done})
	}
	if !retired {
		return nil
	}
	return r.journal.Append(journal.Entry{Plan: &r.plan})
}
