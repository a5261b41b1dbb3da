package pace

import (
	"slices"
	"testing"
	"time"
)

// The shares of any profile together are the profile.
func TestSharesAreTheWhole(t *testing.T) {
	for _, whole := range []Profile{Constant{6000}, Poisson{900}, Ramp{100, 5000, time.Second}, Step{Rates: []float64{100, 500}, Each: time.Second}} {
		const n, seed = 3000, 7
		next := whole.Times(seed)
		var want []time.Duration
		for range n {
			want = append(want, next())
		}
		var got []time.Duration
		for i := range 3 {
			next := Share{Whole: whole, Index: i, Of: 3}.Times(seed)
			for range n / 3 {
				got = append(got, next())
			}
		}
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("%s: the shares are not the whole", whole)
		}
		if mean := (Share{Whole: whole, Of: 3}).Mean(time.Second); mean != whole.Mean(time.Second)/3 {
			t.Errorf("%s: mean %g", whole, mean)
		}
	}
	if got := (Share{Whole: Constant{6000}, Index: 1, Of: 3}).String(); got != "2 of 3 of 6000/s" {
		t.Error(got)
	}
}
