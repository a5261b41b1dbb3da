package load

import (
	"strings"
	"testing"
	"time"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/load/hist"
)

// spread returns a histogram of n values around mean; one in a hundred is ten times as long.
func spread(n int, mean time.Duration) *hist.Hist {
	h := new(hist.Hist)
	for i := range n {
		v := int64(mean) * 100 / 109
		if i%100 == 50 {
			v *= 10
		}
		h.Record(v)
	}
	return h
}

// closed returns the result of ten seconds with 10 connections at 1 ms: 10,000 requests per second.
func closed() *Result {
	lat := spread(100_000, time.Millisecond)
	return &Result{
		Engine: Epoll, Connections: 10, Threads: 1, Wall: 10 * time.Second, Sent: 100_000, Requests: 100_000,
		Statuses: map[int]int64{200: 100_000}, Opened: 10, Latency: lat, Service: lat, FirstByte: lat, Connect: new(hist.Hist), SendLag: new(hist.Hist),
		Concurrency: 9.98, BytesIn: 20_000_000, BytesOut: 8_000_000, CPU: 2 * time.Second,
	}
}

// open returns the result of ten seconds at 5,000 requests per second on 10 connections.
func open() *Result {
	r := closed()
	lat := spread(50_000, 200*time.Microsecond)
	r.Sent, r.Requests, r.Asked, r.Concurrency = 50_000, 50_000, 5000, 1
	r.Latency, r.Service, r.SendLag = lat, lat, spread(50_000, 20*time.Microsecond)
	return r
}

