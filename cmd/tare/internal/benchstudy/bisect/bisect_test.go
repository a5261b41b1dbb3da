package bisect_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/tarebench/tare/cmd/tare/internal/benchstudy/bisect"
)

// line is a history of n commits in a row, c0 the oldest.
func line(n int) []bisect.Commit {
	var out []bisect.Commit
	for i := n - 1; i >= 0; i-- {
		out = append(out, bisect.Commit{ID: fmt.Sprint("c", i), Parents: []string{fmt.Sprint("c", i-1)}})
	}
	return out
}

func search(history []bisect.Commit, rounds int) *bisect.Search {
	return &bisect.Search{Plan: bisect.Plan{ErrorBound: 0.05, Commits: len(history), MaxRounds: rounds}, History: history, Effect: math.Log(1.05)}
}

func nothing() error { return nil }

// exactly measures without noise.
func exactly(effect func(id string) float64) bisect.Measure {
	return func(_ context.Context, commit string, rounds int) (bisect.Batch, error) {
		e := effect(commit)
		if math.IsNaN(e) {
			return bisect.Batch{}, &bisect.SkipError{Why: "it does not build"}
		}
		return bisect.Batch{Effects: slices.Repeat([]float64{e}, rounds), Control: make([]float64, rounds), Exact: true}, nil
	}
}

func number(id string) (n int) {
	if _, err := fmt.Sscanf(id, "c%d", &n); err != nil {
		panic(err)
	}
	return n
}

// Every first bad commit of every history in a row is found, with no more
// comparisons than planned.
func TestEveryCommitIsFound(t *testing.T) {
	for n := 1; n <= 33; n++ {
		for first := range n {
			s := search(line(n), 40)
			err := s.Run(t.Context(), exactly(func(id string) float64 {
				if number(id) >= first {
					return 0.08
				}
				return 0
			}), nothing)
			if found := s.Suspects(); err != nil || len(found) != 1 || number(found[0].ID) != first || len(s.Tests) > s.Plan.Comparisons() {
				t.Fatalf("%d commits, the first bad one c%d: found %v after %d comparisons of %d; %v", n, first, found, len(s.Tests), s.Plan.Comparisons(), err)
			}
		}
	}
}

// What cannot be built is passed over; where it lies before the first bad commit
// that can be, one of them is.
func TestWhatDoesNotBuildIsPassedOver(t *testing.T) {
	for first := range 32 {
		for _, broken := range [][2]int{{13, 18}, {0, 4}, {28, 31}} {
			s := search(line(32), 40)
			err := s.Run(t.Context(), exactly(func(id string) float64 {
				switch n := number(id); {
				case n >= broken[0] && n < broken[1]:
					return math.NaN()
				case n >= first:
					return 0.08
				}
				return 0
			}), nothing)
			want := []int{first}
			if first >= broken[0] && first <= broken[1] {
				want = nil
				for n := broken[1]; n >= broken[0]; n-- {
					want = append(want, n)
				}
			}
			var got []int
			for _, c := range s.Suspects() {
				got = append(got, number(c.ID))
			}
			if err != nil || !slices.Equal(got, want) {
				t.Errorf("first bad c%d, c%d to c%d do not build: found %v, want %v; %v", first, broken[0], broken[1]-1, got, want, err)
			}
		}
	}
}

// A branch that was merged is searched as well, and its first bad commit found.
func TestBranches(t *testing.T) {
	history := []bisect.Commit{
		{ID: "head", Parents: []string{"merge"}},
		{ID: "merge", Parents: []string{"b", "y"}},
		{ID: "b", Parents: []string{"a"}}, {ID: "y", Parents: []string{"x"}},
		{ID: "a", Parents: []string{"good"}}, {ID: "x", Parents: []string{"good"}},
	}
	for first, bad := range map[string][]string{"x": {"x", "y", "merge", "head"}, "y": {"y", "merge", "head"}, "merge": {"merge", "head"}, "b": {"b", "merge", "head"}, "head": {"head"}} {
		s := search(history, 40)
		err := s.Run(t.Context(), exactly(func(id string) float64 {
			if slices.Contains(bad, id) {
				return 0.08
			}
			return 0
		}), nothing)
		if found := s.Suspects(); err != nil || len(found) != 1 || found[0].ID != first {
			t.Errorf("found %v, %v; want %s", found, err, first)
		}
	}
}

