package judge

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/evidence"
)

// This file judges published claims without figures, such as "a drop-in replacement". A check of
// package check decides them.

// checkDiscriminating is the id of the check that finds criteria which every contender meets. A claim
// that a contender meets one is true but meaningless.
const checkDiscriminating = "discriminating"

// judgeStatement judges a claim without figures, such as "a drop-in replacement", by the check that it
// names. A finding of the check refutes the claim. Without a finding, the claim holds only if it is
// known how many cases the check inspected, because no finding proves nothing by itself.
func (j *judge) judgeStatement(r *tare.ClaimResult, c tare.Claim) {
	r.Evidence = "check " + c.Check
	if len(c.Except) > 0 && j.judgeWithExceptions(r, c) {
		return
	}
	for _, f := range j.findings {
		if f.Check == c.Check && f.Covers(c.Contender, c.Workload) {
			r.Outcome, r.Why = tare.Refuted, f.Message
			if c.Check == checkDiscriminating {
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
	cases, missing := describe(j.evidence, c)
	if missing != "" {
		setNotMeasured(r, c.Contender+" "+missing)
		return
	}
	r.Outcome, r.Why = tare.Holds, "of this implementation: "+cases
}

// judgeWithExceptions judges a claim that outputs equal the reference's, except in the properties
// c.Except. It returns false, and leaves the claim unjudged, if the contender took no semantics test.
// Then the findings of the check decide, as for claims without exceptions.
func (j *judge) judgeWithExceptions(r *tare.ClaimResult, c tare.Claim) bool {
	i := slices.IndexFunc(j.evidence.Semantics, func(s tare.Semantics) bool { return s.Contender == c.Contender && s.Cases > 0 })
	if i < 0 {
		return false
	}
	tested := j.evidence.Semantics[i]
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
	exceptions := fmt.Sprintf("%s (%d of %d answers)", strings.Join(c.Except, " and "), excepted, tested.Cases)
	if len(differences) == 0 {
		r.Outcome = tare.Holds
		r.Why = fmt.Sprintf("apart from %s, all answers equal those of %s", exceptions, tested.Reference)
		return true
	}
	r.Outcome = tare.Refuted
	r.Why = fmt.Sprintf("apart from %s, %d answers differ from those of %s (%s); for example, it %s",
		exceptions, len(differences), tested.Reference, strings.Join(properties, ", "), differences[0])
	return true
}

// caseDescriber describes the cases of a claim's contender that a check inspected, e.g. "each of 12
// answers is encoding-json's". If there were none, missing says so: "took no semantics test".
type caseDescriber func(d evidence.Evidence, c tare.Claim) (cases, missing string)

// caseDescribers returns the describers by the id of the check.
func caseDescribers() map[string]caseDescriber {
	return map[string]caseDescriber{
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
	return "", "took no semantics test"
}

func describeRejections(d evidence.Evidence, c tare.Claim) (cases, missing string) {
	if n, _ := countCases(d, c); n > 0 {
		return fmt.Sprintf("each of %d probes has the same result as with the reference", n), ""
	}
	return "", "got no request that must be rejected"
}

func describeCorrect(d evidence.Evidence, c tare.Claim) (cases, missing string) {
	if _, n := countCases(d, c); n > 0 {
		return fmt.Sprintf("each of %s answers is the reference's", groupThousands(strconv.Itoa(n))), ""
	}
	return "", "gave no answer to compare with the reference"
}

// countCases returns the numbers of probes, requests that must be rejected, and of other answers.
func countCases(d evidence.Evidence, c tare.Claim) (probes, answers int) {
	for _, x := range d.Conformance {
		isInClaim := x.Contender == c.Contender && (c.Workload == "" || c.Workload == x.Workload)
		switch {
		case isInClaim && x.Probe:
			probes += x.Cases
		case isInClaim:
			answers += x.Cases
		}
	}
	return probes, answers
}

// describeSuccesses describes the timed operations, none of which failed. By the rule of three,
// their failure rate is below 3/n with 95 % confidence.
//
// Source: J. A. Hanley, A. Lippman-Hand, "If nothing goes wrong, is everything all right?", JAMA
// 249 (1983) 1743–1745.
func describeSuccesses(d evidence.Evidence, c tare.Claim) (cases, missing string) {
	const three = 3 // about −ln(1−0.95), because (1−p)^n is about e^(−np)
	var n int64
	for _, s := range d.Slices {
		isLonger := s.Tau > 1 // of an extra round
		isInClaim := s.Contender == c.Contender && (c.Workload == "" || c.Workload == s.Workload)
		if isInClaim && !isLonger {
			n += s.Ops
		}
	}
	if n <= three {
		return "", "has too few timed operations"
	}
	return fmt.Sprintf("none of %s timed operations failed; of all there could be, fewer than 1 in %s would (95 %%)", groupThousands(fmt.Sprint(n)), groupThousands(fmt.Sprint(n/three))), ""
}
