package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/contender/wire"
	"github.com/tarebench/tare/internal/build"
	"github.com/tarebench/tare/internal/trial"
	"github.com/tarebench/tare/load/hist"
)

// bench is one server being asked by hand.
type bench struct {
	t *testing.T
	k *Kind
	*trial.Session
}

// program is the test binary as a variant of itself.
func program(variant string) build.Program {
	return build.Program{Path: os.Args[0], Variant: variant, Contender: tare.Contender{ID: variant}}
}

// started opens p and says hello.
func started(t *testing.T, p build.Program) *bench {
	t.Helper()
	k := New()
	b := &bench{t, k, opened(t, k, p)}
	a, err := b.Hello(t.Context(), p.Variant, "1")
	if err != nil || a.Kind != Name {
		t.Fatalf("hello: %+v, %v", a, err)
	}
	return b
}

func opened(t *testing.T, k *Kind, p build.Program) *trial.Session {
	t.Helper()
	dir := t.TempDir()
	c, err := k.Open(t.Context(), p, trial.Spec{Dir: dir, Env: []string{quick}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		c.Close(context.Background())
		left, err := os.ReadDir(dir)
		if err != nil || len(left) > 0 {
			t.Errorf("files %v are left, %v", left, err)
		}
		if p := c.(*conn).process; p != nil && alive(p.PID()) {
			t.Errorf("process %d is left", p.PID())
		}
	})
	return &trial.Session{Conn: c}
}

// alive asks the kernel, not the code under test.
func alive(pid int) bool {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	after := string(b[strings.LastIndexByte(string(b), ')')+1:])
	return err == nil && !strings.HasPrefix(after, " Z") && !strings.HasPrefix(after, " X")
}

// input is a workload of tiny with that traffic, not looked at for sense.
func (b *bench) input(op string, traffic tare.Traffic) wire.Workload {
	b.t.Helper()
	return b.made(tare.Workload{ID: op, Fixture: "tiny", Op: op, Traffic: &traffic})
}

func (b *bench) made(w tare.Workload) wire.Workload {
	b.t.Helper()
	in, err := b.k.Input(w, b.t.TempDir(), b.t.TempDir())
	if err != nil {
		b.t.Fatal(err)
	}
	in.Set = w.Set
	return in
}

// ready prepares a workload.
func (b *bench) ready(in wire.Workload) wire.Workload {
	b.t.Helper()
	a, err := b.Prepare(b.t.Context(), in)
	if err != nil || a.Unsupported {
		b.t.Fatalf("prepare: %+v, %v", a, err)
	}
	return in
}

// visit has so many requests sent.
func (b *bench) visit(on string, lead, ops int64) wire.Reply {
	b.t.Helper()
	a, err := b.Slice(b.t.Context(), wire.Request{On: on, Lead: lead, Ops: ops}, time.Second)
	if err != nil {
		b.t.Fatal(err)
	}
	return a
}

// asClass checks that err is one line of the class that holds words.
func asClass(t *testing.T, err error, class, words string) {
	t.Helper()
	var te *tare.TrialError
	if !errors.As(err, &te) {
		t.Fatalf("got %v, want a trial error of class %s", err, class)
	}
	if te.Class != class || !strings.Contains(te.Message, words) || strings.ContainsAny(te.Message, "\n\x00") {
		t.Errorf("got %q: %q, want class %q with %q, in one line", te.Class, te.Message, class, words)
	}
}

// right asks for every case and compares.
func (b *bench) right(in wire.Workload) {
	b.t.Helper()
	var cases []int
	for i := range in.Bodies {
		cases = append(cases, i)
	}
	answers, err := b.Answer(b.t.Context(), in.ID, cases)
	if err != nil {
		b.t.Fatal(err)
	}
	wrong, err := b.k.Compare(in, answers)
	if err != nil || len(wrong) > 0 {
		b.t.Errorf("wrong: %v, %v", wrong, err)
	}
}

