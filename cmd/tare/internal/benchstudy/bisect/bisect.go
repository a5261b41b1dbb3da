// Package bisect finds the first commit that shows an effect which a bad revision has and a good one has not.
// For example, a benchmark is 10 % slower in the bad revision. Then a commit that is more than about 5 %
// slower than the good revision (half of the effect, the edge) is bad, and [Search.Run] halves the range of
// commits until it knows the first bad one.
//
// # What the error level covers
//
// Each comparison compares one commit with the good revision and decides on which side of the edge,
// a threshold, the commit's effect is. The first comparison is of the bad revision; the edge is fixed
// when it is over. The plan for n commits has ⌈log2 n⌉ comparisons after the first. Each planned
// comparison may be wrong with probability ErrorBound/(planned+1), and the k-th comparison beyond the plan
// with 2^-k of that, so that the probability that any of them is wrong is at most ErrorBound.
//
// A comparison may end early: it tests its rounds several times, at interim analyses called looks, each
// at a stricter level (stats.LookLevel). If it remains undecided, its commit is skipped. A comparison of
// counts has one look. The bound needs no assumption about other commits. It covers the statement
// that the effect of the reported commit is beyond the edge and the effects of its parents are not.
package bisect

import (
	"context"
	"errors"
	"math"
	"slices"
	"time"

	"github.com/tarebench/tare/stats"
)

// Verdict is the result of the comparison of a commit.
type Verdict string

// Verdicts.
const (
	Good    Verdict = "good"         // the effect is not beyond the edge
	Bad     Verdict = "bad"          // the effect is beyond the edge
	Open    Verdict = "inconclusive" // the rounds cannot decide
	Skipped Verdict = "skipped"      // the commit could not be measured
)

// Plan fixes the error level and the number of comparisons before measuring.
type Plan struct {
	ErrorBound       float64 `json:"error"`   // upper bound of the probability that any comparison is wrong
	Commits          int     `json:"commits"` // commits after the good one, up to the bad one
	MaxRounds        int     `json:"rounds"`  // most rounds of a comparison
	CountDifferences bool    `json:"counts"`  // effects are differences of counts, which can be the same in every round
}

// Comparisons returns the number of planned comparisons, including the one of the bad revision. There
// are more if commits are skipped.
func (p Plan) Comparisons() int {
	n := 1
	for remaining := p.Commits; remaining > 1; remaining = (remaining + 1) / 2 {
		n++
	}
	return n
}

// MaxComparisons returns the largest number of comparisons, if some are inconclusive.
func (p Plan) MaxComparisons() int { return 2 * p.Comparisons() }

// errorShare returns the probability with which the k-th comparison, counted from 0, may be wrong: an equal
// share of ErrorBound for each planned comparison, and one more share for all further ones.
func (p Plan) errorShare(k int) float64 {
	planned := p.Comparisons()
	share := p.ErrorBound / float64(planned+1)
	if further := k - planned + 1; further > 0 { // each gets half as much as the one before: 2^-1, 2^-2, …
		share = math.Ldexp(share, -further)
	}
	return share
}

// intervalLevel returns the level of the two-sided interval at each look of the k-th comparison. It is
// twice the share, as only one end of an interval can be wrong about a commit.
func (p Plan) intervalLevel(k int) float64 {
	return stats.LookLevel(2*p.errorShare(k), len(stats.Looks(p.MaxRounds)))
}

// exactRounds is the number of rounds that suffices if all rounds have the same count.
const exactRounds = 3

// lookRounds returns the numbers of rounds after which the k-th comparison can end.
func (p Plan) lookRounds(k int) []int {
	minRounds := stats.MinRounds(p.intervalLevel(k)) // fewer rounds have no interval
	looks := slices.DeleteFunc(stats.Looks(p.MaxRounds), func(n int) bool { return n < minRounds && n < p.MaxRounds })
	if p.CountDifferences && looks[0] > exactRounds {
		looks = append([]int{exactRounds}, looks...)
	}
	return looks
}

