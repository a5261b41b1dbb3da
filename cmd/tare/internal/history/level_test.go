package history

import (
	"math"
	"slices"
	"testing"
)

// machineWith returns two series whose ratios stay near 1. From run step on, unless step is 0, the
// ratios of the first series are multiplied by times.
func machineWith(runs, step int, times float64) Machine {
	m := Machine{Runs: make([]TrendRun, runs)}
	wobble := []float64{0, 0.002, -0.001, 0.003, -0.002, 0.001, -0.003}
	for i := range 2 {
		s := Series{}
		for r := range runs {
			ratio := math.Exp(wobble[(r+i*3)%len(wobble)])
			if i == 0 && step > 0 && r >= step {
				ratio *= times
			}
			s.Points = append(s.Points, &Point{Run: r, Ratio: ratio, Low: ratio * 0.997, High: ratio * 1.003, Level: 0.95})
		}
		s.Last, s.Before = s.Points[runs-1], s.Points[runs-2]
		s.Change = newChange(s.Last, s.Before)
		m.Series = append(m.Series, s)
	}
	return m
}

func TestLevel(t *testing.T) {
	for _, c := range []struct {
		name       string
		runs, step int
		times      float64
		change     Change
		steps      []int
	}{
		{"nothing", 12, 0, 1, NotShown, nil},
		{"in the last run", 12, 11, 1.04, Changed, []int{11}},
		{"three runs ago", 12, 9, 1.04, Changed, []int{9}},
		{"long ago", 16, 6, 1.04, Changed, []int{6}},
	} {
		m := machineWith(c.runs, c.step, c.times)
		m.findLevels()
		s := m.Series[0]
		if !m.Known || m.Between > 0.01 || s.Change != c.change || !slices.Equal(s.Steps, c.steps) {
			t.Errorf("%s: known %v, between %v, %s, steps %v; want %s, %v", c.name, m.Known, m.Between, s.Change, s.Steps, c.change, c.steps)
		}
		inside := s.Low <= s.Last.Ratio && s.Last.Ratio <= s.High
		if s.Low == 0 || inside == s.Fresh || s.Fresh != (c.step >= c.runs-3 && c.step > 0) || m.Series[1].Change != NotShown {
			t.Errorf("%s: %v expected in %v to %v, the other %s", c.name, s.Last.Ratio, s.Low, s.High, m.Series[1].Change)
		}
	}
	few := machineWith(3, 2, 1.04)
	if few.findLevels(); few.Known || few.Series[0].Change != Changed || few.Series[0].Low != 0 {
		t.Errorf("three runs: known %v, %s", few.Known, few.Series[0].Change)
	}
}
