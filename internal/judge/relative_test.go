package judge

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/evidence"
	"github.com/tarebench/tare/stats"
)

// scaled multiplies the cost of slices.
func scaled(d evidence.Evidence, by func(s tare.Slice) float64) evidence.Evidence {
	for i := range d.Slices {
		s := &d.Slices[i]
		k := by(*s)
		s.WallNS, s.CPUNS = int64(float64(s.WallNS)*k), int64(float64(s.CPUNS)*k)
	}
	return d
}

// routed is a study in which lean takes so many ns more than the baseline's
// 1,000 on the workloads named, and the baseline 10,000 on "whole".
func routed(r *rand.Rand, more float64, f fake, workloads ...string) evidence.Evidence {
	f.workloads, f.slices = append(workloads, "whole"), 2
	f.cost = map[string]float64{"lean": 1000 + more}
	return scaled(f.data(r), func(s tare.Slice) float64 {
		if s.Workload == "whole" {
			return 10
		}
		return 1
	})
}

func ofWhole(workload, limit string) tare.Criterion {
	return tare.Criterion{Contender: "lean", Workload: workload, Metric: "time", Difference: limit, Of: "whole"}
}

func TestDifferenceCriteria(t *testing.T) {
	quiet := fake{rounds: 18, roundSD: 0.001}
	for _, c := range []struct {
		more     float64
		limit    string
		want     tare.Ruling
		sentence string // its beginning
	}{
		{300, "<= 5%", tare.Met, "lean: time difference <= 5% of whole is met: it costs 3.00 % of whole more time than encoding-json on small (2.9"},
		{300, "<= 2%", tare.NotMet, "lean: time difference <= 2% of whole is not met: it costs 3.00 % of whole more time than encoding-json on small (2.9"},
		{-300, "<= 2%", tare.Met, "lean: time difference <= 2% of whole is met: it costs 3.00 % of whole less time than encoding-json on small (2.9"},
		{-900, "<= 2%", tare.Met, "lean: time difference <= 2% of whole is met: it costs 8.99 % of whole less time"}, // cheaper by more than the limit is well
		{0, "<= 2%", tare.Met, "lean: time difference <= 2% of whole is met: no difference in time from encoding-json on small is shown; the estimate is "},
		{300, "<= 3%", tare.Inconclusive, "lean: time difference <= 3% of whole is inconclusive: it costs "},
	} {
		d := routed(seeded(41), c.more, quiet, "small")
		d.Study.Criteria = []tare.Criterion{ofWhole("small", c.limit)}
		v := only(t, Verdicts(d, Compare(d, Effects(d)), nil), true)
		if v.Verdict != c.want || !strings.HasPrefix(v.Sentence, c.sentence) {
			t.Errorf("%v more, %s: %s, want %s\n got %s\nwant %s…", c.more, c.limit, v.Verdict, c.want, v.Sentence, c.sentence)
		}
		if c.want != tare.Inconclusive && !strings.HasSuffix(v.Sentence, " %, 95 %, 18 rounds).") {
			t.Errorf("the sentence does not end with what it rests on: %s", v.Sentence)
		}
		if got, want := Decided([]tare.Verdict{v}, nil), c.want != tare.Inconclusive; got != want {
			t.Errorf("%s decides: %v", v.Verdict, got)
		}
	}
}

