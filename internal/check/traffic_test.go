package check

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/evidence"
	"github.com/tarebench/tare/load/hist"
)

const (
	plainHTTP = "nethttp"
	closed    = "get/closed"
	open      = "get/500"
)

// flow describes a study of servers in which checks find nothing: a closed loop of
// 50 connections and an open loop at 500 requests per second.
type flow struct {
	rounds int
	sd     float64 // relative standard deviation of every counter from round to round
	edit   func(t *tare.Trial, workload string, s tare.Sample)
}

// requestCPU returns the CPU time of a request to contender id, in ns.
func requestCPU(id string) float64 {
	switch id {
	case tare.NullID:
		return 5e3
	case "chi":
		return 22e3
	}
	return 20e3
}

func (f flow) input(seed uint64) Input {
	r := newRandom(seed)
	in := Input{Evidence: evidence.Evidence{
		Study: tare.Study{
			ID: "flow", Baseline: plainHTTP, Metrics: []string{"cpu", "time", "p50", "p99"},
			Workloads: []tare.Workload{
				{ID: closed, Fixture: "tiny", Op: "get-random", Traffic: &tare.Traffic{Connections: 50}},
				{ID: open, Fixture: "tiny", Op: "get-random", Traffic: &tare.Traffic{Connections: 50, Rate: 500, Segment: 5 * time.Second}},
			},
		},
		Contenders: []tare.Contender{
			{ID: plainHTTP, Role: tare.RoleBaseline, Declared: tare.Declared{Layers: []string{"recovery"}}}, {ID: tare.ControlID, Role: tare.RoleControl, Declared: tare.Declared{Layers: []string{"recovery"}}},
			{ID: tare.NullID, Role: tare.RoleNull}, {ID: "chi", Role: tare.RoleContender, Declared: tare.Declared{Layers: []string{"recovery"}}}, {ID: "echo", Role: tare.RoleContender, Declared: tare.Declared{Layers: []string{"recovery"}}},
		},
		Final: true,
	}}
	for _, c := range in.Contenders {
		in.Conformance = append(in.Conformance,
			tare.Conformance{Contender: c.ID, Workload: closed, Cases: 64, Bytes: 6400, MinBytes: 90},
			tare.Conformance{Contender: c.ID, Workload: closed, Cases: 64, Bytes: 6310, MinBytes: 90, During: true},
			tare.Conformance{Contender: c.ID, Workload: "probe", Cases: 8, Probe: true})
	}
	for round := 1; round <= f.rounds; round++ {
		for i, c := range in.Contenders {
			t := tare.Trial{Round: round, Tau: 1, Contender: c.ID, Samples: map[string]tare.Sample{}, Histograms: map[string]string{}}
			t.Evidence = tare.Evidence{PID: 100*round + i, CPUSeconds: 2, RunQueueNS: 4e6}
			for _, w := range in.Study.Workloads {
				s := f.sample(r, c.ID, w)
				t.Samples[w.ID] = s
				in.Slices = append(in.Slices, tare.Slice{
					Round: round, Tau: 1, Workload: w.ID, Contender: c.ID, Ops: int64(s[tare.KeyRequests]), WallNS: int64(s[tare.KeyWall]),
					CPUNS: int64(s[tare.KeyServerCPU]), IdleCPUNS: 1e5,
				})
				if f.edit != nil {
					f.edit(&t, w.ID, s)
				}
			}
			in.Trials = append(in.Trials, t)
		}
	}
	return in
}

// sample is one trial of a server: one core, and one for the load generator,
// which takes 2 µs for a request.
func (f flow) sample(r *rand.Rand, id string, w tare.Workload) tare.Sample {
	shake := func(v float64) float64 { return v * (1 + f.sd*r.NormFloat64()) }
	wall, rate, underWay := 5e8, 0.95e9/requestCPU(id), 49.5
	s := tare.Sample{}
	if w.Traffic.Rate > 0 {
		wall, rate, underWay = 5e9, w.Traffic.Rate, w.Traffic.Rate*(120e3+requestCPU(id))/1e9
		s[tare.KeyRateAsked], s[tare.KeySendLag] = rate, shake(60e3)
		s["p50_ns"], s["p90_ns"], s["p99_ns"] = 100e3+requestCPU(id), 190e3+requestCPU(id), 600e3+requestCPU(id)
		rate *= 0.9998
	} else {
		rate = shake(rate)
	}
	requests := rate * wall / 1e9
	s[tare.KeyRequests], s[tare.KeyErrors], s[tare.KeyTimeouts] = requests, 0, 0
	s[tare.KeyConnects], s[tare.KeyConnections], s[tare.KeyConcurrency] = 50, 50, shake(underWay)
	s[tare.KeyMeanLatency], s[tare.KeyRate] = shake(underWay/rate*1e9), rate
	s[tare.KeyServerCPU], s[tare.KeyClientCPU], s[tare.KeyWall] = requests*requestCPU(id), shake(requests*2e3), wall
	s[tare.KeyClientCores], s[tare.KeyServerCores] = 1, 1
	s[tare.KeyBytesSent], s[tare.KeyBytesReceived], s[tare.KeyBodySent], s[tare.KeyBodyReceived] = 120, 160, 0, 11.8+0.02*r.NormFloat64()
	s[tare.KeyOutput] = 0.01
	s[tare.KeyReceived], s[tare.KeyReceivedSent] = 1.1*requests, 1.1*requests
	s[tare.KeyReceivedBody], s[tare.KeySentBody] = 0, 0
	s[tare.KeyLayers] = 1
	s["cpu_ns_per_op"], s["time_ns_per_op"] = requestCPU(id), wall/requests
	return s
}

