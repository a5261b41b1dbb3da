package check

import (
	"fmt"
	"slices"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/format"
	"github.com/tarebench/tare/stats"
)

// This file tests the checks. A trap is a contender that reproduces a published mistake, such as a
// server that loses acknowledged events. Its study names the checks that must void it, such as
// "delivered". The outcome is caught, missed, or not enough evidence.

// Expectations returns the outcome of every expectation that a check voids a trap. If the check
// voided it, the trap is caught. If it did not despite enough evidence, the check missed the trap.
//
// A statistical check has enough evidence once all of its reasons are disproved. For other checks,
// having measured the trap is enough, unless the budget omitted workloads. notMeasured lists the
// contenders and workloads that the study did not measure.
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

// MissedTraps returns a line for each expectation that was missed.
func MissedTraps(expectations []tare.Expectation) []string {
	var out []string
	for _, e := range expectations {
		if e.Outcome == tare.Missed {
			out = append(out, fmt.Sprintf("contender %s was expected to be void by %s, and was not: %s", e.Contender, e.Check, e.Message))
		}
	}
	return out
}

func (in Input) setOutcome(e *tare.Expectation, c tare.Contender, findings []tare.Finding, notMeasured []tare.NotWeighed) {
	check, ok := Named(e.Check)
	if !ok || !check.Expectable() {
		e.Outcome, e.Message = tare.Missed, "no check of that name voids contenders"
		return
	}
	warning := ""
	for _, f := range findings {
		switch {
		case f.Check != e.Check || f.Contender != e.Contender:
		case f.Severity == tare.Void:
			e.Outcome, e.Message = tare.Caught, f.Message
			return
		default:
			warning = f.Message
		}
	}
	e.Outcome = tare.NotEnoughEvidence
	switch why := in.whyNotMeasured(c, notMeasured); {
	case why != "":
		e.Message = why
	case check.voidReasons != nil:
		setStatisticalOutcome(e, check.voidReasons(in.withoutVoid(), c.ID), notMeasured)
	case warning != "":
		e.Message = "it only warned: " + warning
	case !in.hasEvidence(c.ID):
		e.Message = "it can do none of the workloads that were measured"
	case whyUndecided(in.Plan.LeftOut) != "":
		e.Message = whyUndecided(in.Plan.LeftOut)
	default:
		e.Outcome, e.Message = tare.Missed, "the contender was measured, and the check found nothing"
	}
}

// whyNotMeasured returns why c was not measured, or not in all rounds. It returns "" if it was.
func (in Input) whyNotMeasured(c tare.Contender, notMeasured []tare.NotWeighed) string {
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
	ranTrial := slices.ContainsFunc(in.Trials, func(t tare.Trial) bool { return t.Contender == c.ID && t.Error == nil })
	wasTested := slices.ContainsFunc(in.Conformance, func(f tare.Conformance) bool { return f.Contender == c.ID })
	if ranTrial || wasTested {
		return ""
	}
	for _, n := range notMeasured {
		if n.Contender() == c.ID {
			return n.Why
		}
	}
	return "it was not measured"
}

// hasEvidence reports whether a contender was tested or timed on any workload. A complete trial
// alone is no evidence: all of its workloads may have been omitted after the pilot.
func (in Input) hasEvidence(contender string) bool {
	return slices.ContainsFunc(in.Conformance, func(f tare.Conformance) bool { return f.Contender == contender }) ||
		slices.ContainsFunc(in.Slices, func(s tare.Slice) bool { return s.Contender == contender }) ||
		slices.ContainsFunc(in.Trials, func(t tare.Trial) bool { return t.Contender == contender && len(t.Samples) > 0 })
}

// setStatisticalOutcome sets the outcome of an expectation whose statistical check found nothing.
// The outcome is not "missed" if a workload was omitted, which may show the mistake.
func setStatisticalOutcome(e *tare.Expectation, reasons []voidReason, notMeasured []tare.NotWeighed) {
	recorded := slices.DeleteFunc(reasons, func(r voidReason) bool { return r.prove() == unrecorded })
	unsettled := slices.DeleteFunc(slices.Clone(recorded), func(r voidReason) bool { return r.prove() == disproved })
	if len(recorded) == 0 {
		e.Message = "nothing that this check reads was recorded"
		return
	}
	if len(unsettled) > 0 {
		e.RoundsNeeded = roundsToDecide(unsettled)
		e.Message = fmt.Sprintf("%s, %s", format.Count(e.Rounds, "round"), roundsWanted(e.RoundsNeeded, e.Rounds))
		return
	}
	if e.Message = whyUndecided(notMeasured); e.Message != "" {
		return
	}
	e.Outcome, e.Message = tare.Missed, fmt.Sprintf("%s were enough, and the check found nothing", format.Count(e.Rounds, "round"))
}

// whyUndecided returns a sentence that names an omitted workload, or "".
func whyUndecided(omitted []tare.NotWeighed) string {
	for _, n := range omitted {
		if workload := n.Workload(); workload != "" {
			return fmt.Sprintf("nothing was found on what was measured, and workload %s was not", workload)
		}
	}
	return ""
}

// roundsWanted returns a clause about the number of rounds that would decide. If needed is 0, more
// rounds are needed than any study has.
func roundsWanted(needed, done int) string {
	switch minRounds := stats.MinRounds(strictLevel); {
	case needed == 0:
		return fmt.Sprintf("more than %d would be needed", stats.MaxRounds)
	case done < minRounds && needed <= minRounds:
		return fmt.Sprintf("at least %d are needed", needed)
	}
	return fmt.Sprintf("about %d would do", needed)
}

// Traps returns sentences that say when the check has missed a trap. It returns "" if no study can
// expect the check to void one.
func (c Check) Traps() string {
	switch {
	case !c.Expectable():
		return ""
	case c.voidReasons == nil:
		return "No chance is involved: if the check finds nothing, it has missed a trap as soon as the trap was measured."
	}
	return "The check has missed a trap only if the values that it reads were recorded and rule the effect out, on every workload of the study: an interval by which it judges is entirely within the limits. " +
		"If the effect of a trap is as large as the limit, chance makes that happen in at most 0.05 % of runs."
}
