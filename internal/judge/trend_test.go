package judge

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/evidence"
	"github.com/tarebench/tare/stats"
)

// trending is a study in which the ratio of lean to the baseline is 0.9, and
// from one workload of four to the next by times larger.
func trending(seed uint64, times float64, f fake) evidence.Evidence {
	f.workloads, f.slices = []string{"one", "five", "fifty", "many"}, 2
	f.cost = map[string]float64{"lean": 900}
	d := scaled(f.data(seeded(seed)), func(s tare.Slice) float64 {
		k := float64(slices.Index(f.workloads, s.Workload))
		routes := math.Pow(3, k) // which both take, and cancels
		if s.Contender == "lean" {
			return routes * math.Pow(times, k)
		}
		return routes
	})
	d.Study.Claims = []tare.Claim{{
		ID: "F0.3", Kind: tare.ClaimTrend, Contender: "lean", Workloads: f.workloads, Metric: "time", Side: "lower", Statement: "s", Source: "src",
	}}
	return d
}

func claimed(d evidence.Evidence, notWeighed ...tare.NotWeighed) tare.ClaimResult {
	return Claims(d, Compare(d, Effects(d)), Values(d), nil, notWeighed)[0]
}

func TestTrend(t *testing.T) {
	quiet := fake{rounds: 12, roundSD: 0.005}
	for _, c := range []struct {
		name  string
		times float64
		f     fake
		side  string
		want  tare.Outcome
		why   string // its end
	}{
		{"falls", 0.9, quiet, "lower", tare.Holds, ": it falls as claimed"},
		{"falls, rising claimed", 0.9, quiet, "higher", tare.Refuted, ": it was claimed that it rises"},
		{"rises", 1.1, quiet, "higher", tare.Holds, ": it rises as claimed"},
		{"rises, falling claimed", 1.1, quiet, "lower", tare.Refuted, ": it was claimed that it falls"},
		{"stays", 1, quiet, "lower", tare.Refuted, ": it stays within 5 %, where it was claimed that it falls"},
		{"falls by less than 5 %", 0.99, quiet, "lower", tare.Refuted, ": it stays within 5 %, where it was claimed that it falls"},
		{"not sure", 0.98, fake{rounds: 12, roundSD: 0.1}, "lower", tare.ClaimOpen, ": more rounds are needed"},
		{"too few", 0.9, fake{rounds: 5, roundSD: 0.005}, "lower", tare.ClaimOpen, "no interval after 5 rounds; it takes 6"},
	} {
		d := trending(61, c.times, c.f)
		d.Study.Claims[0].Side = c.side
		r := claimed(d)
		if r.Outcome != c.want || !strings.HasSuffix(r.Why, c.why) {
			t.Errorf("%s: %s, %q, want %s, …%q", c.name, r.Outcome, r.Why, c.want, c.why)
		}
		if math.Abs(r.Measured-math.Pow(c.times, 3)) > 0.15 || r.Published != 0 {
			t.Errorf("%s: measured %v, want about %v", c.name, r.Measured, math.Pow(c.times, 3))
		}
		if decided := Decided(nil, []tare.ClaimResult{r}); decided != (c.want != tare.ClaimOpen) {
			t.Errorf("%s: decided %v", c.name, decided)
		}
	}
	r := claimed(trending(61, 0.9, quiet))
	if r.Evidence != "lean against encoding-json, time, over one, five, fifty, many, 12 rounds" {
		t.Errorf("evidence %q", r.Evidence)
	}
	if !strings.HasPrefix(r.Why, "from one to many the ratio moves by a factor of 0.7") || !strings.Contains(r.Why, ", 95 %, 12 rounds): it falls") {
		t.Errorf("why %q", r.Why)
	}
}

func TestTrendWithinControl(t *testing.T) {
	d := trending(62, 0.96, fake{rounds: 12})
	for i := range d.Slices {
		if s := &d.Slices[i]; s.Contender == tare.ControlID && s.Workload == "many" && s.Round%2 == 0 {
			s.WallNS = s.WallNS * 3 / 2
		}
	}
	if r := claimed(d); r.Outcome != tare.ClaimOpen || !strings.Contains(r.Why, ": within what the control shows here (±") {
		t.Errorf("%s: %s", r.Outcome, r.Why)
	}
}

