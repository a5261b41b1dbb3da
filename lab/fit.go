package lab

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/check"
	"github.com/tarebench/tare/internal/plan"
)

// CheckBudget rejects a budget set by the user that no part of the study fits in. It needs only the
// study, so it can be called before anything is built. The error is a [*plan.BudgetError].
func CheckBudget(s tare.Study, budget time.Duration) error {
	if least := plan.Least(s.Workloads); budget < least {
		return &plan.BudgetError{Budget: budget, Least: least}
	}
	return nil
}

// planStudy plans the rest of the study. spent is the pilot's share of the budget.
func (r *run) planStudy(pilots []tare.Pilot, spent time.Duration) tare.Plan {
	return plan.New(r.study.Workloads, r.participants(), pilots, r.planOptions(spent))
}

func (r *run) planOptions(spent time.Duration) plan.Options {
	return plan.Options{
		Seed: r.o.Seed, Isolation: r.o.Isolation,
		Budget: r.o.Budget, Spent: spent, Rounds: r.o.Rounds, User: r.o.User, Strict: r.isStrict(),
		Slice: r.o.Slice, Most: r.o.Most, Long: !r.isReduced() && r.o.Rounds == 0,
		Brief: r.briefContenders(), Early: r.stopsEarly(), Until: r.o.Until,
	}
}

// stopsEarly reports whether a look before the last round can change what is
// measured: end the study, or take a contender out. No look is
// planned that cannot.
func (r *run) stopsEarly() bool {
	asks := len(r.study.Criteria)+len(r.study.Claims) > 0
	others := len(r.participants()) - 3 // all but baseline, control and null
	return asks || r.isReduced() && others > leaders
}

// participants lists the contenders that take part in the rounds.
func (r *run) participants() []string {
	var ids []string
	for _, c := range r.contenders {
		if !r.dropped[c.ID] {
			ids = append(ids, c.ID)
		}
	}
	return ids
}

// briefContenders lists the contenders with slices a tenth as long, because no ratio is taken of
// them and no check needs complete slices: the null contender, and traps that are void whatever
// their slices show.
func (r *run) briefContenders() []string {
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

// fitPilots drops the parts that the user's budget has no time for, even with the fewest slices per
// round: workloads, then contenders, from the end of the list, or if the budget is a limit those
// first that take longest. It drops those that a claim, criterion or decomposition needs last.
func (r *run) fitPilots(pilots []tare.Pilot, spent time.Duration) tare.Plan {
	return r.fitTo(pilots, func() time.Duration { return spent })
}

// fitTo is fitPilots for an unfinished pilot: pilot returns its expected duration for the parts
// still in. It drops parts until the rest fits, then restores each part that still fits.
func (r *run) fitTo(pilots []tare.Pilot, pilot func() time.Duration) tare.Plan {
	spent := pilot()
	p := r.planStudy(pilots, spent)
	if p.Fits || !r.o.User && !r.isStrict() || r.o.Rounds > 0 {
		return p
	}
	need := time.Duration(math.Ceil(1.1*(spent.Seconds()+p.SecondsPerRound*plan.MinRounds))) * time.Second
	study, contenders := r.study, r.contenders
	out := map[string]bool{}
	replan := func(parts ...tare.NotWeighed) bool {
		for _, part := range parts {
			out[part.What] = !out[part.What]
		}
		r.study, r.contenders = study, contenders
		r.removeParts(out)
		p = r.planStudy(pilots, pilot())
		return p.Fits
	}
	order := r.listDispensable(pilots)
	n := 1 + sort.Search(max(0, len(order)-1), func(i int) bool {
		clear(out)
		return replan(order[:i+1]...)
	})
	n = min(n, len(order))
	clear(out)
	replan(order[:n]...)
	for _, what := range slices.Backward(order[:n]) {
		if !replan(what) {
			replan(what)
		}
	}
	var what []string
	for _, part := range order[:n] {
		if out[part.What] {
			what = append(what, part.What)
			r.unfit = append(r.unfit, tare.NotWeighed{What: part.What, Why: fmt.Sprintf("left out: a budget of %v has no time for it; --budget %v does", r.o.Budget, need)})
		}
	}
	if len(what) > 0 {
		r.sendProgress(Event{Phase: "fit", Message: fmt.Sprintf("left out, as a budget of %v has no time for it: %s; --budget %v does", r.o.Budget, strings.Join(what, ", "), need)})
	}
	return p
}

// listDispensable lists what may be dropped, in order: all workloads but one, then all contenders
// but the baseline and one other. That other is installed, and is a trap only if there is nothing
// else.
func (r *run) listDispensable(pilots []tare.Pilot) []tare.NotWeighed {
	claimed := claimedSubjects(r.study)
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
		case r.dropped[c.ID], c.Absent():
		case c.Role == tare.RoleTrap:
			traps = append(traps, c.ID)
		case c.Role == tare.RoleContender || c.Role == tare.RoleApart:
			contenders = append(contenders, c.ID)
		}
	}
	return append(leastNeededFirst(tare.LeftWorkload, works, claimed.workloads), leastNeededFirst(tare.LeftContender, append(contenders, traps...), claimed.contenders)...)
}

