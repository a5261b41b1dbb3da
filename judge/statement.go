package judge

import (
	"fmt"
	"slices"

	"github.com/tarebench/tare"
)

// semanticDiff is the check that reads Data.Semantics.
const semanticDiff = "semantic-diff"

// statement answers a claim without figures by the check it names: what the
// check finds about the contender refutes it, and where the check had something
// to look at and found nothing it holds.
func (b *bench) statement(r *tare.ClaimResult, c tare.Claim) {
	for _, f := range b.findings {
		if f.Check == c.Check && f.Covers(c.Contender, c.Workload) {
			r.Outcome, r.Evidence, r.Why = tare.Refuted, "check "+c.Check, f.Message
			return
		}
	}
	i := slices.IndexFunc(b.d.Semantics, func(s tare.Semantics) bool { return s.Contender == c.Contender && s.Cases > 0 })
	switch {
	case c.Check != semanticDiff:
		r.Why = fmt.Sprintf("check %s found nothing", c.Check)
	case i < 0:
		notMeasured(r, c.Contender+" was asked none of the cases on which implementations differ")
		return
	default:
		s := b.d.Semantics[i]
		r.Why = fmt.Sprintf("check %s: each of %d answers is %s's", c.Check, s.Cases, s.Reference)
	}
	r.Outcome, r.Evidence = tare.Holds, "check "+c.Check
}
