package counts

import (
	"context"
	"fmt"
	"math"
	"os"
	"testing"
)

func TestOperations(t *testing.T) {
	for _, tt := range []struct {
		estimate, bound float64
		cycle           int64
		first, last     int64
	}{
		{1000, 1e8, 0, 28571, 228571}, // 200 million instructions between the two
		{36, 1e8, 1, 793650, 6349206},
		{1, 1e6, 0, 125000, 1000000}, // the bound of operations, or of memory
		{1e9, 1e8, 0, 2, 3},          // testing does one operation without a second run
		{50, 4, 0, 2, 4},
		{1000, 1e8, 64, 28544, 228544}, // whole cycles of inputs
		{1e7, 1e8, 64, 64, 128},
		{1, 130, 64, 64, 128},
	} {
		first, last := splitOperations(targetWork/tt.estimate, tt.bound, tt.cycle)
		if first != tt.first || last != tt.last {
			t.Errorf("%g instructions, at most %g operations: %d and %d, want %d and %d", tt.estimate, tt.bound, first, last, tt.first, tt.last)
		}
	}
}

// What both runs have of start and set-up is in no count; a place that only the shorter
// run has counts against it.
func TestDifference(t *testing.T) {
	work, start, early := Place{"work", "w.go", 1}, Place{"start", "s.go", 2}, Place{"early", "e.go", 3}
	few := &Profile{Total: 1000 + 10*20 + 30, Places: map[Place]uint64{work: 200, start: 1000, early: 30}}
	many := &Profile{Total: 1000 + 10*170, Places: map[Place]uint64{work: 1700, start: 1000}}
	got := perOperation(few, many, 150)
	if want := 9.8; math.Abs(got.PerOp-want) > 1e-9 {
		t.Errorf("%g instructions an operation, want %g", got.PerOp, want)
	}
	if got.Places[work] != 10 || got.Places[early] != -0.2 || len(got.Places) != 2 {
		t.Errorf("places: %v", got.Places)
	}
	site := Call{work, "callee"}
	few.Calls, many.Calls = map[Call]uint64{site: 21}, map[Call]uint64{site: 321}
	if calls := perOperation(few, many, 150).Calls; calls[site] != 2 {
		t.Errorf("calls: %v", calls)
	}
	if sum := perOperation(&Profile{Total: 100}, &Profile{Total: 400}, 3); sum.PerOp != 100 || sum.Places != nil {
		t.Errorf("of hardware counters: %+v", sum)
	}
}

// Pairs of counts are consistent if all repeats have the same difference, and, with the same code, none:
// how much both sides do may depend on the seed of a repeat.
func TestIsConsistent(t *testing.T) {
	for _, tt := range []struct {
		base, head []float64
		sameCode   bool
		want       bool
	}{
		{[]float64{1000, 1000}, []float64{1100, 1101.9}, false, true},
		{[]float64{1000, 1000}, []float64{1100, 1102.5}, false, false},
		{[]float64{1000, 1050}, []float64{1100, 1150}, false, true}, // the seed decides, on both sides
		{[]float64{36, 36}, []float64{36, 36.9}, false, true},
		{[]float64{36, 36}, []float64{36, 37.1}, false, false},
		{[]float64{5}, []float64{50}, false, true},
		{[]float64{1000}, []float64{1001.9}, true, true},
		{[]float64{1000, 1050}, []float64{1001, 1051}, true, true},
		{[]float64{1000, 1050}, []float64{1003, 1053}, true, false}, // the same code does not do more
	} {
		p := &Pair{guess: Estimate{SameCode: tt.sameCode}}
		for i := range tt.base {
			p.Base.Counts = append(p.Base.Counts, Count{PerOp: tt.base[i]})
			p.Head.Counts = append(p.Head.Counts, Count{PerOp: tt.head[i]})
		}
		if p.isConsistent() != tt.want {
			t.Errorf("%v and %v, same code %v: consistent %v", tt.base, tt.head, tt.sameCode, !tt.want)
		}
	}
}

func TestGodebug(t *testing.T) {
	for _, tt := range []struct {
		env  []string
		want string
	}{
		{nil, "GODEBUG=asyncpreemptoff=1,memprofilerate=0"},
		{[]string{"A=1", "GODEBUG=http2client=0"}, "GODEBUG=http2client=0,asyncpreemptoff=1,memprofilerate=0"},
		{[]string{"GODEBUG="}, "GODEBUG=asyncpreemptoff=1,memprofilerate=0"},
	} {
		if got := debugSetting(tt.env); got != tt.want {
			t.Errorf("%v: %s, want %s", tt.env, got, tt.want)
		}
	}
}

// fakeProgram writes the output of cachegrind for a program with start instructions and perOp more for
// each operation, and records the operations of its runs.
type fakeProgram struct {
	t            *testing.T
	start, perOp int64
	runs         *[]int64
}

func (p fakeProgram) workDir() string { return p.t.TempDir() }

func (p fakeProgram) runOps(_ context.Context, l *launch, n int64) error {
	*p.runs = append(*p.runs, n)
	total := p.start + p.perOp*n
	return os.WriteFile(l.file, fmt.Appendf(nil, "events: Ir\nfl=a.go\nfn=f\n1 %d\nsummary: %d\n", total, total), 0o600)
}

// A count has two runs of its own. Sides are counted twice, once if they have the same code, and again while
// counts are inconsistent.
func TestSeries(t *testing.T) {
	for _, tt := range []struct {
		name     string
		start    int64
		guess    Estimate
		headCost int64
		wantRuns int // of both sides together
	}{
		{"different code", 5e6, Estimate{NSPerOp: 100}, 1300, 8},
		{"the same code", 5e6, Estimate{NSPerOp: 100, SameCode: true}, 1000, 4},
		{"the same code, another count", 5e6, Estimate{NSPerOp: 100, SameCode: true}, 1100, 20},
		{"few others", 5e6, Estimate{NSPerOp: 100, FewOthers: true}, 1300, 12},
		{"more work than expected", 5e6, Estimate{NSPerOp: 1000}, 1300, 10}, // a second pilot
	} {
		var runs []int64
		newSide := func(perOp int64) Side {
			return func(context.Context, int) (Program, error) { return fakeProgram{t, tt.start, perOp, &runs}, nil }
		}
		c := &Counter{path: "valgrind"}
		p, err := c.StartPair(t.Context(), tt.guess, newSide(1000), newSide(tt.headCost))
		if err != nil {
			t.Fatal(err)
		}
		for sides := p.Incomplete(); len(sides) > 0; sides = p.Incomplete() {
			for _, s := range sides {
				if err := s.Repeat(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
		}
		if len(runs) != tt.wantRuns {
			t.Errorf("%s: %d runs, want %d: %v", tt.name, len(runs), tt.wantRuns, runs)
		}
		for _, s := range []struct {
			counts []Count
			want   int64
		}{{p.Base.Counts, 1000}, {p.Head.Counts, tt.headCost}} {
			for _, count := range s.counts {
				if count.PerOp != float64(s.want) {
					t.Errorf("%s: %g instructions, want %d", tt.name, count.PerOp, s.want)
				}
			}
		}
	}
}