func TestVisits(t *testing.T) {
	t.Parallel()
	b := started(t, program("good"))
	for _, op := range served["tiny"].Ops {
		in := b.ready(b.input(op, tare.Traffic{Connections: 4}))
		b.right(in)
		if a, err := b.Warm(t.Context(), op, 3, 10*time.Millisecond, time.Second, 0); err != nil || a.Ops < 1 { // a starved machine has no time for more
			t.Errorf("warm %+v, %v", a, err)
		}
		var sum wire.Reply
		for range 3 {
			a := b.visit(op, 20, 200)
			if a.Ops < 200 || a.Ops > 204 || a.Errors != 0 || a.WallNS < 1 || a.BytesOut < 3*a.Ops {
				t.Errorf("slice %+v", a)
			}
			sum.Ops, sum.WallNS, sum.BytesOut, sum.CPUNS = sum.Ops+a.Ops, sum.WallNS+a.WallNS, sum.BytesOut+a.BytesOut, sum.CPUNS+a.CPUNS
		}
		s, histogram := b.Gauges(op)
		for key, want := range map[string]float64{
			tare.KeyRequests: float64(sum.Ops), tare.KeyErrors: 0, tare.KeyTimeouts: 0, tare.KeyConnects: 4, tare.KeyConnections: 4,
			tare.KeyWall: float64(sum.WallNS), tare.KeyBodyReceived: float64(sum.BytesOut) / float64(sum.Ops), tare.KeyBodySent: 0,
			tare.KeyRate: float64(sum.Ops) / float64(sum.WallNS) * 1e9, tare.KeyOutput: 0, tare.KeyLayers: 0,
			tare.KeyReceivedSent: s[tare.KeyReceived], tare.KeySentBody: 0, tare.KeyReceivedBody: 0,
		} {
			if got, ok := s[key]; !ok || math.Abs(got-want) > 1e-9*want {
				t.Errorf("%s: %s is %v, want %v", op, key, got, want)
			}
		}
		for _, key := range []string{
			tare.KeyConcurrency, tare.KeyMeanLatency, tare.KeyClientCPU, tare.KeyClientCPUPerOp, tare.KeyClientCores, tare.KeyServerCores,
			tare.KeyBytesSent, tare.KeyBytesReceived, tare.KeyReceived,
		} {
			if s[key] <= 0 {
				t.Errorf("%s: %s is %v", op, key, s[key])
			}
		}
		if s[tare.KeyConcurrency] > 4.001 || s[tare.KeyReceived] < float64(sum.Ops)+60 {
			t.Errorf("%s: gauges %v", op, s)
		}
		if runtime.GOOS == "linux" && (s[tare.KeyResident] < 1<<20 || s[tare.KeyServerCPU] != float64(sum.CPUNS) || sum.CPUNS <= 0) {
			t.Errorf("%s: server's CPU %v, of slices %d, memory %v", op, s[tare.KeyServerCPU], sum.CPUNS, s[tare.KeyResident])
		}
		for _, absent := range []string{tare.KeyRateAsked, tare.KeySendLag, "p99_ns", tare.KeySharedProcess} {
			if _, ok := s[absent]; ok || histogram != "" {
				t.Errorf("%s: %s of a closed loop in visits", op, absent)
			}
		}
		if a, err := b.Stats(t.Context(), op, 300, time.Second); err != nil || a.Ops < 300 || a.Allocs/a.Ops < 1 || a.Bytes/a.Ops < 100 {
			t.Errorf("stats %+v, %v", a, err)
		}
	}
	e := b.Close(t.Context())
	if e.KilledGroup || runtime.GOOS == "linux" && (e.Affinity == "" || e.MaxRSSBytes == 0) {
		t.Errorf("evidence %+v", e)
	}
	_, err := b.Slice(t.Context(), wire.Request{On: "health", Ops: 1}, 0)
	asClass(t, err, tare.ErrExit, "closed")
}

