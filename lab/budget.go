package lab

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/judge"
	"github.com/tarebench/tare/internal/plan"
	"github.com/tarebench/tare/lab/journal"
)

// A run has a budget (Options.Budget), which the planned rounds fill. It may have an absolute time
// limit (Options.Limit). No round starts that would end after it. A round that is unfinished then is
// discarded. Options.Spent is the part of both that was used up before Run.
//
// Pilots are brief runs before the rounds. They can show that the budget has no time for all workloads.
// Omitted workloads are in run.omittedForTime. If the first rounds are shorter than forecast,
// readmitWorkloads brings them back. Once the rounds are planned, run.omitted has all omitted parts of
// the study.

// errLimit is the error of a round that was unfinished at the time limit. Its measurements are
// discarded.
var errLimit = errors.New("the limit of the run was reached")

func (r *run) isLimitReached() bool { return r.opts.Limit > 0 && r.elapsedTime() >= r.opts.Limit }

// hasPlannedSlices reports whether the slices (timed pieces) of rd have their planned length. They
// are longer in extra rounds, which check the slice length and which forecasts ignore.
func hasPlannedSlices(rd tare.Round) bool { return rd.Tau == 1 }

// isStrict reports whether the budget is also the time limit.
func (r *run) isStrict() bool { return r.opts.Limit > 0 && r.opts.Limit <= r.opts.Budget }

// Largest shares of the time limit, less Options.Spent, that pilots may use. The first ends with the
// baseline's pilot.
const (
	baselinePilotShare = 0.25
	otherPilotShare    = 0.5
)

// isPilotTimeSpent reports whether the pilots have used up their share of the time limit. The
// contender c is being piloted. Once the rounds are planned, pilots may use the complete limit.
func (r *run) isPilotTimeSpent(c tare.Contender) bool {
	if r.plan.RoundsPlanned > 0 {
		return r.isLimitReached()
	}
	share := otherPilotShare
	if c.Role == tare.RoleBaseline {
		share = baselinePilotShare
	}
	// Pilots did not use Options.Spent.
	pilotTime, limit := r.elapsedTime()-r.opts.Spent, r.opts.Limit-r.opts.Spent
	return r.opts.Limit > 0 && pilotTime > time.Duration(share*float64(limit))
}

// omitUnpiloted removes works from the study because there is no time to pilot them. Once the rounds
// are planned it does nothing: then works come from readmitWorkloads and are not in the study.
func (r *run) omitUnpiloted(works []tare.Workload) {
	if r.plan.RoundsPlanned > 0 {
		return
	}
	removed := map[string]bool{}
	for _, w := range works {
		why := fmt.Sprintf("left out: a budget of %v has no time to try it; a longer --budget does", r.opts.Budget)
		part := tare.LeftWorkload(w.ID, why)
		removed[part.What] = true
		r.omittedForTime = append(r.omittedForTime, part)
	}
	r.removeParts(removed)
}

// expectedPilot returns the expected result of the pilot of contender on workload. It returns false
// if Options.Expected lacks it.
func (r *run) expectedPilot(contender, workload string) (pilot tare.Pilot, isKnown bool) {
	for _, p := range r.opts.Expected {
		if p.Contender == contender && p.Workload == workload {
			return p, true
		}
	}
	return tare.Pilot{}, false
}

func (r *run) expectedPilots(works []tare.Workload) []tare.Pilot {
	selected := map[string]bool{}
	for _, w := range works {
		selected[w.ID] = true
	}
	return slices.DeleteFunc(slices.Clone(r.opts.Expected), func(p tare.Pilot) bool { return !selected[p.Workload] })
}

// fitToExpectedPilots removes what the user's budget has no time for, before any pilot runs. It
// returns an error if the limit is too short for one round.
func (r *run) fitToExpectedPilots() error {
	if len(r.opts.Expected) == 0 || r.opts.Rounds > 0 {
		return nil
	}
	timeAfterPilots := func() time.Duration {
		return r.elapsedTime() + PilotTime(r.expectedPilots(r.study.Workloads))
	}
	p := r.removeUntilFits(r.opts.Expected, timeAfterPilots)
	p.PilotSeconds = timeAfterPilots().Seconds() // less than before if workloads were removed
	firstRoundFits := p.PilotSeconds+minFirstRound*p.SecondsPerRound <= r.opts.Limit.Seconds()
	if r.opts.Limit > 0 && !firstRoundFits {
		return r.tooShortError(p)
	}
	return nil
}