// roundsToLook returns the number of rounds that the k-th comparison lacks to its next look, an interim
// analysis, if done rounds count so far. After the last look it returns 1, as rounds that did not count are
// repeated one by one.
func (p Plan) roundsToLook(k, done int) int {
	for _, n := range p.lookRounds(k) {
		if n > done {
			return n - done
		}
	}
	return 1
}

// MinRounds returns the number of rounds after which the first comparison can end.
func (p Plan) MinRounds() int { return p.lookRounds(0)[0] }

// Batch contains rounds of one commit against the good revision.
type Batch struct {
	Effects []float64 // one for each round, positive towards the bad: ln of a ratio, or a difference of counts
	Control []float64 // effects of the good revision against itself
	Exact   bool      // each side had the same count in every round
	Took    time.Duration
	IsLast  bool // there is no time for more rounds of this commit

	// Interval returns the interval, at level alpha, of a metric that is counted outside of rounds. Then
	// Effects has one element. Interval is nil if Effects has an element for each round.
	Interval func(alpha float64) (low, high float64)
}

// Measure measures more rounds of a commit. The error is a *SkipError if it cannot be measured.
type Measure func(ctx context.Context, commit string, rounds int) (Batch, error)

// SkipError reports why a commit cannot be measured.
type SkipError struct{ Why string }

// Error is one line.
func (e *SkipError) Error() string { return e.Why }

// Test is one comparison of a commit with the good revision.
type Test struct {
	Commit   string    `json:"commit"`
	Verdict  Verdict   `json:"verdict,omitempty"` // "" if the comparison is not over
	Why      string    `json:"why,omitempty"`     // why the commit was skipped
	Effects  []float64 `json:"effects,omitempty"`
	Control  []float64 `json:"control,omitempty"`
	Estimate float64   `json:"estimate"`
	Low      float64   `json:"low"` // interval at the last look; equal to High if none exists
	High     float64   `json:"high"`
	Exact    bool      `json:"exact,omitempty"`
	Seconds  float64   `json:"seconds,omitempty"` // measuring time
}

// Search is a bisection and its progress. It can be saved and resumed at any time.
type Search struct {
	Plan      Plan     `json:"plan"`
	History   []Commit `json:"history"` // commits of good..bad, the bad revision first
	Effect    float64  `json:"effect"`  // effect to search for, e.g. ln(1.05); the bad revision must show more than half
	FixedEdge bool     `json:"fixed"`   // the edge is half of Effect; otherwise half of the bad revision's effect
	Tests     []Test   `json:"tests"`   // comparisons in order; the first is of the bad revision
}

// Edge returns the threshold that a commit's effect is compared with.
func (s *Search) Edge() float64 {
	if s.FixedEdge || !s.BadShows() {
		return s.Effect / 2
	}
	return s.Tests[0].Estimate / 2
}

// BadShows reports whether the bad revision shows the effect.
func (s *Search) BadShows() bool { return len(s.Tests) > 0 && s.Tests[0].Verdict == Bad }

// Run continues the search until the first bad commit is known, or until no comparison can decide more.
// It calls save after each measurement.
func (s *Search) Run(ctx context.Context, measure Measure, save func() error) error {
	for {
		index, ok := s.nextTest()
		if !ok {
			return nil
		}
		for s.Tests[index].Verdict == "" {
			if err := s.measureTest(ctx, index, measure); err != nil {
				return err
			}
			if err := save(); err != nil {
				return err
			}
		}
	}
}

// nextTest returns the index of the test to continue with: the last one if it is not over, or else a
// new one. ok is false if the search is over.
func (s *Search) nextTest() (index int, ok bool) {
	last := len(s.Tests) - 1
	if last >= 0 && s.Tests[last].Verdict == "" {
		return last, true
	}
	commit := s.History[0].ID // the bad revision comes first
	if last >= 0 {
		commit = s.middleCommit()
		isExhausted := s.countMeasured(last+1) >= s.Plan.MaxComparisons()
		if !s.BadShows() || commit == "" || isExhausted {
			return 0, false
		}
	}
	s.Tests = append(s.Tests, Test{Commit: commit})
	return last + 1, true
}