func TestTrendNotMeasured(t *testing.T) {
	d := trending(63, 0.9, fake{rounds: 12, roundSD: 0.01})
	if r := claimed(d, tare.NotWeighed{What: "workload fifty", Why: "left out"}); r.Outcome != tare.NotMeasured || r.Why != "workload fifty: left out" {
		t.Errorf("%s: %s", r.Outcome, r.Why)
	}
	for _, f := range []tare.Finding{
		{Check: "x", Severity: tare.Void, Contender: "lean", Workload: "fifty", Message: "m"},
		{Check: "x", Severity: tare.Void, Contender: base, Workload: "fifty", Metric: "time", Message: "m"},
	} {
		r := Claims(d, nil, nil, []tare.Finding{f}, nil)[0]
		if r.Outcome != tare.NotMeasured || r.Why != "fifty: void by x: m" || r.Evidence != "check x" {
			t.Errorf("%+v", r)
		}
	}
	without := d
	without.Slices = slices.DeleteFunc(slices.Clone(d.Slices), func(s tare.Slice) bool { return s.Workload == "fifty" && s.Contender == "lean" })
	if r := claimed(without); r.Outcome != tare.NotMeasured || !strings.HasPrefix(r.Why, "lean and encoding-json have no ratio of time on each of one, five, fifty, many") {
		t.Errorf("%s: %s", r.Outcome, r.Why)
	}
	without.Slices = slices.DeleteFunc(slices.Clone(d.Slices), func(s tare.Slice) bool { return s.Workload == "fifty" && s.Contender == "lean" && s.Round == 3 })
	if r := claimed(without); r.Outcome != tare.Holds || !strings.Contains(r.Evidence, "11 rounds") {
		t.Errorf("%s: %s", r.Outcome, r.Evidence)
	}
	// A count of zero has no ratio, in whichever round it is.
	d.Study.Metrics = []string{"time", "allocs"}
	d.Study.Claims[0].Metric = "allocs"
	sampled(&d, "allocs_per_op", func(round int, id string) float64 { return float64(max(0, 4-round)) })
	if r := claimed(d); r.Outcome != tare.NotMeasured {
		t.Errorf("%s: %s", r.Outcome, r.Why)
	}
	sampled(&d, "allocs_per_op", func(int, string) float64 { return 4 })
	if r := claimed(d); r.Outcome != tare.Refuted || !strings.Contains(r.Why, "1.00 (the same in each of 12 rounds): it stays within 5 %") {
		t.Errorf("%s: %s", r.Outcome, r.Why)
	}
}

// The interval of a trend misses the truth in at most 5 % of studies over all
// looks, and about as often.
func TestTrendCoverage(t *testing.T) {
	n := studies(2000)
	missed := 0
	for seed := range n {
		d := trending(uint64(seed), 0.95, fake{rounds: 18, roundSD: 0.05, looks: []int{8, 12, 18}})
		miss := false
		for _, look := range d.Plan.Looks {
			r := Claims(upTo(d, look), nil, nil, nil, nil)[0]
			truth := math.Pow(0.95, 3)
			miss = miss || r.Low > truth || r.High > 0 && r.High < truth
		}
		count(&missed, miss)
	}
	lo, hi := stats.ClopperPearson(missed, n, 0.05)
	t.Logf("missed in %d of %d (%.1f to %.1f %%)", missed, n, 100*lo, 100*hi)
	if !atMost(missed, n, 0.05) || !atLeast(missed, n, 0.03) {
		t.Errorf("missed in %d of %d, want about 5 %%", missed, n)
	}
}

