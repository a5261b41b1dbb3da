package judge

import (
	"testing"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/assert"
)

// A claim is quoted as a factor of 1 or more, with its figures in the unit of the publication.
func TestQuoteClaim(t *testing.T) {
	s := tare.Study{Baseline: "std", Claims: []tare.Claim{
		{ID: "fast", Kind: tare.ClaimRatio, Contender: "fast", Workload: "w", Metric: "time", Baseline: 91882, Value: 45478, Unit: "ns/op"},
		{ID: "rate", Kind: tare.ClaimRatio, Contender: "slow", Workload: "w", Metric: "time", Baseline: 0.13033, Value: 0.26189, Unit: "ms/request"},
		{ID: "against", Kind: tare.ClaimRatio, Contender: "fast", Workload: "w", Metric: "time", Of: tare.ClaimOf{Contender: "slow", Workload: "w", Metric: "time"}, Baseline: 4, Value: 1, Unit: "µs/op"},
	}}
	r := &tare.Result{}
	r.Contenders = []tare.Contender{{ID: "std", Role: tare.RoleBaseline}}
	for id, ns := range map[string]float64{"std": 95000, "fast": 56000, "slow": 190000} {
		r.Values = append(r.Values, tare.Value{Workload: "w", Contender: id, Metric: "time", Value: ns, Rounds: 12, Unit: "ns/op"})
	}
	result := func(id, contender string, published, measured, low, high float64, o tare.Outcome) tare.ClaimResult {
		return tare.ClaimResult{ID: id, Kind: tare.ClaimRatio, Contender: contender, Published: published, Measured: measured, Low: low, High: high, Outcome: o}
	}
	r.Claims = []tare.ClaimResult{
		result("fast", "fast", 0.49496, 0.59, 0.57, 0.61, tare.DirectionHolds),
		result("rate", "slow", 2.0094, 2.01, 1.95, 2.06, tare.Holds),
		result("against", "fast", 0.25, 1.3, 1.2, 1.4, tare.Refuted),
	}
	for text, want := range map[string]string{
		"{fast claim}":    "published 2.02× (91,882 and 45,478 ns/op); here 1.69× (1.64–1.75; 95,000 and 56,000 ns/op): the same is ahead, by less",
		"{fast factor}":   "1.7×",
		"{rate claim}":    "published 2.01× (7,673 and 3,818 requests/s); here 2.01× (1.95–2.06; 10,526 and 5,263 requests/s): confirmed",
		"{against claim}": "published 4.00× (4 and 1 µs/op); here 0.77× (0.71–0.83; 190 and 56 µs/op): the other is ahead",
		"{fast here}":     "1.69× (1.64–1.75; 95,000 and 56,000 ns/op)",
		"{against here}":  "0.77× (0.71–0.83; 190 and 56 µs/op), the other is ahead",
	} {
		got, err := Quote(s, r, text)
		assert.NoError(t, text, err)
		assert.Equal(t, text, got, want)
	}
	r.Claims[0].Outcome = tare.NotMeasured
	if _, err := Quote(s, r, "{fast claim}"); err == nil {
		t.Error("a claim that was not measured is quoted")
	}
}
