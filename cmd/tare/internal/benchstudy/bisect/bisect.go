// Package bisect finds the first commit that shows an effect which a bad
// revision has and a good one has not.
//
// # What the error level covers
//
// Each comparison compares one commit with the good revision and decides on
// which side of one edge its effect is. The first comparison is that of the
// bad revision; the edge is fixed when it is over. A bisection of n commits is
// planned with ⌈log2 n⌉ comparisons after it. Each planned one may be wrong with
// probability Error/(planned+1), the k-th beyond the plan with 2^-k of that, so
// that any of them is wrong with probability at most Error. A comparison tests
// its rounds several times, each time at a stricter level (stats.LookLevel); if
// it remains undecided its commit is skipped. The bound needs no assumption
// about the commits between: it covers that the effect of the reported commit
// is beyond the edge and that those of its parents are not.
package bisect

import (
	"context"
	"errors"
	"math"
	"slices"
	"time"

	"github.com/tarebench/tare/stats"
)

// Verdict is the side of the edge of a commit.
type Verdict string

// Verdicts.
const (
	Good    Verdict = "good"
	Bad     Verdict = "bad"
	Open    Verdict = "inconclusive" // the rounds cannot decide
	Skipped Verdict = "skipped"      // it was not measured
)

// Plan fixes the error level and the number of comparisons before measuring.
type Plan struct {
	Error   float64 `json:"error"`   // bound of the chance that any comparison is wrong
	Commits int     `json:"commits"` // between good and bad, bad included
	Rounds  int     `json:"rounds"`  // of a comparison at most
	Counts  bool    `json:"counts"`  // effects are differences of counts, which can be the same in every round
}

// Comparisons returns the number of comparisons if none has to be passed over, with that of the bad
// revision.
func (p Plan) Comparisons() int {
	n := 1
	for left := p.Commits; left > 1; left = (left + 1) / 2 {
		n++
	}
	return n
}

// Most returns the largest number of comparisons, if some are inconclusive.
func (p Plan) Most() int { return 2 * p.Comparisons() }

// errorShare returns the probability with which the k-th comparison, counted from zero, may be
// wrong.
func (p Plan) errorShare(k int) float64 {
	planned := p.Comparisons()
	share := p.Error / float64(planned+1)
	if k >= planned {
		share = math.Ldexp(share, planned-k-1)
	}
	return share
}

// intervalLevel returns the level of the two-sided interval at each look of the k-th comparison:
// only one of its ends can be wrong about a commit.
func (p Plan) intervalLevel(k int) float64 {
	return stats.LookLevel(2*p.errorShare(k), len(stats.Looks(p.Rounds)))
}

// exactRounds is the number of rounds that suffices if all have the same count.
const exactRounds = 3

// lookRounds returns the numbers of rounds after which the k-th comparison can end.
func (p Plan) lookRounds(k int) []int {
	least := stats.MinRounds(p.intervalLevel(k))
	looks := slices.DeleteFunc(stats.Looks(p.Rounds), func(n int) bool { return n < least && n < p.Rounds })
	if p.Counts && looks[0] > exactRounds {
		looks = append([]int{exactRounds}, looks...)
	}
	return looks
}

// Fewest returns after how many rounds the first comparison can end.
func (p Plan) Fewest() int { return p.lookRounds(0)[0] }

// Batch contains rounds of one commit against the good revision.
type Batch struct {
	Effects []float64 // one a round, positive towards the bad; ln of a ratio or a difference of counts
	Control []float64 // the same of the good revision against itself
	Exact   bool      // each side had the same count in every round
	Took    time.Duration
	Last    bool // there is no time for more rounds of this commit

	Half float64 // half the width of the interval of the one effect, which was counted outside of rounds; 0 if effects are rounds
}

// Measure measures rounds more rounds of a commit. A [*SkipError] means that it cannot be measured
// at all.
type Measure func(ctx context.Context, commit string, rounds int) (Batch, error)

// SkipError reports why a commit cannot be measured.
type SkipError struct{ Why string }

// Error is one line.
func (e *SkipError) Error() string { return e.Why }

// Test is one comparison of a commit with the good revision.
type Test struct {
	Commit   string    `json:"commit"`
	Verdict  Verdict   `json:"verdict,omitempty"` // "" if it is not over
	Why      string    `json:"why,omitempty"`     // why it was skipped
	Effects  []float64 `json:"effects,omitempty"`
	Control  []float64 `json:"control,omitempty"`
	Estimate float64   `json:"estimate"`
	Low      float64   `json:"low"` // of the interval at the last look; equal to High if it is unknown
	High     float64   `json:"high"`
	Exact    bool      `json:"exact,omitempty"`
	Seconds  float64   `json:"seconds,omitempty"` // measuring
}

// Search is a bisection and its progress. It can be saved and resumed at any time.
type Search struct {
	Plan    Plan     `json:"plan"`
	History []Commit `json:"history"` // of good..bad, the bad revision first
	Effect  float64  `json:"effect"`  // the smallest that the bad revision has to show
	Fixed   bool     `json:"fixed"`   // the edge is half of Effect; else half of the bad revision's effect
	Tests   []Test   `json:"tests"`   // the first is that of the bad revision
}

