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

// errLimit ends a round during which the limit of the run was reached. What the round
// measured does not count.
var errLimit = errors.New("the limit of the run was reached")

// isOver reports whether the run has reached its limit.
func (r *run) isOver() bool { return r.o.Limit > 0 && r.elapsedTime() >= r.o.Limit }

// isStrict reports whether the budget is a limit as well, and nothing stretches it.
func (r *run) isStrict() bool { return r.o.Limit > 0 && r.o.Limit <= r.o.Budget }

// Shares of the time to the limit that pilots may take, until that of the baseline and
// that of any other contender has ended.
const (
	baselinePilots = 0.25
	allPilots      = 0.5
)

// isPilotOver reports whether pilots have taken as much of the limit as they may when
// that of contender c ends; all of it if the rounds have begun.
func (r *run) isPilotOver(c tare.Contender) bool {
	if r.plan.RoundsPlanned > 0 {
		return r.isOver()
	}
	share := allPilots
	if c.Role == tare.RoleBaseline {
		share = baselinePilots
	}
	return r.o.Limit > 0 && r.elapsedTime()-r.o.Spent > time.Duration(share*float64(r.o.Limit-r.o.Spent))
}

// omitPilots omits works for whose pilots there is no time. Once the rounds have begun, they are
// omitted already.
func (r *run) omitPilots(works []tare.Workload) {
	if r.plan.RoundsPlanned > 0 {
		return
	}
	out := map[string]bool{}
	for _, w := range works {
		l := tare.LeftWorkload(w.ID, fmt.Sprintf("left out: a budget of %v has no time to try it; a longer --budget does", r.o.Budget))
		out[l.What], r.unfit = true, append(r.unfit, l)
	}
	r.removeParts(out)
}

// expectedOf returns what the pilot of contender on workload will show, if that is
// known.
func (r *run) expectedOf(contender, workload string) (tare.Pilot, bool) {
	for _, p := range r.o.Expected {
		if p.Contender == contender && p.Workload == workload {
			return p, true
		}
	}
	return tare.Pilot{}, false
}

// expectedOn returns what pilots of the works will show.
func (r *run) expectedOn(works []tare.Workload) []tare.Pilot {
	in := map[string]bool{}
	for _, w := range works {
		in[w.ID] = true
	}
	return slices.DeleteFunc(slices.Clone(r.o.Expected), func(p tare.Pilot) bool { return !in[p.Workload] })
}

// fitExpected leaves out what the user's budget will have no time for, before any
// pilot. It is an error if the limit has no time for a round of what is left.
func (r *run) fitExpected() error {
	if len(r.o.Expected) == 0 || r.o.Rounds > 0 {
		return nil
	}
	spent := func() time.Duration { return r.elapsedTime() + PilotTime(r.expectedOn(r.study.Workloads)) }
	p := r.fitTo(r.o.Expected, spent)
	p.PilotSeconds = spent().Seconds()
	if r.o.Limit > 0 && p.PilotSeconds+tryFrom*p.SecondsPerRound > r.o.Limit.Seconds() {
		return r.tooShortError(p)
	}
	return nil
}

// PilotTime forecasts how long pilots take that will show this. The control has none,
// and the null contender takes no time.
func PilotTime(expected []tare.Pilot) time.Duration {
	var ns float64
	isStarted := map[[2]string]bool{}
	for _, p := range expected {
		if p.Contender == tare.ControlID || p.Contender == tare.NullID {
			continue
		}
		if of := [2]string{p.Contender, p.Process}; !isStarted[of] {
			isStarted[of] = true
			ns += p.StartNS
		}
		stats := 2 * p.ElapsedNS()
		if p.Counted {
			stats /= 2
		}
		ns += p.SetupNS + max(warmMore*pilotNS, p.ElapsedNS()) + max(statsNS, stats) + 2*p.AroundNS
	}
	return time.Duration(ns)
}