func TestLimit(t *testing.T) {
	for name, c := range map[string]struct {
		r        *Result
		set      func(*Result, *Facts)
		want     Limit
		why      string
		findings string // check and severity of each, in order
	}{
		"nothing known": {closed(), nil, LimitServer, "cannot be seen", ""},
		"client at 85 % of its thread": {closed(), func(r *Result, _ *Facts) { r.CPU = 8500 * time.Millisecond },
			LimitClient, "used 85 % of its 1 processor", "generator-headroom void"},
		"client at 84 %":              {closed(), func(r *Result, _ *Facts) { r.CPU = 8400 * time.Millisecond }, LimitServer, "", ""},
		"two threads, each half busy": {closed(), func(r *Result, _ *Facts) { r.CPU, r.Threads = 10*time.Second, 2 }, LimitServer, "", ""},
		"two threads on one processor": {closed(), func(r *Result, f *Facts) { r.CPU, r.Threads, f.ClientCores = 9*time.Second, 2, 1 },
			LimitClient, "90 %", "generator-headroom void"},
		"a quota": {closed(), func(_ *Result, f *Facts) { f.Throttled = 0.02 }, LimitClient, "CPU quota stopped the load generator for 2 %", "generator-headroom void"},
		"a quota nobody told of": {closed(), func(r *Result, _ *Facts) { r.Wait = 7 * time.Second },
			LimitClient, "waited for a processor for 70 %", "generator-headroom void"},
		"a neighbour":             {closed(), func(r *Result, _ *Facts) { r.Wait = 2 * time.Second }, LimitServer, "", "generator-headroom warn"},
		"nobody knows who waited": {closed(), func(r *Result, _ *Facts) { r.Wait = -1 }, LimitServer, "", ""},
		"the client comes before the server": {closed(), func(r *Result, f *Facts) {
			r.CPU, f.ServerCPU, f.ServerCores = 9*time.Second, 10*time.Second, 1
		}, LimitClient, "", "generator-headroom void"},
		"busy server": {closed(), func(_ *Result, f *Facts) { f.ServerCPU, f.ServerCores = 18*time.Second, 2 },
			LimitServer, "the server used 90 % of its 2 processors", ""},
		"idle server": {closed(), func(_ *Result, f *Facts) { f.ServerCPU, f.ServerCores = 10*time.Second, 2 },
			LimitLatency, "10 connections waited for answers while the server used 1.00 of its 2 processors", ""},
		"a long way": {closed(), func(_ *Result, f *Facts) { f.RoundTrip = 600 * time.Microsecond },
			LimitLatency, "60 % of their time on the path: the rate is that of 10 connections", ""},
		"a long way, by its connects": {closed(), func(r *Result, _ *Facts) { r.Connect = spread(100, 700*time.Microsecond) }, LimitLatency, "on the path", ""},
		"a short way":                 {closed(), func(_ *Result, f *Facts) { f.RoundTrip = 400 * time.Microsecond }, LimitServer, "the path took 40 %", ""},
		"a full path":                 {closed(), func(_ *Result, f *Facts) { f.Bandwidth = 17_000_000 }, LimitLatency, "the path was 94 % full", ""},
		"a wide path":                 {closed(), func(_ *Result, f *Facts) { f.Bandwidth = 100_000_000 }, LimitServer, "", ""},
		"think time": {closed(), func(r *Result, f *Facts) {
			f.Think, r.Concurrency, r.Sent, r.Requests = 9*time.Millisecond, 1, 10_000, 10_000
			r.Latency = spread(10_000, time.Millisecond)
			r.Service = r.Latency
		}, LimitNone, "paused for 9ms", "thin-tail note"},
		"connections without requests": {closed(), func(r *Result, _ *Facts) {
			r.Concurrency, r.Sent, r.Requests = 6, 60_000, 60_000
			r.Latency = spread(60_000, time.Millisecond)
			r.Service = r.Latency
		}, LimitServer, "", "rate-held void"},
		"connections made for each request": {closed(), func(r *Result, _ *Facts) {
			r.Concurrency, r.Sent, r.Requests, r.Opened = 6, 60_000, 60_000, 60_000
			r.Latency = spread(60_000, time.Millisecond)
			r.Service = r.Latency
		}, LimitServer, "", ""},
		"a lost request": {closed(), func(r *Result, _ *Facts) { r.Concurrency = 7 }, LimitServer, "", "little void,rate-held void"},
		"few requests": {closed(), func(r *Result, _ *Facts) {
			r.Sent, r.Requests, r.Latency = 900, 900, spread(900, time.Millisecond)
			r.Service, r.Concurrency = r.Latency, 9
		}, LimitServer, "", "thin-tail note"},
		"errors": {closed(), func(r *Result, _ *Facts) {
			r.Errors, r.FirstError = map[Class]int64{ErrTimeout: 200, ErrReset: 300}, "connection reset by peer"
		}, LimitServer, "", "error-in-loop warn,timeouts-counted note"},
		"nothing": {&Result{Errors: map[Class]int64{ErrConnect: 10}, FirstError: "refused"}, nil, LimitNone, "nothing was measured", "error-in-loop warn"},

		"the rate is carried": {open(), nil, LimitNone, "the requested rate was achieved", ""},
		"carried, and the server has more": {open(), func(_ *Result, f *Facts) { f.ServerCPU, f.ServerCores = 4*time.Second, 2 },
			LimitNone, "while the server used 20 % of its 2 processors", ""},
		"carried, and the server has no more": {open(), func(_ *Result, f *Facts) { f.ServerCPU, f.ServerCores = 19*time.Second, 2 }, LimitServer, "95 %", ""},
		"a random rate varies":                {open(), func(r *Result, _ *Facts) { r.Sent, r.Asked = 480, 50 }, LimitNone, "", ""},
		"the rate is not carried": {open(), func(r *Result, _ *Facts) {
			r.Sent, r.Late, r.Concurrency, r.SendLag = 45_000, 5_000, 9.9, spread(45_000, time.Second)
			r.Latency, r.Service = spread(45_000, 2*time.Second), spread(45_000, 2200*time.Microsecond)
		}, LimitServer, "", "send-lag note,rate-held void"},
		"sent late although connections were free": {open(), func(r *Result, _ *Facts) { r.SendLag = spread(50_000, 5*time.Millisecond) },
			LimitClient, "although connections were free", "generator-headroom void"},
		"the server stood still": {open(), func(r *Result, _ *Facts) {
			r.Latency, r.Service, r.SendLag = spread(50_000, 40*time.Millisecond), spread(50_000, 2*time.Millisecond), spread(50_000, 3*time.Millisecond)
			r.Service.Record(int64(500 * time.Millisecond))
			r.Concurrency = 10
		}, LimitNone, "", ""},
		"late because the load generator could not run": {open(), func(r *Result, _ *Facts) {
			r.Latency, r.SendLag, r.Wait = spread(50_000, 10*time.Millisecond), spread(50_000, 9*time.Millisecond), 2*time.Second
			r.Service.Record(int64(500 * time.Millisecond))
		}, LimitClient, "although connections were free", "generator-headroom void"},
		"late because of a quota": {open(), func(r *Result, f *Facts) {
			r.Latency, r.SendLag, f.Throttled = spread(50_000, 10*time.Millisecond), spread(50_000, 9*time.Millisecond), 0.005
			r.Service.Record(int64(80 * time.Millisecond))
		}, LimitClient, "although connections were free", "generator-headroom void"},
		"a stop, and requests queue": {open(), func(r *Result, _ *Facts) {
			r.Latency, r.SendLag = spread(50_000, 10*time.Millisecond), spread(50_000, 9*time.Millisecond)
			r.Service.Record(int64(500 * time.Millisecond))
		}, LimitNone, "", "send-lag note"},
	} {
		t.Run(name, func(t *testing.T) {
			var f Facts
			if c.set != nil {
				c.set(c.r, &f)
			}
			a := Assess(c.r, f)
			if a.Limit != c.want || !strings.Contains(a.Why, c.why) {
				t.Errorf("%s (%s), want %s (%s)", a.Limit, a.Why, c.want, c.why)
			}
			var got []string
			void := a.Limit == LimitClient || c.r.Sent == 0
			for _, f := range a.Findings {
				got = append(got, f.Check+" "+string(f.Severity))
				void = void || f.Severity == tare.Void
				if f.Message == "" || strings.ContainsAny(f.Message+f.Advice, "\n") {
					t.Errorf("%+v", f)
				}
			}
			if s := strings.Join(got, ","); s != c.findings {
				t.Errorf("found %q, want %q", s, c.findings)
			}
			if a.Capacity == void {
				t.Errorf("capacity %v although void is %v", a.Capacity, void)
			}
		})
	}
}
