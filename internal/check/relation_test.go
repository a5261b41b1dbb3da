package check

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/stats"
)

func TestControl(t *testing.T) {
	in := soundStudy()
	wantNone(t, "control", in)

	same := func(x float64, n int) []float64 { return slices.Repeat([]float64{x}, n) }
	in.Effects = controlEffects(load, same(0.01, 11))
	wantFinding(t, "control", in, tare.Void, "", load, "the baseline entered twice differs from itself: 1.01× (11 rounds, p = 0.00098)")
	in.Effects[0].A, in.Effects[0].B = in.Effects[0].B, in.Effects[0].A // stored the other way round
	wantFinding(t, "control", in, tare.Void, "", load, "the baseline entered twice differs from itself: 0.99× (11 rounds, p = 0.00098)")
	in.Effects[0].Metric = "cpu"
	wantNone(t, "control", in)
	in.Effects = []tare.Effects{{Workload: load, Metric: "time", A: "lean", B: base, Effects: same(0.01, 11)}}
	wantNone(t, "control", in)

	in.Effects = controlEffects(load, same(0.01, 11))
	in.Final = false
	wantNone(t, "control", in)
}

func TestControlWarnsAndNotes(t *testing.T) {
	in := soundStudy()
	in.Effects = controlEffects(load, slices.Repeat([]float64{0.02}, 8)) // p = 0.0078
	fs := runCheck(t, "control", in)
	if len(fs) != 2 || fs[0].Severity != tare.Warn || fs[0].Workload != load || fs[1].Severity != tare.Note || fs[1].Workload != "" {
		t.Fatalf("after eight rounds: %+v, want a warning and a note", fs)
	}
	if want := "after 8 rounds the control cannot void a workload; that takes 11"; fs[1].Message != want {
		t.Errorf("note %q, want %q", fs[1].Message, want)
	}
	// The same among ten workloads is not worth a warning: Holm makes it 0.078.
	for _, w := range strings.Split("bcdefghij", "") {
		in.Effects = append(in.Effects, controlEffects(w, []float64{-1, 1, -2, 2, -3, 3, -4, 4})...)
	}
	if fs := runCheck(t, "control", in); len(fs) != 1 || fs[0].Severity != tare.Note {
		t.Errorf("among ten workloads: %+v, want the note alone", fs)
	}
}

// Identical code is warned of in at most 5 % of studies, over five workloads,
// and void in about 0.5 % (0.1 % of workloads).
func TestControlFalseAlarms(t *testing.T) {
	r := newRandom(5)
	in := soundStudy()
	warned, voided := 0, 0
	n := countStudies(20_000)
	for range n {
		in.Effects = nil
		for _, w := range strings.Split("abcde", "") {
			in.Effects = append(in.Effects, controlEffects(w, noisyEffects(r, 18, 0, 0.05))...)
		}
		if fs := runCheck(t, "control", in); len(fs) > 0 {
			warned++
			for _, f := range fs {
				if f.Severity == tare.Void {
					voided++
					break
				}
			}
		}
	}
	t.Logf("of %d sound studies: %d warned of, %d of them void on a workload", n, warned, voided)
	if lo, _ := stats.ClopperPearson(warned, n, 0.002); lo > 0.05 {
		t.Errorf("%d of %d warned of", warned, n)
	}
	if lo, _ := stats.ClopperPearson(voided, n, 0.002); lo > 0.005 {
		t.Errorf("%d of %d void", voided, n)
	}
}

// longRoundStudy returns a study of 27 rounds and three long rounds. In the long rounds
// the cost of lean's slices is multiplied by by.
func longRoundStudy(seed uint64, by float64) Input {
	r := newRandom(seed)
	in := soundStudy()
	in.Slices = makeSlices(r, in, 27, 1, nil)
	in.Slices = append(in.Slices, makeSlices(r, in, 3, 8, func(s tare.Slice) float64 {
		if s.Contender == "lean" {
			return by
		}
		return 1
	})...)
	return in
}

func TestSliceInvariance(t *testing.T) {
	wantNone(t, "slice-invariance", soundStudy())
	wantNone(t, "slice-invariance", longRoundStudy(1, 1))
	f := runCheck(t, "slice-invariance", longRoundStudy(1, 0.738/0.886))
	if len(f) != 1 || f[0].Severity != tare.Warn || f[0].Contender != "lean" || f[0].Workload != load ||
		!strings.HasPrefix(f[0].Message, "the ratio to encoding-json is 0.4") || !strings.HasSuffix(f[0].Message, " in slices 8 times as long (3 rounds)") {
		t.Errorf("found %+v", f)
	}
	few := longRoundStudy(1, 0.5)
	few.Slices = slices.DeleteFunc(few.Slices, func(s tare.Slice) bool { return s.Tau == 8 && s.Round == 3 })
	wantNone(t, "slice-invariance", few) // two long rounds
	short := longRoundStudy(1, 0.5)
	short.Slices = slices.DeleteFunc(short.Slices, func(s tare.Slice) bool { return s.Tau == 1 && s.Round > 12 })
	wantNone(t, "slice-invariance", short) // 12 + 3 rounds cannot reach 0.1 %
	early := longRoundStudy(1, 0.5)
	early.Final = false
	wantNone(t, "slice-invariance", early)
	within := longRoundStudy(1, 1.01)
	wantNone(t, "slice-invariance", within) // inside the tolerance
	found := 0
	for seed := range uint64(200) {
		found += len(runCheck(t, "slice-invariance", longRoundStudy(seed, 1)))
	}
	if found > 2 {
		t.Errorf("%d of 200 sound studies warned of, at 0.1 %%", found)
	}
}