// Without the effect nothing is searched.
func TestNoEffect(t *testing.T) {
	s := search(line(8), 40)
	if err := s.Run(t.Context(), exactly(func(string) float64 { return 0.001 }), nothing); err != nil || s.BadShows() || len(s.Tests) != 1 || s.Suspects() != nil {
		t.Errorf("shown %v, %d tests, found %v, %v", s.BadShows(), len(s.Tests), s.Suspects(), err)
	}
}

// A search that is cut off anywhere goes on from what was saved, to the same end.
func TestCutOff(t *testing.T) {
	cut := errors.New("cut off")
	noise := rand.New(rand.NewPCG(1, 2))
	plain := noisy(noise, 0.02, func(n int) float64 {
		if n >= 9 {
			return 0.08
		}
		return 0
	})
	s := search(line(20), 60)
	calls := 0
	for range 200 {
		left := 1
		err := s.Run(t.Context(), func(ctx context.Context, commit string, rounds int) (bisect.Batch, error) {
			if left--; left < 0 {
				return bisect.Batch{}, cut
			}
			calls++
			return plain(ctx, commit, rounds)
		}, nothing)
		if err == nil {
			break
		}
		if !errors.Is(err, cut) {
			t.Fatal(err)
		}
		kept, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		s = &bisect.Search{}
		if err := json.Unmarshal(kept, s); err != nil {
			t.Fatal(err)
		}
	}
	if found := s.Suspects(); len(found) != 1 || found[0].ID != "c9" || calls < len(s.Tests) {
		t.Errorf("found %v after %d batches", found, calls)
	}
}

// noisy measures with noise of that standard deviation a round.
func noisy(rng *rand.Rand, sd float64, effect func(n int) float64) bisect.Measure {
	return func(_ context.Context, commit string, rounds int) (bisect.Batch, error) {
		var b bisect.Batch
		for range rounds {
			b.Effects = append(b.Effects, effect(number(commit))+sd*rng.NormFloat64())
			b.Control = append(b.Control, sd*rng.NormFloat64())
		}
		return b, nil
	}
}

// The law: over all comparisons of a bisection, the chance of a wrong answer is
// at most what was set, where commits lie next to the edge and where they do not.
func TestErrorIsBounded(t *testing.T) {
	const runs = 200
	for _, tt := range []struct {
		away    float64 // from the edge, in standard deviations of a round
		decided int     // runs, at least
	}{{0.0001, 0}, {2, runs * 9 / 10}} {
		rng := rand.New(rand.NewPCG(3, 4))
		wrong, decided := 0, 0
		for range runs {
			n := 2 + rng.IntN(20)
			first, sd := rng.IntN(n), 0.002+0.008*rng.Float64()
			s := search(line(n), 18)
			s.FixedEdge = true
			level := func(i int) float64 {
				switch {
				case i == n-1:
					return 0.2
				case i >= first:
					return s.Edge() + tt.away*sd
				}
				return s.Edge() - tt.away*sd
			}
			if err := s.Run(t.Context(), noisy(rng, sd, level), nothing); err != nil {
				t.Fatal(err)
			}
			if len(s.Tests) > s.Plan.MaxComparisons() {
				t.Fatalf("%d comparisons of %d commits, want at most %d", len(s.Tests), n, s.Plan.MaxComparisons())
			}
			if !right(s, func(i int) bool { return level(i) > s.Edge() }) {
				wrong++
			}
			if len(s.Suspects()) == 1 {
				decided++
			}
		}
		if wrong > runs*5/100 {
			t.Errorf("%v away: %d of %d runs are wrong, want at most 5 %%", tt.away, wrong, runs)
		}
		if decided < tt.decided {
			t.Errorf("%v away: %d of %d runs found a commit, want %d", tt.away, decided, runs, tt.decided)
		}
		t.Logf("%v away: %d of %d wrong, %d decided", tt.away, wrong, runs, decided)
	}
}

