package server

import (
	"math"
	"testing"
	"time"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/contender/wire"
	"github.com/tarebench/tare/load"
	"github.com/tarebench/tare/load/hist"
)

func word(ns ...int64) []byte {
	var h hist.Hist
	for _, v := range ns {
		h.Record(v)
	}
	return []byte(h.Encode())
}

// TestClientResult: what a client says comes to figures of all the calls that it
// began, at the rate of those that it measured.
func TestClientResult(t *testing.T) {
	l := &ownClient{callers: 10, cores: 1}
	r, err := l.toResult(wire.Reply{
		Counts: wire.Counts{Ops: 100, WallNS: 1_000_000, CPUNS: 500_000, Errors: 3, Message: "late"}, Calling: wire.Calling{Begun: 120, UnderWayNS: 9_900_000, Latency: word(90, 100)}, Traffic: wire.Traffic{Opened: 2, WireIn: 12_000, WireOut: 6000},
	})
	if err != nil {
		t.Fatal(err)
	}
	if r.Requests != 120 || r.Sent != 120 || r.Wall != 1200*time.Microsecond || r.CPU != 600*time.Microsecond || r.Concurrency != 9.9 || r.Opened != 2 || r.Threads != 1 {
		t.Errorf("%+v", r)
	}
	if r.Latency.Count() != 2 || r.Service != r.Latency || r.SendLag != nil || countFailures(r) != 3 || r.FirstError != "late" {
		t.Errorf("%+v", r)
	}
	sum := trafficSum{perOp: 1}
	sum.addLeg(r, cpuUse{cpu: 2400 * time.Microsecond})
	s := sum.toSample()
	for key, want := range map[string]float64{
		tare.KeyRequests: 120, tare.KeyRate: 100_000, tare.KeyClientCPUPerOp: 5000, tare.KeyBytesSent: 50, tare.KeyBytesReceived: 100,
		tare.KeyConcurrency: 9.9, tare.KeyErrors: 3,
	} {
		if math.Abs(s[key]-want) > 1e-6*want {
			t.Errorf("%s: %v, want %v", key, s[key], want)
		}
	}
	// 2.4 ms of the server's processors went into 120 answers.
	if got := sum.server / float64(sum.answered); got != 20_000 {
		t.Errorf("an answer took the server %.0f ns, want 20000", got)
	}
}

func TestClientResultOfAnOpenLoop(t *testing.T) {
	l := &ownClient{callers: 2, rate: 200}
	r, err := l.toResult(wire.Reply{Counts: wire.Counts{Ops: 150, WallNS: 1e9}, Calling: wire.Calling{Begun: 150, Unsent: 50, Latency: word(30), Service: word(10), Lag: word(20)}})
	if err != nil {
		t.Fatal(err)
	}
	if r.Requests != 150 || r.Late != 50 || r.Asked != 200 || r.Wall != time.Second || r.Service.Max() != 10 || r.SendLag.Max() != 20 || r.Latency.Max() != 30 {
		t.Errorf("%+v", r)
	}
	for _, bad := range []wire.Reply{{Calling: wire.Calling{Latency: []byte("x")}}, {Calling: wire.Calling{Service: []byte("h1.")}}, {Calling: wire.Calling{Lag: []byte("h2.AAAA")}}} {
		if _, err := l.toResult(bad); err == nil {
			t.Errorf("%+v is taken", bad)
		}
	}
	if r, err := l.toResult(wire.Reply{Calling: wire.Calling{Begun: 5}}); err != nil || r.Requests != 0 {
		t.Errorf("nothing was measured: %+v, %v", r, err)
	}
}

// TestClientPlanned: connections are opened as they are needed, and more than were
// planned are told as that.
func TestClientPlanned(t *testing.T) {
	for _, v := range []struct {
		one          bool
		opened, want int64
	}{{false, 0, 0}, {false, 3, 3}, {false, 10, 10}, {false, 400, 10}, {true, 1, 1}, {true, 400, 1}} {
		if got := (&ownClient{callers: 10, sharesConn: v.one}).plannedConns(v.opened); got != v.want {
			t.Errorf("%+v: %d", v, got)
		}
	}
	l := &ownClient{}
	l.addCounts(wire.Reply{Traffic: wire.Traffic{Opened: 3, WireOut: 1}}, 7)
	l.addCounts(wire.Reply{}, 1)
	if l.Totals() != (load.Totals{Sent: 8, Opened: 3}) || !l.metered {
		t.Errorf("%+v", l)
	}
}
