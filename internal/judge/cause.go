package judge

import (
	"fmt"
	"math"
	"slices"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/format"
)

// toldOn reports whether workload is where the decomposition that answers c is.
func (b *rulingData) toldOn(c tare.Claim, workload string) bool {
	return slices.ContainsFunc(b.d.Study.Decompose, func(d tare.Decompose) bool { return d.ID == c.Decomposition && d.Workload == workload })
}

// causeClaim answers a claim that all of a difference comes from some of the
// steps it is taken apart into: the shares of the others say whether it does.
func (b *rulingData) causeClaim(r *tare.ClaimResult, c tare.Claim) {
	i := slices.IndexFunc(b.d.Study.Decompose, func(d tare.Decompose) bool { return d.ID == c.Decomposition })
	if i < 0 {
		notMeasured(r, fmt.Sprintf("the study has no decomposition %q", c.Decomposition))
		return
	}
	asked := b.d.Study.Decompose[i]
	if why, ok := b.d.Measures(asked.Workload, asked.Metric); !ok && asked.Metric != "" {
		notMeasured(r, why)
		return
	}
	told := b.decompose(asked, Effects(b.d))
	r.Workload, r.Metric = told.Workload, told.Metric
	r.Evidence = fmt.Sprintf("decomposition %s, %s", told.ID, formatRounds(told.Whole.Rounds))
	switch {
	case len(told.Steps) < len(asked.Steps):
		notMeasured(r, told.Sentence)
		return
	case told.Steps[0].ShareLow == 0 && told.Steps[0].ShareHigh == 0:
		r.Outcome, r.Why = tare.ClaimOpen, told.Sentence
		return
	}
	var others, shown []tare.Cause
	small := true
	for _, s := range told.Steps {
		if slices.Contains(c.Causes, s.To) {
			continue
		}
		others = append(others, s)
		if s.ShareLow > 0 || s.ShareHigh < 0 {
			shown = append(shown, s)
		}
		small = small && math.Max(math.Abs(s.ShareLow), math.Abs(s.ShareHigh)) <= tieWithin-1
	}
	switch {
	case small:
		r.Outcome, r.Why = tare.Holds, "no other cause can have more than "+format.Percent(tieWithin-1)+" of the difference"
	case len(shown) > 0:
		r.Outcome, r.Why = tare.Refuted, "of the difference, "+listed(shown)
	default:
		r.Outcome, r.Why = tare.ClaimOpen, "more rounds are needed: of the difference, "+listed(others)
	}
}
