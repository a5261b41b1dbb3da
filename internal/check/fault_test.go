package check

import (
	"strings"
	"testing"
	"time"

	"github.com/tarebench/tare"
)

// wantVoidMetrics fails the test unless there is one void finding for each of the
// metrics, all with the same message, which it returns.
func wantVoidMetrics(t *testing.T, id string, in Input, contender, workload string, metrics ...string) string {
	t.Helper()
	fs := runCheck(t, id, in)
	if len(fs) != len(metrics) {
		t.Fatalf("%s found %d things, want %d: %+v", id, len(fs), len(metrics), fs)
	}
	for i, f := range fs {
		if f.Severity != tare.Void || f.Contender != contender || f.Workload != workload || f.Metric != metrics[i] || f.Message != fs[0].Message {
			t.Errorf("%s found %+v, want void of %s for %s on %s: %s", id, f, metrics[i], contender, workload, fs[0].Message)
		}
	}
	return fs[0].Message
}

// wantWords fails the test unless message contains the words in that order.
func wantWords(t *testing.T, message string, words ...string) {
	t.Helper()
	rest := message
	for _, w := range words {
		_, after, ok := strings.Cut(rest, w)
		if !ok {
			t.Fatalf("%q does not say %q", message, w)
		}
		rest = after
	}
}

func TestLittle(t *testing.T) {
	// Timeouts that were dropped: few answers, short latencies, 50 requests under way.
	dropped := faultyFlow(closed, func(s tare.Sample) { s[tare.KeyMeanLatency] *= 0.36 })
	m := wantVoidMetrics(t, "little", dropped, "chi", closed, "time")
	wantWords(t, m, "rate × latency comes to 17.7 requests under way, but there were 49.4 (0.358×, 0.349 to 0.363", "12 rounds); the server was busy 95 % of its 1 core; the load generator was busy 8.6 % of its 1 core")
	m = wantVoidMetrics(t, "little", faultyFlow(open, func(s tare.Sample) { s[tare.KeyConcurrency] *= 2 }), "chi", open, "p50", "p99")
	wantWords(t, m, "(0.498×")
	wantNone(t, "little", faultyFlow(closed, func(s tare.Sample) { s[tare.KeyMeanLatency] *= 1.08 }))
	wantNone(t, "little", flow{rounds: 12, edit: editSamples(tare.NullID, closed, func(s tare.Sample) { s[tare.KeyMeanLatency] *= 3 })}.input(1))
	once := flow{rounds: 12, sd: 0.01, edit: func(t *tare.Trial, w string, s tare.Sample) {
		if t.Contender == "chi" && t.Round == 3 {
			s[tare.KeyMeanLatency] *= 3
		}
	}}.input(1)
	wantNone(t, "little", once) // an odd round is no relation
}

func TestLittleOnTheLink(t *testing.T) {
	// 50 connections over a round trip of 20 ms: 2,400 requests a second, whatever the server.
	delayed := func(rate float64) Input {
		in := flow{rounds: 12, sd: 0.01, edit: func(t *tare.Trial, w string, s tare.Sample) {
			s[tare.KeyServerCPU] *= rate / s[tare.KeyRate]
			s[tare.KeyClientCPU] *= rate / s[tare.KeyRate]
			s[tare.KeyRequests] *= rate / s[tare.KeyRate]
			s[tare.KeyMeanLatency] *= s[tare.KeyRate] / rate
			s[tare.KeyRate] = rate
		}}.input(1)
		in.Contenders = in.Contenders[:4] // chi is the last
		in.Contenders[0].Role = tare.RoleControl
		in.Study.Workloads = in.Study.Workloads[:1]
		in.Study.Workloads[0].Traffic.Delay = 20 * time.Millisecond
		return in
	}
	m := wantVoidMetrics(t, "little", delayed(2400), "chi", closed, "time")
	wantWords(t, m, "97 % of the requests in flight were on the link, which delays each by 20ms: throughput is connections over round trip; the server was busy 5.3 % of its 1 core")
	wantNone(t, "little", delayed(1000)) // most of the time they are not on the link
	near := delayed(2400)
	near.Study.Workloads[0].Traffic.Delay = time.Millisecond
	wantNone(t, "little", near)
	worked := delayed(2400)
	for _, tr := range worked.Trials {
		tr.Samples[closed][tare.KeyServerCPU] = 0.9 * tr.Samples[closed][tare.KeyWall]
	}
	wantNone(t, "little", worked) // the server is the limit

	narrow := delayed(2400)
	narrow.Study.Workloads[0].Traffic.Delay = 0
	narrow.Study.Workloads[0].Traffic.Bandwidth = 3.1e6 // 2,400 × 160 bytes are 3.07 Mbit/s
	m = wantVoidMetrics(t, "little", narrow, "chi", closed, "time")
	wantWords(t, m, "the link of 3100000 bit/s was 99 % full: throughput is the link's")
	narrow.Study.Workloads[0].Traffic.Bandwidth = 4e6
	wantNone(t, "little", narrow)
	narrow.Study.Metrics = []string{"cpu"}
	narrow.Study.Workloads[0].Traffic.Bandwidth = 3.1e6
	wantNone(t, "little", narrow) // nothing that it would void
}

