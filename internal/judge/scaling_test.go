package judge

import (
	"math"
	"slices"
	"testing"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/evidence"
	"github.com/tarebench/tare/stats"
)

// grown is a study of three sizes, in bodies of 100, 1,000 and 20,000 bytes,
// on which base's time grows as bytes^1 and lean's as bytes^e.
func grown(seed uint64, rounds int, e float64) evidence.Evidence {
	f := fake{workloads: []string{"large", "small", "middle"}, cost: map[string]float64{"lean": 1000}, rounds: rounds, slices: 2, roundSD: 0.05, sliceSD: 0.03}
	d := f.data(seeded(seed))
	bytes := map[string]float64{"small": 100, "middle": 1000, "large": 20000}
	for i := range d.Study.Workloads {
		w := &d.Study.Workloads[i]
		w.Fixture, w.Op, w.Pool = "devices", "marshal", 8
		w.Bytes = int64(8 * bytes[w.ID])
	}
	for i := range d.Slices {
		s := &d.Slices[i]
		exponent := 1.0
		if s.Contender == "lean" {
			exponent = e
		}
		s.WallNS = int64(float64(s.WallNS) * math.Pow(bytes[s.Workload]/100, exponent))
	}
	return d
}

func TestScaling(t *testing.T) {
	d := grown(1, 18, 0.6)
	got := Scaling(d)
	if len(got) != 2 || got[0].Contender != base || got[1].Contender != "lean" {
		t.Fatalf("scaling of %+v, want the baseline's and lean's", got)
	}
	for i, want := range []float64{1, 0.6} {
		s := got[i]
		if s.Fixture != "devices" || s.Op != "marshal" || !slices.Equal(s.Workloads, []string{"small", "middle", "large"}) || s.Rounds != 18 || len(s.PerRound) != 18 || s.Level != 0.95 {
			t.Errorf("%+v", s)
		}
		if s.Low > want || s.High < want || s.High-s.Low > 0.05 || s.Exponent < s.Low || s.Exponent > s.High {
			t.Errorf("%s: %v (%v to %v), made with %v", s.Contender, s.Exponent, s.Low, s.High, want)
		}
	}
	few := Scaling(grown(1, 4, 0.6))
	if len(few) != 2 || few[1].Rounds != 4 || few[1].Low != few[1].Exponent || few[1].High != few[1].Exponent {
		t.Errorf("after four rounds: %+v", few)
	}
}

func TestScalingNeedsThreeSizesOfOneThing(t *testing.T) {
	for name, change := range map[string]func(w *tare.Workload){
		"another op":      func(w *tare.Workload) { w.Op = "stream" },
		"another fixture": func(w *tare.Workload) { w.Fixture = "events" },
		"a file":          func(w *tare.Workload) { w.Fixture, w.File = "", "mine.json" },
		"another pool":    func(w *tare.Workload) { w.Pool = 1 },
		"length unknown":  func(w *tare.Workload) { w.Bytes = 0 },
		"the same length": func(w *tare.Workload) { w.Bytes = 8000 },
	} {
		d := grown(1, 12, 0.6)
		change(&d.Study.Workloads[0])
		if got := Scaling(d); got != nil {
			t.Errorf("%s: %+v", name, got)
		}
	}
	// A round in which a size is missing is left out; a trap is fitted too.
	d := grown(1, 12, 0.6)
	d.Slices = slices.DeleteFunc(d.Slices, func(s tare.Slice) bool {
		return s.Round == 5 && s.Workload == "middle" && s.Contender == "lean"
	})
	for i := range d.Contenders {
		if d.Contenders[i].ID == "lean" {
			d.Contenders[i].Role = tare.RoleTrap
		}
	}
	if got := Scaling(d); len(got) != 2 || got[1].Contender != "lean" || got[1].Rounds != 11 {
		t.Errorf("%+v", got)
	}
}

func TestLeastSquares(t *testing.T) {
	if got := leastSquares([]float64{0, 1, 3}, []float64{5, 7, 11}); math.Abs(got-2) > 1e-12 {
		t.Errorf("slope %v of a straight line, want 2", got)
	}
	// Through (0,0), (1,0), (2,3): 3/2.
	if got := leastSquares([]float64{0, 1, 2}, []float64{0, 0, 3}); math.Abs(got-1.5) > 1e-12 {
		t.Errorf("slope %v, want 1.5", got)
	}
}

// The interval of an exponent misses the truth in at most 5 % of studies.
func TestScalingCoverage(t *testing.T) {
	n := studies(4000)
	missed := 0
	for seed := range n {
		s := Scaling(grown(uint64(seed), 12, 0.6))[1]
		count(&missed, s.Low > 0.6 || s.High < 0.6)
	}
	lo, hi := stats.ClopperPearson(missed, n, 0.05)
	t.Logf("missed in %d of %d (%.1f to %.1f %%)", missed, n, 100*lo, 100*hi)
	if !atMost(missed, n, 0.05) || !atLeast(missed, n, 0.03) {
		t.Errorf("missed in %d of %d, want about 5 %%", missed, n)
	}
}

// TestScalingBy: where the kind tells, size is levels before members, and
// members before bytes.
func TestScalingBy(t *testing.T) {
	shape := func(d *evidence.Evidence, members, levels [3]int) {
		for i, id := range []string{"small", "middle", "large"} {
			for k := range d.Study.Workloads {
				if w := &d.Study.Workloads[k]; w.ID == id {
					w.Members, w.Levels = members[i], levels[i]
				}
			}
		}
	}
	for _, c := range []struct {
		name            string
		members, levels [3]int
		want            tare.Extent
		exponent        float64 // of the baseline, whose time grows 200-fold
	}{
		{"levels", [3]int{2, 6, 18}, [3]int{1, 3, 9}, tare.ByLevels, 2.41},
		{"members", [3]int{1, 4, 64}, [3]int{1, 1, 1}, tare.ByMembers, 1.27},
		{"neither varies", [3]int{1, 1, 1}, [3]int{1, 1, 1}, tare.ByBytes, 1},
		{"one is not known", [3]int{1, 0, 64}, [3]int{}, tare.ByBytes, 1},
	} {
		d := grown(1, 18, 0.6)
		shape(&d, c.members, c.levels)
		got := Scaling(d)
		if len(got) != 2 || got[0].By != c.want || math.Abs(got[0].Exponent-c.exponent) > 0.05 || !slices.Equal(got[0].Workloads, []string{"small", "middle", "large"}) {
			t.Errorf("%s: %+v, want %v %v", c.name, got, c.want, c.exponent)
		}
	}
	near := grown(1, 18, 0.6)
	shape(&near, [3]int{}, [3]int{10, 11, 12})
	if got := Scaling(near); got != nil {
		t.Errorf("levels that hardly differ: %+v", got)
	}
}