func TestCarryOver(t *testing.T) {
	after := func(seed uint64, rounds int, by float64) Input {
		in := soundStudy()
		in.Slices = makeSlices(newRandom(seed), in, rounds, 1, func(s tare.Slice) float64 {
			if s.Contender == "lean" && s.After == base {
				return by
			}
			return 1
		})
		return in
	}
	wantNone(t, "carry-over", after(1, 40, 1))
	wantNone(t, "carry-over", after(1, 40, 1.02)) // inside the tolerance
	fs := runCheck(t, "carry-over", after(1, 40, 1.15))
	if len(fs) != 1 || fs[0].Severity != tare.Warn || fs[0].Contender != "lean" || fs[0].Workload != load ||
		!strings.HasPrefix(fs[0].Message, "a slice costs 1.1") || !strings.Contains(fs[0].Message, "× what others cost right after encoding-json (1.") || !strings.HasSuffix(fs[0].Message, " rounds)") {
		t.Errorf("found %+v", fs)
	}
	wantNone(t, "carry-over", after(1, 12, 1.15)) // too few rounds for so many contrasts
	whole := after(1, 40, 1.15)
	whole.Plan.Isolation = tare.TrialWise
	wantNone(t, "carry-over", whole)
	early := after(1, 40, 1.15)
	early.Final = false
	wantNone(t, "carry-over", early)

	first := soundStudy()
	first.Slices = makeSlices(newRandom(2), first, 40, 1, func(s tare.Slice) float64 {
		if s.Contender == base && s.Position == 0 {
			return 0.85
		}
		return 1
	})
	fs = runCheck(t, "carry-over", first)
	if len(fs) != 1 || fs[0].Contender != base || !strings.Contains(fs[0].Message, "× what others cost at position 1 (0.8") {
		t.Errorf("found %+v", fs)
	}

	traps := soundStudy()
	traps.Slices = makeSlices(newRandom(3), traps, 40, 1, func(s tare.Slice) float64 {
		if (s.Contender == "trap" || s.Contender == tare.NullID) && s.After == base {
			return 2
		}
		return 1
	})
	wantNone(t, "carry-over", traps)

	found := 0
	for seed := range uint64(100) {
		found += len(runCheck(t, "carry-over", after(seed, 27, 1)))
	}
	if found > 1 {
		t.Errorf("%d of 100 sound studies warned of, at 0.1 %%", found)
	}
}

// With three and four values there are 35 ways to draw the ranks; the shares
// by sum are known by counting.
func TestRankSumNull(t *testing.T) {
	want := []float64{1, 1, 2, 3, 4, 4, 5, 4, 4, 3, 2, 1, 1}
	for _, got := range [][]float64{rankSumNull(3, 4), rankSumNull(4, 3)} {
		if len(got) != len(want) {
			t.Fatalf("%d shares, want %d", len(got), len(want))
		}
		for u := range want {
			if math.Abs(got[u]-want[u]/35) > 1e-15 {
				t.Errorf("P(U = %d) = %v, want %v/35", u, got[u], want[u])
			}
		}
	}
}

func TestShift(t *testing.T) {
	x, y := []float64{1, 2, 3, 4}, []float64{11, 12, 13}
	if est, lo, hi, ok := estimateShift(x, y, 2.0/35); !ok || est != 9.5 || lo != 7 || hi != 12 {
		t.Errorf("shift = %v (%v to %v) %v, want 9.5 (7 to 12)", est, lo, hi, ok)
	}
	if _, _, _, ok := estimateShift(x, y, 0.05); ok {
		t.Error("an interval at 5 % from 4 and 3 values, whose extremes have 2/35")
	}
	if _, lo, hi, _ := estimateShift(x, y, 4.0/35); lo != 8 || hi != 11 {
		t.Errorf("at 4/35: %v to %v, want the second from each end", lo, hi)
	}
	if _, _, _, ok := estimateShift(nil, y, 0.5); ok {
		t.Error("an interval from nothing")
	}
	r := newRandom(9)
	missed := 0
	for range 1000 {
		_, lo, hi, _ := estimateShift(noisyEffects(r, 12, 1, 0.3), noisyEffects(r, 6, 1.7, 0.3), 0.05)
		if lo > 0.7 || hi < 0.7 {
			missed++
		}
	}
	if lo, hi := stats.ClopperPearson(missed, 1000, 0.002); lo > 0.05 || hi < 0.03 {
		t.Errorf("the 95 %% interval missed the shift in %d of 1000", missed)
	}
}