// measureTest measures the k-th test up to its next look, and sets its verdict if that decides.
func (s *Search) measureTest(ctx context.Context, k int, measure Measure) error {
	t, measured := &s.Tests[k], s.countMeasured(k)
	batch, err := measure(ctx, t.Commit, s.Plan.roundsToLook(measured, len(t.Effects)))
	var skip *SkipError
	switch {
	case errors.As(err, &skip):
		t.Verdict, t.Why = Skipped, skip.Why
		return nil
	case err != nil:
		return err
	}
	t.Seconds += batch.Took.Seconds()
	if batch.Interval != nil {
		alpha := 2 * s.Plan.errorShare(measured) // only one end of the interval can be wrong
		t.judgeCount(batch, alpha, s.Edge())
		return nil
	}
	t.Exact = batch.Exact && (len(t.Effects) == 0 || t.Exact)
	t.Effects, t.Control = append(t.Effects, batch.Effects...), append(t.Control, batch.Control...)
	if len(batch.Effects) == 0 {
		t.Verdict, t.Why = Skipped, "no round of it counts"
		return nil
	}
	t.judgeRounds(s.Plan, measured, s.Edge())
	if t.Verdict == "" && batch.IsLast { // no time for another look
		t.Verdict = Open
	}
	return nil
}

// MeasuringTime returns the measuring time of a commit; 0 if it was not measured.
func (s *Search) MeasuringTime(commit string) time.Duration {
	for _, t := range s.Tests {
		if t.Commit == commit {
			return time.Duration(t.Seconds * float64(time.Second))
		}
	}
	return 0
}

// countMeasured returns the number of tests before the k-th that were not skipped. Each of them has used a
// share of the error level.
func (s *Search) countMeasured(k int) int {
	n := 0
	for _, t := range s.Tests[:k] {
		if t.Verdict != Skipped {
			n++
		}
	}
	return n
}

// judgeCount sets the verdict by the one effect of a count and its interval at level alpha.
func (t *Test) judgeCount(b Batch, alpha, edge float64) {
	t.Effects, t.Estimate = b.Effects, b.Effects[0]
	t.Low, t.High = b.Interval(alpha)
	switch {
	case t.Low > edge:
		t.Verdict = Bad
	case t.High <= edge:
		t.Verdict = Good
	default:
		t.Verdict = Open
	}
}

// judgeRounds sets the verdict if the rounds decide, or if the plan permits no more rounds. The test is the
// k-th that was not skipped. Bad also needs an effect that is larger than the half-width of the control.
func (t *Test) judgeRounds(p Plan, k int, edge float64) {
	t.Estimate = stats.HodgesLehmann(t.Effects)
	t.Low, t.High = t.Estimate, t.Estimate
	if t.Exact && p.CountDifferences {
		t.Verdict = Good
		if t.Estimate > edge {
			t.Verdict = Bad
		}
		return
	}
	level := p.intervalLevel(k)
	low, high, ok := stats.Interval(t.Effects, level)
	if ok {
		t.Low, t.High = low, high
	}
	floor, _ := stats.HalfWidth(t.Control, level)
	switch {
	case ok && low > edge && t.Estimate > floor:
		t.Verdict = Bad
	case ok && high <= edge:
		t.Verdict = Good
	case len(t.Effects) >= p.MaxRounds:
		t.Verdict = Open
	}
}

// ForecastRounds returns the number of rounds after which a comparison of a commit without the effect
// is expected to end, from the noise of the bad revision's rounds. It returns false if the bad
// revision does not show the effect, or if more rounds than planned are needed.
func (s *Search) ForecastRounds() (rounds int, ok bool) {
	if !s.BadShows() {
		return 0, false
	}
	t := s.Tests[0]
	if t.Exact && s.Plan.CountDifferences {
		return exactRounds, true
	}
	noise := slices.Clone(t.Effects)
	for i := range noise {
		noise[i] -= t.Estimate
	}
	n, ok := stats.RoundsNeeded(noise, s.Plan.intervalLevel(1), s.Plan.MaxRounds, s.Edge())
	for _, look := range s.Plan.lookRounds(1) {
		if look >= n {
			return look, ok
		}
	}
	return s.Plan.MaxRounds, ok
}
