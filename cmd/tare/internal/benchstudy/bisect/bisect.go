// Package bisect finds the first commit with an effect that a bad revision has and a good one has
// not. For example, the bad revision is 10 % slower. Then a commit is bad if it is more than about
// 5 % slower. This threshold, half of the effect, is called the edge. [Search.Run] halves the range
// of commits until it knows the first bad one.
//
// # What the error level covers
//
// A comparison decides whether the effect of one commit is beyond the edge. The first one is of the
// bad revision, and fixes the edge. For n commits, ⌈log2 n⌉ more are planned. Each may be wrong
// with probability ErrorBound/(planned+1). The k-th comparison beyond the plan may be wrong with
// 2^-k of that. So the probability that any is wrong is at most ErrorBound.
//
// A comparison may end early, at interim analyses called looks, which have a stricter level. An
// undecided commit is skipped. The bound covers the statement about the reported commit: its effect
// is beyond the edge, and the effects of its parents are not.
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

// Verdicts on a commit.
const (
	Good    Verdict = "good" // the effect is not beyond the edge
	Bad     Verdict = "bad"  // the effect is beyond the edge
	Open    Verdict = "inconclusive"
	Skipped Verdict = "skipped" // it could not be measured
)

// Plan fixes the error level and the number of comparisons before measuring.
type Plan struct {
	ErrorBound       float64 `json:"error"`   // probability that any comparison is wrong, at most
	Commits          int     `json:"commits"` // commits after the good one, up to the bad one
	MaxRounds        int     `json:"rounds"`  // most rounds of a comparison
	CountDifferences bool    `json:"counts"`  // effects are differences of counts
}

// Comparisons returns the number of planned comparisons. Skipped commits need more.
func (p Plan) Comparisons() int {
	n := 1
	for remaining := p.Commits; remaining > 1; remaining = (remaining + 1) / 2 {
		n++
	}
	return n
}

// MaxComparisons returns the largest number of comparisons, which is reached if some are
// inconclusive.
func (p Plan) MaxComparisons() int { return 2 * p.Comparisons() }

// errorShare returns the probability with which the k-th comparison, from 0, may be wrong.
func (p Plan) errorShare(k int) float64 {
	planned := p.Comparisons()
	share := p.ErrorBound / float64(planned+1)
	if further := k - planned + 1; further > 0 { // half as much as the one before
		share = math.Ldexp(share, -further)
	}
	return share
}

// intervalLevel returns the level of the interval at each look of the k-th comparison. It is twice
// the share, as only one end of an interval can be wrong.
func (p Plan) intervalLevel(k int) float64 {
	return stats.LookLevel(2*p.errorShare(k), len(stats.Looks(p.MaxRounds)))
}

const exactRounds = 3

func (p Plan) lookRounds(k int) []int {
	minRounds := stats.MinRounds(p.intervalLevel(k))
	looks := slices.DeleteFunc(stats.Looks(p.MaxRounds), func(n int) bool { return n < minRounds && n < p.MaxRounds })
	if p.CountDifferences && looks[0] > exactRounds {
		looks = append([]int{exactRounds}, looks...)
	}
	return looks
}

// roundsToLook returns the number of rounds to the next look of the k-th comparison, if done rounds
// count so far. After the last look it returns 1, because rounds that did not count are repeated one
// by one.
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
	Effects []float64 // by round, positive towards the bad
	Control []float64 // effects of the control, the good revision again
	Exact   bool      // each side had the same count in every round
	Took    time.Duration
	IsLast  bool // no time for more rounds of this commit

	// Interval returns the interval of a metric that is counted outside of rounds. It is nil for
	// other metrics.
	Interval func(alpha float64) (low, high float64)
}

// Measure measures more rounds of a commit. The error is a *SkipError if that is impossible.
type Measure func(ctx context.Context, commit string, rounds int) (Batch, error)

// SkipError reports why a commit cannot be measured.
type SkipError struct{ Why string }

// Error returns e.Why.
func (e *SkipError) Error() string { return e.Why }

// Test is one comparison of a commit with the good revision.
type Test struct {
	Commit   string    `json:"commit"`
	Verdict  Verdict   `json:"verdict,omitempty"` // "" if not decided yet
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
	History   []Commit `json:"history"` // the bad revision first
	Effect    float64  `json:"effect"`  // searched effect, e.g. ln(1.05); the bad revision must show more than half
	FixedEdge bool     `json:"fixed"`   // the edge is half of Effect, not of the bad revision's effect
	Tests     []Test   `json:"tests"`   // the first is of the bad revision
}

// Edge returns the threshold for the effect of a commit.
func (s *Search) Edge() float64 {
	if s.FixedEdge || !s.BadShows() {
		return s.Effect / 2
	}
	return s.Tests[0].Estimate / 2
}

// BadShows reports whether the bad revision shows the effect.
func (s *Search) BadShows() bool { return len(s.Tests) > 0 && s.Tests[0].Verdict == Bad }

// Run continues the search until it is over. It calls save after each measurement.
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

// nextTest returns the index of the current or of a new test. ok is false if the search is over.
func (s *Search) nextTest() (index int, ok bool) {
	last := len(s.Tests) - 1
	if last >= 0 && s.Tests[last].Verdict == "" {
		return last, true
	}
	commit := s.History[0].ID
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

// measureTest measures the k-th test up to its next look. It sets the verdict if that decides.
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
	if t.Verdict == "" && batch.IsLast {
		t.Verdict = Open
	}
	return nil
}

// MeasuringTime returns the measuring time of a commit, or 0 if it was not measured.
func (s *Search) MeasuringTime(commit string) time.Duration {
	for _, t := range s.Tests {
		if t.Commit == commit {
			return time.Duration(t.Seconds * float64(time.Second))
		}
	}
	return 0
}

// countMeasured returns the number of tests before the k-th that used a share of the error level.
func (s *Search) countMeasured(k int) int {
	n := 0
	for _, t := range s.Tests[:k] {
		if t.Verdict != Skipped {
			n++
		}
	}
	return n
}

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

// judgeRounds sets the verdict if the rounds decide, or if the plan permits no more. The test is the
// k-th that was not skipped. Bad also needs an effect above the noise, the half-width of the
// control.
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

// ForecastRounds returns the number of rounds after which the comparison of a good commit should
// end. ok is false if the bad revision does not show the effect, or if more rounds than planned are
// needed.
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
