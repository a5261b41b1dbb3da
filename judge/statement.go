package judge

import (
	"fmt"
	"slices"

	"github.com/tarebench/tare"
)

// Checks of which it is known whether they had cases to look at: one reads
// Data.Semantics, the other Data.Conformance.
const (
	semanticDiff  = "semantic-diff"
	negativeProbe = "negative-probe"
)

// statement answers a claim without figures by the check it names: what the
// check finds about the contender refutes it. That a check found nothing proves
// nothing by itself; only where it is known to have had cases to look at does the
// statement hold.
func (b *bench) statement(r *tare.ClaimResult, c tare.Claim) {
	r.Evidence = "check " + c.Check
	for _, f := range b.findings {
		if f.Check == c.Check && f.Covers(c.Contender, c.Workload) {
			r.Outcome, r.Why = tare.Refuted, f.Message
			return
		}
	}
	i := slices.IndexFunc(b.d.Semantics, func(s tare.Semantics) bool { return s.Contender == c.Contender && s.Cases > 0 })
	probes := 0
	for _, p := range b.d.Conformance {
		if p.Probe && p.Contender == c.Contender {
			probes += p.Cases
		}
	}
	switch {
	case c.Check == negativeProbe && probes == 0:
		notMeasured(r, c.Contender+" was asked for nothing that must be refused")
	case c.Check == negativeProbe:
		r.Outcome = tare.Holds
		r.Why = fmt.Sprintf("each of %d probes came out as the reference has it", probes)
	case c.Check != semanticDiff:
		notMeasured(r, fmt.Sprintf("the check %s found nothing, which proves nothing by itself", c.Check))
	case i < 0:
		notMeasured(r, c.Contender+" was asked none of the cases on which implementations differ")
	default:
		s := b.d.Semantics[i]
		r.Outcome = tare.Holds
		r.Why = fmt.Sprintf("each of %d answers is %s's", s.Cases, s.Reference)
	}
}
