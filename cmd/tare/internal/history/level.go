package history

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/stats"
)

// This file finds the steps of a series: the runs at which a ratio or a count changed its level. A
// series has one point for each run of a study on a machine. For example, a point is the time of a
// benchmark over that of its reference.

// newLevelRuns is the number of runs during which a step is fresh.
const newLevelRuns = 3

// predictAlpha is the error level of the expected range of the last run.
const predictAlpha = 0.01

// findLevels finds the steps of each series. It first estimates by how much ratios vary from run to
// run, beyond their intervals.
func (m *Machine) findLevels() {
	var bounded [][]stats.Run
	for i := range m.Series {
		s := &m.Series[i]
		if s.Counted = s.isCounted(); !s.Counted {
			runs, _ := s.boundedRuns()
			bounded = append(bounded, runs)
		}
	}
	variance, ok := stats.BetweenRuns(bounded...)
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

// judgeRatios finds the steps of ratios and the range in which the last run was expected. After a fresh
// step, the range is that of the runs before it.
func (s *Series) judgeRatios(variance float64) {
	runs, indices := s.boundedRuns()
	lastIsBounded := len(indices) > 0 && indices[len(indices)-1] == s.Last.Run
	if s.Change == First || s.Change == Unknown || len(runs) < 2 || !lastIsBounded {
		return
	}
	levelStart, compared := 0, runs[:len(runs)-1]
	for _, step := range stats.Steps(runs, variance) {
		s.addStep(indices[step], len(runs)-step, meanOf(runs[levelStart:step], variance), meanOf(runs[step:], variance))
		if s.Fresh {
			compared = runs[levelStart:step]
			break
		}
		levelStart = step
		compared = runs[levelStart : len(runs)-1]
	}
	if len(compared) > 0 {
		low, high := stats.Predict(compared, variance, predictAlpha, runs[len(runs)-1])
		s.Low, s.High = math.Exp(low), math.Exp(high)
	}
}

// judgeIntervals finds the steps if the variance between runs is unknown. A step is between two points
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
			s.addStep(b.Run, len(bounded)-i, Level{Low: a.Ratio, High: a.Ratio}, Level{Low: b.Ratio, High: b.Ratio})
		}
	}
}

// judgeCounts finds the steps of a series of counts. It compares the differences between the counts of
// the contender and of the reference.
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
	levelStart := 0
	for _, step := range stats.CountSteps(counts) {
		s.addStep(points[step].Run, len(points)-step, countLevel(points[levelStart:step]), countLevel(points[step:]))
		levelStart = step
	}
}

// addStep records a step at a run, from level was to level now. The run is the first of the last n
// compared runs.
func (s *Series) addStep(run, n int, oldLevel, newLevel Level) {
	s.Change, s.Fresh, s.Was, s.Now = Changed, n <= newLevelRuns, oldLevel, newLevel
	s.Steps = append(s.Steps, run)
}

// meanOf returns the weighted mean of ratios. It is the middle of a prediction at any error level.
func meanOf(runs []stats.Run, variance float64) Level {
	low, high := stats.Predict(runs, variance, 1)
	mean := math.Exp((low + high) / 2)
	return Level{mean, mean}
}

func countLevel(points []*Point) (l Level) {
	for i, p := range points {
		if i == 0 {
			l = Level{p.Count.Value, p.Count.Value}
		}
		l = Level{min(l.Low, p.Count.Value), max(l.High, p.Count.Value)}
	}
	return l
}

// isCounted reports whether a series is compared as counts: one is zero, or none varied within a run.
func (s *Series) isCounted() bool {
	n := 0
	for _, p := range s.Points {
		if p == nil || p.Void {
			continue
		}
		if variesWithinRun := p.Bounded() && p.Low != p.High; p.Count == nil || variesWithinRun {
			return HasZeroCount(s.Points)
		}
		n++
	}
	return n > 0
}

// boundedRuns returns the comparable points with an interval, on the logarithmic scale.
func (s *Series) boundedRuns() (runs []stats.Run, indices []int) {
	if s.Last == nil {
		return nil, nil
	}
	for _, p := range s.Points {
		if p == nil || p.Void || !p.Bounded() {
			continue
		}
		isComparable, hasLevel := p.Other == s.Last.Other, p.Level > 0 && p.Level < 1
		if !isComparable || !hasLevel {
			continue
		}
		halfWidth := math.Log(p.High/p.Low) / 2
		runs = append(runs, stats.Run{Mean: math.Log(p.Ratio), Error: stats.StandardError(halfWidth, 1-p.Level)})
		indices = append(indices, p.Run)
	}
	return runs, indices
}

// whyMissing returns why a series has no valid point in the run last, the newest, or "".
func whyMissing(newest *tare.Result, s Series, last int) string {
	switch p := s.Points[last]; {
	case p != nil && p.Void:
		return "void in the newest run"
	case p != nil:
		return ""
	}
	for _, l := range newest.NotWeighed {
		name := strings.TrimPrefix(strings.TrimPrefix(l.What, "workload "), "contender ")
		inPackage := strings.HasPrefix(s.Workload, name+".") || strings.HasPrefix(s.Workload, name+"/")
		if name == s.Workload || name == s.Contender || inPackage {
			return fmt.Sprintf("left out of the newest run: %s", strings.ReplaceAll(l.Why, "\n", " "))
		}
	}
	hasWorkload := slices.ContainsFunc(newest.Workloads, func(w tare.Workload) bool { return w.ID == s.Workload })
	hasContender := slices.ContainsFunc(newest.Contenders, func(c tare.Contender) bool { return c.ID == s.Contender })
	if hasWorkload && hasContender {
		return "not compared in the newest run"
	}
	return ""
}
