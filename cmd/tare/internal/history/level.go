package history

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/stats"
)

// newLevelRuns is the number of runs for which a new level is news.
const newLevelRuns = 3

// predictAlpha is the error level of the interval in which a run is expected.
const predictAlpha = 0.01

// findLevels finds out how runs of the machine differ, and at which runs each series changes its
// level. Terminal, badge, page and metrics all report these levels.
func (m *Machine) findLevels() {
	var all [][]stats.Run
	for i := range m.Series {
		s := &m.Series[i]
		if s.Counted = s.isCounted(); !s.Counted {
			runs, _ := s.boundedRuns()
			all = append(all, runs)
		}
	}
	variance, ok := stats.BetweenRuns(all...)
	if ok {
		m.Known, m.Between = true, math.Sqrt(variance)
	}
	for i := range m.Series {
		switch s := &m.Series[i]; {
		case s.Counted:
			s.judgeCounts()
		case m.Known:
			s.judgeRatios(variance)
		default:
			s.judgeIntervals()
		}
	}
}

// judgeRatios finds the steps of a series of ratios by how much runs vary, and the
// range in which the last run was expected.
func (s *Series) judgeRatios(variance float64) {
	runs, at := s.boundedRuns()
	if s.Change == First || s.Change == Unknown || len(runs) < 2 || at[len(at)-1] != s.Last.Run {
		return
	}
	from, before := 0, runs[:len(runs)-1]
	for _, step := range stats.Steps(runs, variance) {
		s.addStep(at[step], len(runs)-step, meanOf(runs[from:step], variance), meanOf(runs[step:], variance))
		if s.Fresh {
			before = runs[from:step]
			break // the last is compared with the runs before
		}
		from = step
		before = runs[from : len(runs)-1]
	}
	if len(before) > 0 {
		low, high := stats.Predict(before, variance, predictAlpha, runs[len(runs)-1])
		s.Low, s.High = math.Exp(low), math.Exp(high)
	}
}

// judgeIntervals finds the steps of a series with too few runs to know how runs vary: neighbours
// whose intervals do not overlap.
func (s *Series) judgeIntervals() {
	if s.Change == First || s.Change == Unknown {
		return
	}
	var bounded []*Point
	for _, p := range s.Points {
		if p != nil && !p.Void && p.Bounded() && p.Other == s.Last.Other {
			bounded = append(bounded, p)
		}
	}
	for i := 1; i < len(bounded); i++ {
		if a, b := bounded[i-1], bounded[i]; b.Low > a.High || b.High < a.Low {
			s.addStep(b.Run, len(bounded)-i, Level{a.Ratio, a.Ratio}, Level{b.Ratio, b.Ratio})
		}
	}
}

// judgeCounts finds the steps of a series of counts.
func (s *Series) judgeCounts() {
	s.Change = First
	if s.Last == nil {
		return
	}
	var counts []float64
	var points []*Point
	for _, p := range s.Points {
		if p != nil && !p.Void && p.Other == s.Last.Other {
			counts, points = append(counts, p.Count.Value-p.Count.Against), append(points, p)
		}
	}
	s.Now = countLevel(points)
	if len(points) < 2 {
		return
	}
	s.Change = NotShown
	from := 0
	for _, step := range stats.CountSteps(counts) {
		s.addStep(points[step].Run, len(points)-step, countLevel(points[from:step]), countLevel(points[step:]))
		from = step
	}
}

// addStep records that the series changes its level in a run, the first of the last n compared
// runs.
func (s *Series) addStep(run, n int, was, now Level) {
	s.Change, s.Fresh, s.Was, s.Now = Changed, n <= newLevelRuns, was, now
	s.Steps = append(s.Steps, run)
}

// meanOf returns the level of runs: the weighted mean of their ratios.
func meanOf(runs []stats.Run, variance float64) Level {
	low, high := stats.Predict(runs, variance, 1)
	mean := math.Exp((low + high) / 2)
	return Level{mean, mean}
}

// countLevel returns the range of the contender's counts in some points.
func countLevel(points []*Point) (l Level) {
	for i, p := range points {
		if i == 0 {
			l = Level{p.Count.Value, p.Count.Value}
		}
		l = Level{min(l.Low, p.Count.Value), max(l.High, p.Count.Value)}
	}
	return l
}

// isCounted reports whether the points of a series are compared as counts: all have one, and either
// one is zero, so that there is no ratio, or none varied within its run.
func (s *Series) isCounted() bool {
	n := 0
	for _, p := range s.Points {
		if p == nil || p.Void {
			continue
		}
		if p.Count == nil || p.Bounded() && p.Low != p.High {
			return HasZero(s.Points)
		}
		n++
	}
	return n > 0
}

// boundedRuns returns the points of a series that have an interval and the input of the last one,
// and the indices of their runs.
func (s *Series) boundedRuns() (runs []stats.Run, at []int) {
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

// whyMissing returns why the newest run does not have a series; "" if it has, or if its study no
// longer has it.
func whyMissing(newest *tare.Result, s Series, last int) string {
	switch p := s.Points[last]; {
	case p != nil && p.Void:
		return "void in the newest run"
	case p != nil:
		return ""
	}
	for _, l := range newest.NotWeighed {
		what := strings.TrimPrefix(strings.TrimPrefix(l.What, "workload "), "contender ")
		if what == s.Workload || what == s.Contender || strings.HasPrefix(s.Workload, what+".") || strings.HasPrefix(s.Workload, what+"/") {
			return fmt.Sprintf("left out of the newest run: %s", strings.ReplaceAll(l.Why, "\n", " "))
		}
	}
	if slices.ContainsFunc(newest.Workloads, func(w tare.Workload) bool { return w.ID == s.Workload }) && slices.ContainsFunc(newest.Contenders, func(c tare.Contender) bool { return c.ID == s.Contender }) {
		return "not compared in the newest run"
	}
	return ""
}
