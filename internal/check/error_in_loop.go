package check

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/tarebench/tare"
)

// This check finds operations that failed while they were timed. For example, 3 of 20,000
// operations in a round returned an error. Such a round is void, because a failed operation is not
// a fast one.

func errorInLoop() Check {
	return Check{
		ID:       "error-in-loop",
		Severity: tare.Void,
		Summary: "An operation returned an error while it was timed. One error is enough to void its round. " + failureRule + " " +
			"A timeout counts as a latency, so a single one voids the contender on the workload.",
		Why: "The published values of a struct copier were exactly 64 bytes and one allocation, whatever it copied. They were the cost of its error " +
			"\"type not registered\", which the benchmark loop never checked. A failed operation is not a fast one.",
		Advice:             "run the contender on the workload by itself and read the error; a benchmark loop must stop at an error",
		adviceIsForAuthors: true,
		includesFailures:   true,
		Run: func(in Input) []tare.Finding {
			var out []tare.Finding
			all := tallyRounds(in.Slices)
			for _, c := range subjectsWithErrors(in.Slices) {
				out = append(out, in.describeErrors(c, all))
			}
			return out
		},
	}
}

// subject is one contender on one workload. Most findings are about one.
type subject struct{ contender, workload string }

type subjectRound struct {
	subject
	roundID // number of the round, and factor of its slice length
}

func subjectRoundOf(s tare.Slice) subjectRound {
	return subjectRound{subject{s.Contender, s.Workload}, roundID{s.Round, max(1, s.Tau)}}
}

// tally counts slices, timed runs of some milliseconds, and their operations.
type tally struct {
	slices      int
	errors, ops int64
}

func (t tally) String() string {
	return fmt.Sprintf("%d of %d timed operations returned an error", t.errors, t.ops)
}

func (t tally) add(u tally) tally {
	return tally{slices: t.slices + u.slices, errors: t.errors + u.errors, ops: t.ops + u.ops}
}

// describeErrors returns the finding about c, a contender with errors on a workload. It is a warning
// if all rounds with errors are void, because the other rounds still count.
func (in Input) describeErrors(c subject, all map[subjectRound]tally) tare.Finding {
	var total, withErrors tally // all rounds, and rounds with errors
	var voidRounds []roundID    // with errors
	allVoid := true
	for round, t := range all {
		if round.subject != c {
			continue
		}
		total = total.add(t)
		if t.errors == 0 {
			continue
		}
		withErrors = withErrors.add(t)
		if in.isVoidRound(round) {
			voidRounds = append(voidRounds, round.roundID)
		} else {
			allVoid = false
		}
	}
	f := tare.Finding{Contender: c.contender, Workload: c.workload, Message: total.String()}
	if allVoid {
		slices.SortFunc(voidRounds, func(a, b roundID) int {
			return cmp.Or(cmp.Compare(a.round, b.round), cmp.Compare(a.lengthFactor, b.lengthFactor))
		})
		f.Severity, f.Advice = tare.Warn, voidRoundAdvice
		f.Message = fmt.Sprintf("%s: in %s, %s", in.voidRounds(voidRounds), joinRounds(voidRounds), withErrors)
	}
	if first := firstError(in.Trials, c.contender); first != "" {
		f.Message += "; the first: " + first
	}
	return f
}

func (in Input) isVoidRound(round subjectRound) bool {
	return slices.ContainsFunc(in.Trials, func(t tare.Trial) bool {
		return t.Contender == round.contender && roundIDOf(t) == round.roundID && !t.Counts(round.workload)
	})
}

func tallyRounds(timed []tare.Slice) map[subjectRound]tally {
	out := map[subjectRound]tally{}
	for _, s := range timed {
		round := subjectRoundOf(s)
		out[round] = out[round].add(tally{slices: 1, errors: s.Errors, ops: s.Ops})
	}
	return out
}

func subjectsWithErrors(timed []tare.Slice) []subject {
	var out []subject
	for _, s := range timed {
		if c := (subject{s.Contender, s.Workload}); s.Errors > 0 && !slices.Contains(out, c) {
			out = append(out, c)
		}
	}
	slices.SortFunc(out, func(a, b subject) int {
		return cmp.Or(cmp.Compare(a.contender, b.contender), cmp.Compare(a.workload, b.workload))
	})
	return out
}

// firstError returns the first error that an operation of contender returned, on any workload.
func firstError(trials []tare.Trial, contender string) string {
	for _, t := range trials {
		if t.Contender == contender && t.Evidence.FirstError != "" {
			return t.Evidence.FirstError
		}
	}
	return ""
}
