package lab

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/plan"
)

// CheckBudget refuses a budget set by the user that no part of the study fits
// in. It needs nothing but the study, so that it can be called before anything
// is built. The error is a [*plan.BudgetError].
func CheckBudget(s tare.Study, budget time.Duration) error {
	if least := plan.Least(s.Workloads); budget < least {
		return &plan.BudgetError{Budget: budget, Least: least}
	}
	return nil
}

// planned plans what is left of the study. spent is what the pilot takes of the
// budget.
func (r *run) planned(pilots []tare.Pilot, spent time.Duration) tare.Plan {
	return plan.New(r.study.Workloads, r.taking(), pilots, r.planOptions(spent))
}

func (r *run) planOptions(spent time.Duration) plan.Options {
	return plan.Options{
		Seed: r.o.Seed, Isolation: r.o.Isolation,
		Budget: r.o.Budget, Spent: spent, Rounds: r.o.Rounds, User: r.o.User,
		Slice: r.o.Slice, Most: r.o.Most, Long: !r.o.Quick && r.o.Rounds == 0,
		Brief: r.brief(),
	}
}

// taking lists the contenders that take part in the rounds.
func (r *run) taking() []string {
	var ids []string
	for _, c := range r.contenders {
		if !r.dropped[c.ID] {
			ids = append(ids, c.ID)
		}
	}
	return ids
}

// brief lists the contenders that no ratio is taken of and no check needs
// complete slices of: the null contender, and the traps that are void whatever
// their slices show.
func (r *run) brief() []string {
	var ids []string
	for _, c := range r.contenders {
		switch {
		case r.dropped[c.ID]:
		case c.Role == tare.RoleNull, c.Role == tare.RoleTrap && shownByAnswers(c.Expect):
			ids = append(ids, c.ID)
		}
	}
	return ids
}

// shownByAnswers reports whether every check that a trap is expected to be void
// by reads its answers, its binary or a single operation, not how long many take.
func shownByAnswers(e tare.Expect) bool {
	return !slices.ContainsFunc(e.Void, func(id string) bool {
		return !slices.Contains([]string{"wrong-answer", "identity", "negative-probe", "error-in-loop", "alloc-floor"}, id)
	})
}

// fit leaves out what the user's budget has no time for, even with the fewest
// slices per round: workloads first, then contenders, the last listed first and
// those that a claim or a criterion is about after all others.
func (r *run) fit(pilots []tare.Pilot, spent time.Duration) tare.Plan {
	return r.fitTo(pilots, func() time.Duration { return spent })
}

// fitTo is fit where the pilot's share of the budget shrinks with what is left
// out.
func (r *run) fitTo(pilots []tare.Pilot, pilot func() time.Duration) tare.Plan {
	spent := pilot()
	p := r.planned(pilots, spent)
	if p.Fits || !r.o.User || r.o.Rounds > 0 {
		return p
	}
	need := time.Duration(math.Ceil(1.1*(spent.Seconds()+p.SecondsPerRound*plan.MinRounds))) * time.Second
	for !p.Fits {
		what := r.dispensable()
		if what == "" {
			return p
		}
		out := tare.NotWeighed{What: what, Why: fmt.Sprintf("left out: a budget of %v has no time for it; --budget %v does", r.o.Budget, need)}
		r.unfit = append(r.unfit, out)
		r.progress(Event{Phase: "fit", Message: out.What + " is " + out.Why})
		p = r.planned(pilots, pilot())
	}
	return p
}

// dispensable takes one workload out of the study, or if only one is left one
// contender, and says what it was; empty: nothing can be left out.
func (r *run) dispensable() string {
	claimed := claimed(r.study)
	if works := r.study.Workloads; len(works) > 1 {
		i := leastNeeded(works, func(w tare.Workload) bool { return claimed.workloads[w.ID] })
		what := "workload " + works[i].ID
		r.study.Workloads = slices.Delete(slices.Clone(works), i, i+1)
		return what
	}
	var rest []tare.Contender
	for _, c := range r.contenders {
		if !r.dropped[c.ID] && (c.Role == tare.RoleContender || c.Role == tare.RoleApart || c.Role == tare.RoleTrap) {
			rest = append(rest, c)
		}
	}
	if len(rest) < 2 {
		return ""
	}
	c := rest[leastNeeded(rest, func(c tare.Contender) bool { return claimed.contenders[c.ID] })]
	r.leaveContender(c.ID)
	return "contender " + c.ID
}

// leastNeeded is the index of the last element that is not needed, or of the
// last one if all are.
func leastNeeded[T any](all []T, needed func(T) bool) int {
	for i, v := range slices.Backward(all) {
		if !needed(v) {
			return i
		}
	}
	return len(all) - 1
}

// subjects are the contenders and workloads that claims, criteria and
// decompositions are about.
type subjects struct{ contenders, workloads map[string]bool }

func claimed(s tare.Study) subjects {
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

// guess is what pilots would say of every contender if each took what the
// baseline does.
func (r *run) guess() []tare.Pilot {
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
				p.Contender = c.ID
				out = append(out, p)
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

// forget drops what the pilot learnt of workloads that were left out.
func (r *run) forget() {
	gone := func(id string) bool { _, input := r.inputs[id]; _, in := r.workloadOf(id); return input && !in }
	r.pilots = slices.DeleteFunc(r.pilots, func(p tare.Pilot) bool { return gone(p.Workload) || r.role(p.Contender) == "" })
	r.conform = slices.DeleteFunc(r.conform, func(c tare.Conformance) bool { return gone(c.Workload) || r.role(c.Contender) == "" })
}

// follow leaves out of a study that is resumed what its plan left out.
func (r *run) follow() {
	for _, l := range r.plan.LeftOut {
		kind, id, _ := strings.Cut(l.What, " ")
		if kind == "workload" {
			r.study.Workloads = slices.DeleteFunc(slices.Clone(r.study.Workloads), func(w tare.Workload) bool { return w.ID == id })
		} else {
			r.leaveContender(id)
		}
	}
	r.left = append(r.left, r.plan.LeftOut...)
}

func (r *run) leaveContender(id string) {
	r.contenders = slices.DeleteFunc(slices.Clone(r.contenders), func(c tare.Contender) bool { return c.ID == id })
	r.study.Contenders = slices.DeleteFunc(slices.Clone(r.study.Contenders), func(e tare.Entry) bool { return e.ID == id })
}
