package check

import (
	"fmt"
	"strings"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/format"
)

// negativeProbe reads the outcomes of probes, which are requests that a contender must reject.
func negativeProbe() Check {
	return Check{
		ID:       "negative-probe",
		Severity: tare.Void,
		Summary: "What must be rejected is requested once, before timing: another method, a path that does not exist, an empty id, a broken body, one item more than the limit. A contender that does not refuse as the reference does " +
			"is void on every workload. If a contender stands apart, because it does another job or part of one, the requests that it does not refuse are only noted. The null contender is exempt.",
		Why: "The faster of two \"equal\" routes accepted any path with any method, took its last element, and never checked that it was an id; " +
			"an ingest service answered OK to anything. The other side was timed with the work that they skipped.",
		Advice:             "send the request shown to the contender and read its response; it must refuse what the reference refuses",
		adviceIsForAuthors: true,
		Run: func(in Input) []tare.Finding {
			var out []tare.Finding
			for _, c := range in.Contenders {
				if c.Role == tare.RoleNull {
					continue
				}
				switch p := in.sumProbes(c.ID); {
				case p.Wrong == 0:
				case c.Role == tare.RoleApart:
					out = append(out, notePermissive(p))
				default:
					message := fmt.Sprintf("%d of %s must be refused and were not, or not as the reference does", p.Wrong, format.Count(p.Cases, "probe"))
					if p.First != "" {
						message += "; the first: " + p.First
					}
					out = append(out, tare.Finding{Contender: c.ID, Message: message})
				}
			}
			return out
		},
	}
}

func (in Input) sumProbes(contender string) tare.Conformance {
	sum := tare.Conformance{Contender: contender}
	for _, p := range in.Conformance {
		if !p.Probe || p.Contender != contender {
			continue
		}
		sum.Cases += p.Cases
		sum.Wrong += p.Wrong
		sum.Unrefused = append(sum.Unrefused, p.Unrefused...)
		if sum.First == "" {
			sum.First = p.First
		}
	}
	return sum
}

const maxAcceptedShown = 3 // wrongly accepted requests that a finding names

// notePermissive returns the note that a contender which does another job accepts requests that it
// should reject. p is the sum of its probes.
func notePermissive(p tare.Conformance) tare.Finding {
	message := fmt.Sprintf("it stands apart, and %d of %s were not refused, or not as the reference does", p.Wrong, format.Count(p.Cases, "probe"))
	shown := p.Unrefused[:min(len(p.Unrefused), maxAcceptedShown)] // accepted requests
	if len(shown) > 0 {
		message += ": " + strings.Join(shown, "; ")
	}
	if more := p.Wrong - len(shown); more > 0 && len(shown) > 0 {
		message += fmt.Sprintf("; and %d more", more)
	}
	return tare.Finding{
		Contender: p.Contender, Severity: tare.Note, Message: message,
		Advice: "keep in mind what it does not do when its cost is read",
	}
}
