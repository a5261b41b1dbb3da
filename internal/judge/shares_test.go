package judge

import (
	"testing"

	"github.com/tarebench/tare"
)

// TestSharesOfAWhole: figures of a whole come in the claim's unit, where both sides
// were measured.
func TestSharesOfAWhole(t *testing.T) {
	claim := published(2.6, 0.05, "")
	claim.Unit, claim.Whole, claim.WholeOf = "ms/frame", 16.6, "a frame"
	values := []tare.Value{
		{Workload: "w", Contender: "lean", Metric: "time", Value: 40e3, Low: 38e3, High: 44e3, Unit: "ns/op"},
		{Workload: "w", Contender: base, Metric: "time", Value: 4e6, Low: 3.5e6, High: 4.5e6, Unit: "ns/op"},
	}
	d := asking()
	d.Study.Claims = []tare.Claim{claim}
	ask := func(values []tare.Value) *tare.Shares {
		return Claims(d, []tare.Comparison{row(0.01, 0.009, 0.011), controlRow(1/1.02, 1.02)}, values, nil, nil)[0].Shares
	}
	want := tare.Shares{
		Whole: 16.6, WholeOf: "a frame", Unit: "ms/frame", Against: base, Published: 0.05, PublishedBaseline: 2.6,
		Measured: 0.04, Low: 0.038, High: 0.044, Baseline: 4, BaselineLow: 3.5, BaselineHigh: 4.5,
	}
	if got := ask(values); got == nil || *got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	if got := ask(values[:1]); got != nil {
		t.Errorf("without the baseline: %+v", got)
	}
	values[0].Struck = true
	if got := ask(values); got != nil {
		t.Errorf("of what may not be used: %+v", got)
	}
	values[0].Struck = false
	d.Study.Claims[0].Whole = 0
	if got := ask(values); got != nil {
		t.Errorf("of no whole: %+v", got)
	}
}