func TestAccounting(t *testing.T) {
	clamped := faultyFlow(closed, func(s tare.Sample) { s[tare.KeyServerCPU] /= 2 })
	wantFinding(t, "accounting", clamped, tare.Void, "chi", closed, "rate × CPU per request is 2× the cores the server was busy (2 to 2, 12 rounds)")
	wantFinding(t, "accounting", faultyFlow(open, func(s tare.Sample) { s[tare.KeyRequests] *= 1.3 }), tare.Void, "chi", open, "requests over time are 1.3× the rate (1.3 to 1.3, 12 rounds)")
	more := flow{rounds: 12, edit: editSamples("chi", closed, func(s tare.Sample) { s[tare.KeyServerCores], s[tare.KeyClientCores] = 0.5, 0.05 })}.input(1)
	wantFinding(t, "accounting", more, tare.Void, "chi", closed,
		"the server was busy 1.9× the cores it may use (1.9 to 1.9, 12 rounds); the load generator was busy 1.73× the cores it may use (1.73 to 1.73, 12 rounds)")
	wantNone(t, "accounting", faultyFlow(closed, func(s tare.Sample) { s[tare.KeyServerCPU] /= 1.08 }))

	// Slices of half a second of CPU time in a process that says it used 0.2.
	wrapped := flow{rounds: 12, sd: 0.01, edit: func(t *tare.Trial, w string, s tare.Sample) {
		if t.Contender == "chi" {
			t.Evidence.CPUSeconds = 0.2
		}
	}}.input(1)
	f := runCheck(t, "accounting", wrapped)
	if len(f) != 1 || f[0].Contender != "chi" || f[0].Workload != "" || f[0].Severity != tare.Void {
		t.Fatalf("found %+v", f)
	}
	wantWords(t, f[0].Message, "its slices used 2.6", "× the CPU time of the whole process")
	for i := range wrapped.Trials {
		wrapped.Trials[i].Evidence.CPUSeconds = 0 // not recorded
	}
	wantNone(t, "accounting", wrapped)
}

func TestReceipts(t *testing.T) {
	lost := faultyFlow(closed, func(s tare.Sample) { s[tare.KeyReceived] *= 0.95 })
	wantWords(t, wantVoid(t, "delivered", lost, closed).Message, "the server counted 22", " requests where 23", "were sent (0.95×, 0.95 to 0.95, 12 rounds)")
	wantVoid(t, "delivered", faultyFlow(closed, func(s tare.Sample) { s[tare.KeyReceived] = 0 }), closed)
	wantVoid(t, "delivered", faultyFlow(closed, func(s tare.Sample) { s[tare.KeyReceived] *= 2 }), closed)
	wantNone(t, "delivered", faultyFlow(closed, func(s tare.Sample) { s[tare.KeyReceived] -= 50 })) // still under way
	wantNone(t, "delivered", faultyFlow(closed, func(s tare.Sample) { delete(s, tare.KeyReceived) }))

	unread := faultyFlow(open, func(s tare.Sample) { s[tare.KeySentBody], s[tare.KeyReceivedBody] = 1e7, 65536 })
	wantFinding(t, "body-consumed", unread, tare.Void, "chi", open, "the server read 65536 bytes of request bodies where 10000000 were sent (0.00655×, 0.00655 to 0.00655, 12 rounds)")
	wantNone(t, "body-consumed", faultyFlow(open, func(s tare.Sample) { s[tare.KeySentBody], s[tare.KeyReceivedBody] = 1e7, 1e7-5000 }))
	wantNone(t, "body-consumed", faultyFlow(open, func(s tare.Sample) { s[tare.KeySentBody], s[tare.KeyReceivedBody] = 0, 0 }))
}

// wantVoid fails the test unless there is exactly one void finding, for chi on workload.
func wantVoid(t *testing.T, id string, in Input, workload string) tare.Finding {
	t.Helper()
	fs := runCheck(t, id, in)
	if len(fs) != 1 || fs[0].Severity != tare.Void || fs[0].Contender != "chi" || fs[0].Workload != workload || fs[0].Metric != "" {
		t.Fatalf("%s found %+v, want chi void on %s", id, fs, workload)
	}
	return fs[0]
}

