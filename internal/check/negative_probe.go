package check

import (
	"fmt"
	"strings"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/format"
)

func negativeProbe() Check {
	return Check{
		ID:       "negative-probe",
		Severity: tare.Void,
		Summary: "What must be rejected is requested once, before timing: another method, a path that does not exist, an empty id, a broken body, one item more than the limit. A contender that does not refuse as the reference does " +
			"is void on every workload. Of one that stands apart, which does another job or part of one, what it does not refuse is noted. The null contender is exempt.",
		Why: "The faster of two \"equal\" routes took the last element of whatever path came, by whatever method, and never looked whether it was an id; " +
			"an ingest service answered OK to anything. What they did not do is what the other side was timed doing.",
		Advice:     "ask the contender for the case shown and see what it answers; it must refuse what the reference refuses",
		forAuthors: true,
		Run: func(in Input) []tare.Finding {
			var out []tare.Finding
			for _, c := range in.Contenders {
				if c.Role == tare.RoleNull {
					continue
				}
				cases, wrong, first := 0, 0, ""
				var accepted []string // cases that must be rejected and were not
				for _, p := range in.Conformance {
					if !p.Probe || p.Contender != c.ID {
						continue
					}
					cases += p.Cases
					wrong += p.Wrong
					accepted = append(accepted, p.Unrefused...)
					if first == "" {
						first = p.First
					}
				}
				if wrong == 0 {
					continue
				}
				if c.Role == tare.RoleApart {
					out = append(out, notePermissive(c.ID, wrong, cases, accepted))
					continue
				}
				message := fmt.Sprintf("%d of %s must be refused and were not, or not as the reference does", wrong, format.Count(cases, "probe"))
				if first != "" {
					message += "; the first: " + first
				}
				out = append(out, tare.Finding{Contender: c.ID, Message: message})
			}
			return out
		},
	}
}

// maxAcceptedShown is the number of wrongly accepted cases that a finding names.
const maxAcceptedShown = 3

// notePermissive returns the note that a status-only contender accepts what it should reject.
// accepted are the names of the wrongly accepted cases.
func notePermissive(id string, wrong, cases int, accepted []string) tare.Finding {
	message := fmt.Sprintf("it stands apart, and %d of %s were not refused, or not as the reference does", wrong, format.Count(cases, "probe"))
	shown := accepted[:min(len(accepted), maxAcceptedShown)]
	if len(shown) > 0 {
		message += ": " + strings.Join(shown, "; ")
	}
	if more := wrong - len(shown); more > 0 && len(shown) > 0 {
		message += fmt.Sprintf("; and %d more", more)
	}
	return tare.Finding{
		Contender: id, Severity: tare.Note, Message: message,
		Advice: "keep in mind what it does not do when its cost is read",
	}
}