// editSamples returns a function that edits the samples of one contender on one workload.
func editSamples(contender, workload string, edit func(s tare.Sample)) func(*tare.Trial, string, tare.Sample) {
	return func(t *tare.Trial, w string, s tare.Sample) {
		if t.Contender == contender && w == workload {
			edit(s)
		}
	}
}

// faultyFlow returns a study of 12 rounds in which edit changes the samples of chi.
func faultyFlow(workload string, edit func(s tare.Sample)) Input {
	return flow{rounds: 12, sd: 0.01, edit: editSamples("chi", workload, edit)}.input(1)
}

// trafficChecks lists the checks of loads.
var trafficChecks = []string{
	"little", "accounting", "delivered", "rate-held", "generator-headroom", "timeouts-counted", "connection-parity", "output-parity",
	"layer-parity", "body-parity", "negative-probe", "does-work", "body-consumed", "shared-process",
}

func TestSoundFlowHasNoFindings(t *testing.T) {
	for _, f := range []flow{{rounds: 12, sd: 0.01}, {rounds: 3, sd: 0.01}, {rounds: 1}} {
		if fs := Run(f.input(1)); len(fs) > 0 {
			t.Errorf("%d rounds: found %+v", f.rounds, fs)
		}
	}
	// What is not there is not judged.
	keys := flow{rounds: 1}.input(1).Trials[0].Samples[open]
	for k := range keys {
		in := flow{rounds: 12, sd: 0.01, edit: func(t *tare.Trial, w string, s tare.Sample) { delete(s, k) }}.input(1)
		for _, id := range trafficChecks {
			wantNone(t, id, in)
		}
	}
	in := flow{rounds: 12, edit: func(t *tare.Trial, w string, s tare.Sample) { clear(s) }}.input(1)
	for _, id := range trafficChecks {
		wantNone(t, id, in)
	}
}

// The null server's time is mostly the load generator's, and says nothing about
// clocks nor about a harness.
func TestNullServer(t *testing.T) {
	in := flow{rounds: 12, sd: 0.01}.input(1)
	for _, w := range in.Study.Workloads {
		for metric, v := range map[string]float64{"time": 5.3e3, "cpu": 9e3} {
			in.Values = append(in.Values,
				tare.Value{Workload: w.ID, Contender: tare.NullID, Metric: metric, Unit: "ns/op", Value: v},
				tare.Value{Workload: w.ID, Contender: "chi", Metric: metric, Unit: "ns/op", Value: 2 * v})
		}
	}
	wantNone(t, "machine", in)
	wantNone(t, "null-share", in)
}

// No study is judged before it has stopped, but for what takes no rounds.
func TestFlowIsJudgedAtTheStop(t *testing.T) {
	in := faultyFlow(closed, func(s tare.Sample) {
		s[tare.KeyMeanLatency] *= 3
		s[tare.KeyServerCPU] *= 3
		s[tare.KeyReceived], s[tare.KeyReceivedBody], s[tare.KeySentBody] = 1, 1, 1e6
		s[tare.KeyConnects], s[tare.KeyOutput], s[tare.KeyLayers], s[tare.KeyBodyReceived], s[tare.KeySharedProcess] = 1e6, 900, 9, 99, 1
	})
	in.Final = false
	for _, id := range trafficChecks {
		wantNone(t, id, in)
	}
}

