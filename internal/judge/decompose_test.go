package judge

import (
	"math"
	"strings"
	"testing"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/evidence"
	"github.com/tarebench/tare/stats"
)

// told is a study of a chain base → lean → other → fat that costs 1,000, 1,300,
// 1,500 and 2,000: the causes are 30, 20 and 50 % of the difference.
func told(seed uint64, f fake) evidence.Evidence {
	f.workloads, f.slices = []string{"w"}, 2
	f.cost = map[string]float64{"lean": 1300, "other": 1500, "fat": 2000}
	f.metrics = []string{"time", "cpu"}
	d := f.data(seeded(seed))
	d.Study.Decompose = []tare.Decompose{{
		ID: "F3.1", Question: "whose?", Workload: "w", Metric: "cpu", From: base,
		Steps: []tare.DecomposeStep{{To: "lean", Cause: "the framework"}, {To: "other", Cause: "a line of log"}, {To: "fat", Cause: "the terminal"}},
	}}
	return d
}

func decomposed(t *testing.T, d evidence.Evidence, findings ...tare.Finding) tare.Decomposition {
	t.Helper()
	out := Decompose(d, Effects(d), Compare(d, Effects(d)), findings)
	if len(out) != 1 {
		t.Fatalf("%d decompositions, want one", len(out))
	}
	return out[0]
}

func TestDecompose(t *testing.T) {
	d := told(51, fake{rounds: 18, roundSD: 0.002})
	got := decomposed(t, d)
	if got.ID != "F3.1" || got.Question != "whose?" || got.Workload != "w" || got.Metric != "cpu" {
		t.Errorf("%+v", got)
	}
	about := func(what string, got, want float64) {
		t.Helper()
		if math.Abs(got-want) > 0.01*math.Max(1, math.Abs(want)) {
			t.Errorf("%s is %v, want about %v", what, got, want)
		}
	}
	w := got.Whole
	if w.From != base || w.To != "fat" || w.Cause != "" || w.Level != 0.95 || w.Rounds != 18 || w.Unit != "ns/op" || w.Share != 0 || !(w.Low < w.Ratio && w.Ratio < w.High) {
		t.Errorf("whole: %+v", w)
	}
	about("the whole", w.Ratio, 2)
	product := 1.0
	for i, want := range []struct {
		cause, from, to string
		ratio, share    float64
		value           float64
	}{{"the framework", base, "lean", 1.3, 0.3, 1000}, {"a line of log", "lean", "other", 15.0 / 13, 0.2, 1300}, {"the terminal", "other", "fat", 4.0 / 3, 0.5, 1500}} {
		c := got.Steps[i]
		if c.Cause != want.cause || c.From != want.from || c.To != want.to || !near(c.Level, 1-0.05/3) || c.Rounds != 18 || c.Unit != "ns/op" {
			t.Errorf("step %d: %+v", i, c)
		}
		if !(c.Low < c.Ratio && c.Ratio < c.High && c.ShareLow < c.Share && c.Share < c.ShareHigh) {
			t.Errorf("step %d is not inside its interval: %+v", i, c)
		}
		about(c.Cause, c.Ratio, want.ratio)
		about("share of "+c.Cause, c.Share, want.share)
		about("from", c.FromValue, want.value)
		about("to", c.ToValue, want.value*want.ratio)
		product *= c.Ratio
	}
	about("the product of the steps", product, w.Ratio)
	// The steps' intervals are those of their own pairs, also where the page has none.
	x := d.Index()
	e := computeEffects(x, d, "w", "cpu", "other", "lean")
	lo, hi, _ := stats.Interval(e.Effects, stats.LookLevel(0.05/3, 1))
	if c := got.Steps[1]; c.Low != math.Exp(lo) || c.High != math.Exp(hi) || c.Ratio != math.Exp(stats.HodgesLehmann(e.Effects)) {
		t.Errorf("step 1: %+v, want %v to %v", c, math.Exp(lo), math.Exp(hi))
	}
	if _, there := tare.EffectsOf(Effects(d), "w", "cpu", "other", "lean"); there {
		t.Error("the pair is on the page anyway; the test tests nothing")
	}
	for _, want := range []string{
		"Of the 100 % more CPU time of fat against encoding-json on w (2.00", "×, 1.99", " to 2.00", ", 95 %, 18 rounds), the framework is 30.",
		", a line of log ", " and the terminal ", ", each at 98.3 %.",
	} {
		if !strings.Contains(got.Sentence, want) {
			t.Errorf("%s\nwant %q in it", got.Sentence, want)
		}
	}
}

