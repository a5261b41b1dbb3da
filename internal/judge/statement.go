package judge

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/evidence"
)

// judgeStatement judges a claim without figures by the check that it names. A finding of the check
// about the contender refutes the claim, or makes it void if everything meets the criterion. The
// absence of findings is no proof: the claim holds only if the check reports how many cases it
// inspected, and only for these cases and this implementation.
func (b *rulingData) judgeStatement(r *tare.ClaimResult, c tare.Claim) {
	r.Evidence = "check " + c.Check
	if len(c.Except) > 0 && b.judgeWithExceptions(r, c) {
		return // otherwise the claim is judged like one without exceptions
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
	describe, ok := caseDescribers()[c.Check]
	if !ok {
		setNotMeasured(r, fmt.Sprintf("the check %s found nothing, which proves nothing by itself", c.Check))
		return
	}
	cases, missing := describe(b.d, c)
	if missing != "" {
		setNotMeasured(r, c.Contender+" "+missing)
		return
	}
	r.Outcome, r.Why = tare.Holds, "of this implementation: "+cases
}

// judgeWithExceptions judges a claim about semantics that excepts some properties (c.Except): only
// differences in other properties refute it. It returns false, and does not judge the claim, if the
// contender took no semantics test.
func (b *rulingData) judgeWithExceptions(r *tare.ClaimResult, c tare.Claim) bool {
	i := slices.IndexFunc(b.d.Semantics, func(s tare.Semantics) bool { return s.Contender == c.Contender && s.Cases > 0 })
	if i < 0 {
		return false
	}
	tested := b.d.Semantics[i]
	var differences, properties []string // differences in words, and the properties that they are in
	excepted := 0
	for _, d := range tested.Differences {
		if slices.Contains(c.Except, d.Property) {
			excepted++
			continue
		}
		differences = append(differences, d.Says)
		if !slices.Contains(properties, d.Property) {
			properties = append(properties, d.Property)
		}
	}
	exceptions := fmt.Sprintf("%s set aside (%d of %d answers)", strings.Join(c.Except, " and "), excepted, tested.Cases)
	if len(differences) == 0 {
		r.Outcome, r.Why = tare.Holds, fmt.Sprintf("with %s, each other answer is %s's", exceptions, tested.Reference)
		return true
	}
	r.Outcome = tare.Refuted
	r.Why = fmt.Sprintf("with %s, as the write-up does, %d others are not %s's (%s): it %s", exceptions, len(differences), tested.Reference, strings.Join(properties, ", "), differences[0])
	return true
}

// cannotFail is the check for criteria that every contender meets: a claim that a contender meets such
// a criterion is true but meaningless.
const cannotFail = "discriminating"

// caseDescribers returns, for each check that reports how many cases it inspected, a function that
// describes the cases of a claim's contender: a sentence about them, or if there are no cases, a
// predicate about the contender that says so.
func caseDescribers() map[string]func(d evidence.Evidence, c tare.Claim) (cases, missing string) {
	return map[string]func(evidence.Evidence, tare.Claim) (string, string){
		"semantic-diff":  describeSemantics,
		"negative-probe": describeRejections,
		"wrong-answer":   describeCorrect,
		"error-in-loop":  describeSuccesses,
	}
}

func describeSemantics(d evidence.Evidence, c tare.Claim) (cases, missing string) {
	for _, s := range d.Semantics {
		if s.Contender == c.Contender && s.Cases > 0 {
			return fmt.Sprintf("each of %d answers is %s's", s.Cases, s.Reference), ""
		}
	}
	return "", "was asked none of the cases on which implementations differ"
}

func describeRejections(d evidence.Evidence, c tare.Claim) (cases, missing string) {
	if n := countCases(d, c, true); n > 0 {
		return fmt.Sprintf("each of %d probes came out as the reference has it", n), ""
	}
	return "", "was asked for nothing that must be refused"
}

func describeCorrect(d evidence.Evidence, c tare.Claim) (cases, missing string) {
	if n := countCases(d, c, false); n > 0 {
		return fmt.Sprintf("each of %s answers is the reference's", groupThousands(int64(n))), ""
	}
	return "", "was asked for no answer"
}

// countCases returns the number of conformance cases of a claim's contender: those of probes, which
// must be rejected, or all others.
func countCases(d evidence.Evidence, c tare.Claim, probes bool) int {
	n := 0
	for _, p := range d.Conformance {
		if p.Contender == c.Contender && p.Probe == probes && (c.Workload == "" || c.Workload == p.Workload) {
			n += p.Cases
		}
	}
	return n
}

// describeSuccesses describes the timed operations of a claim's contender, none of which failed. The
// rule of three gives the upper bound of their failure rate: 3/n, with 95 % confidence.
//
// Source: J. A. Hanley, A. Lippman-Hand, "If nothing goes wrong, is everything all right?", JAMA 249
// (1983) 1743–1745.
func describeSuccesses(d evidence.Evidence, c tare.Claim) (cases, missing string) {
	const three = 3 // about −ln(1−0.95)
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
