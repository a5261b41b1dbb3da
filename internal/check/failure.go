package check

import (
	"fmt"
	"slices"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/format"
)

// This file decides what does not count after failures. A trial is one process of a contender in
// one round. It fails if it ends early or its operations return errors. The contender loses that
// round and takes part in the next one. All of its measurements are void after too many failures.
const (
	failuresInARow = 2 // that many failed rounds in a row are too many
	failedOneIn    = 4 // more failures than one in that many planned rounds are too many
)

const failureRule = "Such a round is void for the contender, and for all contenders if it is the baseline that failed. Two such rounds in a row, or more than a quarter of those planned, void the contender. " +
	"The rule considers only failures, never measured values."

// roundID names a round. Its timed runs, the slices, are lengthFactor times as long as planned: 1,
// or e.g. 8 in a long round. A long round has the number of the ordinary round before it.
type roundID struct{ round, lengthFactor int }

func roundIDOf(t tare.Trial) roundID { return roundID{t.Round, max(1, t.Tau)} }

// whyTooMany returns why a contender must leave the study, or "". failed reports for each round
// whether it failed. planned is the number of planned rounds.
func whyTooMany(failed []bool, planned int) string {
	total, inARow := 0, 0
	for _, f := range failed {
		if !f {
			inARow = 0
			continue
		}
		total++
		inARow++
		if inARow == failuresInARow {
			return "two rounds in a row failed"
		}
	}
	if total*failedOneIn > planned {
		return fmt.Sprintf("more than a quarter of %s planned failed", format.Count(planned, "round"))
	}
	return ""
}

// GivenUp returns why contender is not measured any more, or "". Its pilot failed, the short trial
// before round 1, or too many of the planned rounds did.
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

// Mark returns a copy of trials with Void set to the parts that do not count although the trial was
// completed. These are workloads with errors, and every part that the baseline lost.
//
// Mark leaves the errors of a contender on a workload unmarked if there are too many, or if a
// request timed out. The check error-in-loop then voids the contender there.
func Mark(trials []tare.Trial, timed []tare.Slice, baseline string, planned int) []tare.Trial {
	out := slices.Clone(trials)
	for i := range out {
		out[i].Void = nil
	}
	all := tallyRounds(timed)
	for _, c := range subjectsWithErrors(timed) {
		markErrors(out, c, all, planned)
	}
	lost := lostParts(out, baseline)
	for i := range out {
		t := &out[i]
		if t.Error != nil || t.Contender == baseline {
			continue
		}
		for _, v := range lost[roundIDOf(*t)] {
			if v.Workload == "" || t.Counts(v.Workload) {
				t.Void = append(t.Void, v)
			}
		}
	}
	return out
}

// lostParts returns the parts that the baseline lost, by round. They are void for all contenders,
// because there is no ratio to the baseline.
func lostParts(trials []tare.Trial, baseline string) map[roundID][]tare.VoidPart {
	lost := map[roundID][]tare.VoidPart{}
	for _, t := range trials {
		if t.Contender != baseline || t.Round == 0 {
			continue
		}
		if t.Error != nil {
			lost[roundIDOf(t)] = []tare.VoidPart{{Why: "the baseline's trial failed in this round: " + t.Error.Error()}}
		}
		for _, v := range t.Void {
			lost[roundIDOf(t)] = append(lost[roundIDOf(t)], tare.VoidPart{Workload: v.Workload, Why: "of the baseline's, " + v.Why})
		}
	}
	return lost
}

// markErrors marks the rounds in which operations of c returned errors. It marks none if too many
// rounds failed, or if a request timed out. A timeout is a latency, so the round cannot be dropped.
func markErrors(trials []tare.Trial, c subject, all map[subjectRound]tally, planned int) {
	var rounds []*tare.Trial
	var failed []bool
	for i := range trials {
		t := &trials[i]
		timed := all[subjectRound{c, roundIDOf(*t)}]
		isPilot := t.Round == 0
		hasNoSlices := t.Error == nil && timed.slices == 0 // not part of the round
		if t.Contender != c.contender || isPilot || hasNoSlices {
			continue
		}
		if t.Samples[c.workload][tare.KeyTimeouts] > 0 {
			return
		}
		rounds = append(rounds, t)
		failed = append(failed, t.Error != nil || timed.errors > 0)
	}
	if whyTooMany(failed, planned) != "" {
		return
	}
	for i, t := range rounds {
		if failed[i] && t.Error == nil {
			t.Void = append(t.Void, tare.VoidPart{Workload: c.workload, Why: all[subjectRound{c, roundIDOf(*t)}].String()})
		}
	}
}
