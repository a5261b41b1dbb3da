// Package plan turns a study, a seed and what a pilot learnt into rounds. It
// is pure: the same arguments give the same plan.
package plan

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/stats"
)

// MinRounds is the least number of rounds that a study of ratios is planned with, unless the user
// fixes their number: below it the intervals of a complete table are too wide to decide anything.
const MinRounds = 12

// minUserRounds is the least number of rounds that a budget set by the user is stretched to,
// however few workloads there are.
const minUserRounds = 8

// LeastRounds returns the least number of rounds that a budget set by the user is stretched to: as
// many as give each of the workloads an interval at the first of the looks.
func LeastRounds(workloads, looks int) int {
	return max(minUserRounds, IntervalRounds(workloads, looks))
}

// IntervalRounds returns the least number of rounds from which each of the workloads has an
// interval at the first of the looks.
func IntervalRounds(workloads, looks int) int {
	return stats.MinRounds(stats.LookLevel(stats.Alpha, looks) / float64(max(1, workloads)))
}

// FullRounds is the least number of rounds of a full budget that has time for them, even if
// everything is decided earlier: ranks among many contenders need more rounds than a criterion
// does.
const FullRounds = 18

// MaxRounds is the most rounds a budget is filled with: the last look but for
// studies that go on until they are decided.
const MaxRounds = stats.MaxRounds

// LongEvery is the number of rounds between extra rounds, and LongTau the factor of their slice
// length. A plan that has no time for [stats.LongRounds] of them has none.
const (
	LongEvery = 8
	LongTau   = 8
)

// Options set how long a study measures, and in which way.
type Options struct {
	Seed      uint64
	Isolation tare.Isolation
	Budget    time.Duration // measuring time, the pilot included
	Spent     time.Duration // of the budget, by the pilot
	Rounds    int           // fixed; zero means as many as the budget has time for
	User      bool          // the user set the budget: keep to it and plan fewer rounds; else stretch it to MinRounds
	Strict    bool          // never stretch the budget: plan the rounds that end within it, however few
	Slice     time.Duration // requested slice length; zero means by the slice rule
	Most      int           // slices of a contender in a round, a quarter of that for work that allocates; zero means by rule
	Until     float64       // continue until every difference is found or smaller than this share; zero means to fill the budget
	Early     bool          // looks before the last round: one of them may end the study
	Long      bool          // add the rounds that check the slice length

	Done     int                       // rounds that are done already
	Pace     float64                   // duration of a round over its forecast; zero means 1
	Brief    []string                  // contenders with slices a tenth as long: no ratio is taken of them
	Measured map[string]stats.Variance // by workload, in the first rounds; nil if not measured yet
}

// Least returns the least budget of a study of these workloads: time for the pilot and for six
// rounds of one workload and two contenders, the least number for an interval of 95 %.
func Least(workloads []tare.Workload) time.Duration {
	if slices.ContainsFunc(workloads, func(w tare.Workload) bool { return w.Traffic == nil }) || len(workloads) == 0 {
		return minProgramBudget
	}
	return minTrafficBudget
}

// The least budgets: of programs that are called in process, and of servers.
const (
	minProgramBudget = 5 * time.Second
	minTrafficBudget = 10 * time.Second
)

// BudgetError reports a budget that no part of a study fits in.
type BudgetError struct {
	Budget time.Duration
	Least  time.Duration
	What   string // what it has no time for; empty means any interval
}

// Error names the least budget.
func (e *BudgetError) Error() string {
	if e.What != "" {
		return fmt.Sprintf("a budget of %v has no time for %s; the least is --budget %v", e.Budget, e.What, e.Least)
	}
	return fmt.Sprintf("a budget of %v is too short for any interval; the least is --budget %v", e.Budget, e.Least)
}

