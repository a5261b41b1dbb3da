package check

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/tarebench/tare"
)

func errorInLoop() Check {
	return Check{
		ID:       "error-in-loop",
		Severity: tare.Void,
		Summary: "An operation returned an error while it was timed. One is enough for its round. " + failureRule + " " +
			"A timeout counts as a latency: one voids the contender on the workload.",
		Why: "A struct copier's published figure, exactly 64 bytes and one allocation whatever it copied, was the cost of its error " +
			"\"type not registered\", which the benchmark loop never looked at. A failed operation is not a fast one.",
		Advice:   "run the contender on the workload by itself and look at the error; a benchmark loop must stop at one",
		authors:  true,
		failures: true,
		Run: func(in Input) []tare.Finding {
			var out []tare.Finding
			all := tallyRounds(in.Slices)
			for _, c := range coursesWithErrors(in.Slices) {
				out = append(out, in.describeErrors(c, all))
			}
			return out
		},
	}
}

// describeErrors returns the finding about course c, which has errors. If every round with errors
// is void, the others still count.
func (in Input) describeErrors(c course, all map[courseRound]tally) tare.Finding {
	var sum, with tally // of all rounds, and of those with errors
	var left []turn     // the void ones
	counts := false     // one of them is not
	for l, t := range all {
		if l.course != c {
			continue
		}
		sum = sum.add(t)
		if t.errors == 0 {
			continue
		}
		with = with.add(t)
		if in.isVoidRound(l) {
			left = append(left, l.turn)
		} else {
			counts = true
		}
	}
	f := tare.Finding{Contender: c.contender, Workload: c.workload, Message: sum.String()}
	if !counts {
		slices.SortFunc(left, func(a, b turn) int { return cmp.Or(cmp.Compare(a.round, b.round), cmp.Compare(a.tau, b.tau)) })
		f.Severity, f.Advice = tare.Warn, voidRoundAdvice
		f.Message = fmt.Sprintf("%s: in %s, %s", in.voidRounds(left), joinTurns(left), with)
	}
	if first := firstError(in.Trials, c.contender); first != "" {
		f.Message += "; the first: " + first
	}
	return f
}

// isVoidRound reports whether the slices of a contender, workload and round do not count.
func (in Input) isVoidRound(l courseRound) bool {
	return slices.ContainsFunc(in.Trials, func(t tare.Trial) bool {
		return t.Contender == l.contender && turnOf(t) == l.turn && !t.Counts(l.workload)
	})
}

// course is one contender on one workload over all rounds.
type course struct{ contender, workload string }

// courseRound is one round of a course.
type courseRound struct {
	course
	turn
}

func courseRoundOf(s tare.Slice) courseRound {
	return courseRound{course{s.Contender, s.Workload}, turn{s.Round, max(1, s.Tau)}}
}

// tally counts what was timed.
type tally struct {
	slices      int
	errors, ops int64
}

func (t tally) String() string {
	return fmt.Sprintf("%d of %d timed operations returned an error", t.errors, t.ops)
}

func (t tally) add(u tally) tally {
	return tally{t.slices + u.slices, t.errors + u.errors, t.ops + u.ops}
}

// tallyRounds sums up every round of every course.
func tallyRounds(timed []tare.Slice) map[courseRound]tally {
	out := map[courseRound]tally{}
	for _, s := range timed {
		out[courseRoundOf(s)] = out[courseRoundOf(s)].add(tally{1, s.Errors, s.Ops})
	}
	return out
}

// coursesWithErrors returns the courses on which an operation returned an error.
func coursesWithErrors(timed []tare.Slice) []course {
	var out []course
	for _, s := range timed {
		if c := (course{s.Contender, s.Workload}); s.Errors > 0 && !slices.Contains(out, c) {
			out = append(out, c)
		}
	}
	slices.SortFunc(out, func(a, b course) int {
		return cmp.Or(cmp.Compare(a.contender, b.contender), cmp.Compare(a.workload, b.workload))
	})
	return out
}

// firstError returns the first text of an error that contender's operations
// returned, on whatever workload.
func firstError(trials []tare.Trial, contender string) string {
	for _, t := range trials {
		if t.Contender == contender && t.Evidence.FirstError != "" {
			return t.Evidence.FirstError
		}
	}
	return ""
}