func TestDecompositionSentence(t *testing.T) {
	steps := []tare.Cause{
		{Cause: "the framework", Share: 0.18, ShareLow: 0.152, ShareHigh: 0.214, Level: 1 - 0.05/3},
		{Cause: "a line of log", Share: 0.4, ShareLow: 0.368, ShareHigh: 0.43, Level: 1 - 0.05/3},
		{Cause: "the terminal", Share: 0.42, ShareLow: 0.39, ShareHigh: 0.452, Level: 1 - 0.05/3},
	}
	if got, want := listShares(steps), "the framework is 18 % (15 to 21), a line of log 40 % (37 to 43) and the terminal 42 % (39 to 45), each at 98.3 %"; got != want {
		t.Errorf(" got %s\nwant %s", got, want)
	}
	if got := listShares([]tare.Cause{{Cause: "the framework", Share: 1, ShareLow: 1, ShareHigh: 1}}); got != "the framework is 100 %" {
		t.Errorf("of one step: %s", got)
	}
}

// What costs less is taken apart as well, on the primary metric where none is
// named.
func TestDecomposeLess(t *testing.T) {
	d := told(52, fake{rounds: 18, roundSD: 0.002})
	d.Study.Decompose[0] = tare.Decompose{ID: "x", Workload: "w", From: "fat", Steps: []tare.DecomposeStep{{To: "other", Cause: "a"}, {To: base, Cause: "b"}}}
	got := decomposed(t, d)
	if got.Metric != "time" || math.Abs(got.Steps[0].Share-0.5) > 0.01 || math.Abs(got.Steps[1].Share-0.5) > 0.01 || math.Abs(got.Whole.Ratio-0.5) > 0.01 {
		t.Errorf("%+v", got)
	}
	if !strings.HasPrefix(got.Sentence, "Of the 50 % less time of encoding-json against fat on w (0.50") {
		t.Errorf("%s", got.Sentence)
	}
}

// A link that cannot be compared is left out, and what it changes counted with
// the next one.
func TestDecomposeLeavesOut(t *testing.T) {
	wrong := tare.Finding{Check: "wrong-answer", Severity: tare.Void, Contender: "other", Workload: "w", Message: "m"}
	gone := func(id string) func(d *evidence.Evidence) {
		return func(d *evidence.Evidence) {
			for i, c := range d.Contenders {
				if c.ID == id {
					d.Contenders = append(d.Contenders[:i:i], d.Contenders[i+1:]...)
					return
				}
			}
		}
	}
	role := func(id string, r tare.Role) func(d *evidence.Evidence) {
		return func(d *evidence.Evidence) {
			for i := range d.Contenders {
				if d.Contenders[i].ID == id {
					d.Contenders[i].Role = r
				}
			}
		}
	}
	for _, c := range []struct {
		name     string
		change   func(d *evidence.Evidence)
		finding  tare.Finding
		steps    string // of those left: from, to, cause
		sentence string // what is in it
	}{
		{"void", nil, wrong, "encoding-json lean the framework; lean fat a line of log and the terminal; ", " Left out: other is void by wrong-answer: m."},
		{"void on another metric", nil, tare.Finding{Check: "x", Severity: tare.Void, Contender: "other", Metric: "time"},
			"encoding-json lean the framework; lean other a line of log; other fat the terminal; ", ", each at 98.3 %."},
		{"not measured", gone("lean"), tare.Finding{}, "encoding-json other the framework and a line of log; other fat the terminal; ", " Left out: lean was not measured."},
		{"a trap", role("lean", tare.RoleTrap), tare.Finding{}, "encoding-json other the framework and a line of log; other fat the terminal; ", " Left out: lean is a trap, and traps are not compared."},
		{"the last", gone("fat"), tare.Finding{}, "encoding-json lean the framework; lean other a line of log; ", " Left out: fat was not measured; the chain ends at other."},
		{"nothing measured", func(d *evidence.Evidence) { d.Slices, d.Trials = nil, nil }, tare.Finding{}, "", "The difference in CPU time of fat against encoding-json on w is not taken apart: encoding-json has no CPU time on w."},
		{"the first", nil, tare.Finding{Check: "trial", Severity: tare.Void, Contender: base, Message: "m"}, "",
			"The difference in CPU time of fat against encoding-json on w is not taken apart: encoding-json is void by trial: m."},
		{"all others", func(d *evidence.Evidence) { gone("lean")(d); gone("other")(d); gone("fat")(d) }, tare.Finding{}, "",
			"is not taken apart: lean was not measured; other was not measured; fat was not measured."},
		{"the workload", func(d *evidence.Evidence) { d.Study.Workloads = nil }, tare.Finding{}, "", "is not taken apart: w was not measured."},
	} {
		d := told(53, fake{rounds: 12, roundSD: 0.01})
		if c.change != nil {
			c.change(&d)
		}
		got := decomposed(t, d, c.finding)
		steps := ""
		for _, s := range got.Steps {
			steps += s.From + " " + s.To + " " + s.Cause + "; "
			if s.Share == 0 || s.Ratio == 0 {
				t.Errorf("%s: %+v", c.name, s)
			}
		}
		if steps != c.steps || !strings.HasSuffix(got.Sentence, c.sentence) || got.Steps == nil {
			t.Errorf("%s: steps %q, want %q\n%s", c.name, steps, c.steps, got.Sentence)
		}
	}
}

