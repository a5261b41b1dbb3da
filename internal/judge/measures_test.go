package judge

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/evidence"
)

// served is a study of a server: visits in lockstep on "visits", a closed loop
// in one piece on "closed" and a given rate on "rate". Every trial has p99
// samples of so many requests, also where they mean nothing.
func served(requests float64) evidence.Evidence {
	f := fake{
		workloads: []string{"visits", "closed", "rate"}, cost: map[string]float64{"lean": 500},
		rounds: 12, slices: 2, roundSD: 0.02, metrics: []string{"time", "cpu", "p99"},
	}
	d := f.data(seeded(31))
	d.Study.Workloads[0].Traffic = &tare.Traffic{Connections: 50}
	d.Study.Workloads[1].Traffic = &tare.Traffic{Connections: 50, Segment: 5 * time.Second}
	d.Study.Workloads[2].Traffic = &tare.Traffic{Connections: 50, Segment: 5 * time.Second, Rate: 1000}
	r := seeded(32)
	sampled(&d, "p99_ns", func(_ int, id string) float64 {
		return map[bool]float64{true: 2e6, false: 4e6}[id == "lean"] * math.Exp(0.02*r.NormFloat64())
	})
	sampled(&d, tare.KeyRequests, func(int, string) float64 { return requests })
	return d
}

func TestNothingIsSaidWhereAMetricSaysNothing(t *testing.T) {
	d := served(5000)
	d.Study.Criteria = []tare.Criterion{
		{Metric: "p99", Value: "<= 50ms"}, {Metric: "time", Ratio: "<= 0.9"}, {Workload: "visits", Metric: "p99", Ratio: "<= 1"},
		{Workload: "closed", Metric: "p99", Difference: "<= 5%", Of: "visits"}, {Workload: "closed", Metric: "p99", Difference: "<= 5%", Of: "gone"},
	}
	effects := Effects(d)
	cs, values := Compare(d, effects), Values(d)
	said := map[string]bool{}
	for _, e := range effects {
		said["effects "+e.Workload+" "+e.Metric] = true
	}
	for _, c := range cs {
		said["comparison "+c.Workload+" "+c.Metric] = true
	}
	for _, v := range values {
		said["value "+v.Workload+" "+v.Metric] = true
	}
	for _, v := range Verdicts(d, cs, []tare.Finding{{Check: "wrong-answer", Severity: tare.Void, Contender: "fat"}}) {
		said["verdict "+v.Workload+" "+v.Metric] = true
	}
	for _, what := range []string{"effects", "comparison", "value", "verdict"} {
		for on, want := range map[string]bool{
			"visits time": true, "closed time": true, "rate time": false,
			"visits p99": false, "closed p99": true, "rate p99": true,
		} {
			if said[what+" "+on] != want {
				t.Errorf("%s of %s: %v, want %v", what, on, !want, want)
			}
		}
		if what != "verdict" && !said[what+" rate cpu"] {
			t.Errorf("no %s of rate cpu", what)
		}
	}
	d.Study.Claims = []tare.Claim{
		{ID: "1", Kind: tare.ClaimRatio, Contender: "lean", Workload: "visits", Metric: "p99", Baseline: 2, Value: 1},
		{ID: "2", Kind: tare.ClaimRatio, Contender: "lean", Workload: "rate", Metric: "time", Baseline: 2, Value: 1},
		{ID: "3", Kind: tare.ClaimTrend, Contender: "lean", Workloads: []string{"closed", "visits", "rate"}, Metric: "p99", Side: "lower"},
		{ID: "4", Kind: tare.ClaimRatio, Contender: "lean", Workload: "closed", Metric: "p99", Baseline: 2, Value: 1},
	}
	want := []string{
		"visits has no continuous segment, and latencies take one",
		"rate runs at a given rate, which sets the time of an operation",
		"visits has no continuous segment, and latencies take one",
	}
	for i, c := range Claims(d, cs, values, nil, nil) {
		if i < len(want) && (c.Outcome != tare.NotMeasured || c.Why != want[i]) {
			t.Errorf("claim %s: %s, %q, want not measured, %q", c.ID, c.Outcome, c.Why, want[i])
		}
		if i == 3 && c.Outcome != tare.Holds {
			t.Errorf("claim %s: %s, %q", c.ID, c.Outcome, c.Why)
		}
	}
}

