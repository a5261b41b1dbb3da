package document

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/bring/advice"
	"github.com/tarebench/tare/plan"
)

// Documents so large that one operation is a slice take a round as long as their
// operations do: no plan can make that shorter, only fewer workloads and codecs.
const (
	longNS  = 50e6                   // of the baseline's operation
	roundOf = 12                     // such operations in a round, by contender and workload: warm-up, answers, slices with their lead-in, allocations
	settled = 300 * time.Millisecond // of a round, by contender and workload, where operations are short

	// What the budgets are stretched to at most.
	quickMost = 4 * time.Minute
	fullMost  = 12 * time.Minute

	// How much longer than a budget of the user's own the forecast has to be for
	// it to be refused before the pilot, which knows better, is run.
	refusedFrom = 2
)

// BudgetError says that a budget has no room for the fewest rounds that a
// verdict takes.
type BudgetError struct{ Budget, Needs time.Duration }

// Error is one line.
func (e *BudgetError) Error() string {
	return fmt.Sprintf("a budget of %v has no room for the fewest rounds that a verdict takes on documents so large; --budget %s would do, and --op and --only make it less",
		e.Budget, minutes(e.Needs))
}

// Holds refuses a budget of the user's own that has no room for a study of long
// operations. The error is a *[BudgetError].
func Holds(s tare.Study, cost map[string]float64, budget time.Duration) error {
	if need := needs(s, cost); longest(s, cost) >= longNS && need > refusedFrom*budget {
		return &BudgetError{budget, need}
	}
	return nil
}

// familiar are the codecs that are weighed before others where there is no time
// for all: drop-in replacements, and one with generated code.
func familiar() []string {
	return []string{"goccy", "sonic-std", "jsoniter-compatible", "segmentio", "go-json-experiment", "easyjson"}
}

// Fitted is a study that a budget has room for.
type Fitted struct {
	Study tare.Study
	Left  []tare.NotWeighed // what it has no room for
	Says  string            // what that is, in a line; empty: nothing
}

// Fit leaves out of a study of long operations what takes it beyond room:
// decoding and encoding by way of any where there is a type, then all but the
// familiar codecs if any may be left out, then encoding. cost is what an
// operation of the baseline takes, in ns by workload.
func Fit(s tare.Study, cost map[string]float64, room time.Duration, codecs bool) Fitted {
	out := Fitted{Study: s}
	if longest(s, cost) < longNS {
		return out
	}
	steps := []func(tare.Study) tare.Study{
		func(s tare.Study) tare.Study { return without(s, func(w tare.Workload) bool { return !Typed(w.ID) }) },
		func(s tare.Study) tare.Study {
			if !codecs {
				return s
			}
			return among(s, append(familiar(), Baseline))
		},
		func(s tare.Study) tare.Study {
			return without(s, func(w tare.Workload) bool { return verbOf(w) == "encodes" })
		},
	}
	for _, step := range steps {
		if needs(out.Study, cost) > room {
			out.Study = step(out.Study)
		}
	}
	out.tell(s, cost)
	return out
}

// Room is what a budget that tare chooses may be stretched to.
func Room(quick bool) time.Duration {
	if quick {
		return quickMost
	}
	return fullMost
}

// needs is what the fewest rounds that a verdict takes take.
func needs(s tare.Study, cost map[string]float64) time.Duration {
	var round time.Duration
	for _, w := range s.Workloads {
		one := max(settled, time.Duration(roundOf*cost[w.ID]))
		round += time.Duration(len(s.Contenders)+2) * one // and the control, and the null contender
	}
	return plan.MinRounds * round
}

func longest(s tare.Study, cost map[string]float64) float64 {
	most := 0.0
	for _, w := range s.Workloads {
		most = max(most, cost[w.ID])
	}
	return most
}

// without are the workloads that leave does not name; if that is none of them,
// all.
func without(s tare.Study, leave func(tare.Workload) bool) tare.Study {
	if kept := slices.DeleteFunc(slices.Clone(s.Workloads), leave); len(kept) > 0 {
		s.Workloads = kept
	}
	return s
}

// among are the contenders of a list; if the baseline would be alone, all.
func among(s tare.Study, ids []string) tare.Study {
	kept := slices.DeleteFunc(slices.Clone(s.Contenders), func(e tare.Entry) bool { return !slices.Contains(ids, e.ID) })
	if len(kept) > 1 {
		s.Contenders = kept
	}
	return s
}

// tell says what of the whole study is left out.
func (f *Fitted) tell(whole tare.Study, cost map[string]float64) {
	takes := "an operation of encoding/json takes " + advice.Nanoseconds(longest(whole, cost))
	need := minutes(needs(whole, cost))
	would := "--budget " + need
	var works, codecs []string
	leave := func(what, id string) {
		f.Left = append(f.Left, tare.NotWeighed{What: what + " " + id, Why: fmt.Sprintf("%s on these documents; %s has room for it", takes, would)})
	}
	for _, w := range whole.Workloads {
		if !slices.ContainsFunc(f.Study.Workloads, func(x tare.Workload) bool { return x.ID == w.ID }) {
			works = append(works, w.ID)
			leave("workload", w.ID)
		}
	}
	for _, e := range whole.Contenders {
		if !slices.ContainsFunc(f.Study.Contenders, func(x tare.Entry) bool { return x.ID == e.ID }) {
			codecs = append(codecs, e.ID)
			leave("contender", e.ID)
		}
	}
	if left := append(works, codecs...); len(left) > 0 {
		f.Says = fmt.Sprintf("%s, so that the whole would take about %s: left out are %s; %s has room for all",
			takes, strings.TrimSuffix(need, "m")+" minutes", advice.Names(left), would)
	}
}

// minutes is a time in whole minutes, as --budget reads it.
func minutes(d time.Duration) string { return fmt.Sprintf("%dm", int(math.Ceil(d.Minutes()))) }