// Nothing of the CPU time between two visits is lost or charged twice.
func TestIdleTime(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("CPU time of others is read on Linux")
	}
	t.Parallel()
	b := started(t, program("good"))
	b.ready(b.input("get-7", tare.Traffic{Connections: 2}))
	first := b.visit("get-7", 10, 300)
	second := b.visit("get-7", 10, 300)
	if second.IdleCPUNS < 0 || second.IdleCPUNS > first.CPUNS+20e6 {
		t.Errorf("idle for %d ns of CPU after a visit of %d", second.IdleCPUNS, first.CPUNS)
	}
}

func TestSegments(t *testing.T) {
	t.Parallel()
	b := started(t, program("good"))
	for name, traffic := range map[string]tare.Traffic{
		"open":   {Connections: 8, Rate: 500, Segment: 400 * time.Millisecond},
		"closed": {Connections: 2, Segment: 200 * time.Millisecond},
	} {
		b.ready(b.input("get-random", traffic))
		a := b.visit("get-random", 20, 200)
		s, histogram := b.Gauges("get-random")
		h, err := hist.Decode(histogram)
		if err != nil || h.Count() < a.Ops || h.Count() > a.Ops+8 || a.Errors > 0 {
			t.Errorf("%s: slice %+v, histogram of %d, %v", name, a, h.Count(), err)
		}
		last := 0.0
		for _, key := range []string{"p50_ns", "p90_ns", "p99_ns", "p99_9_ns", "max_ns"} {
			if s[key] < last || s[key] <= 0 {
				t.Errorf("%s: %s is %v after %v", name, key, s[key], last)
			}
			last = s[key]
		}
		if lag, ok := s[tare.KeySendLag]; s[tare.KeyRateAsked] < 490 && name == "open" || ok != (name == "open") || lag < 0 {
			t.Errorf("%s: rate asked %v, lag %v", name, s[tare.KeyRateAsked], lag)
		}
		if a.WallNS < traffic.Segment.Nanoseconds()*9/10 {
			t.Errorf("%s: %v, want %v", name, time.Duration(a.WallNS), traffic.Segment)
		}
	}
}

func TestFactors(t *testing.T) {
	b := started(t, program("good"))
	t.Run("TLS", func(t *testing.T) {
		in := b.ready(b.input("get-7", tare.Traffic{Connections: 2, TLS: true}))
		b.right(in)
		if a := b.visit("get-7", 2, 20); a.Errors != 0 {
			t.Errorf("slice %+v", a)
		}
		if s, _ := b.Gauges("get-7"); s[tare.KeyReceived] != s[tare.KeyReceivedSent] {
			t.Errorf("%v received, %v sent", s[tare.KeyReceived], s[tare.KeyReceivedSent])
		}
	})
	t.Run("delay", func(t *testing.T) {
		in := b.ready(b.input("get-7", tare.Traffic{Connections: 3, Delay: 30 * time.Millisecond, Bandwidth: 8e6}))
		b.right(in)
		if a, err := b.Warm(t.Context(), in.ID, 3, time.Millisecond, time.Second, 0); err != nil || a.Ops < 1 {
			t.Errorf("warm %+v, %v", a, err)
		}
		b.visit("get-7", 0, 6)
		if s, _ := b.Gauges("get-7"); s[tare.KeyMeanLatency] < 25e6 {
			t.Errorf("mean latency %v", s[tare.KeyMeanLatency])
		}
	})
	t.Run("file", func(t *testing.T) {
		in := b.input("get-7", tare.Traffic{Connections: 2})
		in.Set = map[string]string{"log": "file"}
		b.ready(in)
		b.visit("get-7", 0, 100)
		if s, _ := b.Gauges("get-7"); math.Abs(s[tare.KeyOutput]-float64(len("GET /v1/id/7\n"))) > 1 {
			t.Errorf("%v bytes of log a request", s[tare.KeyOutput])
		}
	})
	t.Run("terminal of a workload", func(t *testing.T) {
		in := b.input("get-7", tare.Traffic{Connections: 2})
		in.Set = map[string]string{"log": "pty"}
		_, err := b.Prepare(t.Context(), in)
		asClass(t, err, tare.ErrContender, "in the contender's set")
		b.ready(b.input("get-7", tare.Traffic{Connections: 2})) // and the trial goes on
	})
}

