package lab

import "github.com/tarebench/tare"

// reviseAfter is the number of rounds after which the number of slices is planned again, before any
// look. The new number comes from variances and times only, never from an effect, so that it makes
// no verdict likelier.
//
// Source: J. Wittes, E. Brittain, "The role of internal pilot studies in increasing the efficiency
// of clinical trials", Stat. Med. 9 (1990) 65–72.
const reviseAfter = 4

// revisePlan plans the rest of the budget from the first rounds: from the variance of their slices
// and their duration.
func (r *run) revisePlan(done int) error {
	if done != reviseAfter || r.plan.Revised > 0 || r.o.Rounds > 0 || r.plan.Isolation != tare.Lockstep {
		return nil
	}
	p := r.planRest(r.study.Workloads, r.pilots, r.elapsedTime(), done)
	p.Revised = done
	return r.adoptPlan(p, done)
}
