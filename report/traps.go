package report

import (
	"fmt"
	"strings"

	"github.com/tarebench/tare"
)

// describeTraps returns the outcomes of the traps, a sentence without its beginning, or "" if the study has
// none.
func describeTraps(r *tare.Result) string {
	var caught, others []string
	all, whole := 0, 0
	for _, c := range r.Contenders {
		switch r.OutcomeOf(c.ID) {
		case "":
			continue
		case tare.Caught:
			whole++
		}
		all++
	}
	for _, e := range r.Expectations {
		switch by := contenderTitle(r, e.Contender); e.Outcome {
		case tare.Caught:
			caught = append(caught, by+" by "+e.Check)
		case tare.Missed:
			others = append(others, fmt.Sprintf("%s: missed by %s: %s", by, e.Check, e.Message))
		default:
			others = append(others, fmt.Sprintf("%s: not enough evidence for %s: %s", by, e.Check, e.Message))
		}
	}
	if all == 0 {
		return ""
	}
	text := fmt.Sprintf("%d of %d caught", whole, all)
	if len(caught) > 0 {
		text += " (" + strings.Join(caught, ", ") + ")"
	}
	return strings.Join(append([]string{text}, others...), "; ") + "."
}

// describeTrapFindings returns the line about traps below the findings. Documents of earlier versions only
// contain the caught traps.
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

// whyNotVoid returns why a trap is not void by check as expected.
func whyNotVoid(r *tare.Result, contender, check string) string {
	for _, e := range r.Expectations {
		if e.Contender == contender && e.Check == check && e.Outcome == tare.NotEnoughEvidence {
			return fmt.Sprintf("expected to be void by %s; not enough evidence for that: %s", check, e.Message)
		}
	}
	return fmt.Sprintf("expected to be void by %s, but that check found nothing", check)
}

// TrapsCount counts what became of all traps, and names those that were not
// caught: "8 caught, 0 missed, 1 with too little evidence (users: gin-growing)".
// It is empty where there are none.
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
	for _, of := range []struct {
		outcome tare.TrapOutcome
		words   string
	}{{tare.Missed, "missed"}, {tare.NotEnoughEvidence, "with too little evidence"}} {
		part := fmt.Sprintf("%d %s", count[of.outcome], of.words)
		if count[of.outcome] > 0 {
			part += " (" + strings.TrimPrefix(names[of.outcome], ", ") + ")"
		}
		parts = append(parts, part)
	}
	return oneLine(strings.Join(parts, ", "))
}
