// Package check has the rules that decide whether a measurement counts. [Run] passes the records of
// a study to every check. A check returns findings, each with advice. For example, it voids a
// server that lost events which it had acknowledged. A check without the records that it reads
// finds nothing.
//
// A study compares contenders on workloads. In each round it starts one process of each contender,
// a trial. A trial runs operations in slices, timed runs of some milliseconds. A trap is a contender
// that reproduces a published mistake: the study expects a check to void it. Each check has a file
// and a function with its name, such as little for Little's law. docs/checks.md is generated from
// [All].
package check

import (
	"fmt"
	"slices"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/evidence"
)

//go:generate go test . -run TestDocsAreCurrent -update

// Input contains the records that checks read.
type Input struct {
	evidence.Evidence                // the study, its contenders, trials, slices and answers
	Effects           []tare.Effects // from judge.Effects
	Comparisons       []tare.Comparison
	Scaling           []tare.Scaling // from judge.Scaling
	Values            []tare.Value
	Machine           tare.Machine
	Stored            *tare.Result // an older result of the same study, or nil
}

// Check is one validity rule.
type Check struct {
	ID       string
	Severity tare.Severity // the highest severity of its findings
	Summary  string        // what the check compares, and when it reports a finding
	Why      string        // the mistake that the check exists to catch
	Advice   string        // what to do about a finding

	adviceIsForAuthors bool // Advice is for the contender's author; borrowers get borrowedAdvice
	includesFailures   bool // Run also receives trials that do not count
	onlyAtEnd          bool // Run is called only after the study has stopped
	voidsWorkload      bool // a finding voids a workload of all contenders, not only that of a trap

	// voidReasons returns the reasons for which the check could void contender, with the evidence
	// for each. It is set if rounds of measurements are the evidence, of which there may be too
	// few. It is nil if one trial of the contender is enough.
	voidReasons func(in Input, contender string) []voidReason

	// Run returns findings with contender, workload and message. It may override severity and
	// advice.
	Run func(Input) []tare.Finding
}

// All lists the checks in the order in which findings are reported.
func All() []Check {
	return []Check{
		build(), trial(), identity(), fixtureCardinality(), wrongAnswer(), negativeProbe(), semanticDiff(), errorInLoop(), allocFloor(),
		deliveredEvents(), bodyConsumed(), doesWork(), partWhole(), driftInTrial(), control(),
		rateHeld(), generatorHeadroom(), little(), accounting(), timeoutsCounted(),
		sizeScaling(), sliceInvariance(), cutShort(), carryOver(), sumsDisagree(), autocorrelation(), bimodal(),
		connectionParity(), outputParity(), layerParity(), bodyParity(), sharedProcess(),
		discriminating(), sink(), machine(), nullShare(), stale(),
	}
}

// Expectable reports whether a study can expect the check to void a trap.
func (c Check) Expectable() bool { return c.Severity == tare.Void && !c.voidsWorkload }

// Statistical reports whether the check with that id judges values of rounds, which vary by chance.
// Those checks have voidReasons. Other checks inspect responses, binaries and single operations.
func Statistical(id string) bool {
	c, ok := Named(id)
	return ok && c.voidReasons != nil
}

// Named returns the check with that id.
func Named(id string) (c Check, ok bool) {
	for _, c := range All() {
		if c.ID == id {
			return c, true
		}
	}
	return Check{}, false
}

// borrowedAdvice is for users who borrowed the contenders from another study.
const borrowedAdvice = "do not take it for this input, and report it with this message to its maintainer"

// runAndComplete runs a check and sets the fields of its findings that Run leaves out.
func (c Check) runAndComplete(in Input) []tare.Finding {
	if c.onlyAtEnd && !in.Final {
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
		case c.adviceIsForAuthors && in.Study.Borrowed:
			f.Advice = borrowedAdvice
		default:
			f.Advice = c.Advice
		}
		f.Expected = f.Severity == tare.Void && in.mustBeVoid(f.Contender, c.ID)
	}
	return out
}

// Run runs every check and returns all findings. A finding that voids a trap, as the study expects, is
// marked as expected.
func Run(in Input) []tare.Finding {
	var out []tare.Finding
	counted := in.withoutVoid()
	for _, c := range All() {
		records := counted
		if c.includesFailures {
			records = in
		}
		out = append(out, c.runAndComplete(records)...)
	}
	return out
}

// mustBeVoid reports whether the study expects the check to void the contender.
func (in Input) mustBeVoid(contender, check string) bool {
	c, ok := in.Contender(contender)
	return ok && slices.Contains(c.Expect.Void, check)
}

// roleOf returns the role of a contender, or "" if there is no such contender.
func (in Input) roleOf(id string) tare.Role {
	c, _ := in.Contender(id)
	return c.Role
}

const (
	strictLevel = 0.001 // error level: checks judge by intervals of 99.9 %
	tolerance   = 0.03  // relative deviation that checks permit
)

// formatNumber returns x with three significant digits, or as an integer from 100 on.
func formatNumber(x float64) string {
	if x >= 100 {
		return fmt.Sprintf("%.0f", x)
	}
	return fmt.Sprintf("%.3g", x)
}