func TestDecomposeNothing(t *testing.T) {
	same := told(54, fake{rounds: 12, roundSD: 0.05})
	scaled(same, func(s tare.Slice) float64 {
		return map[string]float64{"lean": 1 / 1.3, "other": 1 / 1.5, "fat": 0.5}[s.Contender] + map[bool]float64{true: 1}[s.Contender == base || s.Contender == tare.ControlID]
	})
	unsure := told(55, fake{rounds: 12, roundSD: 0.002})
	for i := range unsure.Slices {
		if s := &unsure.Slices[i]; s.Contender == tare.ControlID && s.Round%2 == 0 {
			s.CPUNS *= 9
		}
	}
	few := upTo(told(56, fake{rounds: 12, roundSD: 0.01}), 6) // enough for the whole, not for a third of its level
	for name, c := range map[string]struct {
		d    evidence.Evidence
		want string
	}{
		"no difference":     {same, "No difference in CPU time of fat against encoding-json on w is shown, so none is taken apart; the ratio is "},
		"less than control": {unsure, "No difference in CPU time of fat against encoding-json on w is shown, so none is taken apart; the ratio 2.00"},
		"too few rounds":    {few, "The difference in CPU time of fat against encoding-json on w is not taken apart: no interval after 6 rounds; it takes 7."},
	} {
		got := decomposed(t, c.d)
		if !strings.HasPrefix(got.Sentence, c.want) || len(got.Steps) != 3 {
			t.Errorf("%s: %d steps\n got %s\nwant %s", name, len(got.Steps), got.Sentence, c.want)
		}
		for _, s := range got.Steps {
			if s.Share != 0 || s.ShareLow != 0 || s.ShareHigh != 0 || s.Ratio == 0 {
				t.Errorf("%s: %+v, want a ratio and no share", name, s)
			}
		}
	}
	zero := told(57, fake{rounds: 12})
	zero.Study.Metrics = []string{"time", "allocs"}
	zero.Study.Decompose[0].Metric = "allocs"
	sampled(&zero, "allocs_per_op", func(_ int, id string) float64 { return map[string]float64{"other": 3, "fat": 5}[id] })
	if got := decomposed(t, zero); got.Sentence != "The difference in allocations of fat against encoding-json on w is not taken apart: there is no ratio of fat to encoding-json." || len(got.Steps) != 0 {
		t.Errorf("%s", got.Sentence)
	}
}

// All of a decomposition's ratios together, and all of its shares together, miss
// the truth in at most 5 % of studies.
func TestDecomposeCoverage(t *testing.T) {
	n := studies(4000)
	ratios, shares, whole, unbounded := 0, 0, 0, 0
	for seed := range n {
		got := decomposed(t, told(uint64(seed), fake{rounds: 18, roundSD: 0.05}))
		var ratio, share bool
		for i, want := range [][2]float64{{1.3, 0.3}, {15.0 / 13, 0.2}, {4.0 / 3, 0.5}} {
			c := got.Steps[i]
			ratio = ratio || c.Low > want[0] || c.High < want[0]
			share = share || c.Share != 0 && (c.ShareLow > want[1] || c.ShareHigh < want[1])
		}
		count(&ratios, ratio)
		count(&shares, share)
		count(&whole, got.Whole.Low > 2 || got.Whole.High < 2)
		count(&unbounded, got.Steps[0].Share == 0)
	}
	t.Logf("of %d studies: the whole missed in %d, one of three ratios in %d, one of three shares in %d, no shares in %d", n, whole, ratios, shares, unbounded)
	if !atMost(whole, n, 0.05) || !atMost(ratios, n, 0.05) || !atMost(shares, n, 0.05) || unbounded > 0 {
		t.Error("more than 5 % are missed")
	}
	if !atLeast(whole, n, 0.03) || !atLeast(ratios, n, 0.02) || !atLeast(shares, n, 0.02) {
		t.Error("far below 5 %, power is given away")
	}
}

// The noise floor is that of the comparisons, at whose level verdicts stand: a
// decomposition does not explain what a verdict calls noise.
func TestDecomposeWithinNoise(t *testing.T) {
	d := told(53, fake{rounds: 18, roundSD: 0.002})
	d.Study.Decompose[0].Steps = d.Study.Decompose[0].Steps[:1] // 30 %
	wide := []tare.Comparison{{Workload: "w", Contender: tare.ControlID, Metric: "cpu", Against: base, Ratio: 1, Low: 0.7, High: 1.4}}
	got := Decompose(d, Effects(d), wide, nil)[0]
	if !strings.Contains(got.Sentence, "is within what the control shows here") || got.Steps[0].ShareLow != 0 {
		t.Errorf("%s", got.Sentence)
	}
}