// forecastRound forecasts the next round, which the last one may have shown to take longer
// than planned.
func (r *run) forecastRound(done int) time.Duration {
	seconds := r.plan.SecondsPerRound
	if n := len(r.rounds); done > r.plannedAt && n > 0 && r.rounds[n-1].Tau == 1 {
		seconds = max(seconds, r.rounds[n-1].Seconds)
	}
	return time.Duration(seconds * float64(time.Second))
}

// tryFrom is the share of the first round, as it is forecast, that must fit.
const tryFrom = 0.5

// isLimited reports whether the round after done ones would end past the limit. The
// first is tried if half of it fits: no round has shown yet that the forecast is right,
// and the limit ends it anyway.
func (r *run) isLimited(done int) bool {
	next := r.forecastRound(done)
	if done == 0 {
		next = time.Duration(tryFrom * float64(next))
	}
	return r.o.Limit > 0 && r.elapsedTime()+next > r.o.Limit
}

// tooShortError returns the error for a limit in which no round of p ends.
func (r *run) tooShortError(p tare.Plan) error {
	what := "a round of the study"
	if works := r.study.Workloads; len(works) == 1 {
		what = "a round of " + works[0].ID
	}
	round := max(p.SecondsPerRound, r.elapsedTime().Seconds()-p.PilotSeconds)
	need := p.PilotSeconds + round*float64(plan.LeastRounds(len(p.Slices), 1))
	return &plan.BudgetError{Budget: r.o.Limit, Least: roundUp(need), What: what}
}

// roundUp returns a tenth more than seconds, in whole seconds.
func roundUp(seconds float64) time.Duration {
	return time.Duration(math.Ceil(1.1*seconds)) * time.Second
}

// measurePace returns how long rounds take over what their pilots made of it, by the rounds
// since the plan was made.
func (r *run) measurePace() float64 {
	var took, rounds float64
	for _, rd := range r.rounds {
		if rd.Tau == 1 && rd.Index > r.plannedAt {
			took += rd.Seconds
			rounds++
		}
	}
	planned := cmp.Or(r.planPace, 1)
	if rounds == 0 || r.plan.SecondsPerRound <= 0 {
		return planned
	}
	return planned * took / rounds / r.plan.SecondsPerRound
}

// planRest plans what is left after done rounds, for works with these pilots.
func (r *run) planRest(works []tare.Workload, pilots []tare.Pilot, spent time.Duration, done int) tare.Plan {
	o := r.planOptions(spent)
	o.Done, o.Pace = done, r.measurePace()
	if done >= reviseAfter {
		o.Measured = judge.Variances(r.collectEvidence(false))
	}
	p := plan.New(works, r.plan.Contenders, pilots, o)
	p.Seed, p.PilotSeconds, p.LeftOut, p.Revised = r.plan.Seed, r.plan.PilotSeconds, r.plan.LeftOut, r.plan.Revised
	return p
}

// adoptPlan makes p the plan after done rounds.
func (r *run) adoptPlan(p tare.Plan, done int) error {
	pace := r.measurePace()
	r.plan, r.planPace, r.plannedAt = p, pace, done
	if err := r.out.Append(journal.Entry{Plan: &r.plan}); err != nil {
		return err
	}
	r.sendProgress(Event{Phase: "revised", Plan: &r.plan, Round: done, Rounds: p.RoundsPlanned, Left: r.remainingBudget(),
		Elapsed: time.Duration(p.SecondsPerRound * float64(time.Second))})
	return nil
}

// readmitBefore is the first look: the workloads of a study do not change any more
// then.
const readmitBefore = 8