func TestCount(t *testing.T) {
	for _, c := range []struct {
		own, base int
		change    func(d *evidence.Evidence)
		want      tare.Outcome
		why       string
	}{
		{30, 0, nil, tare.Holds, "published 30, counted 30: its binary links 30 more than that of encoding-json; within 1.25× of the published number"},
		{38, 1, nil, tare.Holds, "published 30, counted 37: its binary links 37 more than that of encoding-json; within 1.25× of the published number"},
		{24, 0, nil, tare.Holds, "published 30, counted 24: its binary links 24 more than that of encoding-json; within 1.25× of the published number"},
		{38, 0, nil, tare.Refuted, "published 30, counted 38: its binary links 38 more than that of encoding-json; not within 1.25× of the published number"},
		{0, 0, nil, tare.Refuted, "published 30, counted 0: its binary links 0 more than that of encoding-json; not within 1.25× of the published number"},
		{0, 4, nil, tare.Refuted, "published 30, counted -4: its binary links -4 more than that of encoding-json; not within 1.25× of the published number"},
		{30, 0, func(d *evidence.Evidence) { d.Contenders[3].Error = "no such module" }, tare.NotMeasured, "lean could not be built: no such module"},
		{30, 0, func(d *evidence.Evidence) { d.Contenders[3].Launch = tare.LaunchURL }, tare.NotMeasured, "lean was not built by tare, so its modules are not known"},
		{30, 0, func(d *evidence.Evidence) { d.Contenders[0].Launch = tare.LaunchCommand }, tare.NotMeasured, "encoding-json was not built by tare, so its modules are not known"},
		{30, 0, func(d *evidence.Evidence) { d.Contenders[0].Go = "" }, tare.NotMeasured, "encoding-json has a binary without build information"},
	} {
		d := asking()
		for i := range d.Contenders {
			d.Contenders[i].Go = "go1.26.8"
		}
		d.Contenders[0].Adoption.ModulesLinked, d.Contenders[3].Adoption.ModulesLinked = c.base, c.own
		if c.change != nil {
			c.change(&d)
		}
		d.Study.Claims = []tare.Claim{{ID: "F0.7", Kind: tare.ClaimCount, Contender: "lean", Value: 30, Statement: "s"}}
		r := Claims(d, nil, nil, []tare.Finding{{Check: "x", Severity: tare.Void, Contender: "lean", Workload: "w"}}, nil)[0]
		if r.Outcome != c.want || r.Why != c.why {
			t.Errorf("%d against %d: %s, %q\nwant %s, %q", c.own, c.base, r.Outcome, r.Why, c.want, c.why)
		}
		if c.want == tare.NotMeasured {
			continue
		}
		d.Contenders[3].Adoption.ModulesRequired, d.Contenders[0].Adoption.ModulesRequired = 31, 1
		required := Claims(d, nil, nil, nil, nil)[0]
		if want := fmt.Sprintf("published 30, counted 30: its go.mod requires 30 more than that of encoding-json, and its binary links %d more; within 1.25× of the published number", c.own-c.base); required.Outcome != tare.Holds || required.Measured != 30 || required.Why != want {
			t.Errorf("with a go.mod: %+v, want %q", required, want)
		}
		if r.Published != 30 || r.Measured != float64(c.own-c.base) || r.Evidence != "modules linked into the binaries of lean and encoding-json" {
			t.Errorf("%+v", r)
		}
		if Decided(nil, []tare.ClaimResult{r}) {
			t.Error("a count, known before the first round, decides a study")
		}
		findings := []tare.Finding{{Check: "identity", Severity: tare.Void, Contender: "lean", Message: "m"}}
		if r := Claims(d, nil, nil, findings, nil)[0]; r.Outcome != tare.NotMeasured || r.Why != "lean is void by identity: m" {
			t.Errorf("void: %s, %q", r.Outcome, r.Why)
		}
		if r := Claims(d, nil, nil, nil, []tare.NotWeighed{{What: "contender lean", Why: "left out"}})[0]; r.Outcome != tare.NotMeasured {
			t.Errorf("left out: %+v", r)
		}
	}
}

// Only a ratio claim asks for a comparison of its own.
func TestOtherClaimsLeaveComparisonsExploratory(t *testing.T) {
	for kind, want := range map[tare.ClaimKind]bool{tare.ClaimRatio: false, tare.ClaimStatement: true, tare.ClaimCount: true} {
		f := fake{workloads: []string{"w"}, cost: map[string]float64{"lean": 500}, rounds: 12, slices: 2, roundSD: 0.02, metrics: []string{"time", "cpu"}}
		f.claims = []tare.Claim{{ID: "F", Kind: kind, Contender: "lean", Workload: "w", Metric: "cpu", Baseline: 2, Value: 1, Check: "x"}}
		d := f.data(seeded(64))
		if c := pick(Compare(d, Effects(d)), "lean", "w", "cpu"); c.Exploratory != want {
			t.Errorf("%s: exploratory %v", kind, c.Exploratory)
		}
	}
}
