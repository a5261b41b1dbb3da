package history

import (
	"math"
	"slices"

	"github.com/tarebench/tare/stats"
)

// fresh is how many runs a new level stays news.
const fresh = 3

// predicted is the error level of the interval in which a run is expected.
const predicted = 0.01

// level finds out how runs of the machine differ, and where a ratio changed.
func (m *Machine) level() {
	var all [][]stats.Run
	for i := range m.Series {
		runs, _ := m.Series[i].runs()
		all = append(all, runs)
	}
	variance, ok := stats.BetweenRuns(all...)
	if !ok {
		return
	}
	m.Known, m.Between = true, math.Sqrt(variance)
	for i := range m.Series {
		s := &m.Series[i]
		runs, at := s.runs()
		if s.Change == First || s.Change == Unknown || len(runs) < 2 || at[len(at)-1] != s.Last.Run {
			continue
		}
		from := 0
		s.Change = NotShown
		for _, step := range stats.Steps(runs, variance) {
			s.Steps = append(s.Steps, at[step])
			if len(runs)-step <= fresh {
				s.Change = Changed
				break // the last is compared with what was before
			}
			from = step
		}
		before := runs[from : len(runs)-1]
		if s.Change == Changed {
			before = runs[from:slices.Index(at, s.Steps[len(s.Steps)-1])]
		}
		if len(before) > 0 {
			low, high := stats.Predict(before, variance, predicted, runs[len(runs)-1])
			s.Low, s.High = math.Exp(low), math.Exp(high)
		}
	}
}

// runs are the points of a series that say something and ask the same as the
// last one, and which of the machine's runs they are.
func (s *Series) runs() (runs []stats.Run, at []int) {
	if s.Last == nil {
		return nil, nil
	}
	for _, p := range s.Points {
		if p == nil || p.Void || !p.Bounded() || p.Other != s.Last.Other || !(p.Level > 0 && p.Level < 1) {
			continue
		}
		half := math.Log(p.High/p.Low) / 2
		runs = append(runs, stats.Run{Mean: math.Log(p.Ratio), Error: stats.StandardError(half, 1-p.Level)})
		at = append(at, p.Run)
	}
	return runs, at
}