// readmit brings back workloads that were omitted for lack of time, if the rounds so far show that
// there is time for them. Only times decide, never an effect, so that this makes no verdict
// likelier. These workloads miss the rounds that are done.
func (r *run) readmit(ctx context.Context, done int) error {
	if r.o.Limit == 0 || r.o.Rounds > 0 || len(r.unfit) == 0 || done >= readmitBefore || r.plan.Isolation != tare.Lockstep {
		return nil
	}
	back := r.findAffordable(done)
	if len(back) == 0 {
		return nil
	}
	var names []string
	for _, w := range back {
		names = append(names, w.ID)
	}
	r.sendProgress(Event{Phase: "fit", Message: fmt.Sprintf("measured after all, as there is time for it: %s", strings.Join(names, ", "))})
	tried, err := r.repeatPilots(ctx, back)
	if err != nil {
		return err
	}
	r.study.Workloads = r.sortWorks(append(slices.Clone(r.study.Workloads), tried...))
	isBack := func(l tare.NotWeighed) bool {
		return slices.ContainsFunc(tried, func(w tare.Workload) bool { return l.Workload() == w.ID })
	}
	if len(tried) == 0 {
		return nil
	}
	r.unfit, r.omitted = slices.DeleteFunc(slices.Clone(r.unfit), isBack), slices.DeleteFunc(slices.Clone(r.omitted), isBack)
	p := r.planRest(r.study.Workloads, r.pilots, r.elapsedTime(), done)
	p.LeftOut = r.unfit
	for _, e := range []journal.Entry{{Conformance: r.conform}, {Pilots: r.pilots}} {
		if err := r.out.Append(e); err != nil {
			return err
		}
	}
	return r.adoptPlan(p, done)
}

// findAffordable returns the omitted workloads that the budget has time for after done rounds at
// their speed, the shortest first. Each must get as many rounds as an interval needs.
func (r *run) findAffordable(done int) []tare.Workload {
	var out []tare.Workload
	cost := r.roundCosts(r.o.Expected)
	for _, w := range r.allWorkloads {
		isOut := slices.ContainsFunc(r.unfit, func(l tare.NotWeighed) bool { return l.Workload() == w.ID })
		if isOut && !r.failedPilot[w.ID] && cost[w.ID] > 0 {
			out = append(out, w)
		}
	}
	slices.SortStableFunc(out, func(a, b tare.Workload) int { return cmp.Compare(cost[a.ID], cost[b.ID]) })
	for n := range out {
		with := r.expectedOn(out[:n+1])
		works := append(slices.Clone(r.study.Workloads), out[:n+1]...)
		spent := r.elapsedTime() + time.Duration(r.measurePace()*float64(PilotTime(with)))
		p := r.planRest(works, slices.Concat(r.pilots, with), spent, done)
		if !p.Fits || p.RoundsPlanned-done < plan.LeastRounds(len(works), len(p.Looks)) {
			return out[:n]
		}
	}
	return out
}

// repeatPilots pilots omitted works, and returns those that every contender could do in time.
func (r *run) repeatPilots(ctx context.Context, works []tare.Workload) ([]tare.Workload, error) {
	for _, c := range r.contenders {
		if c.Role == tare.RoleControl || r.dropped[c.ID] {
			continue
		}
		err := r.pilotOne(ctx, c, works)
		var te *tare.TrialError
		if err != nil && (ctx.Err() != nil || !errors.As(err, &te)) {
			return nil, cmp.Or(ctx.Err(), err)
		}
	}
	r.copyToControl()
	r.sharePilots()
	if r.failedPilot == nil {
		r.failedPilot = map[string]bool{}
	}
	var good []tare.Workload
	for _, w := range works {
		for _, id := range r.plan.Contenders {
			isAsked := id == r.study.Baseline || w.Asks(id) || id == tare.ControlID || id == tare.NullID
			if isAsked && r.pilotOf(id, w.ID).Contender == "" {
				r.failedPilot[w.ID] = true
			}
		}
		if !r.failedPilot[w.ID] {
			good = append(good, w)
		}
	}
	return good, nil
}

// sortWorks returns works, sorted as in the study.
func (r *run) sortWorks(works []tare.Workload) []tare.Workload {
	at := map[string]int{}
	for i, w := range r.allWorkloads {
		at[w.ID] = i
	}
	slices.SortStableFunc(works, func(a, b tare.Workload) int { return cmp.Compare(at[a.ID], at[b.ID]) })
	return works
}
