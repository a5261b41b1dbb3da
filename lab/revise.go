package lab

import "github.com/tarebench/tare"

// reviseAfter is the number of rounds after which the number of slices is planned again, before the
// first judgement. A slice is one timed piece of a round. The new number depends on variances and
// durations only, never on an effect, so that no verdict becomes likelier.
//
// Source: J. Wittes, E. Brittain, "The role of internal pilot studies in increasing the efficiency of
// clinical trials", Stat. Med. 9 (1990) 65–72.
const reviseAfter = 4

// revisePlan plans the rest of the budget again after reviseAfter rounds, from the variance of their
// slices and their duration. Otherwise it does nothing.
func (r *run) revisePlan(done int) error {
	canRevise := r.opts.Rounds == 0 && r.plan.Isolation == tare.Lockstep
	if !canRevise || done != reviseAfter || r.plan.Revised > 0 {
		return nil
	}
	p := r.planRemaining(r.study.Workloads, r.pilots, r.elapsedTime(), done)
	p.Revised = done
	return r.adoptPlan(p, done)
}