// A finding about one metric voids what is said of that one only.
func TestFindingsOfOneMetric(t *testing.T) {
	d := served(5000)
	d.Study.Criteria = []tare.Criterion{{Workload: "closed", Metric: "time", Ratio: "<= 0.9"}, {Workload: "closed", Metric: "cpu", Ratio: "<= 0.9"}}
	d.Study.Claims = []tare.Claim{
		{ID: "1", Kind: tare.ClaimRatio, Contender: "lean", Workload: "closed", Metric: "time", Baseline: 2, Value: 1},
		{ID: "2", Kind: tare.ClaimRatio, Contender: "lean", Workload: "closed", Metric: "cpu", Baseline: 2, Value: 1},
	}
	for _, who := range []string{"lean", base} {
		findings := []tare.Finding{{Check: "generator-headroom", Severity: tare.Void, Contender: who, Workload: "closed", Metric: "time", Message: "m"}}
		effects := Effects(d)
		cs, values := Strike(d, effects, Compare(d, effects), Values(d), findings)
		for _, v := range values {
			if v.Workload == "closed" && v.Contender == who && v.Struck != (v.Metric == "time") {
				t.Errorf("%s of %s struck: %v", v.Metric, who, v.Struck)
			}
		}
		if c := pick(cs, who, "closed", "time"); c.RankLow != 0 {
			t.Errorf("%s is ranked %d by a void metric", who, c.RankLow)
		}
		for _, v := range Verdicts(d, cs, findings) {
			void := v.Verdict == tare.VoidRuling || strings.Contains(v.Sentence, "is void by")
			if v.Workload == "closed" && void != (v.Metric == "time") {
				t.Errorf("%s: %s", v.Metric, v.Sentence)
			}
		}
		claims := Claims(d, cs, values, findings, nil)
		if claims[0].Outcome != tare.NotMeasured || claims[1].Outcome != tare.Holds {
			t.Errorf("claims of time and cpu: %s and %s", claims[0].Outcome, claims[1].Outcome)
		}
		contenders := d.Contenders
		if n := len(Costs(d.Study.Metrics, contenders, cs, findings, 1000)); n != 3 {
			t.Errorf("%d costs, want those of all three workloads: CPU time is not void", n)
		}
	}
}

func TestThinLatencies(t *testing.T) {
	longer := "; longer segments would have them"
	for _, c := range []struct {
		requests float64
		rounds   int
		why      string
		needed   int
	}{
		{5000, 12, "", 0},
		{2000, 12, "", 0},
		{1990, 12, "lean has 1,990 requests in one of the rounds, and it takes 2,000" + longer, 0},
		{150, 12, "lean has 150 requests in one of the rounds, and it takes 2,000" + longer, 0},
		{2000, 4, "lean has 8,000 requests after 4 rounds, and it takes 10,000", 5},
		{0, 12, "lean has 0 requests in one of the rounds, and it takes 2,000" + longer, 0},
	} {
		d := upTo(served(c.requests), c.rounds)
		d.Final = true
		j := &judge{evidence: d.Indexed()}
		why, needed := j.whyTooFewRequests("p99", "closed", "lean", base)
		if why != c.why || needed != c.needed {
			t.Errorf("%v requests, %d rounds: %q, %d, want %q, %d", c.requests, c.rounds, why, needed, c.why, c.needed)
		}
	}
	j := &judge{evidence: served(5000)}
	for metric, want := range map[string]bool{"p50": false, "p90": false, "p99": false, "p99.9": true, "max": true, "cpu": false, "time": false} {
		if m, _ := tare.MetricNamed(metric); m.IsLatency() {
			sampled(&j.evidence, m.Key, func(int, string) float64 { return 1e6 })
		}
		if why, _ := j.whyTooFewRequests(metric, "closed", "lean", base); (why != "") != want {
			t.Errorf("%s of 5,000 requests a round thin: %q, want %v", metric, why, want)
		}
	}
}

// What is thin is given, and decides nothing.
func TestThinLatenciesDecideNothing(t *testing.T) {
	d := served(500)
	d.Study.Metrics = []string{"p99", "cpu"}
	d.Study.Workloads = d.Study.Workloads[1:2]
	d.Study.Criteria = []tare.Criterion{
		{Contender: "lean", Metric: "p99", Ratio: "<= 0.9"}, {Contender: "lean", Metric: "p99", Value: "<= 50ms"}, {Contender: "lean", Metric: "p99", Difference: "<= 5%", Of: "closed"},
	}
	d.Study.Claims = []tare.Claim{{ID: "1", Kind: tare.ClaimRatio, Contender: "lean", Workload: "closed", Metric: "p99", Baseline: 2, Value: 1}}
	effects := Effects(d)
	cs := Compare(d, effects)
	c := pick(cs, "lean", "closed", "p99")
	if !c.Bounded() || math.Abs(c.Ratio-0.5) > 0.05 || c.RankLow != 0 {
		t.Errorf("the comparison is not given, or ranked: %+v", c)
	}
	why := "p99 is thin: lean has 500 requests in one of the rounds, and it takes 2,000; longer segments would have them"
	vs := Verdicts(d, cs, nil)
	if len(vs) != 4 {
		t.Fatalf("%d verdicts, want 4: %+v", len(vs), vs)
	}
	for _, v := range vs {
		if v.Criterion != "" && v.Verdict != tare.Inconclusive || !strings.HasSuffix(v.Sentence, why+".") {
			t.Errorf("%s: %s: %s", v.Criterion, v.Verdict, v.Sentence)
		}
	}
	r := Claims(d, cs, Values(d), nil, nil)[0]
	if r.Outcome != tare.ClaimOpen || !strings.HasSuffix(r.Why, why) || r.Measured == 0 || r.Low == 0 {
		t.Errorf("claim: %+v", r)
	}
	d.Final = false
	if v := Verdicts(d, cs, nil)[2]; v.Sentence != "lean: p99 <= 50ms on closed is judged once, at the end." {
		t.Errorf("before the end: %s", v.Sentence)
	}
}

