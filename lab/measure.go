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

// This file runs the rounds of a study until a look decides everything or the time is up. A look is
// a judgement of the rounds so far.

// How a study ended. A look is a judgement of the rounds so far, after a planned number of them.
const (
	Decided     = "decided" // a look answered every criterion and claim
	BudgetSpent = "budget"
	AllPlanned  = "planned"     // all rounds that the budget has time for are done
	RoundsDone  = "rounds"      // the fixed number of rounds was done
	Interrupted = "interrupted" // the user stopped it

	Unanswerable = "unanswerable" // all questions are about void contenders
)

// measureRounds runs rounds until a look decides everything or the plan is done.
func (r *run) measureRounds(ctx context.Context) error {
	if r.isDone() {
		r.stopped = r.resumedLog.Done.Stopped
		return nil
	}
	for {
		done := len(r.rounds) - r.longRoundsDone // long rounds are extra rounds
		if err := r.revisePlan(done); err != nil {
			return err
		}
		if err := r.readmitWorkloads(ctx, done); err != nil {
			return err
		}
		if stopped, err := r.stopBefore(ctx, done); err != nil || stopped {
			return err
		}
		if err := r.runRound(ctx, plan.Round(r.plan, done+1, 1)); err != nil {
			return r.stopAfter(ctx, err)
		}
		done++
		r.sendProgress(r.withLeader(Event{Phase: "round", Round: done, Rounds: r.plan.RoundsPlanned, Plan: &r.plan, Elapsed: r.elapsedTime(), Left: r.remainingBudget()}))
		// A long round repeats a round with longer slices (timed runs), to check their length.
		longIsDue := r.plan.LongEvery > 0 && done%r.plan.LongEvery == 0
		if longIsDue && !r.isInterrupted() && !r.isPastLimit(done) {
			if err := r.runRound(ctx, plan.Round(r.plan, done, plan.LongTau)); err != nil {
				return r.stopAfter(ctx, err)
			}
			r.longRoundsDone++
		}
		if r.opts.Rounds == 0 && slices.Contains(r.plan.Looks, done) {
			if stopped, err := r.runLook(done); err != nil || stopped {
				return err
			}
		}
	}
}

// stopBefore returns true if no round may follow the done rounds, and sets r.stopped to the reason.
func (r *run) stopBefore(ctx context.Context, done int) (stopped bool, err error) {
	switch {
	case done >= r.plan.RoundsPlanned && r.opts.Rounds > 0:
		r.stopped = RoundsDone
	case done >= r.plan.RoundsPlanned:
		r.stopped = AllPlanned
	case r.isInterrupted():
		r.stopped = Interrupted
	case r.isUnanswerable():
		r.stopped = Unanswerable
	case r.isBudgetSpent(done):
		return true, r.stopAtLimit()
	default:
		more, err := r.callPermit(ctx, done)
		return !more, err
	}
	return true, nil
}

// runLook judges the done rounds. If more rounds cannot change the answers, it returns true and sets
// r.stopped. Otherwise it retires trailing contenders.
func (r *run) runLook(done int) (stopped bool, err error) {
	judged := r.judgeEvidence(tare.Machine{}, false)
	if r.judgeLook(judged, done) && done >= r.minRounds() {
		r.stopped = Decided
		return true, nil
	}
	if r.areCriteriaVoid(judged) {
		r.stopped = Unanswerable
		return true, nil
	}
	return false, r.retireTrailing(judged, done)
}

// stopAfter ends the rounds after err, the error of a round. If only the time limit ended that round
// and another is finished, it returns no error.
func (r *run) stopAfter(ctx context.Context, err error) error {
	if errors.Is(err, errLimit) {
		return r.stopAtLimit()
	}
	if ctx.Err() != nil {
		r.stopped = Interrupted
	}
	return err
}