// New plans a study: contenders are the ids of every process of a round, and pilots has one entry
// for each workload that each of them can do.
func New(workloads []tare.Workload, contenders []string, pilots []tare.Pilot, o Options) tare.Plan {
	p := tare.Plan{
		Seed:       fmt.Sprint(o.Seed),
		Isolation:  o.Isolation,
		Reference:  tare.BaselineAndControl,
		Contenders: contenders,
	}
	if p.Isolation == "" {
		p.Isolation = tare.Lockstep
	}
	known := byWorkload(pilots)
	pilots = nil // what is known of others costs nothing
	for _, w := range workloads {
		var mine []tare.Pilot
		for _, id := range contenders {
			for _, pl := range known[w.ID] {
				if pl.Contender == id {
					mine = append(mine, pl)
				}
			}
		}
		if len(mine) > 0 {
			pilots = append(pilots, mine...)
			p.Slices = append(p.Slices, sliceWorkload(w, mine, o))
		}
	}
	if o.Rounds > 0 {
		p.SecondsPerRound = forecastSeconds(p.Slices, pilots)
		p.RoundsPlanned = o.Rounds
		p.Looks = []int{o.Rounds}
		return p
	}
	p.BudgetSeconds, p.Until = o.Budget.Seconds(), o.Until
	most := MaxRounds
	if o.Until > 0 {
		most = stats.LastLook
	}
	left := (o.Budget - o.Spent).Seconds()
	rule, pace := p.Slices, cmp.Or(o.Pace, 1)
	for share := 1.0; ; share -= shareStep {
		if p.Isolation == tare.Lockstep {
			p.Slices = reduceCounts(rule, pilots, o.Measured, share)
		}
		p.SecondsPerRound = pace * forecastSeconds(p.Slices, pilots)
		within := func(perRound float64) int { return min(o.Done+max(0, int(left/perRound)), most) }
		p.RoundsPlanned, p.LongEvery = within(p.SecondsPerRound), 0
		if long := longSlices(p.Slices); o.Long && p.Isolation == tare.Lockstep && len(long) > 0 {
			if n := within(p.SecondsPerRound + pace*forecastSeconds(long, pilots)/LongEvery); n >= stats.LongRounds*LongEvery {
				p.RoundsPlanned, p.LongEvery = n, LongEvery
			}
		}
		if p.RoundsPlanned >= MinRounds || share < shareStep {
			break
		}
	}
	p.Fits = p.RoundsPlanned >= MinRounds
	switch {
	case p.Fits:
	case o.Strict:
		p.RoundsPlanned = max(1, p.RoundsPlanned)
	case o.User:
		p.RoundsPlanned = max(p.RoundsPlanned, LeastRounds(len(p.Slices), 1))
	default:
		p.RoundsPlanned = MinRounds
	}
	p.Stretched = !o.Strict && float64(p.RoundsPlanned-o.Done)*p.SecondsPerRound > left
	p.Looks = []int{p.RoundsPlanned}
	if o.Early || o.Until > 0 {
		p.Looks = scheduleTo(p.RoundsPlanned)
	}
	return p
}

// longSlices returns the slices of a round that checks their length.
func longSlices(short []tare.Slicing) []tare.Slicing {
	var out []tare.Slicing
	for _, s := range short {
		if s.Count = LongCount(s, LongTau); s.Count == 0 {
			continue
		}
		s.TargetNS *= LongTau
		s.Ops = maps.Clone(s.Ops)
		for id := range s.Ops {
			s.Ops[id] *= LongTau
		}
		out = append(out, s)
	}
	return out
}

// scheduleTo returns the looks up to n rounds; if n is between two looks it replaces the next one.
func scheduleTo(n int) []int {
	l := stats.Looks(n)
	if len(l) == 0 || l[len(l)-1] != n {
		l = append(l, n)
	}
	return l
}

// tokenNS is the cost of a token in ns: request, reply and journal line.
const tokenNS = 30e3

// byWorkload returns the pilots of each workload.
func byWorkload(pilots []tare.Pilot) map[string][]tare.Pilot {
	of := map[string][]tare.Pilot{}
	for _, p := range pilots {
		of[p.Workload] = append(of[p.Workload], p)
	}
	return of
}

// forecastSeconds forecasts one round: set-up of every process, then the slices, including the
// untimed time.
func forecastSeconds(slices []tare.Slicing, pilots []tare.Pilot) float64 {
	var ns float64
	starts := map[[2]string]float64{}
	for _, p := range pilots {
		of := [2]string{p.Contender, p.Process}
		ns += p.SetupNS + max(0, p.StartNS-starts[of])
		starts[of] = max(starts[of], p.StartNS)
	}
	known := byWorkload(pilots)
	for _, s := range slices {
		for _, p := range known[s.Workload] {
			if ops := s.Ops[p.Contender]; ops > 0 {
				slice := float64(ops) * p.ElapsedNS()
				if s.Count == 1 && s.Cycles == nil { // continuous, and as long as it is meant to be
					slice = float64(s.TargetNS)
				}
				if !p.Counted {
					ns += float64(s.MemoryOps)*p.ElapsedNS() + p.AroundNS
				}
				if p.Process == "" { // testing has no lead-in
					slice *= 1 + float64(s.Lead[p.Contender])/float64(ops)
				}
				ns += float64(s.Count) * (slice + tokenNS + p.AroundNS)
			}
		}
	}
	return ns / 1e9
}
