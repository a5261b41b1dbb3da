package judge

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/evidence"
)

// judgeStatement judges a claim without figures by the check it names: a finding about the
// contender refutes it, or shows that it says nothing. That a check found nothing proves nothing by
// itself; only if the check is known to have inspected cases does the statement hold, for those
// cases and this implementation.
func (b *rulingData) judgeStatement(r *tare.ClaimResult, c tare.Claim) {
	r.Evidence = "check " + c.Check
	if len(c.Except) > 0 && b.beyondCaveat(r, c) {
		return
	}
	for _, f := range b.findings {
		if f.Check == c.Check && f.Covers(c.Contender, c.Workload) {
			r.Outcome, r.Why = tare.Refuted, f.Message
			if c.Check == cannotFail {
				r.Outcome = tare.VoidAsPublished
			}
			return
		}
	}
	looked, known := casesByCheck()[c.Check]
	if !known {
		setNotMeasured(r, fmt.Sprintf("the check %s found nothing, which proves nothing by itself", c.Check))
		return
	}
	found, none := looked(b.d, c)
	if none != "" {
		setNotMeasured(r, c.Contender+" "+none)
		return
	}
	r.Outcome, r.Why = tare.Holds, "of this implementation: "+found
}

// beyondCaveat answers a statement about meanings that excludes some properties itself: only the
// other differences refute it. It returns false if the contender was not tested.
func (b *rulingData) beyondCaveat(r *tare.ClaimResult, c tare.Claim) bool {
	i := slices.IndexFunc(b.d.Semantics, func(s tare.Semantics) bool { return s.Contender == c.Contender && s.Cases > 0 })
	if i < 0 {
		return false
	}
	of := b.d.Semantics[i]
	var says, properties []string
	aside := 0
	for _, d := range of.Differences {
		if slices.Contains(c.Except, d.Property) {
			aside++
			continue
		}
		says = append(says, d.Says)
		if !slices.Contains(properties, d.Property) {
			properties = append(properties, d.Property)
		}
	}
	caveat := fmt.Sprintf("%s set aside (%d of %d answers)", strings.Join(c.Except, " and "), aside, of.Cases)
	if len(says) == 0 {
		r.Outcome, r.Why = tare.Holds, fmt.Sprintf("with %s, each other answer is %s's", caveat, of.Reference)
		return true
	}
	r.Outcome = tare.Refuted
	r.Why = fmt.Sprintf("with %s, as the write-up does, %d others are not %s's (%s): it %s", caveat, len(says), of.Reference, strings.Join(properties, ", "), says[0])
	return true
}

// cannotFail is the check for criteria that everything meets: a statement about one is true and
// meaningless.
const cannotFail = "discriminating"

// casesByCheck returns the checks that report how many cases they inspected. Each function returns
// a sentence about a claim's contender, or else that nothing was seen.
func casesByCheck() map[string]func(d evidence.Evidence, c tare.Claim) (seen, none string) {
	return map[string]func(evidence.Evidence, tare.Claim) (string, string){
		"semantic-diff":  describeMeanings,
		"negative-probe": describeRejections,
		"wrong-answer":   describeCorrect,
		"error-in-loop":  describeSuccesses,
	}
}

func describeMeanings(d evidence.Evidence, c tare.Claim) (seen, none string) {
	for _, s := range d.Semantics {
		if s.Contender == c.Contender && s.Cases > 0 {
			return fmt.Sprintf("each of %d answers is %s's", s.Cases, s.Reference), ""
		}
	}
	return "", "was asked none of the cases on which implementations differ"
}

func describeRejections(d evidence.Evidence, c tare.Claim) (seen, none string) {
	if n := countCases(d, c, true); n > 0 {
		return fmt.Sprintf("each of %d probes came out as the reference has it", n), ""
	}
	return "", "was asked for nothing that must be refused"
}

func describeCorrect(d evidence.Evidence, c tare.Claim) (seen, none string) {
	if n := countCases(d, c, false); n > 0 {
		return fmt.Sprintf("each of %s answers is the reference's", groupThousands(int64(n))), ""
	}
	return "", "was asked for no answer"
}

// countCases returns the number of conformance cases of a claim's contender.
func countCases(d evidence.Evidence, c tare.Claim, probes bool) int {
	n := 0
	for _, p := range d.Conformance {
		if p.Contender == c.Contender && p.Probe == probes && (c.Workload == "" || c.Workload == p.Workload) {
			n += p.Cases
		}
	}
	return n
}

// describeSuccesses returns the upper bound of the failure rate if none of n operations failed:
// 3/n, with 95 % confidence.
//
// Hanley, Lippman-Hand: If nothing goes wrong, is everything all right? JAMA 249 (1983).
func describeSuccesses(d evidence.Evidence, c tare.Claim) (seen, none string) {
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
	return fmt.Sprintf("none of %s timed operations failed; of all there could be, fewer than 1 in %s would (95 %%)", groupThousands(n), groupThousands(n/three)), ""
}