// PilotTime forecasts the duration of all pilots from their expected results. It skips the control,
// which gets the baseline's pilot, and the null contender, which does no work and takes almost no
// time.
func PilotTime(expected []tare.Pilot) time.Duration {
	var ns float64
	isStarted := map[[2]string]bool{} // by contender and process
	for _, p := range expected {
		if p.Contender == tare.ControlID || p.Contender == tare.NullID {
			continue
		}
		if process := [2]string{p.Contender, p.Process}; !isStarted[process] {
			isStarted[process] = true
			ns += p.StartNS
		}
		// Each pass takes at least its fixed time, and runs at least these operations.
		memoryOps := 2.0
		if p.Counted {
			memoryOps = 1
		}
		warmUp := max(opsMargin*pilotNS, p.ElapsedNS())
		memoryPass := max(statsNS, memoryOps*p.ElapsedNS())
		ns += p.SetupNS + warmUp + memoryPass + 2*p.AroundNS // each of the two passes has its overhead
	}
	return time.Duration(ns)
}

// forecastRound returns the expected duration of the round after done rounds. It is the planned one,
// or that of the last round of the current plan if longer.
func (r *run) forecastRound(done int) time.Duration {
	seconds := r.plan.SecondsPerRound
	lastIsOfPlan := done > r.plannedAt && len(r.rounds) > 0
	if lastIsOfPlan {
		if last := r.rounds[len(r.rounds)-1]; hasPlannedSlices(last) {
			seconds = max(seconds, last.Seconds)
		}
	}
	return time.Duration(seconds * float64(time.Second))
}

// minFirstRound is the share of the first round's forecast that must fit in the rest of the limit.
const minFirstRound = 0.5

// isPastLimit reports whether the round after done rounds would end past the time limit. The first
// round starts even if only half of it fits, because no round has confirmed the forecast yet.
func (r *run) isPastLimit(done int) bool {
	next := r.forecastRound(done)
	if done == 0 {
		next = time.Duration(minFirstRound * float64(next))
	}
	return r.opts.Limit > 0 && r.elapsedTime()+next > r.opts.Limit
}

// tooShortError returns the error for a time limit that is too short for a round of p.
// BudgetError.Least is the time for the fewest rounds that allow a verdict.
func (r *run) tooShortError(p tare.Plan) error {
	subject := "a round of the study"
	if works := r.study.Workloads; len(works) == 1 {
		subject = "a round of " + works[0].ID
	}
	round := max(p.SecondsPerRound, r.elapsedTime().Seconds()-p.PilotSeconds)
	workloads, looks := len(p.Slices), 1 // a plan without early judgements needs the fewest rounds
	least := p.PilotSeconds + round*float64(plan.LeastRounds(workloads, looks))
	return &plan.BudgetError{Budget: r.opts.Limit, Least: roundUp(least), What: subject}
}

func roundUp(seconds float64) time.Duration {
	return time.Duration(math.Ceil(1.1*seconds)) * time.Second
}

// measurePace returns the ratio of the real duration of a round to the pilots' forecast. Before the
// first round of a plan it returns what the plan assumes.
func (r *run) measurePace() float64 {
	var seconds, rounds float64
	for _, rd := range r.rounds {
		if hasPlannedSlices(rd) && rd.Index > r.plannedAt {
			seconds += rd.Seconds
			rounds++
		}
	}
	planPace := cmp.Or(r.planPace, 1)
	if rounds == 0 || r.plan.SecondsPerRound <= 0 {
		return planPace
	}
	// SecondsPerRound is the forecast of the pilots times planPace.
	return planPace * seconds / rounds / r.plan.SecondsPerRound
}

// planRemaining plans the rounds after done rounds from the pilots of works. spent is the part of
// the budget that is used up when these rounds begin.
func (r *run) planRemaining(works []tare.Workload, pilots []tare.Pilot, spent time.Duration, done int) tare.Plan {
	o := r.planOptions(spent)
	o.Done = done
	o.Pace = r.measurePace()
	if done >= reviseAfter {
		o.Measured = judge.Variances(r.collectEvidence(false))
	}
	p := plan.New(works, r.plan.Contenders, pilots, o)
	p.Seed = r.plan.Seed
	p.PilotSeconds = r.plan.PilotSeconds
	p.LeftOut = r.plan.LeftOut
	p.Revised = r.plan.Revised
	return p
}

func (r *run) adoptPlan(p tare.Plan, done int) error {
	r.planPace = r.measurePace() // measurePace reads the plan that p replaces
	r.plan, r.plannedAt = p, done
	if err := r.journal.Append(journal.Entry{Plan: &r.plan}); err != nil {
		return err
	}
	forecastOfRound := time.Duration(p.SecondsPerRound * float64(time.Second))
	r.sendProgress(Event{
		Phase: "revised", Plan: &r.plan, Round: done, Rounds: p.RoundsPlanned, Left: r.remainingBudget(),
		Elapsed: forecastOfRound, // in phase revised, the expected duration of one round
	})
	return nil
}

// readmitBefore is the number of rounds after which no omitted workload returns. No look, a
// judgement of the rounds so far, comes earlier.
const readmitBefore = 8

