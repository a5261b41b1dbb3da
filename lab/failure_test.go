package lab_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/lab"
	"github.com/tarebench/tare/lab/labtest"
)

// failing has a contender of s die in some rounds.
func failing(s labtest.Script, id string, rounds ...int) {
	act := s.Contenders[id]
	act.FailRounds, act.FailClass, act.FailMessage = rounds, tare.ErrExit, "made up"
	s.Contenders[id] = act
}

// measure carries the study out over twelve rounds, with a second contender,
// "other", which never fails.
func measure(t *testing.T, s labtest.Script, change func(*lab.Options)) (*tare.Result, error) {
	t.Helper()
	s.Contenders["other"] = labtest.Act{NSPerOp: 40e3, Spread: 0.05, Drift: 0.02, BytesPerOp: 20000, AllocsPerOp: 200, CycleNS: 4e6, OutputBytes: 11000}
	asked := study()
	asked.Contenders = append(asked.Contenders, tare.Entry{ID: "other"})
	asked.Criteria[0].Contender = "" // of all
	o := options(t, s)
	o.Rounds = 12
	if change != nil {
		change(&o)
	}
	return lab.Run(context.Background(), asked, o)
}

// rounds is how many rounds the time of a against b rests on, and which.
func rounds(t *testing.T, r *tare.Result, a, b string) (n int, of []int) {
	t.Helper()
	for _, e := range r.Rounds {
		if e.Metric == "time" && (e.A == a && e.B == b || e.A == b && e.B == a) {
			if len(e.Of) > 0 && len(e.Of) != len(e.Effects) {
				t.Errorf("%s against %s: %d effects of %d rounds", a, b, len(e.Effects), len(e.Of))
			}
			return len(e.Effects), e.Of
		}
	}
	t.Fatalf("no effects of %s against %s", a, b)
	return 0, nil
}

func verdict(r *tare.Result, contender string) tare.Verdict {
	for _, v := range r.Verdicts {
		if v.Contender == contender && v.Criterion != "" {
			return v
		}
	}
	return tare.Verdict{}
}

// Whatever happens to a contender in one round costs it that round, and nobody
// else anything.
func TestAFailedTrialVoidsItsRound(t *testing.T) {
	for class, ended := range map[string]string{
		tare.ErrExit: "died", tare.ErrDeadline: "hung", tare.ErrProtocol: "broke the protocol", tare.ErrMemory: "took too much memory", tare.ErrContender: "gave up",
	} {
		for _, isolation := range []tare.Isolation{tare.Lockstep, tare.TrialWise} {
			s := script()
			failing(s, "lean", 3)
			act := s.Contenders["lean"]
			act.FailClass = class
			s.Contenders["lean"] = act
			r, err := measure(t, s, func(o *lab.Options) { o.Isolation = isolation })
			if err != nil {
				t.Fatalf("%s: %v", class, err)
			}
			f := found(r, "trial", "lean")
			if want := "1 of 12 rounds is void: " + ended + " in round 3: made up"; f == nil || f.Severity != tare.Warn || f.Message != want {
				t.Errorf("%s: finding %+v, want %q", class, f, want)
			}
			n, of := rounds(t, r, "lean", "base")
			if want := []int{1, 2, 4, 5, 6, 7, 8, 9, 10, 11, 12}; n != 11 || !slices.Equal(of, want) {
				t.Errorf("%s: %d effects, of rounds %v; want %v", class, n, of, want)
			}
			if n, of := rounds(t, r, "other", "base"); n != 12 || of != nil {
				t.Errorf("%s: %d effects of the other, of rounds %v; want all 12", class, n, of)
			}
			if n, _ := rounds(t, r, "other", "lean"); n != 11 {
				t.Errorf("%s: %d effects between the two, want 11", class, n)
			}
			v := verdict(r, "lean")
			if r.RoundsDone != 12 || v.Verdict != tare.Met || !strings.Contains(v.Sentence, "11 rounds") {
				t.Errorf("%s: %+v after %d rounds; want met, over 11 of 12", class, v, r.RoundsDone)
			}
			if c := compared(t, r, "lean", "time"); c.Rounds != 11 || c.RankLow != 1 || c.RankHigh != 1 || compared(t, r, "lean", "allocs").Rounds != 11 {
				t.Errorf("%s: %+v; want the first of all, over 11 rounds", class, c)
			}
		}
	}
}