func TestWordsOfServers(t *testing.T) {
	for _, m := range tare.Metrics() {
		if slices.Contains([]string{m.Noun, m.Verb, m.Of, m.Less, m.More}, "") {
			t.Errorf("there are no words for %s", m.Name)
		}
	}
	c := row(1.91, 1.82, 2.01)
	for metric, want := range map[string]string{
		"p50":        "lean answers half of the requests within 1.91× the time of encoding-json on w (1.82 to 2.01, 95 %, 18 rounds): 91 % higher median latency.",
		"p99.9":      "lean answers 99.9 % of the requests within 1.91× the time of encoding-json on w (1.82 to 2.01, 95 %, 18 rounds): 91 % higher p99.9 latency.",
		"client-cpu": "lean costs its clients 1.91× the CPU time of encoding-json on w (1.82 to 2.01, 95 %, 18 rounds): 91 % more CPU time of the clients.",
		"rss":        "lean holds 1.91× the resident memory of encoding-json on w (1.82 to 2.01, 95 %, 18 rounds): 91 % more resident memory.",
	} {
		c.Metric = metric
		if got := differenceSentence(c, 0, evidence.Evidence{}); got != want {
			t.Errorf(" got %s\nwant %s", got, want)
		}
	}
	if got := formatValue(12_300_000, "ns"); got != "12.3 ms" {
		t.Errorf("a latency is written %q", got)
	}
	if got := formatValue(45_200, "ns"); got != "45.2 µs" {
		t.Errorf("a latency is written %q", got)
	}
	if got := formatValue(33_100_000, "B"); got != "33.1 MB" {
		t.Errorf("resident memory is written %q", got)
	}
}

// Workloads that differ in more than the length of their bodies say nothing
// about growth, nor do bodies of nearly one length.
func TestScalingOfTraffic(t *testing.T) {
	for name, change := range map[string]func(ws []tare.Workload){
		"another set":     func(ws []tare.Workload) { ws[0].Set = map[string]string{"depth": "3"} },
		"another traffic": func(ws []tare.Workload) { ws[0].Traffic = &tare.Traffic{Connections: 50} },
		"another heap":    func(ws []tare.Workload) { ws[0].Heap = 1e6 },
		"a given rate": func(ws []tare.Workload) {
			for i := range ws {
				ws[i].Traffic = &tare.Traffic{Connections: 50, Rate: 1000, Segment: 5 * time.Second}
			}
		},
		"little span": func(ws []tare.Workload) {
			for i := range ws {
				ws[i].Bytes = int64(8 * (100 + i))
			}
		},
	} {
		d := grown(1, 12, 0.6)
		change(d.Study.Workloads)
		if got := Scaling(d); got != nil {
			t.Errorf("%s: %+v", name, got)
		}
	}
	d := grown(1, 12, 0.6)
	for i := range d.Study.Workloads {
		d.Study.Workloads[i].Set = map[string]string{"a": "1", "b": "2"}
		d.Study.Workloads[i].Traffic = &tare.Traffic{Connections: 50}
	}
	if got := Scaling(d); len(got) != 2 || !slices.Equal(got[0].Workloads, []string{"small", "middle", "large"}) {
		t.Errorf("of one set and traffic: %+v", got)
	}
}

// A server's cost is that of requests, and of CPU time only.
func TestCostsOfServers(t *testing.T) {
	contenders := []tare.Contender{{ID: base, Role: tare.RoleBaseline, Kind: "server"}, {ID: "lean", Role: tare.RoleContender, Kind: "server"}}
	comparisons := []tare.Comparison{weighedAgainst("lean", 0.5, 0.48, 0.52, 100000)}
	want := "lean on w at 1,000 requests a second takes 5 % of a core and encoding-json 10 %: that saves 5 % (4.8 % to 5.2 %); it is 1 % of a core at 200 requests a second."
	if c := Costs([]string{"time", "cpu"}, contenders, comparisons, nil, 1000); len(c) != 1 || c[0].Sentence != want {
		t.Errorf("%+v\nwant %s", c, want)
	}
	comparisons[0].Metric = "time"
	if c := Costs([]string{"time"}, contenders, comparisons, nil, 1000); len(c) != 0 {
		t.Errorf("a server's wall time was priced: %+v", c)
	}
}
