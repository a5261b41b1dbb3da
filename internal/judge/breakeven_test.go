package judge

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/evidence"
)

// shaped is a study in which the baseline takes 1,000 ns and lean as told, on
// two shapes.
func shaped(cost float64, rounds int) evidence.Evidence {
	f := fake{workloads: []string{"wide", "narrow"}, cost: map[string]float64{"lean": cost}, rounds: rounds, slices: 2, roundSD: 0.02, sliceSD: 0.01, metrics: []string{"time", "cpu"}}
	d := f.data(seeded(3))
	for i, members := range []int{16, 2} {
		d.Study.Workloads[i].Members, d.Study.Workloads[i].Levels = members, 1+i
	}
	d.Study.BreakEven = []tare.BreakEven{{Contender: "lean", Workloads: []string{"wide", "narrow", "not measured"}, Rates: []float64{10, 1e5}}}
	return d
}

func TestBreakEven(t *testing.T) {
	got := BreakEven(shaped(200, 18), nil)
	if len(got) != 1 || len(got[0].Points) != 2 {
		t.Fatalf("%+v", got)
	}
	r := got[0]
	if r.Contender != "lean" || r.Against != base || r.Metric != "cpu" || r.Level != 0.95 || !slices.Equal(r.Rates, []float64{10, 1e5}) {
		t.Errorf("%+v", r)
	}
	if r.Points[0].Workload != "narrow" || r.Points[0].Members != 2 || r.Points[0].Levels != 2 || r.Points[1].Members != 16 {
		t.Errorf("not by members: %+v", r.Points)
	}
	for _, p := range r.Points {
		if p.MoreLow > 800 || p.MoreHigh < 800 || p.More < p.MoreLow || p.More > p.MoreHigh || p.Rounds != 18 || len(p.PerRound) != 18 {
			t.Errorf("%s: %v (%v to %v), made with 800", p.Workload, p.More, p.MoreLow, p.MoreHigh)
		}
		// 800 ns 100,000 times a second are 8 % of a core, and 12,500 times 1 %.
		if math.Abs(p.Cores[1]-p.More*1e-4) > 1e-12 || math.Abs(p.OnePercent*p.More-1e7) > 1 || p.OnePercentLow > p.OnePercent || p.OnePercentHigh < p.OnePercent {
			t.Errorf("%+v", p)
		}
	}
	for _, want := range []string{"At 10 a second encoding-json costs at most 0.000", " % of a core more than lean, on any of these: on ", "It is 1 % of a core at 12,", ", and at 12,"} {
		if !strings.Contains(r.Sentence, want) {
			t.Errorf("%q is not in: %s", want, r.Sentence)
		}
	}
}

func TestBreakEvenOfLittle(t *testing.T) {
	if got := BreakEven(shaped(200, 3), nil); len(got) > 0 {
		t.Errorf("without intervals: %+v", got)
	}
	void := []tare.Finding{{Check: "wrong-answer", Severity: tare.Void, Contender: "lean", Workload: "wide", Message: "m"}}
	if got := BreakEven(shaped(200, 18), void); len(got) != 1 || len(got[0].Points) != 1 || got[0].Points[0].Workload != "narrow" || strings.Contains(got[0].Sentence, ", and at") {
		t.Errorf("void on one: %+v", got)
	}
	same := BreakEven(shaped(1000, 18), nil)[0]
	if same.Points[0].OnePercent != 0 || !strings.HasSuffix(same.Sentence, " No difference was shown.") {
		t.Errorf("no difference: %+v", same)
	}
	worse := BreakEven(shaped(2000, 18), nil)[0]
	if worse.Points[0].More > -900 || worse.Sentence != "encoding-json costs more than lean on none of these. No difference was shown." {
		t.Errorf("the baseline costs less: %+v", worse)
	}
	timed := shaped(200, 18)
	timed.Study.Metrics = []string{"time"}
	if got := BreakEven(timed, nil); got[0].Metric != "time" {
		t.Errorf("without CPU time: %+v", got)
	}
}