func TestDifferenceForecast(t *testing.T) {
	d := routed(seeded(42), 250, fake{rounds: 12, roundSD: 0.08}, "small")
	d.Study.Criteria = []tare.Criterion{ofWhole("small", "<= 3.5%")}
	v := only(t, Verdicts(d, Compare(d, Effects(d)), nil), true)
	if v.Verdict != tare.Inconclusive || v.RoundsNeeded <= 12 || !strings.HasSuffix(v.Sentence, " rounds would decide it.") {
		t.Errorf("%s, %d rounds needed: %s", v.Verdict, v.RoundsNeeded, v.Sentence)
	}
	few := upTo(d, 4)
	v = only(t, Verdicts(few, Compare(few, Effects(few)), nil), true)
	if v.Sentence != "lean: time difference <= 3.5% of whole is inconclusive on small: no interval after 4 rounds; it takes 6." || v.RoundsNeeded != 6 {
		t.Errorf("%d: %s", v.RoundsNeeded, v.Sentence)
	}
	d.Slices = slices.DeleteFunc(d.Slices, func(s tare.Slice) bool { return s.Workload == "whole" })
	v = only(t, Verdicts(d, Compare(d, Effects(d)), nil), true)
	if v.Verdict != tare.Inconclusive || v.Sentence != "lean: time difference <= 3.5% of whole is inconclusive on small: there is no difference in time to take a share of whole of." {
		t.Errorf("without the whole: %s", v.Sentence)
	}
}

func TestDifferenceWithinControl(t *testing.T) {
	d := routed(seeded(43), 30, fake{rounds: 18}, "small")
	for i := range d.Slices {
		if s := &d.Slices[i]; s.Contender == tare.ControlID && s.Workload == "small" {
			s.WallNS += int64(s.Round%2*200000 - 100000) // ±100 ns per op: ±1 % of whole
		}
	}
	d.Study.Criteria = []tare.Criterion{ofWhole("small", "<= 2%")}
	v := only(t, Verdicts(d, Compare(d, Effects(d)), nil), true)
	want := "lean: time difference <= 2% of whole is met: it costs 0.3 % of whole more time than encoding-json on small (the same in each of 18 rounds), which is within what the control shows here (±1 %)."
	if v.Sentence != want {
		t.Errorf(" got %s\nwant %s", v.Sentence, want)
	}
}

func TestDifferenceVoid(t *testing.T) {
	d := routed(seeded(44), 300, fake{rounds: 12, roundSD: 0.01}, "small")
	d.Study.Criteria = []tare.Criterion{ofWhole("small", "<= 5%")}
	cs := Compare(d, Effects(d))
	for _, c := range []struct {
		finding tare.Finding
		want    string
	}{
		{tare.Finding{Contender: "lean", Workload: "small"}, "lean on small is void by x: m."},
		{tare.Finding{Contender: base, Workload: "small"}, "lean on small is void by x: encoding-json: m."},
		{tare.Finding{Contender: base, Workload: "whole"}, "encoding-json on whole is void by x: m."},
		{tare.Finding{Contender: base, Workload: "whole", Metric: "cpu"}, ""},
		{tare.Finding{Contender: "lean", Workload: "whole"}, ""},
	} {
		c.finding.Check, c.finding.Severity, c.finding.Message = "x", tare.Void, "m"
		v := only(t, Verdicts(d, cs, []tare.Finding{c.finding}), true)
		if (v.Verdict == tare.VoidRuling) != (c.want != "") || c.want != "" && v.Sentence != c.want {
			t.Errorf("%+v: %s: %s", c.finding, v.Verdict, v.Sentence)
		}
	}
}