// Edge returns the threshold that a commit's effect is compared with.
func (s *Search) Edge() float64 {
	if s.Fixed || !s.Shown() {
		return s.Effect / 2
	}
	return s.Tests[0].Estimate / 2
}

// Shown reports whether the bad revision shows the effect.
func (s *Search) Shown() bool { return len(s.Tests) > 0 && s.Tests[0].Verdict == Bad }

// Run continues until the first bad commit is known or no comparison can decide more. It calls save
// after each measurement.
func (s *Search) Run(ctx context.Context, measure Measure, save func() error) error {
	for {
		k, ok := s.nextTest()
		if !ok {
			return nil
		}
		for s.Tests[k].Verdict == "" {
			if err := s.measureTest(ctx, k, measure); err != nil {
				return err
			}
			if err := save(); err != nil {
				return err
			}
		}
	}
}

// nextTest returns the test to continue with.
func (s *Search) nextTest() (k int, ok bool) {
	last := len(s.Tests) - 1
	if last >= 0 && s.Tests[last].Verdict == "" {
		return last, true
	}
	commit := s.History[0].ID
	if last >= 0 {
		if commit = s.middleCommit(); !s.Shown() || commit == "" || s.countMeasured(last+1) >= s.Plan.Most() {
			return 0, false
		}
	}
	s.Tests = append(s.Tests, Test{Commit: commit})
	return last + 1, true
}

// measureTest takes the k-th test to its next look.
func (s *Search) measureTest(ctx context.Context, k int, measure Measure) error {
	t, of := &s.Tests[k], s.countMeasured(k)
	wanted := 1 // rounds that did not count are taken again
	for _, n := range s.Plan.lookRounds(of) {
		if n > len(t.Effects) {
			wanted = n - len(t.Effects)
			break
		}
	}
	batch, err := measure(ctx, t.Commit, wanted)
	var skip *SkipError
	switch {
	case errors.As(err, &skip):
		t.Verdict, t.Why = Skipped, skip.Why
		return nil
	case err != nil:
		return err
	}
	t.Seconds += batch.Took.Seconds()
	if batch.Half > 0 && len(batch.Effects) == 1 {
		t.judgeCount(batch, s.Edge())
		return nil
	}
	t.Exact = batch.Exact && (len(t.Effects) == 0 || t.Exact)
	t.Effects, t.Control = append(t.Effects, batch.Effects...), append(t.Control, batch.Control...)
	if len(batch.Effects) == 0 {
		t.Verdict, t.Why = Skipped, "no round of it counts"
		return nil
	}
	// A look for which there is no more time is the last one.
	if t.judgeRounds(s.Plan, of, s.Edge()); t.Verdict == "" && batch.Last {
		t.Verdict = Open
	}
	return nil
}

// Took returns how long a commit has been measured.
func (s *Search) Took(commit string) time.Duration {
	for _, t := range s.Tests {
		if t.Commit == commit {
			return time.Duration(t.Seconds * float64(time.Second))
		}
	}
	return 0
}

// countMeasured returns how many tests before the k-th can have been wrong.
func (s *Search) countMeasured(k int) int {
	n := 0
	for _, t := range s.Tests[:k] {
		if t.Verdict != Skipped {
			n++
		}
	}
	return n
}

// judgeCount gives the test its verdict by one count, which has an interval of its own.
func (t *Test) judgeCount(b Batch, edge float64) {
	t.Effects, t.Estimate = b.Effects, b.Effects[0]
	t.Low, t.High = t.Estimate-b.Half, t.Estimate+b.Half
	switch {
	case t.Low > edge:
		t.Verdict = Bad
	case t.High <= edge:
		t.Verdict = Good
	default:
		t.Verdict = Open
	}
}

// judgeRounds gives the test a verdict if the rounds decide. It is the k-th that can be wrong.
func (t *Test) judgeRounds(p Plan, k int, edge float64) {
	t.Estimate = stats.HodgesLehmann(t.Effects)
	if t.Low, t.High = t.Estimate, t.Estimate; t.Exact && p.Counts {
		if t.Verdict = Good; t.Estimate > edge {
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
	case len(t.Effects) >= p.Rounds:
		t.Verdict = Open
	}
}

// Forecast returns how many rounds a comparison of a commit without the effect takes, by the noise
// of earlier rounds.
func (s *Search) Forecast() (rounds int, ok bool) {
	if !s.Shown() {
		return 0, false
	}
	t := s.Tests[0]
	if t.Exact && s.Plan.Counts {
		return exactRounds, true
	}
	without := slices.Clone(t.Effects)
	for i := range without {
		without[i] -= t.Estimate
	}
	n, ok := stats.RoundsNeeded(without, s.Plan.intervalLevel(1), s.Plan.Rounds, s.Edge())
	for _, look := range s.Plan.lookRounds(1) {
		if look >= n {
			return look, ok
		}
	}
	return s.Plan.Rounds, ok
}
