// Package plan turns a study, a seed and what a pilot learnt into rounds. It
// is pure: the same arguments give the same plan.
package plan

import (
	"fmt"
	"maps"
	"math"
	"time"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/stats"
)

// MinRounds is the fewest rounds a study of ratios is planned with, unless the
// user fixes their number: below it no interval of a whole table is narrow
// enough to say anything.
const MinRounds = 12

// FullRounds is the fewest rounds of a full budget that holds them, whatever is
// decided before: ranks among many contenders take more than a criterion.
const FullRounds = 18

// MaxRounds is the most rounds a budget is filled with: the last look.
const MaxRounds = 180

// LongEvery is how often an extra round runs at LongTau times the slice
// length, and LongTau how much longer its slices are.
const (
	LongEvery = 8
	LongTau   = 8
)

// Options say how long and in which way.
type Options struct {
	Seed      uint64
	Isolation tare.Isolation
	Budget    time.Duration // measuring time, the pilot included
	Spent     time.Duration // what the pilot took of it
	Rounds    int           // fixed; zero: what the budget holds
	User      bool          // the budget is the user's own: refuse instead of stretching
	Slice     time.Duration // slice length wanted; zero: by rule
	Most      int           // slices of a contender in a round, a quarter of that of work that allocates; zero: by rule
	Long      bool          // add the rounds that check slice length
}

// BudgetError says that a budget cannot hold enough rounds.
type BudgetError struct {
	Budget time.Duration
	Need   time.Duration // a budget that would do
	Rounds int           // the budget holds
}

// Error names the budget that would do.
func (e *BudgetError) Error() string {
	return fmt.Sprintf("a budget of %v holds %d rounds of this study, a verdict needs %d; --budget %v would do",
		e.Budget, e.Rounds, MinRounds, e.Need)
}

// New plans a study: contenders are the ids of every process of a round, and
// pilots hold one entry for each workload that each of them can do.
func New(workloads []tare.Workload, contenders []string, pilots []tare.Pilot, o Options) (tare.Plan, error) {
	p := tare.Plan{
		Seed:       fmt.Sprint(o.Seed),
		Isolation:  o.Isolation,
		Contenders: contenders,
	}
	if p.Isolation == "" {
		p.Isolation = tare.Lockstep
	}
	for _, w := range workloads {
		var mine []tare.Pilot
		for _, id := range contenders {
			for _, pl := range pilots {
				if pl.Workload == w.ID && pl.Contender == id {
					mine = append(mine, pl)
				}
			}
		}
		if len(mine) == 0 {
			continue
		}
		p.Slices = append(p.Slices, slicing(w, mine, o))
	}
	p.SecondsPerRound = seconds(p.Slices, pilots)
	if o.Rounds > 0 {
		p.RoundsPlanned = o.Rounds
		p.Looks = []int{o.Rounds}
		return p, nil
	}
	p.BudgetSeconds = o.Budget.Seconds()
	perRound := p.SecondsPerRound
	if long := longer(p.Slices); o.Long && p.Isolation == tare.Lockstep && len(long) > 0 {
		p.LongEvery = LongEvery
		perRound += seconds(long, pilots) / LongEvery
	}
	p.RoundsPlanned = min(max(0, int((o.Budget-o.Spent).Seconds()/perRound)), MaxRounds)
	if p.RoundsPlanned < MinRounds {
		if o.User {
			need := time.Duration(math.Ceil(o.Spent.Seconds()+1.1*perRound*MinRounds)) * time.Second
			return p, &BudgetError{Budget: o.Budget, Need: need, Rounds: p.RoundsPlanned}
		}
		p.RoundsPlanned = MinRounds
		p.Stretched = true
	}
	p.Looks = looks(p.RoundsPlanned)
	return p, nil
}

// longer are the slices of a round that checks their length.
func longer(short []tare.Slicing) []tare.Slicing {
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

// looks is the schedule up to n rounds; where n falls between two looks it
// replaces the next one.
func looks(n int) []int {
	l := stats.Looks(n)
	if len(l) == 0 || l[len(l)-1] != n {
		l = append(l, n)
	}
	return l
}

// seconds forecasts one round: set-up of every process, then the slices.
func seconds(slices []tare.Slicing, pilots []tare.Pilot) float64 {
	var ns float64
	for _, p := range pilots {
		ns += p.SetupNS
	}
	const token = 30e3 // request, reply and journal line
	for _, s := range slices {
		for _, p := range pilots {
			if ops := s.Ops[p.Contender]; p.Workload == s.Workload && ops > 0 {
				slice := float64(ops) * p.NSPerOp
				if s.Count == 1 && s.Cycles == nil { // continuous, and as long as it is meant to be
					slice = float64(s.TargetNS)
				}
				ns += float64(s.MemoryOps) * p.NSPerOp
				ns += float64(s.Count) * (slice*(1+float64(s.Lead[p.Contender])/float64(ops)) + token)
			}
		}
	}
	return ns / 1e9
}
