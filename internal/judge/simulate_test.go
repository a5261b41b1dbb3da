package judge

import (
	"os"
	"strings"
	"testing"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/evidence"
	"github.com/tarebench/tare/stats"
)

// studies returns how many made-up studies a simulation plays: a twentieth of all
// with -short, else a tenth, or all under make soak.
func studies(all int) int {
	switch {
	case os.Getenv("TARE_SOAK") != "":
		return all
	case testing.Short():
		return all / 20
	}
	return all / 10
}

// atMost reports whether k of n is compatible with a true rate of at most p:
// the lower end of its 99.9 % interval does not exceed it.
func atMost(k, n int, p float64) bool {
	lo, _ := stats.ClopperPearson(k, n, 0.002)
	return lo <= p
}

func atLeast(k, n int, p float64) bool {
	_, hi := stats.ClopperPearson(k, n, 0.002)
	return hi >= p
}

// peeks judges a study at every look, as a lab does.
func peeks(d evidence.Evidence, at func(d evidence.Evidence, effects []tare.Effects, cs []tare.Comparison, last bool)) {
	for i, n := range d.Plan.Looks {
		part := upTo(d, n)
		effects := Effects(part)
		last := i == len(d.Plan.Looks)-1
		part.Final = last
		at(part, effects, Compare(part, effects), last)
	}
}

// Everything equal: over four workloads, two contenders and all looks, the
// table of one contender holds a false difference in at most 5 % of studies,
// and a wrong rank as rarely.
func TestFalseAlarms(t *testing.T) {
	n := studies(4000)
	f := fake{
		workloads: []string{"a", "b", "c", "d"}, cost: map[string]float64{"lean": 1000, "fat": 1000},
		rounds: 18, slices: 2, roundSD: 0.05, sliceSD: 0.03, looks: []int{8, 12, 18},
	}
	excluded, stated, ranked, naive := 0, 0, 0, 0
	for seed := range n {
		var out, said, rank, plain bool
		peeks(f.data(seeded(uint64(seed))), func(d evidence.Evidence, effects []tare.Effects, cs []tare.Comparison, _ bool) {
			for _, c := range cs {
				if c.Contender == "lean" {
					out = out || c.Bounded() && (c.Low > 1 || c.High < 1)
					e, _ := tare.EffectsOf(effects, c.Workload, "time", "lean", base)
					plain = plain || stats.SignedRankP(e.Effects) <= alpha
				}
				rank = rank || c.Workload == "a" && c.RankLow > 1
			}
			for _, v := range Verdicts(d, cs, nil) {
				said = said || v.Contender == "lean" && !strings.Contains(v.Sentence, "no difference") && !strings.Contains(v.Sentence, "no interval")
			}
		})
		count(&excluded, out)
		count(&stated, said)
		count(&ranked, rank)
		count(&naive, plain)
	}
	t.Logf("of %d studies: interval without 1 in %d, difference stated in %d, wrong rank in %d; each workload at 5 %% and each look naively: %d", n, excluded, stated, ranked, naive)
	if !atMost(excluded, n, 0.05) || !atMost(stated, n, 0.05) || !atMost(ranked, n, 0.05) {
		t.Errorf("more than 5 %% false alarms")
	}
	if !atLeast(excluded, n, 0.02) {
		t.Errorf("%d of %d: far below 5 %%, power is given away", excluded, n)
	}
	if atMost(naive, n, 0.2) {
		t.Errorf("%d of %d false alarms without correction: the simulation would not notice a missing one", naive, n)
	}
}

// Where most workloads differ the others gain the level they leave behind,
// and still at most 5 % of studies hold a false difference.
func TestFalseAlarmsAmongDifferences(t *testing.T) {
	n := studies(4000)
	f := fake{
		workloads: []string{"a", "b", "same", "too"}, cost: map[string]float64{"lean": 700},
		rounds: 18, slices: 2, roundSD: 0.05, looks: []int{8, 12, 18},
	}
	wrong, found := 0, 0
	for seed := range n {
		d := f.data(seeded(uint64(seed)))
		for i := range d.Slices {
			if s := &d.Slices[i]; s.Contender == "lean" && (s.Workload == "same" || s.Workload == "too") {
				s.WallNS = int64(float64(s.WallNS) / 0.7)
			}
		}
		bad, good := false, false
		peeks(d, func(_ evidence.Evidence, _ []tare.Effects, cs []tare.Comparison, last bool) {
			for _, w := range []string{"same", "too"} {
				c := pick(cs, "lean", w, "time")
				bad = bad || c.Bounded() && (c.Low > 1 || c.High < 1)
			}
			good = last && pick(cs, "lean", "a", "time").High < 1 && pick(cs, "lean", "b", "time").High < 1
		})
		count(&wrong, bad)
		count(&found, good)
	}
	t.Logf("of %d studies: a false difference in %d, both true ones found in %d", n, wrong, found)
	if !atMost(wrong, n, 0.05) || !atLeast(wrong, n, 0.02) {
		t.Errorf("%d of %d false differences, want about 5 %%", wrong, n)
	}
	if !atLeast(found, n, 0.99) {
		t.Errorf("a difference of 30 %% was found in %d of %d", found, n)
	}
}

