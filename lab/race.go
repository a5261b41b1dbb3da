package lab

import (
	"slices"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/judge"
	"github.com/tarebench/tare/lab/journal"
)

// leaders is how many contenders must be proven faster than one, on everything
// it does, before it leaves.
const leaders = 3

// race takes contenders out of the rounds to come that a look has proven slower
// than the leaders on everything. What was measured of them stands, as of now.
// Nobody leaves that a claim, a criterion or an expectation is about, and nobody
// at a budget that has time for ranks.
func (r *run) race(o measured, done int) error {
	if !r.reduced() || done >= r.plan.RoundsPlanned {
		return nil
	}
	about := claimed(r.study).contenders
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
		r.progress(Event{Phase: "race", Contender: id, Round: done})
	}
	if !left {
		return nil
	}
	return r.out.Append(journal.Entry{Plan: &r.plan})
}