func TestTerminal(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("Linux only")
	}
	t.Parallel()
	p := program("good")
	p.Contender.Set = map[string]string{"log": "pty"}
	b := started(t, p)
	in := b.input("get-7", tare.Traffic{Connections: 2})
	in.Set = p.Contender.Set
	b.ready(in)
	b.visit("get-7", 0, 200)
	line := float64(len("GET /v1/id/7\r\n"))
	for end := time.Now().Add(10 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		s, _ := b.Gauges("get-7")
		if math.Abs(s[tare.KeyOutput]-line) <= 1 {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("%v bytes a request on a terminal, want %v", s[tare.KeyOutput], line)
		}
	}
}

// What each server is caught by, in the figures.
func TestFaultsShow(t *testing.T) {
	t.Parallel()
	gauges := func(t *testing.T, variant string) tare.Sample {
		b := started(t, program(variant))
		b.ready(b.input("get-7", tare.Traffic{Connections: 4}))
		b.visit("get-7", 0, 200)
		s, _ := b.Gauges("get-7")
		return s
	}
	t.Run("closes", func(t *testing.T) {
		if s := gauges(t, "closes"); s[tare.KeyConnects] < 190 || s[tare.KeyErrors] != 0 {
			t.Errorf("%v connections for %v requests, %v errors", s[tare.KeyConnects], s[tare.KeyRequests], s[tare.KeyErrors])
		}
	})
	t.Run("sleeps", func(t *testing.T) {
		if s := gauges(t, "sleeps"); s[tare.KeyMeanLatency] < 2e6 {
			t.Errorf("mean latency %v", s[tare.KeyMeanLatency])
		}
	})
	t.Run("logs", func(t *testing.T) {
		if s := gauges(t, "logs"); s[tare.KeyOutput] < 5 {
			t.Errorf("%v bytes of output a request", s[tare.KeyOutput])
		}
	})
	t.Run("drops", func(t *testing.T) {
		if s := gauges(t, "drops"); s[tare.KeyReceived] < 1.4*s[tare.KeyReceivedSent] {
			t.Errorf("%v received, %v sent", s[tare.KeyReceived], s[tare.KeyReceivedSent])
		}
	})
	t.Run("layered", func(t *testing.T) {
		if s := gauges(t, "layered"); s[tare.KeyLayers] != 2 {
			t.Errorf("%v layers", s[tare.KeyLayers])
		}
	})
}

// A server that does not read bodies counts fewer bytes than were sent.
func TestBodies(t *testing.T) {
	t.Parallel()
	line, err := json.Marshal(Request{Method: "POST", Path: "/events", Header: map[string]string{"X-Case": "1"}, Body: make([]byte, 1000)})
	if err != nil {
		t.Fatal(err)
	}
	for variant, want := range map[string]float64{"reads": 1, "deaf": 0} {
		b := started(t, program(variant))
		path := filepath.Join(t.TempDir(), "events.ndjson")
		if err := os.WriteFile(path, line, 0o644); err != nil {
			t.Fatal(err)
		}
		in := b.ready(b.made(tare.Workload{ID: "mine", File: path, Op: "tiny", Traffic: &tare.Traffic{Connections: 2}}))
		b.right(in)
		b.visit("mine", 0, 50)
		s, _ := b.Gauges("mine")
		if s[tare.KeyReceivedBody] != want*s[tare.KeySentBody] || s[tare.KeySentBody] < 50*1000 || s[tare.KeyBodySent] != 1000 {
			t.Errorf("%s: %v bytes of bodies received, %v sent, %v a request", variant, s[tare.KeyReceivedBody], s[tare.KeySentBody], s[tare.KeyBodySent])
		}
	}
}
