package check

import (
	"testing"
	"time"

	"github.com/tarebench/tare"
)

func TestGeneratorHeadroom(t *testing.T) {
	hot := faultyFlow(closed, func(s tare.Sample) { s[tare.KeyClientCPU] = 0.93 * s[tare.KeyWall] })
	if m := wantVoidMetrics(t, "generator-headroom", hot, "chi", closed, "time"); m != "the load generator used 93 % of its cores, over 85 %" {
		t.Error(m)
	}
	waits := faultyFlow(closed, func(s tare.Sample) {
		s[tare.KeyClientCPU], s[tare.KeyClientWait] = 0.2*s[tare.KeyWall], 0.78*s[tare.KeyWall]
	})
	if m := wantVoidMetrics(t, "generator-headroom", waits, "chi", closed, "time"); m != "the load generator used 20 % of its cores and waited for them 78 % of the time, over 85 %" {
		t.Error(m)
	}
	wantNone(t, "generator-headroom", faultyFlow(closed, func(s tare.Sample) { s[tare.KeyClientCPU] = 0.84 * s[tare.KeyWall] }))
	twoCores := faultyFlow(closed, func(s tare.Sample) { s[tare.KeyClientCPU], s[tare.KeyClientCores] = 0.93*s[tare.KeyWall], 2 })
	wantNone(t, "generator-headroom", twoCores)
	// In a segment both the limit and the latencies are the load generator's.
	wantVoidMetrics(t, "generator-headroom", faultyFlow(open, func(s tare.Sample) { s[tare.KeyClientCPU] = 0.93 * s[tare.KeyWall] }), "chi", open, "p50", "p99")

	// The null server has 190,000 requests a second.
	beside := func(rate float64) Input {
		return flow{rounds: 12, edit: editSamples("chi", closed, func(s tare.Sample) { s[tare.KeyRate] = rate })}.input(1)
	}
	if m := wantVoidMetrics(t, "generator-headroom", beside(158e3), "chi", closed, "time"); m != "the null server reached 1.2× its throughput (1.2 to 1.2, 12 rounds), under 1.25×" {
		t.Error(m)
	}
	wantFinding(t, "generator-headroom", beside(120e3), tare.Warn, "chi", closed, "the null server reached 1.58× its throughput (1.58 to 1.58, 12 rounds), under 2×: part of its cost is the load generator's")
	wantNone(t, "generator-headroom", beside(90e3))
	remote := beside(158e3)
	remote.Contenders[3].Launch = tare.LaunchURL
	wantNone(t, "generator-headroom", remote)
	alone := beside(158e3)
	alone.Contenders[2].Role = tare.RoleTrap // no null server
	wantNone(t, "generator-headroom", alone)
	cpu := beside(158e3)
	cpu.Study.Metrics = []string{"cpu", "allocs"}
	wantNone(t, "generator-headroom", cpu) // ratios of CPU time stay

	// A client of the contender's own is part of what it takes.
	own := faultyFlow(closed, func(s tare.Sample) {
		s[tare.KeyOwnClient], s[tare.KeyClientCPU], s[tare.KeyRate] = 1, 0.93*s[tare.KeyWall], 158e3
	})
	wantFinding(t, "generator-headroom", own, tare.Warn, "chi", closed, "its own client used 93 % of its cores, over 85 %: what its client costs limits its throughput and its latencies")

	// A generator that a quota throttles is slow for everybody, the null server too.
	throttled := flow{rounds: 12, sd: 0.01, edit: func(t *tare.Trial, w string, s tare.Sample) {
		if w == closed {
			s[tare.KeyRate] = 21e3 * (1 + 0.001*float64(t.Round%3))
			s[tare.KeyClientCPU] = 0.2 * s[tare.KeyWall]
		}
	}}.input(1)
	voided := map[string]bool{}
	for _, f := range runCheck(t, "generator-headroom", throttled) {
		if f.Severity == tare.Void && f.Metric == "time" && f.Workload == closed {
			voided[f.Contender] = true
		}
	}
	if len(voided) != 3 || !voided[plainHTTP] || !voided["chi"] || !voided["echo"] {
		t.Errorf("a throttled generator voids %v, want all three", voided)
	}
}

