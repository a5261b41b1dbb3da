package tare_test

import (
	"testing"

	"github.com/tarebench/tare"
)

// Who sleeps has less CPU time in its time than the other side has. Where other
// programs take the processors, both sides have less, and nobody waits.
func TestWaits(t *testing.T) {
	for _, c := range []struct {
		name                       string
		wallFrom, wallTo, from, to float64
		want                       bool
	}{
		{"computes more", 100, 150, 99, 149, false},
		{"sleeps", 100, 50_100, 99, 3000, true},
		{"sleeps among other programs", 300, 150_000, 100, 4000, true},
		{"computes more among other programs", 300, 900, 100, 300, false},
		{"computes more on two processors", 100, 150, 150, 220, false},
		{"both sleep, one longer", 50_000, 100_000, 3000, 3500, true},
		{"less time", 50_000, 100, 3000, 99, false},
		{"no CPU time seen", 1000, 5000, 0, 0, true},
	} {
		e := tare.Explanation{Rounds: 2, Ops: 1e6, WallFrom: c.wallFrom, WallTo: c.wallTo, From: c.from, To: c.to}
		if got := e.Waits(); got != c.want {
			t.Errorf("%s: waits %v (%.0f ns/op)", c.name, got, e.Waiting())
		}
		if e.Ops = 100; e.Waits() {
			t.Errorf("%s: reported after %.0f ns", c.name, 200*c.wallTo)
		}
	}
}
