package check

import (
	"strings"
	"testing"
	"time"

	"github.com/tarebench/tare"
)

// voidsMetrics demands one void finding for each of the metrics and returns
// the message, which they have in common.
func voidsMetrics(t *testing.T, id string, in Input, contender, workload string, metrics ...string) string {
	t.Helper()
	fs := run(t, id, in)
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

// says demands that the message has the words in that order.
func says(t *testing.T, message string, words ...string) {
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
	dropped := faulty(closed, func(s tare.Sample) { s[tare.KeyMeanLatency] *= 0.36 })
	m := voidsMetrics(t, "little", dropped, "chi", closed, "time")
	says(t, m, "rate × latency comes to 17.7 requests under way, but there were 49.4 (0.358×, 0.349 to 0.363", "12 rounds); the server was busy 95 % of its 1 core; the load generator was busy 8.6 % of its 1 core")
	m = voidsMetrics(t, "little", faulty(open, func(s tare.Sample) { s[tare.KeyConcurrency] *= 2 }), "chi", open, "p50", "p99")
	says(t, m, "(0.498×")
	silent(t, "little", faulty(closed, func(s tare.Sample) { s[tare.KeyMeanLatency] *= 1.08 }))
	silent(t, "little", flow{rounds: 12, edit: on(tare.NullID, closed, func(s tare.Sample) { s[tare.KeyMeanLatency] *= 3 })}.input(1))
	once := flow{rounds: 12, sd: 0.01, edit: func(t *tare.Trial, w string, s tare.Sample) {
		if t.Contender == "chi" && t.Round == 3 {
			s[tare.KeyMeanLatency] *= 3
		}
	}}.input(1)
	silent(t, "little", once) // an odd round is no relation
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
	m := voidsMetrics(t, "little", delayed(2400), "chi", closed, "time")
	says(t, m, "97 % of the requests under way were on the link, which delays each by 20ms: throughput is connections over round trip; the server was busy 5.3 % of its 1 core")
	silent(t, "little", delayed(1000)) // most of the time they are not on the link
	near := delayed(2400)
	near.Study.Workloads[0].Traffic.Delay = time.Millisecond
	silent(t, "little", near)
	worked := delayed(2400)
	for _, tr := range worked.Trials {
		tr.Samples[closed][tare.KeyServerCPU] = 0.9 * tr.Samples[closed][tare.KeyWall]
	}
	silent(t, "little", worked) // the server is the limit

	narrow := delayed(2400)
	narrow.Study.Workloads[0].Traffic.Delay = 0
	narrow.Study.Workloads[0].Traffic.Bandwidth = 3.1e6 // 2,400 × 160 bytes are 3.07 Mbit/s
	m = voidsMetrics(t, "little", narrow, "chi", closed, "time")
	says(t, m, "the link of 3100000 bit/s was 99 % full: throughput is the link's")
	narrow.Study.Workloads[0].Traffic.Bandwidth = 4e6
	silent(t, "little", narrow)
	narrow.Study.Metrics = []string{"cpu"}
	narrow.Study.Workloads[0].Traffic.Bandwidth = 3.1e6
	silent(t, "little", narrow) // nothing that it would void
}

func TestAccounting(t *testing.T) {
	clamped := faulty(closed, func(s tare.Sample) { s[tare.KeyServerCPU] /= 2 })
	fires(t, "accounting", clamped, tare.Void, "chi", closed, "rate × CPU per request is 2× the cores the server was busy (2 to 2, 12 rounds)")
	fires(t, "accounting", faulty(open, func(s tare.Sample) { s[tare.KeyRequests] *= 1.3 }), tare.Void, "chi", open, "requests over time are 1.3× the rate (1.3 to 1.3, 12 rounds)")
	more := flow{rounds: 12, edit: on("chi", closed, func(s tare.Sample) { s[tare.KeyServerCores], s[tare.KeyClientCores] = 0.5, 0.05 })}.input(1)
	fires(t, "accounting", more, tare.Void, "chi", closed,
		"the server was busy 1.9× the cores it may use (1.9 to 1.9, 12 rounds); the load generator was busy 1.73× the cores it may use (1.73 to 1.73, 12 rounds)")
	silent(t, "accounting", faulty(closed, func(s tare.Sample) { s[tare.KeyServerCPU] /= 1.08 }))

	// Slices of half a second of CPU time in a process that says it used 0.2.
	wrapped := flow{rounds: 12, sd: 0.01, edit: func(t *tare.Trial, w string, s tare.Sample) {
		if t.Contender == "chi" {
			t.Evidence.CPUSeconds = 0.2
		}
	}}.input(1)
	f := run(t, "accounting", wrapped)
	if len(f) != 1 || f[0].Contender != "chi" || f[0].Workload != "" || f[0].Severity != tare.Void {
		t.Fatalf("found %+v", f)
	}
	says(t, f[0].Message, "its slices used 2.6", "× the CPU time of the whole process")
	for i := range wrapped.Trials {
		wrapped.Trials[i].Evidence.CPUSeconds = 0 // not recorded
	}
	silent(t, "accounting", wrapped)
}

func TestReceipts(t *testing.T) {
	lost := faulty(closed, func(s tare.Sample) { s[tare.KeyReceived] *= 0.95 })
	says(t, fires1(t, "delivered", lost, closed).Message, "the server counted 22", " requests where 23", "were sent (0.95×, 0.95 to 0.95, 12 rounds)")
	fires1(t, "delivered", faulty(closed, func(s tare.Sample) { s[tare.KeyReceived] = 0 }), closed)
	fires1(t, "delivered", faulty(closed, func(s tare.Sample) { s[tare.KeyReceived] *= 2 }), closed)
	silent(t, "delivered", faulty(closed, func(s tare.Sample) { s[tare.KeyReceived] -= 50 })) // still under way
	silent(t, "delivered", faulty(closed, func(s tare.Sample) { delete(s, tare.KeyReceived) }))

	unread := faulty(open, func(s tare.Sample) { s[tare.KeySentBody], s[tare.KeyReceivedBody] = 1e7, 65536 })
	fires(t, "body-consumed", unread, tare.Void, "chi", open, "the server read 65536 bytes of request bodies where 10000000 were sent (0.00655×, 0.00655 to 0.00655, 12 rounds)")
	silent(t, "body-consumed", faulty(open, func(s tare.Sample) { s[tare.KeySentBody], s[tare.KeyReceivedBody] = 1e7, 1e7-5000 }))
	silent(t, "body-consumed", faulty(open, func(s tare.Sample) { s[tare.KeySentBody], s[tare.KeyReceivedBody] = 0, 0 }))
}

// fires1 demands exactly one void finding for chi on workload.
func fires1(t *testing.T, id string, in Input, workload string) tare.Finding {
	t.Helper()
	fs := run(t, id, in)
	if len(fs) != 1 || fs[0].Severity != tare.Void || fs[0].Contender != "chi" || fs[0].Workload != workload || fs[0].Metric != "" {
		t.Fatalf("%s found %+v, want chi void on %s", id, fs, workload)
	}
	return fs[0]
}

func TestRateHeld(t *testing.T) {
	slow := faulty(open, func(s tare.Sample) { s[tare.KeyRate] *= 0.9; s[tare.KeyServerCPU] *= 99 })
	says(t, fires1(t, "rate-held", slow, open).Message, "500 requests per second were asked for and 450 achieved (12 rounds); the server was busy 109 % of its 1 core; the load generator was busy 0.1 % of its 1 core")
	silent(t, "rate-held", faulty(open, func(s tare.Sample) { s[tare.KeyRate] *= 0.98 }))
	silent(t, "rate-held", faulty(closed, func(s tare.Sample) { s[tare.KeyRate] *= 0.9 })) // nobody asked
	fires(t, "rate-held", faulty(closed, func(s tare.Sample) { s[tare.KeyConnects] = 48 }), tare.Void, "chi", closed, "50 connections were planned and 48 opened")
	silent(t, "rate-held", faulty(closed, func(s tare.Sample) { s[tare.KeyConnects] = 55 })) // some broke
	fires(t, "rate-held", faulty(closed, func(s tare.Sample) { s[tare.KeyServerCores] = 2 }), tare.Void, "chi", closed, "the server may use 2 cores and the baseline's 1 core")
	// One round is enough to see it.
	one := flow{rounds: 1, edit: on("chi", open, func(s tare.Sample) { s[tare.KeyRate] *= 0.9 })}.input(1)
	fires1(t, "rate-held", one, open)
}

func TestNegativeProbe(t *testing.T) {
	in := flow{rounds: 2}.input(1)
	silent(t, "negative-probe", in)
	for i := range in.Conformance {
		if c := &in.Conformance[i]; c.Probe && c.Contender != plainHTTP {
			c.Wrong, c.First = 3, "POST /v1/id/7: 200, want 405"
		}
	}
	in.Contenders[3].Role, in.Contenders[3].Expect = tare.RoleTrap, tare.Expect{Void: []string{"negative-probe"}}
	in.Conformance = append(in.Conformance, tare.Conformance{Contender: "chi", Workload: "probe/2", Cases: 4, Wrong: 1, Probe: true})
	fs := run(t, "negative-probe", in)
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
	silent(t, "wrong-answer", in) // which is about what should be answered
}

func TestConnectionParity(t *testing.T) {
	each := faulty(closed, func(s tare.Sample) { s[tare.KeyConnects] = 50 + 1.1*s[tare.KeyRequests] })
	fires(t, "connection-parity", each, tare.Warn, "chi", closed, "a connection is opened for every request, or nearly: 1 for each, and 0 for one to nethttp")
	some := faulty(closed, func(s tare.Sample) { s[tare.KeyConnects] = 50 + 0.1*1.1*s[tare.KeyRequests] })
	fires(t, "connection-parity", some, tare.Warn, "chi", closed, "0.1 connections are opened for a request beyond the planned ones, and 0 for one to nethttp")
	silent(t, "connection-parity", faulty(closed, func(s tare.Sample) { s[tare.KeyConnects] = 60 }))
	// All alike is no difference, and still worth saying.
	all := flow{rounds: 12, edit: func(t *tare.Trial, w string, s tare.Sample) { s[tare.KeyConnects] = 50 + 1.1*s[tare.KeyRequests] }}.input(1)
	if fs := run(t, "connection-parity", all); len(fs) != 6 || fs[0].Contender != plainHTTP || fs[0].Message != "a connection is opened for every request, or nearly: 1 for each" {
		t.Errorf("found %+v", fs)
	}
}

func TestOutputParity(t *testing.T) {
	// gin.Default() against a silent server.
	loud := faulty(closed, func(s tare.Sample) { s[tare.KeyOutput] = 93 })
	fires(t, "output-parity", loud, tare.Warn, "chi", closed, "it writes 93 bytes of output per request and nethttp is silent")
	loud.Contenders[3].Set = map[string]string{"log": "pty"}
	loud.Trials[3].Evidence.StderrTail = "[GIN-debug] [WARNING] Running in \"debug\" mode."
	fires(t, "output-parity", loud, tare.Warn, "chi", closed, "it writes 93 bytes of output per request and nethttp is silent (it is configured so: log pty); its stderr speaks of a debug mode")
	silent(t, "output-parity", faulty(closed, func(s tare.Sample) { s[tare.KeyOutput] = 0.3 })) // a banner

	// A silent one among those that log.
	talk := func(own float64) Input {
		return flow{rounds: 12, edit: func(t *tare.Trial, w string, s tare.Sample) {
			s[tare.KeyOutput] = 100
			if t.Contender == "chi" && w == closed {
				s[tare.KeyOutput] = own
			}
		}}.input(1)
	}
	fires(t, "output-parity", talk(0), tare.Warn, "chi", closed, "it is silent and nethttp writes 100 bytes of output per request")
	fires(t, "output-parity", talk(250), tare.Warn, "chi", closed, "it writes 250 bytes of output per request and nethttp writes 100")
	fires(t, "output-parity", talk(40), tare.Warn, "chi", closed, "it writes 40 bytes of output per request and nethttp writes 100")
	silent(t, "output-parity", talk(160)) // each framework has a format of its own
}

func TestLayerParity(t *testing.T) {
	in := flow{rounds: 12}.input(1)
	in.Contenders[3].Layers = []string{"logger", "recovery", "cors"}
	fires(t, "layer-parity", in, tare.Warn, "chi", "", "against nethttp it has cors, logger")
	in.Contenders[3].Layers = []string{"logger"}
	fires(t, "layer-parity", in, tare.Warn, "chi", "", "against nethttp it has logger and lacks recovery")
	in.Contenders[3].Layers = []string{"recovery", "recovery"}
	silent(t, "layer-parity", in)
	in.Contenders[3].Layers, in.Contenders[3].Launch = nil, tare.LaunchCommand
	silent(t, "layer-parity", in) // nobody knows
	fires(t, "layer-parity", faulty(open, func(s tare.Sample) { s[tare.KeyLayers] = 0 }), tare.Warn, "chi", open, "0 layers are called for a request, and 1 in nethttp")
}

func TestBodyParity(t *testing.T) {
	fires(t, "body-parity", faulty(closed, func(s tare.Sample) { s[tare.KeyBodyReceived] -= 1 }), tare.Warn, "chi", closed, "its responses have 10.8 bytes of body and those of nethttp 11.8")
	silent(t, "body-parity", faulty(closed, func(s tare.Sample) { s[tare.KeyBodyReceived] += 0.2 }))
	headers := flow{rounds: 12}.input(1)
	for i := range headers.Conformance {
		if c := &headers.Conformance[i]; c.Contender == "chi" && c.Workload == closed && !c.During {
			c.Bytes += 64 * 15
		}
	}
	fires(t, "body-parity", headers, tare.Warn, "chi", closed, "its bodies are as long as those of nethttp, and its answers differ by 15 bytes each: status, header or content")
	for i := range headers.Conformance {
		headers.Conformance[i].Wrong = 1 // wrong-answer's
	}
	silent(t, "body-parity", headers)
}

func TestSharedProcess(t *testing.T) {
	in := flow{rounds: 2, edit: func(t *tare.Trial, w string, s tare.Sample) {
		if w == closed {
			s[tare.KeySharedProcess] = 1
		}
	}}.input(1)
	fires(t, "shared-process", in, tare.Warn, "", closed, "server and load generator are one process")
	some := flow{rounds: 2, edit: func(t *tare.Trial, w string, s tare.Sample) {
		s[tare.KeySharedProcess] = 0
		if w == open && t.Contender == "chi" {
			s[tare.KeySharedProcess] = 1
		}
	}}.input(1)
	fires(t, "shared-process", some, tare.Warn, "", open, "server and load generator are one process: chi")
	one := flow{rounds: 2}.input(1)
	for i := range one.Trials {
		if one.Trials[i].Contender == "chi" {
			one.Trials[i].Evidence.PID = 100 * one.Trials[i].Round // the baseline's
		}
	}
	fires(t, "shared-process", one, tare.Warn, "chi", "", "it was one process with nethttp")
	one.Plan.Isolation = tare.TrialWise
	silent(t, "shared-process", one)
}