// roundCosts returns how many seconds a round of each workload alone takes.
func (r *run) roundCosts(pilots []tare.Pilot) map[string]float64 {
	of := map[string][]tare.Pilot{}
	for _, p := range pilots {
		of[p.Workload] = append(of[p.Workload], p)
	}
	o := r.planOptions(0)
	o.Rounds = 1
	cost := map[string]float64{}
	for _, w := range r.allWorkloads {
		if len(of[w.ID]) > 0 {
			cost[w.ID] = plan.New([]tare.Workload{w}, r.participants(), of[w.ID], o).SecondsPerRound
		}
	}
	return cost
}

// leastNeededFirst returns all parts but the one needed most: those that are not needed
// before those that are, and each group from the end of the list.
func leastNeededFirst(left func(id, why string) tare.NotWeighed, ids []string, needed map[string]bool) []tare.NotWeighed {
	ids = slices.Clone(ids)
	slices.Reverse(ids)
	slices.SortStableFunc(ids, func(a, b string) int {
		return cmp.Compare(boolToInt(needed[a]), boolToInt(needed[b]))
	})
	var out []tare.NotWeighed
	for _, id := range ids[:max(0, len(ids)-1)] {
		out = append(out, left(id, ""))
	}
	return out
}

func boolToInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// subjects are the contenders and workloads that claims, criteria and
// decompositions are about.
type subjects struct{ contenders, workloads map[string]bool }

func claimedSubjects(s tare.Study) subjects {
	out := subjects{map[string]bool{}, map[string]bool{}}
	about := func(contender, workload string) { out.contenders[contender], out.workloads[workload] = true, true }
	for _, c := range s.Criteria {
		about(c.Contender, c.Workload)
	}
	for _, c := range s.Claims {
		about(c.Contender, c.Workload)
		for _, w := range c.Workloads {
			about(c.Contender, w)
		}
	}
	for _, d := range s.Decompose {
		about(d.From, d.Workload)
		for _, step := range d.Steps {
			about(step.To, d.Workload)
		}
	}
	return out
}

// guessedShare is the time assumed for a contender before its pilot, as a share of
// the baseline's. If it is too low, tare only wastes the pilot of a contender that
// it then drops.
const guessedShare = 0.6

// guessPilots returns the pilots that are done, and assumes for every other contender that it takes
// guessedShare of the baseline's time.
func (r *run) guessPilots() []tare.Pilot {
	var out []tare.Pilot
	known := map[[2]string]bool{}
	for _, p := range r.pilots {
		known[[2]string{p.Contender, p.Workload}] = true
	}
	for _, p := range r.pilots {
		out = append(out, p)
		if p.Contender != r.study.Baseline {
			continue
		}
		for _, c := range r.contenders {
			w, ok := r.workloadOf(p.Workload)
			if ok && !r.dropped[c.ID] && !known[[2]string{c.ID, p.Workload}] && w.Asks(c.ID) {
				g := p
				g.Contender, g.NSPerOp, g.SetupNS = c.ID, guessedShare*p.NSPerOp, guessedShare*p.SetupNS
				out = append(out, g)
			}
		}
	}
	return out
}

func (r *run) workloadOf(id string) (tare.Workload, bool) {
	i := slices.IndexFunc(r.study.Workloads, func(w tare.Workload) bool { return w.ID == id })
	if i < 0 {
		return tare.Workload{}, false
	}
	return r.study.Workloads[i], true
}

// forgetDropped deletes the pilots of workloads and contenders that were dropped, and their
// conformance results.
func (r *run) forgetDropped() {
	gone := func(id string) bool { _, input := r.inputs[id]; _, in := r.workloadOf(id); return input && !in }
	r.pilots = slices.DeleteFunc(r.pilots, func(p tare.Pilot) bool { return gone(p.Workload) || r.roleOf(p.Contender) == "" })
	r.conform = slices.DeleteFunc(r.conform, func(c tare.Conformance) bool { return gone(c.Workload) || r.roleOf(c.Contender) == "" })
}

// dropAsPlanned drops from a resumed study what its plan had dropped.
func (r *run) dropAsPlanned() {
	out := map[string]bool{}
	for _, l := range r.plan.LeftOut {
		out[l.What] = true
	}
	r.removeParts(out)
	r.omitted = append(r.omitted, r.plan.LeftOut...)
}

// removeParts removes parts, named as in NotWeighed, from the study.
func (r *run) removeParts(parts map[string]bool) {
	r.study.Workloads = slices.DeleteFunc(slices.Clone(r.study.Workloads), func(w tare.Workload) bool { return parts[tare.LeftWorkload(w.ID, "").What] })
	r.study.Contenders = slices.DeleteFunc(slices.Clone(r.study.Contenders), func(e tare.Entry) bool { return parts[tare.LeftContender(e.ID, "").What] })
	r.contenders = slices.DeleteFunc(slices.Clone(r.contenders), func(c tare.Contender) bool { return parts[tare.LeftContender(c.ID, "").What] })
}
