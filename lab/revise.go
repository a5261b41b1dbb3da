package lab

import "github.com/tarebench/tare"

// reviseAfter is after how many rounds the number of slices is set anew, before
// any look. The new number comes from variances and times alone, never from an
// effect, so that no verdict is any likelier for it.
//
// Source: J. Wittes, E. Brittain, "The role of internal pilot studies in
// increasing the efficiency of clinical trials", Stat. Med. 9 (1990) 65–72.
const reviseAfter = 4

// revise plans what is left of the budget by what the first rounds showed: how
// much their slices vary, and how long they took.
func (r *run) revise(done int) error {
	if done != reviseAfter || r.plan.Revised > 0 || r.o.Rounds > 0 || r.plan.Isolation != tare.Lockstep {
		return nil
	}
	p := r.planRest(r.study.Workloads, r.pilots, r.elapsed(), done)
	p.Revised = done
	return r.adoptPlan(p, done)
}