// A contender 5 % slower is found, on the right side.
func TestFindsFivePercent(t *testing.T) {
	n := studies(1000)
	f := fake{
		workloads: []string{"a", "b"}, cost: map[string]float64{"fat": 1050},
		rounds: 40, slices: 4, roundSD: 0.03, sliceSD: 0.03, looks: []int{8, 12, 18, 27, 40},
	}
	found, wrong := 0, 0
	for seed := range n {
		d := f.data(seeded(uint64(seed)))
		more, less := 0, 0
		for _, v := range Verdicts(d, Compare(d, Effects(d)), nil) {
			count(&more, strings.Contains(v.Sentence, "more time"))
			count(&less, strings.Contains(v.Sentence, "less time"))
		}
		count(&found, more == 2)
		count(&wrong, less > 0)
	}
	t.Logf("of %d studies: found on both workloads in %d, the wrong way in %d", n, found, wrong)
	if !atLeast(found, n, 0.95) || wrong > 0 {
		t.Errorf("found in %d of %d, the wrong way in %d", found, n, wrong)
	}
}

// Criteria at, on either side of, and inside the truth, read at the first look
// that decides them, as a lab does.
func TestRulingsAreRight(t *testing.T) {
	n := studies(1000)
	for _, c := range []struct {
		name      string
		cost      float64
		criterion tare.Criterion
		right     tare.Ruling
		least     float64 // share of right rulings wanted at least
		wrong     float64 // share of others than right and inconclusive allowed
	}{
		{"met", 460, tare.Criterion{Metric: "time", Ratio: "<= 0.5"}, tare.Met, 0.95, 0.025},
		{"not met", 540, tare.Criterion{Metric: "time", Ratio: "<= 0.5"}, tare.NotMet, 0.95, 0.025},
		{"on the limit", 500, tare.Criterion{Metric: "time", Ratio: "<= 0.5"}, tare.Inconclusive, 0.94, 0.05},
		{"equivalent", 1000, tare.Criterion{Metric: "time", Equivalent: "8%"}, tare.Met, 0.9, 0.025},
		{"not equivalent", 1200, tare.Criterion{Metric: "time", Equivalent: "8%"}, tare.NotMet, 0.95, 0.025},
		{"on the margin", 1080, tare.Criterion{Metric: "time", Equivalent: "8%"}, tare.Inconclusive, 0.94, 0.05},
	} {
		f := fake{
			workloads: []string{"a", "b"}, cost: map[string]float64{"lean": c.cost},
			rounds: 18, slices: 2, roundSD: 0.04, sliceSD: 0.02, looks: []int{8, 12, 18}, criteria: []tare.Criterion{c.criterion},
		}
		right, wrong := 0, 0
		for seed := range n {
			final := map[string]tare.Ruling{}
			decided := false
			peeks(f.data(seeded(uint64(seed))), func(d evidence.Evidence, _ []tare.Effects, cs []tare.Comparison, _ bool) {
				if decided {
					return
				}
				vs := Verdicts(d, cs, nil)
				decided = Decided(vs, nil)
				for _, v := range vs {
					if v.Criterion != "" {
						final[v.Workload] = v.Verdict
					}
				}
			})
			all, bad := true, false
			for _, r := range final {
				all = all && r == c.right
				bad = bad || r != c.right && r != tare.Inconclusive
			}
			count(&right, all)
			count(&wrong, bad)
		}
		t.Logf("%s: right on both workloads in %d of %d, wrong on one in %d", c.name, right, n, wrong)
		if !atLeast(right, n, c.least) || !atMost(wrong, n, c.wrong) {
			t.Errorf("%s: right in %d of %d, wrong in %d", c.name, right, n, wrong)
		}
	}
}

func count(k *int, yes bool) {
	if yes {
		*k++
	}
}
