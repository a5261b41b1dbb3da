package tare

import "testing"

func TestATrapIsAsGoodAsItsWorstExpectation(t *testing.T) {
	for _, c := range []struct {
		of   []TrapOutcome
		want TrapOutcome
	}{
		{nil, ""},
		{[]TrapOutcome{Caught, Caught}, Caught},
		{[]TrapOutcome{Caught, NotEnoughEvidence, Caught}, NotEnoughEvidence},
		{[]TrapOutcome{NotEnoughEvidence, Missed, Caught}, Missed},
	} {
		r := Result{Expectations: []Expectation{{Contender: "other", Outcome: Missed}}}
		for _, o := range c.of {
			r.Expectations = append(r.Expectations, Expectation{Contender: "trap", Outcome: o})
		}
		if got := r.OutcomeOf("trap"); got != c.want {
			t.Errorf("%q became %q, want %q", c.of, got, c.want)
		}
	}
}