func TestSendLag(t *testing.T) {
	late := func(ns float64, criteria ...tare.Criterion) Input {
		in := flow{rounds: 12, edit: editSamples("chi", open, func(s tare.Sample) { s[tare.KeySendLag] = ns })}.input(1)
		in.Study.Criteria = criteria
		return in
	}
	wantNone(t, "generator-headroom", late(0.99e6))
	if m := wantVoidMetrics(t, "generator-headroom", late(1.5e6), "chi", open, "p50", "p99"); m != "requests were sent up to 1.5 ms late (p99), over 1 ms (without a criterion)" {
		t.Error(m)
	}
	slow := flow{rounds: 12, edit: editSamples("chi", open, func(s tare.Sample) { s[tare.KeySendLag], s["p99_ns"] = 1.5e6, 20e6 })}.input(1)
	wantNone(t, "generator-headroom", slow)   // beside 20 ms it does not matter
	for ns, want := range map[float64]string{ // half were sent within ns, and 1 % after 3 ms; the p50 is 0.4 ms
		30e3: "p99 requests were sent up to 3 ms late (p99), over 1 ms (without a criterion)\n",
		60e3: "p50 requests were sent up to 0.06 ms late (p50), over 0.04 ms (10 % of its p50)\np99 requests were sent up to 3 ms late (p99), over 1 ms (without a criterion)\n",
	} {
		in := flow{rounds: 12, edit: editSamples("chi", open, func(s tare.Sample) {
			s[tare.KeySendLag], s[tare.KeySendLagP50], s["p50_ns"] = 3e6, ns, 400e3
		})}.input(1)
		got := ""
		for _, f := range runCheck(t, "generator-headroom", in) {
			got += f.Metric + " " + f.Message + "\n"
		}
		if got != want {
			t.Errorf("%v ns:\n%s, want\n%s", ns, got, want)
		}
	}
	strictest := late(0.4e6, tare.Criterion{Metric: "p50", Value: "<= 2ms"}, tare.Criterion{Metric: "p50", Value: "<= 5ms"}, tare.Criterion{Metric: "p99", Value: "<= 50ms"})
	if m := wantVoidMetrics(t, "generator-headroom", strictest, "chi", open, "p50"); m != "requests were sent up to 0.4 ms late (p99), over 0.2 ms (10 % of what the criterion asks)" {
		t.Error(m)
	}
	wantNone(t, "generator-headroom", late(4.9e6, tare.Criterion{Metric: "p50", Value: "<= 50ms"}, tare.Criterion{Metric: "p99", Value: "<= 50ms", Contender: "chi", Workload: open}))
	others := late(0.4e6, tare.Criterion{Metric: "p50", Value: "<= 2ms", Contender: "echo"}, tare.Criterion{Metric: "p50", Value: ">= 1ms"}, tare.Criterion{Metric: "p99", Ratio: "<= 1"})
	wantNone(t, "generator-headroom", others)
}

