package lab

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/judge"
	"github.com/tarebench/tare/internal/plan"
	"github.com/tarebench/tare/lab/journal"
)

// How a study ended.
const (
	Decided     = "decided"     // every criterion and claim was answered at a look
	BudgetSpent = "budget"      // the budget was spent
	AllPlanned  = "planned"     // all rounds that were planned for the budget are done
	RoundsDone  = "rounds"      // the fixed number of rounds was done
	Interrupted = "interrupted" // somebody stopped it

	Unanswerable = "unanswerable" // everything that was asked is about contenders that are void
)

// measure runs rounds until a look decides everything or the plan is done.
func (r *run) measure(ctx context.Context) error {
	if r.over() {
		r.stopped = r.log.Done.Stopped
		return nil
	}
	for {
		done := len(r.rounds) - r.longDone
		if err := r.revise(done); err != nil { // a run that was resumed right there
			return err
		}
		if err := r.readmit(ctx, done); err != nil {
			return err
		}
		if done >= r.plan.RoundsPlanned {
			r.stopped = AllPlanned
			if r.o.Rounds > 0 {
				r.stopped = RoundsDone
			}
			return nil
		}
		if r.interrupted() {
			r.stopped = Interrupted
			return nil
		}
		if r.isUnanswerable() {
			r.stopped = Unanswerable
			return nil
		}
		if r.spent(done) {
			return r.stopAtLimit()
		}
		if more, err := r.permitted(ctx, done); err != nil || !more {
			return err
		}
		if err := r.round(ctx, plan.Round(r.plan, done+1, 1)); err != nil {
			return r.stopAfter(ctx, err)
		}
		done++
		r.progress(r.known(Event{Phase: "round", Round: done, Rounds: r.plan.RoundsPlanned, Plan: &r.plan, Elapsed: r.elapsed(), Left: r.remaining()}))
		if r.plan.LongEvery > 0 && done%r.plan.LongEvery == 0 && !r.interrupted() && !r.isLimited(done) {
			if err := r.round(ctx, plan.Round(r.plan, done, plan.LongTau)); err != nil {
				return r.stopAfter(ctx, err)
			}
			r.longDone++
		}
		if r.o.Rounds == 0 && slices.Contains(r.plan.Looks, done) {
			o := r.evaluate(tare.Machine{}, false)
			if r.look(o, done) && done >= r.fewest() {
				r.stopped = Decided
				return nil
			}
			if r.isVoid(o) {
				r.stopped = Unanswerable
				return nil
			}
			if err := r.race(o, done); err != nil {
				return err
			}
		}
	}
}

// stopAfter ends the rounds after err: at the limit of the run what there is counts.
func (r *run) stopAfter(ctx context.Context, err error) error {
	if errors.Is(err, errLimit) {
		return r.stopAtLimit()
	}
	if ctx.Err() != nil {
		r.stopped = Interrupted
	}
	return err
}

// stopAtLimit ends the rounds because the budget is spent. It is an error if there are
// none.
func (r *run) stopAtLimit() error {
	if len(r.rounds) == 0 {
		return r.errTooShort(r.plan)
	}
	r.stopped = BudgetSpent
	return nil
}

// permitted asks whether another round is wanted. If not, what was done is what was
// planned: the number does not depend on what was measured.
func (r *run) permitted(ctx context.Context, done int) (bool, error) {
	if r.o.Permit == nil {
		return true, nil
	}
	more, err := r.o.Permit(ctx, done)
	if err != nil || more {
		return more, err
	}
	r.stopped, r.plan.RoundsPlanned, r.plan.Looks = RoundsDone, done, []int{done}
	return false, r.out.Append(journal.Entry{Plan: &r.plan})
}

// fewest is how many rounds there are at least, even if all is decided before.
func (r *run) fewest() int {
	if r.o.Quick || r.o.User {
		return 0
	}
	return plan.FullRounds
}

// spent reports whether the budget is used up after done rounds. A study runs to
// the fewest rounds a verdict needs, or those that a budget set by the user is
// stretched to: if rounds turn out slower than the pilot was, the plan says so. No
// round starts that would end past the limit of the run.
func (r *run) spent(done int) bool {
	if r.o.Rounds > 0 {
		return false
	}
	if r.isLimited(done) {
		return true
	}
	if r.isStrict() {
		return false
	}
	next := time.Duration(r.plan.SecondsPerRound * float64(time.Second))
	if r.elapsed()+next <= r.o.Budget {
		return false
	}
	least := plan.MinRounds
	if r.o.User {
		least = plan.LeastRounds(len(r.plan.Slices), len(r.plan.Looks))
	}
	if done < least {
		r.plan.Stretched = true
		return false
	}
	return true
}

// over reports whether the run that is resumed had come to its end: it was
// ended before its result was kept, and only that is missing.
func (r *run) over() bool { return r.log.Done != nil && r.log.Done.Stopped != Interrupted }

// knownFrom is how many rounds there are before a progress line says who leads.
const knownFrom = 3

// known adds to a progress event what is known so far.
func (r *run) known(e Event) Event {
	if r.o.Progress == nil || e.Round < knownFrom {
		return e
	}
	if lead, ok := judge.Leading(r.judged(false)); ok {
		e.Leader, e.Ratio = lead.Contender, lead.Ratio
	}
	return e
}

// look judges what there is and reports whether that answers the study.
func (r *run) look(o measured, done int) bool {
	answered, open := answered(o.verdicts, o.claims)
	if r.o.Until > 0 {
		settled, unsettled := judge.Settled(o.data, o.comparisons, o.findings, r.o.Until)
		answered, open = answered+settled, open+unsettled
	}
	r.progress(Event{Phase: "look", Round: done, Rounds: r.plan.RoundsPlanned, Plan: &r.plan, Elapsed: r.elapsed(),
		Left: r.remaining(), Decided: answered, Open: open})
	if r.o.Until > 0 {
		return judge.DecidedTo(r.o.Until, o.data, o.comparisons, o.findings, o.verdicts, o.claims)
	}
	return judge.Decided(o.verdicts, o.claims)
}

// interrupted reports whether somebody asked to stop.
func (r *run) interrupted() bool {
	select {
	case <-r.o.Stop:
		return true
	default:
		return false
	}
}

// answered counts the criteria and claims that have an answer, and those that
// have none yet.
func answered(verdicts []tare.Verdict, claims []tare.ClaimResult) (answered, open int) {
	count := func(isOpen bool) {
		if isOpen {
			open++
		} else {
			answered++
		}
	}
	for _, v := range verdicts {
		if v.Criterion != "" {
			count(v.Verdict == tare.Inconclusive)
		}
	}
	for _, c := range claims {
		count(c.Outcome.IsOpen())
	}
	return answered, open
}
