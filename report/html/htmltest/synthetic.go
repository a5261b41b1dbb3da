// Package htmltest makes random results of studies for tests of HTML reports. They have any size, and something in
// every part of a page.
package htmltest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/load/hist"
)

func metricNames() []string { return []string{"time", "cpu", "bytes", "allocs"} }

// Synthetic returns a result with these numbers of contenders, workloads and rounds. Contenders include the
// baseline, its repetition (control) and a program that does nothing. The same numbers give the same result.
func Synthetic(contenders, workloads, rounds int) *tare.Result {
	m := &maker{rng: rand.New(rand.NewPCG(7, 11)), rounds: rounds} //nolint:gosec // figures for tests
	r := &tare.Result{
		Schema: tare.ResultSchema, Study: "synthetic", Question: "Is anything of this a difference?", Kind: "codec",
		Run: tare.Run{
			Started: time.Date(2026, 11, 22, 9, 0, 0, 0, time.UTC), Seconds: 900, Seed: "2026", Budget: "full", Stopped: "decided",
			Machine: tare.Machine{OS: "linux", Arch: "amd64", CPU: "Model X", Cores: 2, Memory: 8 << 30, Go: "go1.26.8",
				Noise: tare.Noise{CPUPressure: 0.012, RunQueueWait: 0.003}},
		},
		Design: tare.Design{
			Metrics: metricNames(),
			Plan:    tare.Plan{Seed: "2026", Isolation: tare.Lockstep, Looks: []int{8, 12}, RoundsPlanned: rounds},
		},
		Measured: tare.Measured{RoundsDone: rounds},
		Record:   tare.Record{Journal: "journal.ndjson", Tare: "v0.1.0"},
	}
	for i := range contenders {
		r.Contenders = append(r.Contenders, newContender(i, contenders))
	}
	for i := range workloads {
		r.Workloads = append(r.Workloads, tare.Workload{ID: fmt.Sprintf("devices-%d/marshal", i+1), Fixture: "devices", N: 10 * (i + 1), Op: "marshal", Pool: 64, Bytes: int64(64 * 1000 * (i + 1))})
	}
	for _, w := range r.Workloads {
		m.addWorkload(r, w)
	}
	m.addTrials(r)
	return r
}

// Bench returns a result about benchmarks of two revisions. The first three benchmarks differ.
func Bench(benchmarks int) *tare.Result {
	r := Synthetic(4, benchmarks, 12)
	r.Study, r.Question, r.Kind, r.Verdicts = "bench", "What does the working tree change against main?", "gobench", nil
	r.Contenders[0].ID, r.Contenders[1].ID = "main", "head"
	change := []float64{1.19, 0.81, 0.86}
	for i := range r.Comparisons {
		c := &r.Comparisons[i]
		c.Against = "main"
		if c.Contender == tare.ControlID {
			continue
		}
		c.Contender, c.RankLow, c.RankHigh, c.Letters = "head", 0, 0, ""
		ratio := 1.0
		for j := range change {
			if c.Workload == r.Workloads[j].ID {
				ratio = change[j]
			}
		}
		c.Ratio, c.Low, c.High = ratio, ratio*0.985, ratio*1.015
	}
	for i := range r.Values {
		r.Values[i].Contender = map[string]string{"codec-0": "main", "codec-1": "head", tare.ControlID: tare.ControlID, tare.NullID: tare.NullID}[r.Values[i].Contender]
	}
	return r
}

// newContender returns contender i of n. The first is the baseline.
func newContender(i, n int) tare.Contender {
	c := tare.Contender{ID: fmt.Sprintf("codec-%d", i), Kind: "codec", Role: tare.RoleContender, Name: fmt.Sprintf("example.org/codec%d", i), Version: "v1.2.3", Build: tare.Build{Go: "go1.26.8",
		BinaryBytes: int64(2e6 + 1e5*i), SHA256: "5d41402abc4b2a76b9719d911017c592"},
		Adoption: tare.Adoption{ModulesLinked: i, Licences: []string{"MIT"}, ColdBuildSeconds: 2.5, IdleRSSBytes: 9e6, StartSeconds: 0.004}}
	switch i {
	case 0:
		c.Role = tare.RoleBaseline
	case n - 1:
		return tare.Contender{ID: tare.NullID, Kind: "codec", Role: tare.RoleNull}
	case n - 2:
		return tare.Contender{ID: tare.ControlID, Kind: "codec", Role: tare.RoleControl, Name: "example.org/codec0", Version: "v1.2.3"}
	}
	return c
}

type maker struct {
	rng    *rand.Rand
	rounds int
}

// trueRatio returns the ratio of contender i, c, to the baseline, without noise.
func (m *maker) trueRatio(c tare.Contender, i int) float64 {
	if c.Role == tare.RoleControl {
		return 1
	}
	return math.Exp(0.35 * math.Sin(float64(3*i)))
}

