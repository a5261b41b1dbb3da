package judge

import (
	"fmt"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/evidence"
)

// statement answers a claim without figures by the check it names: what the
// check finds about the contender refutes it, or shows that it says nothing. That a
// check found nothing proves nothing by itself; only where it is known to have had
// cases to look at does the statement hold, for those cases and this implementation.
func (b *rulingData) statement(r *tare.ClaimResult, c tare.Claim) {
	r.Evidence = "check " + c.Check
	for _, f := range b.findings {
		if f.Check == c.Check && f.Covers(c.Contender, c.Workload) {
			r.Outcome, r.Why = tare.Refuted, f.Message
			if c.Check == cannotFail {
				r.Outcome = tare.VoidAsPublished
			}
			return
		}
	}
	looked, known := lookers()[c.Check]
	if !known {
		notMeasured(r, fmt.Sprintf("the check %s found nothing, which proves nothing by itself", c.Check))
		return
	}
	found, none := looked(b.d, c)
	if none != "" {
		notMeasured(r, c.Contender+" "+none)
		return
	}
	r.Outcome, r.Why = tare.Holds, "of this implementation: "+found
}

// cannotFail is the check for criteria that everything meets: a statement about one
// is true and says nothing.
const cannotFail = "discriminating"

// lookers are the checks of which it is known how many cases they looked at. Each
// says what was seen of a claim's contender, or else that nothing was.
func lookers() map[string]func(d evidence.Evidence, c tare.Claim) (seen, none string) {
	return map[string]func(evidence.Evidence, tare.Claim) (string, string){
		"semantic-diff":  sameMeanings,
		"negative-probe": dueRefusals,
		"wrong-answer":   rightAnswers,
		"error-in-loop":  successes,
	}
}

func sameMeanings(d evidence.Evidence, c tare.Claim) (seen, none string) {
	for _, s := range d.Semantics {
		if s.Contender == c.Contender && s.Cases > 0 {
			return fmt.Sprintf("each of %d answers is %s's", s.Cases, s.Reference), ""
		}
	}
	return "", "was asked none of the cases on which implementations differ"
}

func dueRefusals(d evidence.Evidence, c tare.Claim) (seen, none string) {
	if n := casesOf(d, c, true); n > 0 {
		return fmt.Sprintf("each of %d probes came out as the reference has it", n), ""
	}
	return "", "was asked for nothing that must be refused"
}

func rightAnswers(d evidence.Evidence, c tare.Claim) (seen, none string) {
	if n := casesOf(d, c, false); n > 0 {
		return fmt.Sprintf("each of %s answers is the reference's", whole(int64(n))), ""
	}
	return "", "was asked for no answer"
}

// casesOf is how many cases of conformance a claim's contender was asked.
func casesOf(d evidence.Evidence, c tare.Claim, probes bool) int {
	n := 0
	for _, p := range d.Conformance {
		if p.Contender == c.Contender && p.Probe == probes && (c.Workload == "" || c.Workload == p.Workload) {
			n += p.Cases
		}
	}
	return n
}

// successes says how rare failures are at most where none of n operations
// failed: 3/n, with 95 % confidence.
//
// Hanley, Lippman-Hand: If nothing goes wrong, is everything all right? JAMA 249
// (1983).
func successes(d evidence.Evidence, c tare.Claim) (seen, none string) {
	const three = 3
	var n int64
	for _, s := range d.Slices {
		if s.Tau <= 1 && s.Contender == c.Contender && (c.Workload == "" || c.Workload == s.Workload) {
			n += s.Ops
		}
	}
	if n <= three {
		return "", "did nothing that was timed"
	}
	return fmt.Sprintf("none of %s timed operations failed; of all there could be, fewer than 1 in %s would (95 %%)", whole(n), whole(n/three)), ""
}
