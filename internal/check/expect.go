package check

import (
	"fmt"
	"slices"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/format"
	"github.com/tarebench/tare/stats"
)

// Expectations says what became of every check that a trap must be void by. A
// void by that check catches it. Otherwise the check missed it if it had the
// evidence that it needs, which a check without chance has as soon as the
// contender was measured, if the user's budget left no workload out, and a
// statistical one when everything that it could void the contender for is ruled
// out. notMeasured is what the run left out.
func Expectations(in Input, findings []tare.Finding, notMeasured []tare.NotWeighed) []tare.Expectation {
	var out []tare.Expectation
	for _, c := range in.Contenders {
		for _, id := range c.Expect.Void {
			e := tare.Expectation{Contender: c.ID, Check: id, Rounds: in.roundsMeasured(c.ID)}
			in.settle(&e, c, findings, notMeasured)
			out = append(out, e)
		}
	}
	return out
}

// MissedTraps lists the expectations that were missed, one line each.
func MissedTraps(of []tare.Expectation) []string {
	var out []string
	for _, e := range of {
		if e.Outcome == tare.Missed {
			out = append(out, fmt.Sprintf("contender %s was expected to be void by %s, and was not: %s", e.Contender, e.Check, e.Message))
		}
	}
	return out
}

// settle fills in the outcome of e, an expectation of c.
func (in Input) settle(e *tare.Expectation, c tare.Contender, findings []tare.Finding, notMeasured []tare.NotWeighed) {
	check, ok := Named(e.Check)
	if !ok || !check.Expectable() {
		e.Outcome, e.Message = tare.Missed, "no check of that name voids contenders"
		return
	}
	warned := ""
	for _, f := range findings {
		switch {
		case f.Check != e.Check || f.Contender != e.Contender:
		case f.Severity == tare.Void:
			e.Outcome, e.Message = tare.Caught, f.Message
			return
		default:
			warned = f.Message
		}
	}
	e.Outcome = tare.NotEnoughEvidence
	switch why := in.notAsked(c, notMeasured); {
	case why != "":
		e.Message = why
	case check.suspects != nil:
		settleByChance(e, check.suspects(in.counting(), c.ID), notMeasured)
	case warned != "":
		e.Message = "it only warned: " + warned
	case !in.askedAnything(c.ID):
		e.Message = "it can do none of the workloads that were measured"
	case leftOut(in.Plan.LeftOut) != "":
		e.Message = leftOut(in.Plan.LeftOut)
	default:
		e.Outcome, e.Message = tare.Missed, "the contender was measured, and the check found nothing"
	}
}

// notAsked says why c was not measured, or not to the end; empty: it was.
func (in Input) notAsked(c tare.Contender, notMeasured []tare.NotWeighed) string {
	about := func(id string) bool { return id == c.ID }
	switch {
	case c.Absent():
		return c.Error
	case c.Error != "":
		return "it could not be built: " + c.Error
	}
	if why := GivenUp(in.Trials, c.ID, in.Plan.RoundsPlanned); why != "" {
		for _, t := range in.Trials {
			if t.Contender == c.ID && t.Error != nil {
				return why + ": " + t.Error.Message
			}
		}
	}
	if slices.ContainsFunc(in.Trials, func(t tare.Trial) bool { return about(t.Contender) && t.Error == nil }) ||
		slices.ContainsFunc(in.Conformance, func(f tare.Conformance) bool { return about(f.Contender) }) {
		return ""
	}
	for _, n := range notMeasured {
		if n.Contender() == c.ID {
			return n.Why
		}
	}
	return "it was not measured"
}

// askedAnything reports whether a contender answered or measured anything. Where
// the workloads that it can do were left out after the pilot, its process goes on
// and does nothing.
func (in Input) askedAnything(contender string) bool {
	return slices.ContainsFunc(in.Conformance, func(f tare.Conformance) bool { return f.Contender == contender }) ||
		slices.ContainsFunc(in.Slices, func(s tare.Slice) bool { return s.Contender == contender }) ||
		slices.ContainsFunc(in.Trials, func(t tare.Trial) bool { return t.Contender == contender && len(t.Samples) > 0 })
}

// settleByChance fills in the outcome of an expectation whose statistical check
// found nothing. A workload that was left out may be the one with the effect.
func settleByChance(e *tare.Expectation, of []suspicion, notMeasured []tare.NotWeighed) {
	of = slices.DeleteFunc(of, suspicion.unknown)
	open := slices.DeleteFunc(slices.Clone(of), suspicion.ruledOut)
	if len(of) == 0 {
		e.Message = "nothing that this check reads was recorded"
		return
	}
	if len(open) > 0 {
		e.RoundsNeeded = roundsToDecide(open)
		e.Message = fmt.Sprintf("%s, %s", format.Count(e.Rounds, "round"), wouldDo(e.RoundsNeeded, e.Rounds))
		return
	}
	if e.Message = leftOut(notMeasured); e.Message != "" {
		return
	}
	e.Outcome, e.Message = tare.Missed, fmt.Sprintf("%s were enough, and the check found nothing", format.Count(e.Rounds, "round"))
}

// leftOut says that a workload, on which there may be something to find, was not
// measured; empty: all were.
func leftOut(of []tare.NotWeighed) string {
	for _, n := range of {
		if workload := n.Workload(); workload != "" {
			return fmt.Sprintf("nothing was found on what was measured, and workload %s was not", workload)
		}
	}
	return ""
}

// wouldDo says how many rounds would decide.
func wouldDo(needed, done int) string {
	switch least := stats.MinRounds(strict); {
	case needed == 0:
		return fmt.Sprintf("more than %d would be needed", stats.MaxRounds)
	case done < least && needed <= least:
		return fmt.Sprintf("at least %d are needed", needed)
	}
	return fmt.Sprintf("about %d would do", needed)
}

// Traps says when the check has missed a trap; empty where none can be expected to
// be void by it.
func (c Check) Traps() string {
	switch {
	case !c.Expectable():
		return ""
	case c.suspects == nil:
		return "No chance is involved: if it finds nothing it has missed a trap as soon as that was measured."
	}
	return "It has missed a trap only where what it looks at was recorded and rules the effect out, on every workload of the study: an interval that it judges by lies wholly where it stays silent. " +
		"By chance that happens to a trap with an effect as large as the limit in at most 0.05 % of runs."
}