// One contender's workloads are one family that steps down; another criterion
// is another.
func TestDifferenceFamilies(t *testing.T) {
	d := routed(seeded(45), 300, fake{rounds: 18, roundSD: 0.002}, "a", "b", "same")
	scaled(d, func(s tare.Slice) float64 {
		if s.Workload == "same" && s.Contender == "lean" {
			return 1 / 1.3
		}
		return 1
	})
	levels := func(criteria ...tare.Criterion) map[string]float64 {
		d.Study.Criteria = criteria
		out := map[string]float64{}
		for _, m := range (&judge{evidence: d.Indexed()}).computeDifferences("lean", "time") {
			out[m.workload+" of "+m.total] = m.interval.Level
		}
		return out
	}
	// The whole itself costs lean 30 % more; only "same" stays.
	for name, criteria := range map[string][]tare.Criterion{
		"one criterion":    {ofWhole("", "<= 5%")},
		"one per workload": {ofWhole("a", "<= 5%"), ofWhole("b", "<= 5%"), ofWhole("same", "<= 5%"), ofWhole("whole", "<= 5%"), ofWhole("a", "<= 9%")},
	} {
		l := levels(criteria...)
		if len(l) != 4 || !near(l["a of whole"], 1-0.05/4) || !near(l["b of whole"], 1-0.05/4) || !near(l["whole of whole"], 1-0.05/4) || !near(l["same of whole"], 0.95) {
			t.Errorf("%s: levels %v", name, l)
		}
	}
	if l := levels(ofWhole("a", "<= 5%")); len(l) != 1 || l["a of whole"] != 0.95 {
		t.Errorf("alone: %v", l)
	}
	other := ofWhole("a", "<= 5%")
	other.Contender = base
	d.Study.Metrics = []string{"time", "cpu"}
	cpu := ofWhole("a", "<= 5%")
	cpu.Metric = "cpu"
	if l := levels(ofWhole("a", "<= 5%"), other, cpu, tare.Criterion{Metric: "time", Ratio: "<= 1"}); len(l) != 1 {
		t.Errorf("with criteria on something else: %v", l)
	}
	// A limit inside an interval keeps it in the family.
	if l := levels(ofWhole("a", "<= 3%"), ofWhole("same", "<= 5%")); !near(l["same of whole"], 0.975) {
		t.Errorf("with an open criterion elsewhere: %v", l)
	}
	d.Study.Criteria = nil
	if c := pick(Compare(d, Effects(d)), "lean", "a", "time"); !near(c.Level, 1-0.05/4) {
		t.Errorf("the ratio on a has level %v", c.Level)
	}
}

// Over all looks the interval of a difference misses the truth in at most 5 %
// of studies, and about as often.
func TestDifferenceCoverage(t *testing.T) {
	n := studies(4000)
	missed, wrong := 0, 0
	criterion := ofWhole("small", "<= 3%")
	for seed := range n {
		d := routed(seeded(uint64(seed)), 300, fake{rounds: 18, roundSD: 0.05, looks: []int{8, 12, 18}}, "small")
		d.Study.Criteria = []tare.Criterion{criterion}
		rule, _ := criterion.Rule()
		var miss, ruled bool
		for _, look := range d.Plan.Looks {
			j := &judge{evidence: upTo(d, look)}
			m := j.computeDifferences("lean", "time")[0].interval
			miss = miss || m.OK && !m.Holds(0.03)
			ruled = ruled || m.OK && (m.High <= rule.Limit || m.Low > rule.Limit) // the truth is the limit
		}
		count(&missed, miss)
		count(&wrong, ruled)
	}
	lo, hi := stats.ClopperPearson(missed, n, 0.05)
	t.Logf("missed in %d of %d (%.1f to %.1f %%), ruled with the truth on the limit in %d", missed, n, 100*lo, 100*hi, wrong)
	if !atMost(missed, n, 0.05) || !atLeast(missed, n, 0.03) || !atMost(wrong, n, 0.05) {
		t.Errorf("missed in %d of %d, want about 5 %%", missed, n)
	}
}

func TestFormatShares(t *testing.T) {
	for _, c := range []struct {
		share, lo, hi float64
		edges         []float64
		want          string
	}{
		{0.0041, 0.0032, 0.0052, nil, "0.4 0.3 0.5"},
		{0.182, 0.153, 0.214, nil, "18 15 21"},
		{-0.0004, -0.0013, 0.0021, []float64{0}, "0.0 −0.1 0.2"},
		{0.049, 0.0471, 0.04996, []float64{0.05}, "4.900 4.710 4.996"},
		{1, 1, 1, nil, "100 100 100"},
		{0.003, 0.003, 0.003, nil, "0.3 0.3 0.3"},
		{12.5, 10, 15, nil, "1250 1000 1500"},
	} {
		s, l, h := formatShares(c.share, c.lo, c.hi, c.edges...)
		if got := s + " " + l + " " + h; got != c.want {
			t.Errorf("formatShares(%v, %v, %v, %v) = %q, want %q", c.share, c.lo, c.hi, c.edges, got, c.want)
		}
	}
}
