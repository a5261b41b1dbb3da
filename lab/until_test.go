package lab_test

import (
	"context"
	"testing"
	"time"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/lab"
	"github.com/tarebench/tare/lab/labtest"
)

// without is a study that asks nothing: two contenders, one half as fast, the
// other the baseline's equal.
func without() (tare.Study, labtest.Script) {
	s := script()
	s.Contenders["equal"] = s.Contenders["base"]
	asks := study()
	asks.Criteria = nil
	asks.Contenders = []tare.Entry{{ID: "base"}, {ID: "lean"}, {ID: "equal"}}
	return asks, s
}

// A study that goes on until it is decided ends at the look that finds every
// difference or excludes one of the size that was asked for, and needs no
// question of its own for that.
func TestUntilDecided(t *testing.T) {
	asks, s := without()
	o := options(t, s)
	o.Quick, o.User, o.Budget = false, true, time.Hour
	rounds := map[float64]int{}
	for _, effect := range []float64{0.10, 0.03} {
		o.Until = effect
		r, err := lab.Run(context.Background(), asks, freshDir(t, o))
		if err != nil {
			t.Fatal(err)
		}
		if r.Stopped != lab.Decided || r.Plan.Until != effect {
			t.Fatalf("until %v: stopped %q after %d rounds, the plan says %v", effect, r.Stopped, r.RoundsDone, r.Plan.Until)
		}
		rounds[effect] = r.RoundsDone
		if c := compared(t, r, "equal", "time"); c.Low < 1/(1+effect) || c.High > 1+effect {
			t.Errorf("until %v: the equal one is %v (%v to %v)", effect, c.Ratio, c.Low, c.High)
		}
		if c := compared(t, r, "lean", "time"); c.High > 0.55 {
			t.Errorf("until %v: the lean one is %v (%v to %v)", effect, c.Ratio, c.Low, c.High)
		}
		if last := r.Plan.Looks[len(r.Plan.Looks)-1]; last <= 180 {
			t.Errorf("until %v: an hour has looks up to %d rounds only", effect, last)
		}
	}
	if rounds[0.03] <= rounds[0.10] {
		t.Errorf("%d rounds exclude 3 %%, %d exclude 10 %%", rounds[0.03], rounds[0.10])
	}
	o.Until, o.Budget = 0.0001, 30*time.Second
	r, err := lab.Run(context.Background(), asks, freshDir(t, o))
	if err != nil {
		t.Fatal(err)
	}
	if r.Stopped == lab.Decided {
		t.Errorf("0.01 %% was decided in half a minute: %+v", compared(t, r, "equal", "time"))
	}
}
