package lab

import (
	"cmp"
	"fmt"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/check"
	"github.com/tarebench/tare/internal/plan"
)

// This file fits a study to the user's budget. For example, a study of 5 minutes with a budget of
// 30 s loses its last workloads and contenders.

// CheckBudget returns a [*plan.BudgetError] if the user's budget is too short for any part of the
// study. It can be called before anything is built.
func CheckBudget(s tare.Study, budget time.Duration) error {
	if least := plan.Least(s.Workloads); budget < least {
		return &plan.BudgetError{Budget: budget, Least: least}
	}
	return nil
}

// planStudy plans the rounds of the study. spent is the part of the budget that is used up when the
// pilots end.
func (r *run) planStudy(pilots []tare.Pilot, spent time.Duration) tare.Plan {
	return plan.New(r.study.Workloads, r.listParticipants(), pilots, r.planOptions(spent))
}

// planOptions returns the options of a plan that starts when spent of the budget is used up.
func (r *run) planOptions(spent time.Duration) plan.Options {
	return plan.Options{
		Seed: r.opts.Seed, Isolation: r.opts.Isolation,
		Budget: r.opts.Budget, Spent: spent, Rounds: r.opts.Rounds, User: r.opts.User, Strict: r.isStrict(),
		Slice: r.opts.Slice, Most: r.opts.Most, Long: !r.isReduced() && r.opts.Rounds == 0,
		Brief: r.listBrief(), Early: r.stopsEarly(), Until: r.opts.Until,
	}
}

// fixedParticipants is the number of contenders in every study: the baseline, its control (the
// baseline again) and the null contender (which does nothing).
const fixedParticipants = 3

// stopsEarly reports whether an early look, a judgement of the rounds so far, can end the study or
// retire a contender. Otherwise no early look is planned.
func (r *run) stopsEarly() bool {
	hasQuestions := len(r.study.Criteria)+len(r.study.Claims) > 0
	others := len(r.listParticipants()) - fixedParticipants
	return hasQuestions || r.isReduced() && others > leaders
}

func (r *run) listParticipants() []string {
	var ids []string
	for _, c := range r.contenders {
		if !r.dropped[c.ID] {
			ids = append(ids, c.ID)
		}
	}
	return ids
}

// listBrief lists the contenders with short slices (timed pieces). They are the null contender, and
// traps, which reproduce a published mistake. No ratio of these is computed. A trap that statistics
// must catch needs complete slices.
func (r *run) listBrief() []string {
	var ids []string
	for _, c := range r.contenders {
		switch {
		case r.dropped[c.ID]:
		case c.Role == tare.RoleNull, c.Role == tare.RoleTrap && !slices.ContainsFunc(c.Expect.Void, check.Statistical):
			ids = append(ids, c.ID)
		}
	}
	return ids
}

// fitToPilots removes parts of the study until the user's budget has time for the rest, and returns
// the plan. Workloads go first, then contenders, each from the end of the study's list. If the
// budget is also the time limit, the workloads with the longest rounds go first. Parts that a
// question needs go last.
func (r *run) fitToPilots(pilots []tare.Pilot, spent time.Duration) tare.Plan {
	return r.removeUntilFits(pilots, func() time.Duration { return spent })
}