func TestRateHeld(t *testing.T) {
	slow := faultyFlow(open, func(s tare.Sample) { s[tare.KeyRate] *= 0.9; s[tare.KeyServerCPU] *= 99 })
	wantWords(t, wantVoid(t, "rate-held", slow, open).Message, "500 requests per second were asked for and 450 achieved (12 rounds); the server was busy 109 % of its 1 core; the load generator was busy 0.1 % of its 1 core")
	wantNone(t, "rate-held", faultyFlow(open, func(s tare.Sample) { s[tare.KeyRate] *= 0.98 }))
	wantNone(t, "rate-held", faultyFlow(closed, func(s tare.Sample) { s[tare.KeyRate] *= 0.9 })) // nobody asked
	wantFinding(t, "rate-held", faultyFlow(closed, func(s tare.Sample) { s[tare.KeyConnects] = 48 }), tare.Void, "chi", closed, "50 connections were planned and 48 opened")
	wantNone(t, "rate-held", faultyFlow(closed, func(s tare.Sample) { s[tare.KeyConnects] = 55 })) // some broke
	wantFinding(t, "rate-held", faultyFlow(closed, func(s tare.Sample) { s[tare.KeyServerCores] = 2 }), tare.Void, "chi", closed, "the server may use 2 cores and the baseline's 1 core")
	// One round is enough to see it.
	one := flow{rounds: 1, edit: editSamples("chi", open, func(s tare.Sample) { s[tare.KeyRate] *= 0.9 })}.input(1)
	wantVoid(t, "rate-held", one, open)
}

func TestNegativeProbe(t *testing.T) {
	in := flow{rounds: 2}.input(1)
	wantNone(t, "negative-probe", in)
	for i := range in.Conformance {
		if c := &in.Conformance[i]; c.Probe && c.Contender != plainHTTP {
			c.Wrong, c.First = 3, "POST /v1/id/7: 200, want 405"
		}
	}
	in.Contenders[3].Role, in.Contenders[3].Expect = tare.RoleTrap, tare.Expect{Void: []string{"negative-probe"}}
	in.Conformance = append(in.Conformance, tare.Conformance{Contender: "chi", Workload: "probe/2", Cases: 4, Wrong: 1, Probe: true})
	fs := runCheck(t, "negative-probe", in)
	if len(fs) != 3 { // not the null contender
		t.Fatalf("found %+v", fs)
	}
	f := fs[1]
	if f.Contender != "chi" || f.Workload != "" || f.Severity != tare.Void || !f.Expected ||
		f.Message != "4 of 12 probes must be refused and were not, or not as the reference does; the first: POST /v1/id/7: 200, want 405" {
		t.Errorf("found %+v", f)
	}
	if e := Expectations(in, fs, nil); len(e) != 1 || e[0].Outcome != tare.Caught {
		t.Error("the trap's expectation did not come true")
	}
	wantNone(t, "wrong-answer", in) // which is about what should be answered
}

func TestConnectionParity(t *testing.T) {
	each := faultyFlow(closed, func(s tare.Sample) { s[tare.KeyConnects] = 50 + 1.1*s[tare.KeyRequests] })
	wantFinding(t, "connection-parity", each, tare.Warn, "chi", closed, "a connection is opened for every request, or nearly: 1 for each, and 0 for one to nethttp")
	some := faultyFlow(closed, func(s tare.Sample) { s[tare.KeyConnects] = 50 + 0.1*1.1*s[tare.KeyRequests] })
	wantFinding(t, "connection-parity", some, tare.Warn, "chi", closed, "0.1 connections are opened for a request beyond the planned ones, and 0 for one to nethttp")
	wantNone(t, "connection-parity", faultyFlow(closed, func(s tare.Sample) { s[tare.KeyConnects] = 60 }))
	// All alike is no difference, and still worth saying.
	all := flow{rounds: 12, edit: func(t *tare.Trial, w string, s tare.Sample) { s[tare.KeyConnects] = 50 + 1.1*s[tare.KeyRequests] }}.input(1)
	if fs := runCheck(t, "connection-parity", all); len(fs) != 6 || fs[0].Contender != plainHTTP || fs[0].Message != "a connection is opened for every request, or nearly: 1 for each" {
		t.Errorf("found %+v", fs)
	}
}