// No more than 0.1 % of what is judged in sound studies is void or warned of by
// all these checks together, quiet or noisy, short or long.
func TestSoundFlowsAreNotVoid(t *testing.T) {
	n := countStudies(300)
	for _, f := range []flow{{rounds: 12, sd: 0.01}, {rounds: 18, sd: 0.05}, {rounds: 6, sd: 0.03}} {
		found := map[string]int{}
		all, judged := 0, 0
		for seed := range n {
			in := f.input(uint64(seed))
			judged += 3 * len(in.Study.Workloads)
			for _, id := range trafficChecks {
				k := len(runCheck(t, id, in))
				found[id], all = found[id]+k, all+k
			}
		}
		wantRare(t, fmt.Sprintf("%d rounds, %g %% noise: %v", f.rounds, 100*f.sd, found), all, judged, 0.001)
	}
}

// The worst case of what is still sound: a relation that is missed by exactly
// its tolerance. Each check then fires at its nominal rate, 0.05 % (one side of
// 0.1 %); with six rounds all must be beyond, which is one in 64.
func TestFlowsAtTheEdge(t *testing.T) {
	for _, c := range []struct {
		id   string
		edit func(s tare.Sample, shake func(v float64) float64)
	}{
		{"little", func(s tare.Sample, shake func(float64) float64) {
			s[tare.KeyMeanLatency] = shake(1.1 * s[tare.KeyConcurrency] / s[tare.KeyRate] * 1e9)
		}},
		{"accounting", func(s tare.Sample, shake func(float64) float64) {
			s[tare.KeyServerCPU] /= shake(1.1)
		}},
		{"delivered", func(s tare.Sample, shake func(float64) float64) {
			s[tare.KeyReceived] = shake(1.01 * s[tare.KeyReceivedSent])
		}},
		{"body-consumed", func(s tare.Sample, shake func(float64) float64) {
			s[tare.KeySentBody] = 1e6
			s[tare.KeyReceivedBody] = shake(1e6 * 1.01)
		}},
		{"rate-held", func(s tare.Sample, shake func(float64) float64) {
			s[tare.KeyRate] = shake(1.03 * s[tare.KeyRateAsked])
		}},
		{"output-parity", func(s tare.Sample, shake func(float64) float64) {
			s[tare.KeyOutput] = shake(1)
		}},
	} {
		workload := closed
		if c.id == "rate-held" {
			workload = open
		}
		for rounds, p := range map[int]float64{14: strictLevel / 2, 6: 1.0 / 64} {
			n, found := max(100, countStudies(1000)), 0 // of fewer none may be beyond
			for seed := range n {
				r := newRandom(uint64(9000 + seed))
				shake := func(v float64) float64 { return v * (1 + 0.02*r.NormFloat64()) }
				in := flow{rounds: rounds, sd: 0.01, edit: editSamples("chi", workload, func(s tare.Sample) { c.edit(s, shake) })}.input(uint64(seed))
				found += min(1, len(runCheck(t, c.id, in)))
			}
			wantRare(t, fmt.Sprintf("%s at its tolerance, %d rounds", c.id, rounds), found, n, p)
			if rounds == 6 && found == 0 {
				t.Errorf("%s never fires at the edge: it is far stricter than it says", c.id)
			}
		}
	}
}

// encodeHistogram returns a histogram with n answers around 1 ms and k at 10 s.
func encodeHistogram(n, k int) string {
	var h hist.Hist
	for i := range n {
		h.Record(int64(1e6 + i))
	}
	for range k {
		h.Record(10e9)
	}
	return h.Encode()
}

func TestTimeoutsCounted(t *testing.T) {
	study := func(workload string, word string) Input {
		return flow{rounds: 2, edit: func(t *tare.Trial, w string, s tare.Sample) {
			if t.Contender == "chi" && w == workload && t.Round == 2 {
				s[tare.KeyRequests], s[tare.KeyTimeouts] = 1000, 20
				t.Histograms[w] = word
			}
		}}.input(1)
	}
	wantNone(t, "timeouts-counted", study(closed, encodeHistogram(1000, 20)))
	wantNone(t, "timeouts-counted", study(closed, encodeHistogram(1000, 18)))
	wantNone(t, "timeouts-counted", study(closed, ""))
	wantFinding(t, "timeouts-counted", study(open, encodeHistogram(1000, 0)), tare.Void, "chi", open, "in round 2 20 of 20 timeouts are not among the latencies: 1000 were recorded for 1000 answers")
	// Counted, but as something shorter.
	wantFinding(t, "timeouts-counted", study(closed, encodeHistogram(1015, 5)), tare.Void, "chi", closed, "in round 2 there were 20 timeouts, and only 5 of the latencies are above half of the longest")
	wantNone(t, "timeouts-counted", study(open, encodeHistogram(1015, 5))) // in an open loop a wait has no upper end
	in := study(closed, encodeHistogram(1000, 0))
	for i := range in.Trials {
		in.Trials[i].Error = &tare.TrialError{Class: tare.ErrExit}
	}
	wantNone(t, "timeouts-counted", in)
}
