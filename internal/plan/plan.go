// Package plan plans the rounds of a study. In a round, the contenders (programs under test) take
// turns on each workload. A slice is the work of one turn. The plan follows from the workloads, a
// seed, and pilots, which are short measurements.
//
// [New] decides the slices of each workload, their number and the number of rounds in the budget.
// [Round] then lays out one round. For example, it has the orders chi-nethttp-null and
// null-chi-nethttp.
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

// MinRounds is the least number of planned rounds, unless the user sets a budget or a number. Fewer
// rounds give too wide intervals.
const MinRounds = 12

const minUserRounds = 8

// LeastRounds returns the number of rounds to which a budget is stretched. That happens if the user
// has set it, or if it is the quick budget. It is the least number at which each workload has an
// interval. A look judges the evidence after some rounds, and more looks need more rounds.
func LeastRounds(workloads, looks int) int {
	return max(minUserRounds, IntervalRounds(workloads, looks))
}

// IntervalRounds returns the least number of rounds from which each workload has a confidence
// interval, in a plan with this number of looks.
func IntervalRounds(workloads, looks int) int {
	return stats.MinRounds(stats.LookLevel(stats.Alpha, looks) / float64(max(1, workloads)))
}

// FullRounds is the least number of rounds of a full budget that has time for them. The study does
// not end earlier even if every criterion is decided, because ranks of many contenders need more
// rounds.
const FullRounds = 18

// MaxRounds is the largest number of rounds of a plan without Options.Until.
const MaxRounds = stats.MaxRounds

// LongEvery is the number of rounds between extra rounds with longer slices. LongTau is the factor
// of their slice length.
const (
	LongEvery = 8
	LongTau   = 8
)

// Options set the measuring time of a study and its method.
type Options struct {
	Seed      uint64
	Isolation tare.Isolation // "" means lockstep
	Budget    time.Duration  // measuring time, including the pilots
	Spent     time.Duration  // part of Budget that is used: by the pilots, and by the Done rounds
	Rounds    int            // fixed number of rounds; 0 means to fill the budget
	User      bool           // the user set the budget: stretch it to LeastRounds only, instead of MinRounds
	Strict    bool           // never stretch the budget: plan only rounds that end within it, but at least one
	Slice     time.Duration  // requested slice length; 0 means by the slice rule
	Most      int            // largest number of slices of a contender in a round; 0 means by the slice rule
	Until     float64        // goal for every difference: significant or smaller than this share; 0 if none
	Early     bool           // plan looks before the last round, at which the study may end
	Long      bool           // plan extra rounds with longer slices

	Done     int                       // number of finished rounds
	Pace     float64                   // duration of a round over its forecast; 0 means 1
	Brief    []string                  // ids of contenders with slices a tenth as long, because they have no ratio
	Measured map[string]stats.Variance // variances in the first rounds, by workload; nil if not measured yet
}

const (
	minProgramBudget = 5 * time.Second  // a workload needs no server
	minTrafficBudget = 10 * time.Second // all need servers
)

// Least returns the least budget of a study: the time for the pilots, and for six rounds of one
// workload and two contenders. Six is the least number of rounds for an interval at 95 %.
func Least(workloads []tare.Workload) time.Duration {
	needsNoServer := func(w tare.Workload) bool { return w.Traffic == nil }
	if len(workloads) == 0 || slices.ContainsFunc(workloads, needsNoServer) {
		return minProgramBudget
	}
	return minTrafficBudget
}

// BudgetError reports that a budget is too short for any part of a study.
type BudgetError struct {
	Budget time.Duration
	Least  time.Duration
	What   string // part without time; "" means any interval
}

func (e *BudgetError) Error() string {
	if e.What != "" {
		return fmt.Sprintf("a budget of %v has no time for %s; the least is --budget %v", e.Budget, e.What, e.Least)
	}
	return fmt.Sprintf("a budget of %v is too short for any interval; the least is --budget %v", e.Budget, e.Least)
}

// New plans a study. contenders are the ids of all contenders of a round. pilots has one pilot of
// each contender on each workload that it supports. Workloads without pilots are omitted.
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
	pilotsOf := byWorkload(pilots)
	var used []tare.Pilot
	for _, w := range workloads {
		var workPilots []tare.Pilot // in order
		for _, id := range contenders {
			for _, pilot := range pilotsOf[w.ID] {
				if pilot.Contender == id {
					workPilots = append(workPilots, pilot)
				}
			}
		}
		if len(workPilots) > 0 {
			used = append(used, workPilots...)
			p.Slices = append(p.Slices, sliceWorkload(w, workPilots, o))
		}
	}
	if o.Rounds > 0 {
		p.SecondsPerRound = forecastSeconds(p.Slices, used)
		p.RoundsPlanned = o.Rounds
		p.Looks = []int{o.Rounds}
		return p
	}
	fillBudget(&p, used, o)
	return p
}

