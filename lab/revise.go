package lab

import (
	"time"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/judge"
	"github.com/tarebench/tare/internal/plan"
	"github.com/tarebench/tare/lab/journal"
)

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
	var took float64
	for _, rd := range r.rounds {
		if rd.Tau == 1 {
			took += rd.Seconds
		}
	}
	o := r.planOptions(r.elapsed())
	o.Done, o.Measured = done, judge.Variances(r.judged(false))
	if r.plan.SecondsPerRound > 0 {
		o.Pace = took / float64(done) / r.plan.SecondsPerRound
	}
	p := plan.New(r.study.Workloads, r.plan.Contenders, r.pilots, o)
	p.Seed, p.PilotSeconds, p.LeftOut, p.Revised = r.plan.Seed, r.plan.PilotSeconds, r.plan.LeftOut, done
	r.plan = p
	if err := r.out.Append(journal.Entry{Plan: &r.plan}); err != nil {
		return err
	}
	r.progress(Event{Phase: "revised", Plan: &r.plan, Round: done, Rounds: p.RoundsPlanned, Left: r.remaining(),
		Elapsed: time.Duration(p.SecondsPerRound * float64(time.Second))})
	return nil
}
