package workload

import (
	"context"
	"math"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/apps/users"
	"github.com/tarebench/tare/contender/rpc"
	"github.com/tarebench/tare/internal/check"
)

// dial is the client of each variant, of which three are not as they should be.
func dial(t rpc.Target) (rpc.Client, error) {
	if t.Variant == "closes" {
		t.Policy = rpc.Fresh // whatever was asked for
	}
	c, err := rpc.HTTPClient(t)
	switch t.Variant {
	case "tardy":
		return delayed{c, func() { time.Sleep(20 * time.Millisecond) }}, err
	case "busy":
		return delayed{c, func() { spin(200 * time.Microsecond) }}, err
	}
	return c, err
}

// delayed does something before each get.
type delayed struct {
	rpc.Client
	first func()
}

func (d delayed) Get(ctx context.Context, id int64) (users.User, error) {
	d.first()
	return d.Client.Get(ctx, id)
}

// spin works for so long.
func spin(d time.Duration) {
	for end := time.Now().Add(d); time.Now().Before(end); {
	}
}

// byClient is variant asked by its own client.
func byClient(t *testing.T, variant string) *bench {
	return started(t, program(variant, map[string]string{setDriver: driverClient}))
}

// Whatever the load generator says of itself a client says too, but for the lengths of bodies; and
// the server's processors are charged to what it answered while they were read.
func TestClientsGauges(t *testing.T) {
	t.Parallel()
	b := byClient(t, "good")
	in := b.ready(workload(opGet, 300, 4))
	a := b.visit(in, 50, 400)
	if a.Ops < 400 || a.Ops > 400+2*4 || a.WallNS <= 0 || a.CPUNS <= 0 && runtime.GOOS == "linux" {
		t.Errorf("a visit of 400: %+v", a)
	}
	s, _ := b.Gauges(in.ID)
	for _, key := range []string{
		tare.KeyConnects, tare.KeyConnections, tare.KeyConcurrency, tare.KeyMeanLatency, tare.KeyRate, tare.KeyClientCPU, tare.KeyClientCPUPerOp,
		tare.KeyClientCores, tare.KeyServerCores, tare.KeyWall, tare.KeyBytesSent, tare.KeyBytesReceived, tare.KeyClientBytes, tare.KeyClientAllocs, "own_client",
	} {
		if s[key] <= 0 {
			t.Errorf("%s: %v", key, s[key])
		}
	}
	if s[tare.KeyRequests] != float64(a.Ops) || s[tare.KeyConnects] > 4 || s[tare.KeyConnections] != s[tare.KeyConnects] {
		t.Errorf("%v", s)
	}
	if got := s[tare.KeyRate] * s[tare.KeyMeanLatency] / 1e9 / s[tare.KeyConcurrency]; math.Abs(got-1) > 0.1 {
		t.Errorf("rate × latency is %.3f of the concurrency: %v", got, s)
	}
	for _, key := range []string{tare.KeySendLag, tare.KeyBodySent, tare.KeyBodyReceived, tare.KeyRateAsked} {
		if v, ok := s[key]; ok {
			t.Errorf("%s: %v", key, v)
		}
	}
}

// A client that cannot keep the rate says by how much it is behind; and what is wrong with others
// is found as well: one that opens a connection for each call, and one that is busy with itself.
func TestClientsThatAreFound(t *testing.T) {
	t.Parallel()
	atRate := workload(opGet, 300, 2)
	atRate.Traffic.Rate, atRate.Traffic.Segment = 200, time.Second
	crowd := workload(opGet, 300, 2+runtime.NumCPU())
	for _, v := range []struct {
		variant, check, says string
		w                    tare.Workload
	}{
		{"tardy", "rate-held", "200 requests per second were asked for", atRate},
		{"closes", "connection-parity", "a connection is opened for every request", crowd},
		{"busy", "generator-headroom", "of its cores", crowd},
	} {
		t.Run(v.variant, func(t *testing.T) {
			t.Parallel()
			if v.variant == "busy" && runtime.GOOS != "linux" {
				return // nobody tells how long it waited for a processor
			}
			good := measured(t, "good", v.w)
			for try := 1; ; try++ { // beside other processes a busy client may not be the limit
				odd := measured(t, v.variant, v.w)
				if v.w.Traffic.Rate > 0 {
					behind(t, good, odd)
				}
				found := findingsOn(t, v.check, v.variant, v.w, good, odd)
				if strings.Contains(found, v.says) {
					return
				}
				if try == 3 {
					t.Fatalf("%s says %q, want %q of %v", v.check, found, v.says, odd)
				}
			}
		})
	}
}

// findingsOn is what a check says of a variant beside a client without fault.
func findingsOn(t *testing.T, name, variant string, w tare.Workload, good, odd tare.Sample) (found string) {
	t.Helper()
	var in check.Input
	in.Final, in.Study = true, tare.Study{Baseline: "good", Workloads: []tare.Workload{w}, Metrics: []string{"time", "cpu", "p99"}}
	in.Contenders = []tare.Contender{{ID: "good", Role: tare.RoleBaseline}, {ID: variant}}
	in.Trials = []tare.Trial{
		{Round: 1, Contender: "good", Samples: map[string]tare.Sample{w.ID: good}},
		{Round: 1, Contender: variant, Samples: map[string]tare.Sample{w.ID: odd}},
	}
	c, _ := check.Named(name)
	for _, f := range c.Run(in) {
		if f.Contender == variant {
			found += f.Message + "\n"
		} else if name == "connection-parity" {
			t.Errorf("of good it says: %s", f.Message)
		}
	}
	return found
}

// measured is what is told of a visit to variant by its own client.
func measured(t *testing.T, variant string, w tare.Workload) tare.Sample {
	t.Helper()
	b := byClient(t, variant)
	in := b.ready(w)
	if a := b.visit(in, 20, 300); a.Errors > 0 {
		t.Errorf("%s: %+v", variant, a)
	}
	s, histogram := b.Gauges(in.ID)
	if (histogram != "") != (w.Traffic.Segment > 0) {
		t.Errorf("%s: histogram %q", variant, histogram)
	}
	return s
}

// behind holds that odd did not keep its rate, and says so.
func behind(t *testing.T, good, odd tare.Sample) {
	t.Helper()
	for _, s := range []tare.Sample{good, odd} {
		if s[tare.KeyRateAsked] != 200 || s["p99_ns"] < s[tare.KeySendLag] || s["p99_ns"] <= 0 {
			t.Errorf("%v", s)
		}
	}
	if held := odd[tare.KeyRate] / 200; held > 0.6 || odd[tare.KeySendLag] < 100e6 {
		t.Errorf("%.2f of the rate, sent %.0f ms late", held, odd[tare.KeySendLag]/1e6)
	}
}
