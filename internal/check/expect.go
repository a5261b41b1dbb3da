package check

import (
	"fmt"
	"slices"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/format"
	"github.com/tarebench/tare/stats"
)

// Expectations returns the outcome of every check that a trap must be void by. A void by that check
// is a catch. Otherwise the check missed the trap if it had its evidence: a check without chance
// has it once the contender was measured, unless the budget omitted workloads; a statistical check
// has it if all of its suspicions about the contender are ruled out. notMeasured lists the omitted
// workloads.
func Expectations(in Input, findings []tare.Finding, notMeasured []tare.NotWeighed) []tare.Expectation {
	var out []tare.Expectation
	for _, c := range in.Contenders {
		for _, id := range c.Expect.Void {
			e := tare.Expectation{Contender: c.ID, Check: id, Rounds: in.roundsMeasured(c.ID)}
			in.setOutcome(&e, c, findings, notMeasured)
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

// setOutcome sets the outcome of e, an expectation of c.
func (in Input) setOutcome(e *tare.Expectation, c tare.Contender, findings []tare.Finding, notMeasured []tare.NotWeighed) {
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
	switch why := in.whyNotMeasured(c, notMeasured); {
	case why != "":
		e.Message = why
	case check.suspects != nil:
		setStatisticalOutcome(e, check.suspects(in.withoutVoid(), c.ID), notMeasured)
	case warned != "":
		e.Message = "it only warned: " + warned
	case !in.hasEvidence(c.ID):
		e.Message = "it can do none of the workloads that were measured"
	case whyUndecided(in.Plan.LeftOut) != "":
		e.Message = whyUndecided(in.Plan.LeftOut)
	default:
		e.Outcome, e.Message = tare.Missed, "the contender was measured, and the check found nothing"
	}
}

// whyNotMeasured returns the reason if c was not measured, or not to the end, else "".
func (in Input) whyNotMeasured(c tare.Contender, notMeasured []tare.NotWeighed) string {
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

// hasEvidence reports whether a contender answered or measured anything. If the workloads that it
// can do were omitted after the pilot, its process continues to run without work.
func (in Input) hasEvidence(contender string) bool {
	return slices.ContainsFunc(in.Conformance, func(f tare.Conformance) bool { return f.Contender == contender }) ||
		slices.ContainsFunc(in.Slices, func(s tare.Slice) bool { return s.Contender == contender }) ||
		slices.ContainsFunc(in.Trials, func(t tare.Trial) bool { return t.Contender == contender && len(t.Samples) > 0 })
}

// setStatisticalOutcome sets the outcome of an expectation whose statistical check found nothing.
// An omitted workload may be the one with the effect.
func setStatisticalOutcome(e *tare.Expectation, of []suspicion, notMeasured []tare.NotWeighed) {
	of = slices.DeleteFunc(of, suspicion.isUnknown)
	open := slices.DeleteFunc(slices.Clone(of), suspicion.isRuledOut)
	if len(of) == 0 {
		e.Message = "nothing that this check reads was recorded"
		return
	}
	if len(open) > 0 {
		e.RoundsNeeded = roundsToDecide(open)
		e.Message = fmt.Sprintf("%s, %s", format.Count(e.Rounds, "round"), roundsWanted(e.RoundsNeeded, e.Rounds))
		return
	}
	if e.Message = whyUndecided(notMeasured); e.Message != "" {
		return
	}
	e.Outcome, e.Message = tare.Missed, fmt.Sprintf("%s were enough, and the check found nothing", format.Count(e.Rounds, "round"))
}

// whyUndecided returns the sentence that a workload with a possible effect was not measured, or ""
// if all were.
func whyUndecided(of []tare.NotWeighed) string {
	for _, n := range of {
		if workload := n.Workload(); workload != "" {
			return fmt.Sprintf("nothing was found on what was measured, and workload %s was not", workload)
		}
	}
	return ""
}

// roundsWanted returns a sentence with the number of rounds that would decide.
func roundsWanted(needed, done int) string {
	switch least := stats.MinRounds(strict); {
	case needed == 0:
		return fmt.Sprintf("more than %d would be needed", stats.MaxRounds)
	case done < least && needed <= least:
		return fmt.Sprintf("at least %d are needed", needed)
	}
	return fmt.Sprintf("about %d would do", needed)
}

// Traps describes when the check has missed a trap. It returns "" if no trap can be expected to be
// void by it.
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
