package check

import (
	"fmt"
	"slices"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/format"
)

// A contender that fails in a round loses that round and takes part in the next. Too many failures
// in a row, or in a share of the planned rounds, void all of its measurements.
const (
	inARow = 2
	oneIn  = 4
)

// failureRule states the rule, for summaries.
const failureRule = "Such a round is void for the contender, for everybody where it is the baseline. Two such rounds in a row, or more than a quarter of those planned, void the contender. " +
	"The rule looks at failures only, never at what was measured."

// whyTooMany implements the rule: it returns why the failures among the rounds, in their order, are
// too many of planned rounds, or "" if they are not.
func whyTooMany(failed []bool, planned int) string {
	all, row := 0, 0
	for _, f := range failed {
		if !f {
			row = 0
			continue
		}
		all++
		if row++; row == inARow {
			return "two rounds in a row failed"
		}
	}
	if all*oneIn > planned {
		return fmt.Sprintf("more than a quarter of %s planned failed", format.Count(planned, "round"))
	}
	return ""
}

// GivenUp returns why contender is not measured any more: its pilot failed, or too many of its
// planned rounds did. It returns "" if it is still measured.
func GivenUp(trials []tare.Trial, contender string, planned int) string {
	var failed []bool
	for _, t := range trials {
		switch {
		case t.Contender != contender:
		case t.Round > 0:
			failed = append(failed, t.Error != nil)
		case t.Error != nil:
			return "the pilot failed"
		}
	}
	return whyTooMany(failed, planned)
}

// Mark returns a copy of trials with marks on what does not count although the trial was completed:
// workloads on which operations returned errors, if the rule permits that, and every round that the
// baseline lost.
//
// A timeout is a latency as well as an error, so it never makes a round void: the contender is void
// on the workload, as it is after too many rounds with errors.
func Mark(trials []tare.Trial, timed []tare.Slice, baseline string, planned int) []tare.Trial {
	out := slices.Clone(trials)
	for i := range out {
		out[i].Void = nil
	}
	all := tallyRounds(timed)
	for _, c := range coursesWithErrors(timed) {
		markErrors(out, c, all, planned)
	}
	lost := map[turn][]tare.VoidPart{}
	for _, t := range out {
		if t.Contender != baseline || t.Round == 0 {
			continue
		}
		if t.Error != nil {
			lost[turnOf(t)] = []tare.VoidPart{{Why: "the baseline's trial failed in this round: " + t.Error.Error()}}
		}
		for _, v := range t.Void {
			lost[turnOf(t)] = append(lost[turnOf(t)], tare.VoidPart{Workload: v.Workload, Why: "of the baseline's, " + v.Why})
		}
	}
	for i := range out {
		t := &out[i]
		if t.Error != nil || t.Contender == baseline {
			continue
		}
		for _, v := range lost[turnOf(*t)] {
			if v.Workload == "" || t.Counts(v.Workload) {
				t.Void = append(t.Void, v)
			}
		}
	}
	return out
}

// markErrors marks the rounds of one course in which operations returned errors.
func markErrors(trials []tare.Trial, c course, all map[courseRound]tally, planned int) {
	var of []*tare.Trial
	var failed []bool
	for i := range trials {
		t := &trials[i]
		worked := all[courseRound{c, turnOf(*t)}]
		if t.Contender != c.contender || t.Round == 0 || t.Error == nil && worked.slices == 0 {
			continue
		}
		if t.Samples[c.workload][tare.KeyTimeouts] > 0 {
			return
		}
		of, failed = append(of, t), append(failed, t.Error != nil || worked.errors > 0)
	}
	if whyTooMany(failed, planned) != "" {
		return
	}
	for i, t := range of {
		if failed[i] && t.Error == nil {
			t.Void = append(t.Void, tare.VoidPart{Workload: c.workload, Why: all[courseRound{c, turnOf(*t)}].String()})
		}
	}
}

// turn is one round at one slice length.
type turn struct{ round, tau int }

func turnOf(t tare.Trial) turn { return turn{t.Round, max(1, t.Tau)} }