func TestDoesWork(t *testing.T) {
	// A handler that sleeps for 1 ms, ten at a time.
	sleeps := func(s tare.Sample) {
		rate := 8000.0
		s[tare.KeyRequests] = rate * s[tare.KeyWall] / 1e9
		s[tare.KeyRate], s[tare.KeyConcurrency], s[tare.KeyMeanLatency] = rate, 9.9, 9.9/rate*1e9
		s[tare.KeyServerCPU], s[tare.KeyClientCPU] = 10e3*s[tare.KeyRequests], 2e3*s[tare.KeyRequests]
	}
	f := wantVoid(t, "does-work", faultyFlow(closed, sleeps), closed)
	wantWords(t, f.Message, "the server worked 8 % of the time it could", "while a request took 1238 µs, 4.7", "× the null server's: it waits")
	one := flow{rounds: 1, edit: editSamples("chi", closed, sleeps)}.input(1)
	wantVoid(t, "does-work", one, closed)
	alone := faultyFlow(closed, sleeps)
	alone.Contenders[2].Role = tare.RoleControl // no null server, but more than 1 ms
	wantVoid(t, "does-work", alone, closed)

	// As little work where the load generator, the link or other processes are in the way.
	busyClient := faultyFlow(closed, func(s tare.Sample) { sleeps(s); s[tare.KeyClientCPU] = 0.9 * s[tare.KeyWall] })
	wantNone(t, "does-work", busyClient)
	waiting := faultyFlow(closed, func(s tare.Sample) { sleeps(s); s[tare.KeyClientWait] = 0.9 * s[tare.KeyWall] })
	wantNone(t, "does-work", waiting)
	far := faultyFlow(closed, sleeps)
	far.Study.Workloads[0].Traffic.Delay = time.Millisecond
	wantNone(t, "does-work", far)
	crowded := faultyFlow(closed, func(s tare.Sample) { sleeps(s); s[tare.KeyServerWait] = 0.6 * s[tare.KeyWall] })
	wantNone(t, "does-work", crowded)

	// One connection: both sides sleep most of the time, and wake each other.
	pingPong := flow{rounds: 12, sd: 0.01, edit: func(t *tare.Trial, w string, s tare.Sample) {
		if w == closed {
			took := 70e3 + requestCPU(t.Contender)
			s[tare.KeyConcurrency], s[tare.KeyMeanLatency], s[tare.KeyRate] = 0.98, took, 0.98e9/took
			s[tare.KeyServerCPU] = s[tare.KeyWall] / took * requestCPU(t.Contender) / 3 // hardly any of it on a processor
		}
	}}.input(1)
	wantNone(t, "does-work", pingPong)

	nothing := flow{rounds: 12, edit: editSamples("chi", open, func(s tare.Sample) { s[tare.KeyServerCPU] = 0 })}.input(1)
	wantFinding(t, "does-work", nothing, tare.Void, "chi", open, "requests were answered and the server used no CPU time")
}

func TestDoesWorkAtARate(t *testing.T) {
	timer := faultyFlow(open, func(s tare.Sample) {
		s[tare.KeyMeanLatency], s["p50_ns"], s["p90_ns"] = 1.16e6, 1.15e6, 1.2e6
	})
	wantWords(t, wantVoid(t, "does-work", timer, open).Message, "a request took 52.7× its CPU time and 9.2", "× the null server's latency, and nearly always the same (p90 is 1.04× p50): a timer, not work")
	varied := faultyFlow(open, func(s tare.Sample) { s[tare.KeyMeanLatency], s["p50_ns"], s["p90_ns"] = 1.16e6, 0.8e6, 2e6 })
	wantNone(t, "does-work", varied) // waits for something that varies: a disk, another process
}

func TestDoesWorkInProcess(t *testing.T) {
	asleep := func(null, own float64) Input {
		in := soundStudy()
		for _, tr := range in.Trials {
			s := tr.Samples[load]
			switch s["time_ns_per_op"] = 50e3; tr.Contender {
			case tare.NullID:
				s["cpu_ns_per_op"] = null * 50e3
			case "lean":
				s["cpu_ns_per_op"] = own * 50e3
			default:
				s["cpu_ns_per_op"] = 49e3
			}
		}
		return in
	}
	wantFinding(t, "does-work", asleep(0.98, 0.02), tare.Void, "lean", load, "it worked 2 % of the time an operation took (2 % to 2 %, 12 rounds), the null contender 98 %: it waits")
	wantNone(t, "does-work", asleep(0.98, 0.3))
	wantNone(t, "does-work", asleep(0.3, 0.1)) // others have the machine

	ready := asleep(0.98, 0.02)
	for i := range ready.Trials {
		if tr := &ready.Trials[i]; tr.Contender == "lean" {
			tr.Seconds, tr.Evidence.RunQueueNS = 10, 8e9
		}
	}
	wantNone(t, "does-work", ready) // the processor was given to others while it ran
}