// right reports whether every comparison that has an answer has the right one.
func right(s *bisect.Search, bad func(n int) bool) bool {
	return !slices.ContainsFunc(s.Tests, func(t bisect.Test) bool {
		return t.Verdict == bisect.Good && bad(number(t.Commit)) || t.Verdict == bisect.Bad && !bad(number(t.Commit))
	})
}

// Thirty-two commits with one planted regression of 8 % among commits that move
// it by up to a percent: the planted one is named.
func TestPlanted(t *testing.T) {
	const runs = 40
	rng := rand.New(rand.NewPCG(5, 6))
	named, rounds := 0, 0
	for range runs {
		first := rng.IntN(32)
		level := make([]float64, 32)
		for i := range level {
			if level[i] = 0.01 * (2*rng.Float64() - 1); i >= first {
				level[i] += math.Log(1.08)
			}
		}
		s := search(line(32), 180)
		if err := s.Run(t.Context(), noisy(rng, 0.02, func(i int) float64 { return level[i] }), nothing); err != nil {
			t.Fatal(err)
		}
		if found := s.Suspects(); len(found) == 1 && number(found[0].ID) == first {
			named++
		}
		for _, t := range s.Tests {
			rounds += len(t.Effects)
		}
		if n, ok := s.ForecastRounds(); !ok || n < 8 || n > 60 {
			t.Errorf("forecast of %d rounds, %v", n, ok)
		}
	}
	if named < runs*19/20 {
		t.Errorf("named in %d of %d runs", named, runs)
	}
	t.Logf("named in %d of %d runs, %.0f rounds a run", named, runs, float64(rounds)/runs)
}

// Counts that are the same in every round need three of them.
func TestExactCounts(t *testing.T) {
	s := search(line(16), 60)
	s.Plan.CountDifferences, s.Effect = true, 1
	err := s.Run(t.Context(), exactly(func(id string) float64 { return float64(min(1, number(id)/5)) }), nothing)
	if found := s.Suspects(); err != nil || len(found) != 1 || found[0].ID != "c5" {
		t.Fatalf("found %v, %v", found, err)
	}
	for _, c := range s.Tests {
		if len(c.Effects) != 3 {
			t.Errorf("%s took %d rounds", c.Commit, len(c.Effects))
		}
	}
	if n, ok := s.ForecastRounds(); n != 3 || !ok {
		t.Errorf("forecast %d, %v", n, ok)
	}
}

// Where no round counts a commit is passed over, and an error ends the search.
func TestMeasuringFails(t *testing.T) {
	s := search(line(4), 40)
	err := s.Run(t.Context(), func(context.Context, string, int) (bisect.Batch, error) { return bisect.Batch{}, nil }, nothing)
	if err != nil || s.Tests[0].Verdict != bisect.Skipped || s.Tests[0].Why == "" {
		t.Errorf("%+v, %v", s.Tests, err)
	}
	full := errors.New("disk full")
	if err := search(line(4), 40).Run(t.Context(), exactly(func(string) float64 { return 1 }), func() error { return full }); !errors.Is(err, full) {
		t.Errorf("%v, want that saving failed", err)
	}
}

// A comparison ends when there is no time for more rounds, whatever it can tell, and
// so does the search if the bad revision cannot be told.
func TestNoMoreTime(t *testing.T) {
	s := search(line(8), 40)
	asked := 0
	err := s.Run(t.Context(), func(_ context.Context, commit string, rounds int) (bisect.Batch, error) {
		asked++
		if took := s.MeasuringTime(commit); took != time.Duration(asked-1)*time.Second {
			t.Errorf("%s was measured for %v before batch %d", commit, took, asked)
		}
		noisy := make([]float64, max(1, rounds-1))
		for i := range noisy {
			noisy[i] = 0.1 * float64(i%2*2-1)
		}
		return bisect.Batch{Effects: noisy, Control: make([]float64, len(noisy)), Took: time.Second, IsLast: asked == 2}, nil
	}, nothing)
	if err != nil || asked != 2 || len(s.Tests) != 1 || s.Tests[0].Verdict != bisect.Open || s.Tests[0].Seconds != 2 {
		t.Errorf("%d batches, %+v, %v; want 2 batches of one commit, inconclusive", asked, s.Tests, err)
	}
}