// removeUntilFits does the work of fitToPilots, also before all pilots are finished. timeAfterPilots
// returns the expected time at their end. It is called after each removal, because the pilots of
// removed parts take no time.
func (r *run) removeUntilFits(pilots []tare.Pilot, timeAfterPilots func() time.Duration) tare.Plan {
	spent := timeAfterPilots()
	p := r.planStudy(pilots, spent)
	mayRemove := (r.opts.User || r.isStrict()) && r.opts.Rounds == 0
	if p.Fits || !mayRemove {
		return p
	}
	need := roundUp(spent.Seconds() + p.SecondsPerRound*plan.MinRounds) // budget for the complete study
	study, contenders := r.study, r.contenders
	removed := map[string]bool{}
	// toggle removes parts, or restores removed ones. It reports whether the study then fits.
	toggle := func(parts ...tare.NotWeighed) bool {
		for _, part := range parts {
			removed[part.What] = !removed[part.What]
		}
		r.study, r.contenders = study, contenders
		r.removeParts(removed)
		p = r.planStudy(pilots, timeAfterPilots())
		return p.Fits
	}
	parts := r.listDispensable(pilots)
	// Find the least n for which the study fits without parts[:n]. If none fits, all parts go.
	n := 1 + sort.Search(max(0, len(parts)-1), func(i int) bool {
		clear(removed)
		return toggle(parts[:i+1]...)
	})
	n = min(n, len(parts)) // 0 if there are no parts
	clear(removed)
	toggle(parts[:n]...)
	for _, part := range slices.Backward(parts[:n]) {
		if fits := toggle(part); !fits { // restored, but too much: remove it again
			toggle(part)
		}
	}
	var names []string
	for _, part := range parts[:n] {
		if removed[part.What] {
			names = append(names, part.What)
			part.Why = fmt.Sprintf("left out: a budget of %v has no time for it; --budget %v does", r.opts.Budget, need)
			r.omittedForTime = append(r.omittedForTime, part)
		}
	}
	if len(names) > 0 {
		const shown = 3
		list := strings.Join(names[:min(shown, len(names))], ", ")
		if more := len(names) - shown; more > 0 {
			list += fmt.Sprintf(" and %d more", more)
		}
		r.sendProgress(Event{Phase: "fit", Message: fmt.Sprintf("left out, as a budget of %v has no time for it: %s; --budget %v does", r.opts.Budget, list, need)})
	}
	return p
}

// listDispensable lists the parts of the study that may be removed, in this order: workloads, then
// contenders, traps last. One workload, the baseline and one other contender stay.
func (r *run) listDispensable(pilots []tare.Pilot) []tare.NotWeighed {
	needed := findSubjects(r.study)
	var works, contenders, traps []string
	for _, w := range r.study.Workloads {
		works = append(works, w.ID)
	}
	if r.isStrict() {
		cost := r.roundCosts(pilots)
		slices.SortStableFunc(works, func(a, b string) int { return cmp.Compare(cost[a], cost[b]) })
	}
	for _, c := range r.contenders {
		switch {
		case r.dropped[c.ID], c.Absent(): // takes no time
		case c.Role == tare.RoleTrap:
			traps = append(traps, c.ID)
		case c.Role == tare.RoleContender || c.Role == tare.RoleApart:
			contenders = append(contenders, c.ID)
		}
	}
	contenders = append(contenders, traps...)
	return append(sortDispensable(tare.LeftWorkload, works, needed.workloads), sortDispensable(tare.LeftContender, contenders, needed.contenders)...)
}

// roundCosts returns the seconds that each workload adds to a round, by workload id.
func (r *run) roundCosts(pilots []tare.Pilot) map[string]float64 {
	pilotsOf := map[string][]tare.Pilot{} // by workload
	for _, p := range pilots {
		pilotsOf[p.Workload] = append(pilotsOf[p.Workload], p)
	}
	o := r.planOptions(0)
	o.Rounds = 1
	cost := map[string]float64{}
	for _, w := range r.allWorkloads {
		if len(pilotsOf[w.ID]) > 0 {
			cost[w.ID] = plan.New([]tare.Workload{w}, r.listParticipants(), pilotsOf[w.ID], o).SecondsPerRound
		}
	}
	return cost
}

// sortDispensable returns the parts with these ids in the order of removal: from the end of ids,
// needed ones last. It omits the very last part, which must stay. toPart makes a part from its id.
func sortDispensable(toPart func(id, why string) tare.NotWeighed, ids []string, needed map[string]bool) []tare.NotWeighed {
	ids = slices.Clone(ids)
	slices.Reverse(ids)
	slices.SortStableFunc(ids, func(a, b string) int {
		return cmp.Compare(boolToInt(needed[a]), boolToInt(needed[b]))
	})
	var parts []tare.NotWeighed
	for _, id := range ids[:max(0, len(ids)-1)] {
		parts = append(parts, toPart(id, ""))
	}
	return parts
}