// readmitWorkloads brings back workloads that were omitted for lack of time, if there is time after
// all. It decides by durations and never by a measured difference, so it makes no verdict likelier.
func (r *run) readmitWorkloads(ctx context.Context, done int) error {
	plansByTime := r.opts.Limit > 0 && r.opts.Rounds == 0 && r.plan.Isolation == tare.Lockstep
	if !plansByTime || len(r.omittedForTime) == 0 || done >= readmitBefore {
		return nil
	}
	affordable := r.findAffordable(done)
	if len(affordable) == 0 {
		return nil
	}
	var names []string
	for _, w := range affordable {
		names = append(names, w.ID)
	}
	r.sendProgress(Event{Phase: "fit", Message: fmt.Sprintf("measured after all, as there is time for it: %s", strings.Join(names, ", "))})
	piloted, err := r.pilotOmitted(ctx, affordable)
	if err != nil {
		return err
	}
	r.study.Workloads = r.sortWorks(append(slices.Clone(r.study.Workloads), piloted...))
	if len(piloted) == 0 {
		return nil
	}
	isBack := func(part tare.NotWeighed) bool {
		return slices.ContainsFunc(piloted, func(w tare.Workload) bool { return part.Workload() == w.ID })
	}
	r.omittedForTime = slices.DeleteFunc(slices.Clone(r.omittedForTime), isBack)
	r.omitted = slices.DeleteFunc(slices.Clone(r.omitted), isBack)
	p := r.planRemaining(r.study.Workloads, r.pilots, r.elapsedTime(), done)
	p.LeftOut = r.omittedForTime
	for _, e := range []journal.Entry{{Conformance: r.conformance}, {Pilots: r.pilots}} {
		if err := r.journal.Append(e); err != nil {
			return err
		}
	}
	return r.adoptPlan(p, done)
}

// findAffordable returns the omitted workloads that the budget has time for after done rounds. It
// prefers workloads with short rounds.
func (r *run) findAffordable(done int) []tare.Workload {
	var candidates []tare.Workload
	cost := r.roundCosts(r.opts.Expected)
	for _, w := range r.allWorkloads {
		isOmitted := slices.ContainsFunc(r.omittedForTime, func(part tare.NotWeighed) bool { return part.Workload() == w.ID })
		hasCost := cost[w.ID] > 0 // false without expected pilots of w
		if isOmitted && hasCost && !r.failedPilot[w.ID] {
			candidates = append(candidates, w)
		}
	}
	slices.SortStableFunc(candidates, func(a, b tare.Workload) int { return cmp.Compare(cost[a.ID], cost[b.ID]) })
	for n := range candidates {
		expected := r.expectedPilots(candidates[:n+1])
		works := append(slices.Clone(r.study.Workloads), candidates[:n+1]...)
		spent := r.elapsedTime() + time.Duration(r.measurePace()*float64(PilotTime(expected)))
		p := r.planRemaining(works, slices.Concat(r.pilots, expected), spent, done)
		rounds := p.RoundsPlanned - done // the workloads have no measurements of the done rounds
		if !p.Fits || rounds < plan.LeastRounds(len(works), len(p.Looks)) {
			return candidates[:n]
		}
	}
	return candidates
}

// pilotOmitted pilots omitted workloads. It returns those that every contender has a pilot of, and
// records the others in r.failedPilot. A contender that fails is not dropped.
func (r *run) pilotOmitted(ctx context.Context, works []tare.Workload) ([]tare.Workload, error) {
	for _, c := range r.contenders {
		if c.Role == tare.RoleControl || r.dropped[c.ID] {
			continue
		}
		err := r.pilotOne(ctx, c, works)
		if err == nil {
			continue
		}
		isTrialError := errors.As(err, new(*tare.TrialError)) // the study can continue
		if ctx.Err() != nil || !isTrialError {
			return nil, cmp.Or(ctx.Err(), err)
		}
	}
	r.copyToControl()
	r.sharePilots()
	if r.failedPilot == nil {
		r.failedPilot = map[string]bool{}
	}
	var piloted []tare.Workload
	for _, w := range works {
		for _, id := range r.plan.Contenders {
			isSelected := id == r.study.Baseline || w.Asks(id) || id == tare.ControlID || id == tare.NullID
			hasPilot := r.pilotOf(id, w.ID).Contender != ""
			if isSelected && !hasPilot {
				r.failedPilot[w.ID] = true
			}
		}
		if !r.failedPilot[w.ID] {
			piloted = append(piloted, w)
		}
	}
	return piloted, nil
}

func (r *run) sortWorks(works []tare.Workload) []tare.Workload {
	position := map[string]int{}
	for i, w := range r.allWorkloads {
		position[w.ID] = i
	}
	slices.SortStableFunc(works, func(a, b tare.Workload) int { return cmp.Compare(position[a.ID], position[b.ID]) })
	return works
}