// stopAtLimit ends the rounds because the time limit is reached. It returns an error if no round is
// finished.
func (r *run) stopAtLimit() error {
	if len(r.rounds) == 0 {
		return r.tooShortError(r.plan)
	}
	r.stopped = BudgetSpent
	return nil
}

// callPermit asks Options.Permit for another round. If it is refused, the plan ends after the done
// rounds. The refusal does not depend on measurements, so the result is that of a fixed number of
// rounds.
func (r *run) callPermit(ctx context.Context, done int) (isPermitted bool, err error) {
	if r.opts.Permit == nil {
		return true, nil
	}
	isPermitted, err = r.opts.Permit(ctx, done)
	if err != nil || isPermitted {
		return isPermitted, err
	}
	r.stopped, r.plan.RoundsPlanned, r.plan.Looks = RoundsDone, done, []int{done}
	return false, r.journal.Append(journal.Entry{Plan: &r.plan})
}

// minRounds returns the least number of rounds to measure, even if a look decides everything before.
func (r *run) minRounds() int {
	if r.opts.Quick || r.opts.User {
		return 0
	}
	return plan.FullRounds
}

// isBudgetSpent reports whether the budget has no time for a round after done rounds. Slow rounds
// may exceed the budget until a verdict is possible, but never the time limit.
func (r *run) isBudgetSpent(done int) bool {
	if r.opts.Rounds > 0 {
		return false
	}
	if r.isPastLimit(done) {
		return true
	}
	if r.isStrict() { // the next round is within the limit
		return false
	}
	next := time.Duration(r.plan.SecondsPerRound * float64(time.Second))
	if r.elapsedTime()+next <= r.opts.Budget {
		return false
	}
	least := plan.MinRounds
	if r.opts.User || r.opts.Quick { // a user waits for the result
		least = plan.LeastRounds(len(r.plan.Slices), len(r.plan.Looks))
	}
	if done < least {
		r.plan.Stretched = true
		return false
	}
	return true
}

// isDone reports whether the run that is resumed has finished its measurements. Then only the result
// is missing.
func (r *run) isDone() bool {
	return r.resumedLog.Done != nil && r.resumedLog.Done.Stopped != Interrupted
}

// minRoundsForLeader is the number of rounds from which a progress line names the leader.
const minRoundsForLeader = 3

func (r *run) withLeader(e Event) Event {
	if r.opts.Progress == nil || e.Round < minRoundsForLeader {
		return e
	}
	if lead, ok := judge.Leading(r.collectEvidence(false)); ok {
		e.Leader, e.Ratio = lead.Contender, lead.Ratio
	}
	return e
}

// judgeLook reports whether the evidence after done rounds answers the study. It sends the numbers
// of answered and open questions as progress.
func (r *run) judgeLook(judged judgedRounds, done int) bool {
	answered, open := countAnswered(judged.verdicts, judged.claims)
	if r.opts.Until > 0 { // each difference is a question, too
		settled, unsettled := judge.Settled(judged.data, judged.comparisons, judged.findings, r.opts.Until)
		answered, open = answered+settled, open+unsettled
	}
	r.sendProgress(Event{Phase: "look", Round: done, Rounds: r.plan.RoundsPlanned, Plan: &r.plan, Elapsed: r.elapsedTime(),
		Left: r.remainingBudget(), Decided: answered, Open: open})
	if r.opts.Until > 0 {
		return judge.DecidedTo(r.opts.Until, judged.data, judged.comparisons, judged.findings, judged.verdicts, judged.claims)
	}
	return judge.Decided(judged.verdicts, judged.claims)
}

func (r *run) isInterrupted() bool {
	select {
	case <-r.opts.Stop:
		return true
	default:
		return false
	}
}

// countAnswered returns the numbers of answered and of open criteria and claims. A criterion counts
// once for each of its verdicts.
func countAnswered(verdicts []tare.Verdict, claims []tare.ClaimResult) (answered, open int) {
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
