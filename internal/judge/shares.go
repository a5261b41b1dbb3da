package judge

import (
	"slices"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/evidence"
)

// findShares returns the published and the measured values of a claim, together with their total
// c.Whole. For example, both are parts of the 16.6 ms of a frame. It returns nil if the claim has
// no total, or if a value is void or was not measured.
func findShares(d evidence.Evidence, c tare.Claim, values []tare.Value) *tare.Shares {
	ns, ok := c.Nanoseconds() // number of ns in the unit of the claim
	if !ok || !(c.Whole > 0) {
		return nil
	}
	subject, okSubject := claimValue(values, c, c.Contender)
	base, okBase := claimValue(values, c, d.Study.Baseline)
	areMeasured := okSubject && okBase
	if !areMeasured || subject.Struck || base.Struck {
		return nil
	}
	return &tare.Shares{
		Whole: c.Whole, WholeOf: c.WholeOf, Unit: c.Unit, Against: d.Study.Baseline, Published: c.Value, PublishedBaseline: c.Baseline,
		Measured: subject.Value / ns, Low: subject.Low / ns, High: subject.High / ns,
		Baseline: base.Value / ns, BaselineLow: base.Low / ns, BaselineHigh: base.High / ns,
	}
}

func claimValue(values []tare.Value, c tare.Claim, contender string) (v tare.Value, ok bool) {
	i := slices.IndexFunc(values, func(v tare.Value) bool {
		return v.Contender == contender && v.Workload == c.Workload && v.Metric == c.Metric
	})
	if i < 0 {
		return tare.Value{}, false
	}
	return values[i], true
}
