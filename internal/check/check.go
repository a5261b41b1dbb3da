// Package check has the rules that decide whether a measurement counts. A check reads what was
// recorded and yields findings: void (the trial or verdict does not count), warn, or note, each
// with what to do about it. If the evidence a check needs is missing it is not applicable and finds
// nothing.
//
// One file per check; docs/checks.md is generated from [All].
package check

import (
	"fmt"
	"slices"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/evidence"
)

//go:generate go test . -run TestDocsAreCurrent -update

// Input holds the records that checks read. Missing ones make the checks that need them not
// applicable.
type Input struct {
	evidence.Evidence
	Effects     []tare.Effects // as judge.Effects gives them
	Comparisons []tare.Comparison
	Scaling     []tare.Scaling // as judge.Scaling gives them
	Values      []tare.Value
	Machine     tare.Machine
	Stored      *tare.Result // an older result of the same study; may be nil
}

// Check is one validity rule.
type Check struct {
	ID       string
	Severity tare.Severity // of its findings, at worst
	Summary  string        // what it looks at and when it fires
	Why      string        // the mistake it exists to catch
	Advice   string        // what to do about a finding

	authors   bool // Advice is for who can change the contender; who cannot gets borrowedAdvice
	failures  bool // it also receives failed trials; others do not
	atEnd     bool // it finds nothing before the study has stopped
	everybody bool // its voids name a workload and no contender, so that no trap can be expected to be void by it

	// suspects lists what a statistical check could void a contender for. It is
	// nil for a check that leaves nothing to chance.
	suspects func(in Input, contender string) []suspicion

	// Run yields findings. It sets contender, workload and message, and severity and advice if they
	// differ from the check's.
	Run func(Input) []tare.Finding
}

// All lists the checks in the order in which findings are reported.
func All() []Check {
	return []Check{
		build(), trial(), identity(), fixtureCardinality(), wrongAnswer(), negativeProbe(), semanticDiff(), errorInLoop(), allocFloor(),
		delivered(), bodyConsumed(), doesWork(), partWhole(), driftInTrial(), control(),
		rateHeld(), generatorHeadroom(), little(), accounting(), timeoutsCounted(),
		sizeScaling(), sliceInvariance(), cutShort(), carryOver(), sumsDisagree(), autocorrelation(), bimodal(),
		connectionParity(), outputParity(), layerParity(), bodyParity(), sharedProcess(),
		discriminating(), sink(), machine(), nullShare(), stale(),
	}
}

// Expectable reports whether a trap can be expected to be void by the check.
func (c Check) Expectable() bool { return c.Severity == tare.Void && !c.everybody }

// Statistical reports whether the check with that id judges by how figures vary
// over rounds. Others look at answers, binaries and single operations.
func Statistical(id string) bool {
	c, ok := Named(id)
	return ok && c.suspects != nil
}

// Named finds a check by its id.
func Named(id string) (Check, bool) {
	for _, c := range All() {
		if c.ID == id {
			return c, true
		}
	}
	return Check{}, false
}

// borrowedAdvice is for users of contenders that they cannot change.
const borrowedAdvice = "do not take it for this input, and report it with this message to whoever maintains it"

// runAndComplete runs the check and sets the check, severity and advice of its findings.
func (c Check) runAndComplete(in Input) []tare.Finding {
	if c.atEnd && !in.Final {
		return nil
	}
	out := c.Run(in)
	for i := range out {
		f := &out[i]
		f.Check = c.ID
		if f.Severity == "" {
			f.Severity = c.Severity
		}
		switch {
		case f.Advice != "":
		case c.authors && in.Study.Borrowed:
			f.Advice = borrowedAdvice
		default:
			f.Advice = c.Advice
		}
		f.Expected = f.Severity == tare.Void && in.mustBeVoid(f.Contender, c.ID)
	}
	return out
}

// Run runs every check. A void that a trap is expected to come out with is
// marked so.
func Run(in Input) []tare.Finding {
	var out []tare.Finding
	counting := in.withoutVoid()
	for _, c := range All() {
		of := counting
		if c.failures {
			of = in
		}
		out = append(out, c.runAndComplete(of)...)
	}
	return out
}

// mustBeVoid reports whether contender must be void by check.
func (in Input) mustBeVoid(contender, check string) bool {
	c, ok := in.Contender(contender)
	return ok && slices.Contains(c.Expect.Void, check)
}

// roleOf returns "" for a contender that is not in the study.
func (in Input) roleOf(id string) tare.Role {
	c, _ := in.Contender(id)
	return c.Role
}

// strict is the error level at which relations are judged. tolerance is the relative deviation that
// is permitted in addition: a finding needs an interval entirely beyond it.
const (
	strict    = 0.001
	tolerance = 0.03
)

// formatNumber returns x with three significant digits, or as an integer from 100 on.
func formatNumber(x float64) string {
	if x >= 100 {
		return fmt.Sprintf("%.0f", x)
	}
	return fmt.Sprintf("%.3g", x)
}
