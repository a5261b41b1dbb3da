package lab

import (
	"slices"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/judge"
	"github.com/tarebench/tare/lab/journal"
)

// leaders is the number of contenders that must be proven faster than one, on everything it does,
// before it leaves.
const leaders = 3

// retireTrailing removes contenders from later rounds that a look has proven slower than the
// leaders on everything. Their measurements so far remain. No contender leaves that a claim, a
// criterion or an expectation is about, and none at a budget that has time for ranks.
func (r *run) retireTrailing(o measured, done int) error {
	if !r.isReduced() || done >= r.plan.RoundsPlanned {
		return nil
	}
	about := claimedSubjects(r.study).contenders
	left := false
	for _, id := range judge.Trailing(o.data, o.comparisons, leaders) {
		if about[id] || about[""] || !slices.Contains(r.plan.Contenders, id) {
			continue
		}
		left = true
		r.plan.Retired = append(r.plan.Retired, tare.Retired{Contender: id, After: done})
		isID := func(other string) bool { return other == id }
		r.plan.Contenders = slices.DeleteFunc(slices.Clone(r.plan.Contenders), isID)
		for i := range r.plan.Slices {
			r.plan.Slices[i].Contenders = slices.DeleteFunc(slices.Clone(r.plan.Slices[i].Contenders), isID)
		}
		r.sendProgress(Event{Phase: "race", Contender: id, Round: done})
	}
	if !left {
		return nil
	}
	return r.out.Append(journal.Entry{Plan: &r.plan})
}