func (m *maker) addWorkload(r *tare.Result, w tare.Workload) {
	base := r.Contenders[0].ID
	ns := 1000 * float64(w.N)
	for k, name := range metricNames() {
		isPrimary := k == 0
		isExact := tare.MetricFor(name).IsCount()
		unit := tare.MetricFor(name).Unit
		for i, c := range r.Contenders {
			ratio := m.trueRatio(c, i)
			value := ns * ratio
			if isExact {
				value = math.Round(ns * ratio / 10)
			}
			r.Values = append(r.Values, tare.Value{Workload: w.ID, Contender: c.ID, Metric: name, Value: value, Low: value * 0.98, High: value * 1.02, Unit: unit, Rounds: m.rounds})
			if i == 0 || c.Role == tare.RoleNull {
				continue
			}
			x := tare.Comparison{Workload: w.ID, Contender: c.ID, Metric: name, Against: base, Ratio: ratio, Low: ratio * 0.985, High: ratio * 1.015, Level: 0.99,
				Rounds: m.rounds, AgainstValue: ns, Value: value, Unit: unit, Exploratory: !isPrimary}
			if isPrimary && c.Role == tare.RoleContender {
				x.RankLow, x.RankHigh, x.Letters = i, i, string(rune('a'+i%26))
			}
			r.Comparisons = append(r.Comparisons, x)
			if isPrimary && c.Role == tare.RoleContender {
				r.Verdicts = append(r.Verdicts, tare.Verdict{Contender: c.ID, Workload: w.ID, Metric: name, Sentence: fmt.Sprintf("%s takes %.2f× the time of %s on %s.", c.ID, ratio, base, w.ID)})
			}
		}
		m.addPairs(r, w, name, isPrimary, isExact)
	}
	r.Machine.Resolution = append(r.Machine.Resolution, tare.Resolution{Workload: w.ID, Metric: "time", HalfWidth: 0.015, Seconds: r.Seconds})
}

// addPairs adds the effects of pairs of contenders, which are logarithms of ratios per round. Ranked metrics have
// all pairs, others only those with the baseline.
func (m *maker) addPairs(r *tare.Result, w tare.Workload, metric string, isRanked, isExact bool) {
	for i, a := range r.Contenders {
		for j, b := range r.Contenders[:i] {
			hasNull := a.Role == tare.RoleNull || b.Role == tare.RoleNull
			hasControl := a.Role == tare.RoleControl || b.Role == tare.RoleControl
			hasBaseline := b.Role == tare.RoleBaseline // a comes later
			if hasNull || !hasBaseline && (!isRanked || hasControl) {
				continue
			}
			e := tare.Effects{Workload: w.ID, Metric: metric, A: a.ID, B: b.ID}
			effect := math.Log(m.trueRatio(a, i) / m.trueRatio(b, j))
			for range m.rounds {
				noise := 0.04 * m.rng.NormFloat64()
				if isExact {
					noise = 0
				}
				e.Effects = append(e.Effects, effect+noise)
				if !isExact {
					e.Sums = append(e.Sums, effect+noise+0.002*m.rng.NormFloat64())
				}
			}
			r.Rounds = append(r.Rounds, e)
		}
	}
}

// addTrials adds a trial (a process) of each contender in each round.
func (m *maker) addTrials(r *tare.Result) {
	for round := range m.rounds {
		for i, c := range r.Contenders {
			t := tare.Trial{Round: round + 1, Tau: 1, Contender: c.ID, Seconds: 4 + m.rng.Float64(), Samples: map[string]tare.Sample{},
				Evidence: tare.Evidence{RunQueueNS: int64(1e7 * m.rng.Float64()), CPUSeconds: 0.4, GOMAXPROCS: 1, Go: "go1.26.8"}}
			for _, w := range r.Workloads {
				ns := 1000 * float64(w.N) * m.trueRatio(c, i) * (1 + 0.04*m.rng.NormFloat64())
				t.Samples[w.ID] = tare.Sample{"time_ns_per_op": ns, "cpu_ns_per_op": ns * 1.02, "bytes_per_op": math.Round(ns / 10), "allocs_per_op": math.Round(ns / 100), "ops": math.Round(1e9 / ns), "errors": 0, "gc_cycles": 3}
			}
			r.Trials = append(r.Trials, t)
		}
	}
}

// Latencies returns an encoded histogram of n random latencies, in ns.
func Latencies(n int, mean float64, seed uint64) string {
	rng := rand.New(rand.NewPCG(seed, 3)) //nolint:gosec // figures for tests
	var h hist.Hist
	for range n {
		h.Record(int64(mean * math.Exp(0.5*rng.NormFloat64())))
	}
	return h.Encode()
}
