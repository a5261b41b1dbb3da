package judge

import (
	"slices"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/evidence"
)

// findShares returns the values of a claim as shares of the total that it states (c.Whole). It
// returns nil if the claim states no total, or if a value was not measured or is void.
func findShares(d evidence.Evidence, c tare.Claim, values []tare.Value) *tare.Shares {
	ns, ok := c.Nanoseconds()
	if !ok || !(c.Whole > 0) {
		return nil
	}
	find := func(id string) (tare.Value, bool) {
		i := slices.IndexFunc(values, func(v tare.Value) bool {
			return v.Contender == id && v.Workload == c.Workload && v.Metric == c.Metric && !v.Struck
		})
		if i < 0 {
			return tare.Value{}, false
		}
		return values[i], true
	}
	subject, okSubject := find(c.Contender)
	base, okBase := find(d.Study.Baseline)
	if !okSubject || !okBase {
		return nil
	}
	return &tare.Shares{
		Whole: c.Whole, WholeOf: c.WholeOf, Unit: c.Unit, Against: d.Study.Baseline, Published: c.Value, PublishedBaseline: c.Baseline,
		Measured: subject.Value / ns, Low: subject.Low / ns, High: subject.High / ns,
		Baseline: base.Value / ns, BaselineLow: base.Low / ns, BaselineHigh: base.High / ns,
	}
}