// The rule: two rounds in a row, or more than a quarter of those planned.
func TestTooManyFailures(t *testing.T) {
	for _, c := range []struct {
		fails []int
		left  int    // rounds that count; 0: none does
		why   string // part of the finding
		last  int    // round in which it was last asked
	}{
		{[]int{1}, 11, "1 of 12 rounds is void: died in round 1", 12},
		{[]int{12}, 11, "1 of 12 rounds is void: died in round 12", 12},
		{[]int{2, 4, 12}, 9, "3 of 12 rounds are void: died in round 2: made up (and in 2 trials more)", 12},
		{[]int{2, 4, 6, 8, 10}, 0, "died in round 2: made up (and in 3 trials more); more than a quarter of 12 rounds planned failed", 8},
		{[]int{3, 4, 5}, 0, "died in round 3: made up (and in 1 trial more); two rounds in a row failed", 4},
		{[]int{11, 12}, 0, "two rounds in a row failed", 12},
	} {
		s := script()
		failing(s, "lean", c.fails...)
		r, err := measure(t, s, nil)
		if err != nil {
			t.Fatalf("%v: %v", c.fails, err)
		}
		f := found(r, "trial", "lean")
		if f == nil || !strings.Contains(f.Message, c.why) || (f.Severity == tare.Void) != (c.left == 0) {
			t.Errorf("%v: finding %+v, want %q", c.fails, f, c.why)
		}
		last := 0
		for _, tr := range r.Trials {
			if tr.Contender == "lean" {
				last = tr.Round
			}
		}
		v := verdict(r, "lean")
		if last != c.last || (v.Verdict == tare.VoidRuling) != (c.left == 0) {
			t.Errorf("%v: last asked in round %d, verdict %+v", c.fails, last, v)
		}
		if got := compared(t, r, "lean", "time"); c.left > 0 && (got.Rounds != c.left || got.RankLow == 0) {
			t.Errorf("%v: %+v, want %d rounds and a rank", c.fails, got, c.left)
		} else if c.left == 0 && got.RankLow != 0 {
			t.Errorf("%v: it is void and has a rank: %+v", c.fails, got)
		}
		if n, _ := rounds(t, r, "other", "base"); n != 12 || r.RoundsDone != 12 {
			t.Errorf("%v: %d effects of the other over %d rounds, want 12", c.fails, n, r.RoundsDone)
		}
	}
}

// Everybody is compared with the baseline: a round that it loses nobody has.
func TestARoundWithoutItsBaselineIsVoid(t *testing.T) {
	s := script()
	failing(s, "base", 5)
	r, err := measure(t, s, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, pair := range [][2]string{{"lean", "base"}, {"other", "base"}, {"other", "lean"}, {tare.ControlID, "base"}} {
		if n, of := rounds(t, r, pair[0], pair[1]); n != 11 || slices.Contains(of, 5) {
			t.Errorf("%v: %d effects, of rounds %v; want 11 without the fifth", pair, n, of)
		}
	}
	for _, v := range r.Values {
		if v.Contender != "trap" && v.Rounds != 11 {
			t.Errorf("a value over %d rounds, want 11: %+v", v.Rounds, v)
		}
	}
	for _, tr := range r.Trials {
		if tr.Counts("w") == (tr.Round == 5) {
			t.Errorf("round %d of %s counts: %v (%+v)", tr.Round, tr.Contender, tr.Counts("w"), tr.Void)
		}
	}
	if f := found(r, "trial", "base"); f == nil || f.Severity != tare.Warn || !strings.HasPrefix(f.Message, "1 of 12 rounds is void: died in round 5") {
		t.Errorf("finding %+v", f)
	}
}

func TestControlAndNullLoseARound(t *testing.T) {
	s := script()
	failing(s, "null", 4)
	r, err := measure(t, s, nil)
	if err != nil {
		t.Fatal(err)
	}
	f := found(r, "trial", tare.NullID)
	if f == nil || f.Severity != tare.Warn || compared(t, r, "lean", "cpu").Rounds != 12 || compared(t, r, tare.ControlID, "time").Rounds != 12 {
		t.Errorf("without the null in one round: %+v", f)
	}
}

// The study ends where it loses for good what every comparison needs.
func TestAStudyWithoutItsBaselineIsLost(t *testing.T) {
	for _, rounds := range [][]int{{2, 3}, {1, 3, 5, 7}} {
		for _, id := range []string{"base", "null"} {
			s := script()
			failing(s, id, rounds...)
			_, err := measure(t, s, nil)
			var lost *lab.LostError
			if !errors.As(err, &lost) || !strings.Contains(lost.Why, "made up") {
				t.Errorf("%s fails in %v: %v, want a LostError", id, rounds, err)
			}
		}
	}
}

// An operation that returns an error costs the round it is in, as long as there
// are few such rounds.
func TestErrorsInSomeRounds(t *testing.T) {
	for _, c := range []struct {
		in   []int
		left int
	}{{[]int{4}, 11}, {[]int{4, 8, 12}, 9}, {[]int{4, 5}, 0}, {nil, 0}} {
		s := script()
		act := s.Contenders["lean"]
		act.Errors, act.ErrorRounds = 1, c.in
		s.Contenders["lean"] = act
		r, err := measure(t, s, nil)
		if err != nil {
			t.Fatal(err)
		}
		f, v := found(r, "error-in-loop", "lean"), verdict(r, "lean")
		if f == nil {
			t.Fatalf("errors in rounds %v were not found", c.in)
		}
		if c.left == 0 {
			if f.Severity != tare.Void || v.Verdict != tare.VoidRuling {
				t.Errorf("errors in rounds %v: %+v, %+v; want void", c.in, f, v)
			}
			continue
		}
		about := "1 of 12 rounds is void: in round 4, "
		if len(c.in) > 1 {
			about = fmt.Sprintf("%d of 12 rounds are void: in round 4, round 8, round 12, ", len(c.in))
		}
		if f.Severity != tare.Warn || !strings.HasPrefix(f.Message, about) || !strings.Contains(f.Message, "the first: scripted error") {
			t.Errorf("errors in rounds %v: %+v", c.in, f)
		}
		if n, of := rounds(t, r, "lean", "base"); n != c.left || slices.Contains(of, 4) || v.Verdict != tare.Met {
			t.Errorf("errors in rounds %v: effects of rounds %v, %+v", c.in, of, v)
		}
		if n, _ := rounds(t, r, "other", "base"); n != 12 {
			t.Errorf("errors in rounds %v: %d effects of the other, want 12", c.in, n)
		}
	}
}