// fillBudget sets the number of rounds of p. It reduces the numbers of slices until the budget has
// time for MinRounds. If they still take too long, it stretches the budget.
func fillBudget(p *tare.Plan, pilots []tare.Pilot, o Options) {
	p.BudgetSeconds, p.Until = o.Budget.Seconds(), o.Until
	seconds, byRule := o.remainingSeconds(), p.Slices
	for share := 1.0; ; share -= shareStep { // share of the slices by the slice rule
		if p.Isolation == tare.Lockstep {
			p.Slices = reduceCounts(byRule, pilots, o.Measured, share)
		}
		setRoundsThatFit(p, pilots, o)
		if p.RoundsPlanned >= MinRounds || share < shareStep {
			break
		}
	}
	p.Fits = p.RoundsPlanned >= MinRounds
	switch {
	case p.Fits: // no stretching
	case o.Strict:
		p.RoundsPlanned = max(1, p.RoundsPlanned)
	case o.User:
		p.RoundsPlanned = max(p.RoundsPlanned, LeastRounds(len(p.Slices), 1))
	default:
		p.RoundsPlanned = MinRounds
	}
	p.Stretched = !o.Strict && float64(p.RoundsPlanned-o.Done)*p.SecondsPerRound > seconds
	p.Looks = []int{p.RoundsPlanned}
	if o.Early || o.Until > 0 {
		p.Looks = scheduleTo(p.RoundsPlanned)
	}
}

func (o Options) remainingSeconds() float64 { return (o.Budget - o.Spent).Seconds() }

// setRoundsThatFit plans the rounds that the budget has time for, with extra rounds if possible.
func setRoundsThatFit(p *tare.Plan, pilots []tare.Pilot, o Options) {
	maxRounds := MaxRounds
	if o.Until > 0 {
		maxRounds = stats.LastLook
	}
	countThatFit := func(perRound float64) int {
		return min(o.Done+max(0, int(o.remainingSeconds()/perRound)), maxRounds)
	}
	pace := cmp.Or(o.Pace, 1)
	p.SecondsPerRound = pace * forecastSeconds(p.Slices, pilots)
	p.RoundsPlanned, p.LongEvery = countThatFit(p.SecondsPerRound), 0
	long := longSlices(p.Slices)
	if !o.Long || p.Isolation != tare.Lockstep || len(long) == 0 {
		return
	}
	withLong := countThatFit(p.SecondsPerRound + pace*forecastSeconds(long, pilots)/LongEvery)
	if withLong >= stats.LongRounds*LongEvery {
		p.RoundsPlanned, p.LongEvery = withLong, LongEvery
	}
}

// longSlices returns the slices of an extra round, LongTau times as long as in short. It omits the
// workloads whose slices are long anyway (LongCount is 0).
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

func scheduleTo(n int) []int {
	looks := stats.Looks(n)
	if len(looks) == 0 || looks[len(looks)-1] != n {
		looks = append(looks, n)
	}
	return looks
}

func byWorkload(pilots []tare.Pilot) map[string][]tare.Pilot {
	groups := map[string][]tare.Pilot{}
	for _, p := range pilots {
		groups[p.Workload] = append(groups[p.Workload], p)
	}
	return groups
}

// Seconds forecasts the duration of n rounds in lockstep, of a plan that was made from pilots. If
// long is true, it includes the extra rounds of longer slices.
func Seconds(p tare.Plan, pilots []tare.Pilot, n int, long bool) float64 {
	seconds := float64(n) * p.SecondsPerRound
	if extra := n / LongEvery; long && extra >= stats.LongRounds {
		seconds += float64(extra) * forecastSeconds(longSlices(p.Slices), pilots)
	}
	return seconds
}

// sliceOverheadNS is the overhead of a slice in ns: request, reply and journal line.
const sliceOverheadNS = 30e3

// forecastSeconds forecasts the duration of one round: the set-up of every process, its slices, and
// the passes that count allocations. It includes their untimed parts.
func forecastSeconds(slices []tare.Slicing, pilots []tare.Pilot) float64 {
	var ns float64
	// A process starts once for all its workloads, so the longest start counts.
	startNS := map[[2]string]float64{} // key: contender and process
	pilotsOf := byWorkload(pilots)
	for _, s := range slices {
		for _, p := range pilotsOf[s.Workload] {
			process := [2]string{p.Contender, p.Process}
			ns += p.SetupNS + max(0, p.StartNS-startNS[process])
			startNS[process] = max(startNS[process], p.StartNS)
			ops := s.Ops[p.Contender]
			if ops <= 0 {
				continue
			}
			slice := float64(ops) * p.ElapsedNS()
			if s.Count == 1 && s.Cycles == nil { // a continuous segment
				slice = float64(s.TargetNS)
			}
			if !p.Counted {
				ns += float64(s.MemoryOps)*p.ElapsedNS() + p.AroundNS
			}
			if p.Process == "" { // benchmarks have no lead-in
				slice *= 1 + float64(s.Lead[p.Contender])/float64(ops)
			}
			ns += float64(s.Count) * (slice + sliceOverheadNS + p.AroundNS)
		}
	}
	return ns / 1e9
}
