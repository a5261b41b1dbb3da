package history

import (
	"fmt"
	"math"
	"slices"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/format"
)

// This file puts the changes of a series into words. A series has a point for each run of a study on a
// machine. The point is the ratio of a program to its reference on one workload. A step is a run at
// which the level changed.

// DescribeChange returns a sentence about the newest change of a series of the machine. The sentence
// claims no more than the runs allow.
func (m Machine) DescribeChange(s Series, metric string) string {
	text := m.describeChange(s, metric)
	if s.Missing != "" && s.Last != nil {
		text += "; " + s.Missing
	}
	return text
}

// describeChange omits why the newest run lacks the series.
func (m Machine) describeChange(s Series, metric string) string {
	when := func(run int) string { return format.Minute(m.Runs[run].Started) }
	expected := fmt.Sprintf("%s to %s was expected", format.Ratio(s.Low), format.Ratio(s.High))
	switch {
	case s.Last == nil:
		return "-"
	case s.Counted && s.Change == Changed:
		text := fmt.Sprintf("changed in the run of %s: %s, then %s", when(s.Steps[len(s.Steps)-1]), s.Was.formatRange(), countText(s.Now, metric))
		if against := s.againstCounts(); against != "" {
			text += ", against " + against
		}
		return text
	case s.Counted && s.Change == NotShown:
		return "no change shown: " + countText(s.Now, metric)
	case s.Change == Changed && m.Known && s.Fresh:
		return fmt.Sprintf("changed in the run of %s: %s", when(s.Steps[len(s.Steps)-1]), expected)
	case s.Change == Changed && m.Known:
		return fmt.Sprintf("changed in the run of %s: %s before, then %s; since then %s", when(s.Steps[len(s.Steps)-1]), format.Ratio(s.Was.Low), format.Ratio(s.Now.Low), expected)
	case s.Change == NotShown && m.Known && s.Low > 0:
		return "no change shown: " + expected
	case s.Change == Changed:
		return m.describeStep(s)
	case s.Change == NotShown:
		return fmt.Sprintf("no change shown since %s: the intervals overlap", when(s.Before.Run))
	case s.Change == Unknown:
		return "not known: too few rounds for an interval"
	case slices.ContainsFunc(s.Points, func(p *Point) bool { return p != nil && p.Other != s.Last.Other }):
		return "the first on this input, or against this revision"
	}
	return "the first"
}

// describeStep describes a step between intervals that do not overlap.
func (m Machine) describeStep(s Series) string {
	step := s.Steps[len(s.Steps)-1]
	before := s.boundedBefore(step)
	text := fmt.Sprintf("changed since %s: was %s, the intervals do not overlap", format.Minute(m.Runs[before.Run].Started), before.Bounds())
	if step != s.Last.Run {
		text = fmt.Sprintf("changed in the run of %s: was %s, then %s; the intervals do not overlap", format.Minute(m.Runs[step].Started), before.Bounds(), s.Points[step].Bounds())
	}
	if before.Stale != s.Last.Stale {
		text += " (then stale, see below)"
	}
	return text
}

// boundedBefore returns the newest point before a run that is comparable and has an interval.
func (s Series) boundedBefore(run int) *Point {
	for _, p := range slices.Backward(s.Points[:run]) {
		if p != nil && !p.Void && p.Bounded() && p.Other == s.Last.Other {
			return p
		}
	}
	return s.Before
}

// againstCounts returns the counts of the reference before the newest step and now.
func (s Series) againstCounts() string {
	step := s.Steps[len(s.Steps)-1]
	var before *Point
	for _, p := range s.Points[:step] {
		if p != nil && !p.Void && p.Other == s.Last.Other {
			before = p
		}
	}
	if before == nil || math.Abs(before.Count.Against-s.Last.Count.Against) < 0.5 {
		return ""
	}
	return format.Average(before.Count.Against) + ", then " + format.Average(s.Last.Count.Against)
}

// IsWorse reports whether the newest step of a changed series is a deterioration.
func (s Series) IsWorse(metric string) bool {
	m, _ := tare.MetricNamed(metric)
	decreased := s.Now.Low < s.Was.Low
	return decreased == (m.Direction == tare.HigherIsBetter)
}

// Bounds returns the ratio of a point with its interval, or its counts if one of them is zero.
func (p Point) Bounds() string {
	switch {
	case p.Count != nil && p.Count.hasZero():
		return format.Average(p.Count.Value) + " against " + format.Average(p.Count.Against)
	case !p.Bounded():
		return format.Ratio(p.Ratio)
	}
	return fmt.Sprintf("%s [%s, %s]", format.Ratio(p.Ratio), format.Ratio(p.Low), format.Ratio(p.High))
}

func countText(l Level, metric string) string {
	m, _ := tare.MetricNamed(metric)
	text := l.formatRange() + " " + m.Unit
	if l.formatRange() == format.Average(l.Low) {
		text += " in every run"
	}
	return text
}

func (l Level) formatRange() string {
	if low, high := format.Average(l.Low), format.Average(l.High); low != high {
		return low + " to " + high
	}
	return format.Average(l.Low)
}

// DescribeDirection returns which side of 1 is better, in parentheses, or "" for an unknown metric.
func DescribeDirection(metric string) string {
	m, ok := tare.MetricNamed(metric)
	switch {
	case !ok:
		return ""
	case m.Direction == tare.HigherIsBetter:
		return " (above 1 is better)"
	}
	return " (below 1 is better)"
}
