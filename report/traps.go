package report

import (
	"fmt"
	"strings"

	"github.com/tarebench/tare"
)

// A trap is a contender that repeats a published mistake on purpose. Checks should catch it and void it.

// describeTraps counts the caught traps, with each expected check's outcome, as the end of a sentence.
func describeTraps(r *tare.Result) string {
	traps, caughtTraps := 0, 0
	for _, c := range r.Contenders {
		outcome := r.OutcomeOf(c.ID)
		if outcome != "" {
			traps++
		}
		if outcome == tare.Caught {
			caughtTraps++
		}
	}
	if traps == 0 {
		return ""
	}
	var caught, others []string
	for _, e := range r.Expectations {
		switch trap := contenderTitle(r, e.Contender); e.Outcome {
		case tare.Caught:
			caught = append(caught, trap+" by "+e.Check)
		case tare.Missed:
			others = append(others, fmt.Sprintf("%s: missed by %s: %s", trap, e.Check, e.Message))
		default:
			others = append(others, fmt.Sprintf("%s: not enough evidence for %s: %s", trap, e.Check, e.Message))
		}
	}
	text := fmt.Sprintf("%d of %d caught", caughtTraps, traps)
	if len(caught) > 0 {
		text += " (" + strings.Join(caught, ", ") + ")"
	}
	return strings.Join(append([]string{text}, others...), "; ") + "."
}

// describeTrapFindings returns the line about traps. Earlier documents only contain caught traps.
func describeTrapFindings(r *tare.Result) string {
	if text := describeTraps(r); text != "" {
		return "Traps: " + text
	}
	var caught []string
	for _, f := range r.Findings {
		if f.Severity == tare.Void && f.Expected {
			caught = append(caught, contenderTitle(r, f.Contender)+" by "+f.Check)
		}
	}
	if len(caught) == 0 {
		return ""
	}
	return "As expected of the traps: " + strings.Join(caught, ", ") + "."
}

func whyNotVoid(r *tare.Result, contender, check string) string {
	for _, e := range r.Expectations {
		if e.Contender == contender && e.Check == check && e.Outcome == tare.NotEnoughEvidence {
			return fmt.Sprintf("expected to be void by %s; not enough evidence for that: %s", check, e.Message)
		}
	}
	return fmt.Sprintf("expected to be void by %s, but that check found nothing", check)
}

// TrapsCount counts the traps of all results by outcome, and names missed ones: "8 caught, 0 missed, 1 with too
// little evidence (users: gin-growing)".
func TrapsCount(results []*tare.Result) string {
	count := map[tare.TrapOutcome]int{}
	names := map[tare.TrapOutcome]string{}
	for _, r := range results {
		for _, c := range r.Contenders {
			if o := r.OutcomeOf(c.ID); o != "" {
				count[o]++
				names[o] += ", " + r.Study + ": " + c.ID
			}
		}
	}
	if len(count) == 0 {
		return ""
	}
	parts := []string{fmt.Sprintf("%d caught", count[tare.Caught])}
	for _, x := range []struct {
		outcome tare.TrapOutcome
		words   string
	}{{tare.Missed, "missed"}, {tare.NotEnoughEvidence, "with too little evidence"}} {
		part := fmt.Sprintf("%d %s", count[x.outcome], x.words)
		if count[x.outcome] > 0 {
			part += " (" + strings.TrimPrefix(names[x.outcome], ", ") + ")"
		}
		parts = append(parts, part)
	}
	return oneLine(strings.Join(parts, ", "))
}