// boolToInt returns 0 for false and 1 for true, to order them.
func boolToInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// subjects are the contenders and workloads that questions are about. The id "" means all of them.
type subjects struct{ contenders, workloads map[string]bool }

func findSubjects(s tare.Study) subjects {
	found := subjects{contenders: map[string]bool{}, workloads: map[string]bool{}}
	add := func(contender, workload string) {
		found.contenders[contender] = true
		found.workloads[workload] = true
	}
	for _, c := range s.Criteria {
		add(c.Contender, c.Workload)
	}
	for _, c := range s.Claims {
		add(c.Contender, c.Workload)
		for _, w := range c.Workloads {
			add(c.Contender, w)
		}
	}
	for _, d := range s.Decompose {
		add(d.From, d.Workload)
		for _, step := range d.Steps {
			add(step.To, d.Workload)
		}
	}
	return found
}

// guessedShare is the assumed time of a contender before its pilot, as a share of the baseline's. A
// guess that is too low costs only a pilot.
const guessedShare = 0.6

// guessPilots returns the finished pilots and, for contenders without one, the baseline's pilots
// with guessedShare of their time.
func (r *run) guessPilots() []tare.Pilot {
	var pilots []tare.Pilot
	known := map[[2]string]bool{} // by contender and workload
	for _, p := range r.pilots {
		known[[2]string{p.Contender, p.Workload}] = true
	}
	for _, p := range r.pilots {
		pilots = append(pilots, p)
		if p.Contender != r.study.Baseline {
			continue
		}
		for _, c := range r.contenders {
			w, ok := r.workloadOf(p.Workload)
			willBePiloted := ok && w.Asks(c.ID) && !r.dropped[c.ID] && !known[[2]string{c.ID, p.Workload}]
			if willBePiloted {
				guess := p
				guess.Contender = c.ID
				guess.NSPerOp *= guessedShare
				guess.SetupNS *= guessedShare
				pilots = append(pilots, guess)
			}
		}
	}
	return pilots
}

func (r *run) workloadOf(id string) (w tare.Workload, ok bool) {
	i := slices.IndexFunc(r.study.Workloads, func(w tare.Workload) bool { return w.ID == id })
	if i < 0 {
		return tare.Workload{}, false
	}
	return r.study.Workloads[i], true
}

// forgetDropped deletes the pilots and answers of parts that were removed from the study. Those
// about probes (requests to reject) stay, because probes are not parts.
func (r *run) forgetDropped() {
	isRemoved := func(workload string) bool {
		_, hasInput := r.inputs[workload] // false for probes
		_, isInStudy := r.workloadOf(workload)
		return hasInput && !isInStudy
	}
	r.pilots = slices.DeleteFunc(r.pilots, func(p tare.Pilot) bool { return isRemoved(p.Workload) || r.roleOf(p.Contender) == "" })
	r.conformance = slices.DeleteFunc(r.conformance, func(c tare.Conformance) bool { return isRemoved(c.Workload) || r.roleOf(c.Contender) == "" })
}

func (r *run) removeOmitted() {
	removed := map[string]bool{}
	for _, part := range r.plan.LeftOut {
		removed[part.What] = true
	}
	r.removeParts(removed)
	r.omitted = append(r.omitted, r.plan.LeftOut...)
}

func (r *run) removeParts(parts map[string]bool) {
	r.study.Workloads = slices.DeleteFunc(slices.Clone(r.study.Workloads), func(w tare.Workload) bool { return parts[tare.LeftWorkload(w.ID, "").What] })
	r.study.Contenders = slices.DeleteFunc(slices.Clone(r.study.Contenders), func(e tare.Entry) bool { return parts[tare.LeftContender(e.ID, "").What] })
	r.contenders = slices.DeleteFunc(slices.Clone(r.contenders), func(c tare.Contender) bool { return parts[tare.LeftContender(c.ID, "").What] })
}
