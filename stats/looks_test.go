package stats

import (
	"slices"
	"testing"
)

func TestLooks(t *testing.T) {
	for _, c := range []struct {
		rounds int
		want   []int
	}{
		{-1, nil}, {0, nil}, {1, []int{1}}, {7, []int{7}}, {8, []int{8}}, {9, []int{8, 9}}, {12, []int{8, 12}},
		{35, []int{8, 12, 18, 27, 35}}, {80, []int{8, 12, 18, 27, 40, 60, 80}},
		{180, []int{8, 12, 18, 27, 40, 60, 80, 120, 180}}, {1000, []int{8, 12, 18, 27, 40, 60, 80, 120, 180, 270, 400, 600, 900, 1000}},
	} {
		if got := Looks(c.rounds); !slices.Equal(got, c.want) {
			t.Errorf("Looks(%d) = %v, want %v", c.rounds, got, c.want)
		}
	}
}

func TestLookLevelLaws(t *testing.T) {
	alphas := []float64{0.2, 0.05, 0.025, 0.05 / 3, 0.01, 0.003, 0.001, 0.0005, 0.0001, 0.00003}
	for i, alpha := range alphas {
		for looks := 1; looks <= 20; looks++ {
			a := LookLevel(alpha, looks)
			if a > alpha || a < 0 {
				t.Errorf("LookLevel(%g, %d) = %g", alpha, looks, a)
			}
			if looks > 1 && a > LookLevel(alpha, looks-1) {
				t.Errorf("LookLevel(%g, %d) = %g is above that of one look fewer", alpha, looks, a)
			}
			if i > 0 && a > LookLevel(alphas[i-1], looks) {
				t.Errorf("LookLevel(%g, %d) = %g is above that of a laxer level", alpha, looks, a)
			}
		}
		if got := LookLevel(alpha, 1); got != alpha {
			t.Errorf("one look at %g is tested at %g", alpha, got)
		}
	}
}

func TestLookLevelTable(t *testing.T) {
	if got := LookLevel(0.05, 7); got < 0.0115 || got > 0.0125 {
		t.Errorf("seven looks at 5 %% are tested at %g, want about 0.012", got)
	}
	// Computed in another order, found all the same.
	for m := 1; m <= 100; m++ {
		if got, want := LookLevel(0.05*(1/float64(m)), 4), LookLevel(0.05/float64(m), 4); got != want {
			t.Errorf("5 %%/%d: %g, %g", m, got, want)
		}
	}
	if got, want := LookLevel(0.01, 5), LookLevel(0.05/5, 5); got != want {
		t.Errorf("1 %% is %g, 5 %%/5 is %g", got, want)
	}
	if got, want := LookLevel(0.03, 5), LookLevel(0.025, 5); got != want {
		t.Errorf("3 %% gives %g, not the next tabulated %g", got, want)
	}
	if got, want := LookLevel(0.2, 5), 0.04; !isNear(got, want) {
		t.Errorf("above the table %g, want %g", got, want)
	}
	if got, want := LookLevel(0.00005, 5), 0.00001; !isNear(got, want) {
		t.Errorf("below the table %g, want %g", got, want)
	}
	if got, want := LookLevel(0.05, 16), 0.05/16; !isNear(got, want) {
		t.Errorf("beyond the table %g, want %g", got, want)
	}
	if got := LookLevel(0.05, 15); got < 0.0053 || got > 0.0060 {
		t.Errorf("fifteen looks at 5 %% are tested at %g, want about 0.0056", got)
	}
	if last := len(Looks(LastLook)); last != 15 {
		t.Errorf("%d looks, and levels for 15", last)
	}
	for m := 1; m <= 100; m++ {
		for looks := 2; looks <= 15; looks++ {
			alpha := 0.05 / float64(m)
			if got := LookLevel(alpha, looks); got < alpha/float64(looks) || got > alpha {
				t.Errorf("LookLevel(5 %%/%d, %d) = %g is outside Bonferroni … alpha", m, looks, got)
			}
		}
	}
}