func TestOutputParity(t *testing.T) {
	// gin.Default() against a silent server.
	loud := faultyFlow(closed, func(s tare.Sample) { s[tare.KeyOutput] = 93 })
	wantFinding(t, "output-parity", loud, tare.Warn, "chi", closed, "it writes 93 bytes of output per request and nethttp is silent")
	loud.Contenders[3].Set = map[string]string{"log": "pty"}
	loud.Trials[3].Evidence.StderrTail = "[GIN-debug] [WARNING] Running in \"debug\" mode."
	wantFinding(t, "output-parity", loud, tare.Warn, "chi", closed, "it writes 93 bytes of output per request and nethttp is silent (it is configured so: log pty); its stderr speaks of a debug mode")
	wantNone(t, "output-parity", faultyFlow(closed, func(s tare.Sample) { s[tare.KeyOutput] = 0.3 })) // a banner

	// A silent one among those that log.
	talk := func(own float64) Input {
		return flow{rounds: 12, edit: func(t *tare.Trial, w string, s tare.Sample) {
			s[tare.KeyOutput] = 100
			if t.Contender == "chi" && w == closed {
				s[tare.KeyOutput] = own
			}
		}}.input(1)
	}
	wantFinding(t, "output-parity", talk(0), tare.Warn, "chi", closed, "it is silent and nethttp writes 100 bytes of output per request")
	wantFinding(t, "output-parity", talk(250), tare.Warn, "chi", closed, "it writes 250 bytes of output per request and nethttp writes 100")
	wantFinding(t, "output-parity", talk(40), tare.Warn, "chi", closed, "it writes 40 bytes of output per request and nethttp writes 100")
	wantNone(t, "output-parity", talk(160)) // each framework has a format of its own
}

func TestLayerParity(t *testing.T) {
	in := flow{rounds: 12}.input(1)
	in.Contenders[3].Layers = []string{"logger", "recovery", "cors"}
	wantFinding(t, "layer-parity", in, tare.Warn, "chi", "", "against nethttp it has cors, logger")
	in.Contenders[3].Layers = []string{"logger"}
	wantFinding(t, "layer-parity", in, tare.Warn, "chi", "", "against nethttp it has logger and lacks recovery")
	in.Contenders[3].Layers = []string{"recovery", "recovery"}
	wantNone(t, "layer-parity", in)
	in.Contenders[3].Layers, in.Contenders[3].Launch = nil, tare.LaunchCommand
	wantNone(t, "layer-parity", in) // nobody knows
	wantFinding(t, "layer-parity", faultyFlow(open, func(s tare.Sample) { s[tare.KeyLayers] = 0 }), tare.Warn, "chi", open, "0 layers are called for a request, and 1 in nethttp")
}

func TestBodyParity(t *testing.T) {
	wantFinding(t, "body-parity", faultyFlow(closed, func(s tare.Sample) { s[tare.KeyBodyReceived] -= 1 }), tare.Warn, "chi", closed, "its responses have 10.8 bytes of body and those of nethttp 11.8")
	wantNone(t, "body-parity", faultyFlow(closed, func(s tare.Sample) { s[tare.KeyBodyReceived] += 0.2 }))
	headers := flow{rounds: 12}.input(1)
	for i := range headers.Conformance {
		if c := &headers.Conformance[i]; c.Contender == "chi" && c.Workload == closed && !c.During {
			c.Bytes += 64 * 15
		}
	}
	wantFinding(t, "body-parity", headers, tare.Warn, "chi", closed, "its bodies are as long as those of nethttp, and its answers differ by 15 bytes each: status, header or content")
	for i := range headers.Conformance {
		headers.Conformance[i].Wrong = 1 // wrong-answer's
	}
	wantNone(t, "body-parity", headers)
}

func TestSharedProcess(t *testing.T) {
	in := flow{rounds: 2, edit: func(t *tare.Trial, w string, s tare.Sample) {
		if w == closed {
			s[tare.KeySharedProcess] = 1
		}
	}}.input(1)
	wantFinding(t, "shared-process", in, tare.Warn, "", closed, "server and load generator are one process")
	some := flow{rounds: 2, edit: func(t *tare.Trial, w string, s tare.Sample) {
		s[tare.KeySharedProcess] = 0
		if w == open && t.Contender == "chi" {
			s[tare.KeySharedProcess] = 1
		}
	}}.input(1)
	wantFinding(t, "shared-process", some, tare.Warn, "", open, "server and load generator are one process: chi")
	one := flow{rounds: 2}.input(1)
	for i := range one.Trials {
		if one.Trials[i].Contender == "chi" {
			one.Trials[i].Evidence.PID = 100 * one.Trials[i].Round // the baseline's
		}
	}
	wantFinding(t, "shared-process", one, tare.Warn, "chi", "", "it was one process with nethttp")
	one.Plan.Isolation = tare.TrialWise
	wantNone(t, "shared-process", one)
}
