package fleet

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tarebench/tare/load"
)

// loadOf is a load of a server by machines a, b and c, 3,000 requests a second.
func loadOf(t *testing.T, url string, rate string, over time.Duration, now map[string]func() time.Time) (*Hub, *LoadRun) {
	t.Helper()
	h := hub(t, HubOptions{})
	run := &LoadRun{Hub: h, Machines: []string{"a", "b", "c"}, Say: func(name, line string) { t.Log(name, line) }}
	for i, name := range run.Machines {
		piped(t, h, &Agent{Now: now[name]}, name)
		addr := strings.TrimPrefix(url, "http://")
		run.Orders = append(run.Orders, LoadOrder{
			Target: Target{Addr: addr, Host: addr}, Requests: []load.Request{{Method: "GET", Path: "/"}},
			Connections: 4, Timeout: 5 * time.Second, Warm: 200 * time.Millisecond, Duration: over, Rate: rate, Seed: 1, Index: i, Of: 3,
		})
	}
	return h, run
}

// bounded returns a context that ends before the package's time limit does, so that a
// load that never ends fails its test.
func bounded(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	t.Cleanup(cancel)
	return ctx
}

// TestLoadFromThree: the rates of three machines add up to what was asked, their
// histograms to one, and a clock that is off is found.
func TestLoadFromThree(t *testing.T) {
	var served atomic.Int64
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { served.Add(1) }))
	defer s.Close()
	off := func() time.Time { return time.Now().Add(200 * time.Millisecond) }
	_, run := loadOf(t, s.URL, "6000/s", 2*time.Second, map[string]func() time.Time{"b": off})
	var mu sync.Mutex
	seconds := map[string]int{}
	run.Tick = func(name string, _ load.Second) { mu.Lock(); seconds[name]++; mu.Unlock() }
	got, err := run.Run(bounded(t))
	if err != nil {
		t.Fatal(err)
	}
	var all []*load.Result
	var values int64
	for _, g := range got {
		if g.Error != nil {
			t.Fatalf("%s: %v", g.Name, g.Error)
		}
		all = append(all, g.Loaded.Result)
		values += g.Loaded.Result.Latency.Count()
		want := time.Duration(0)
		if g.Name == "b" {
			want = 200 * time.Millisecond
		}
		t.Logf("the clock of %s is %v ahead, found %v ± %v ahead", g.Name, want, g.Clock.Offset, g.Clock.Uncertain)
		if wrong := (g.Clock.Offset - want).Abs(); wrong > g.Clock.Uncertain {
			t.Errorf("the clock of %s is %v ahead, it was found %v ± %v ahead", g.Name, want, g.Clock.Offset, g.Clock.Uncertain)
		}
	}
	r := load.Merge(all)
	t.Logf("asked for %.0f requests a second; sent %.1f, %d late; p50, p99 and p99.9 of all: %v, %v, %v", r.Asked, float64(r.Sent)/r.Wall.Seconds(), r.Late,
		time.Duration(r.Latency.Quantile(0.5)), time.Duration(r.Latency.Quantile(0.99)), time.Duration(r.Latency.Quantile(0.999)))
	if r.Asked < 6000*0.995 || r.Asked > 6000*1.005 {
		t.Errorf("%g requests a second were asked for together, not 6000", r.Asked)
	}
	if r.Latency.Count() != values || r.Connections != 12 {
		t.Errorf("%d latencies of %d, %d connections", r.Latency.Count(), values, r.Connections)
	}
	if served.Load() < r.Requests {
		t.Errorf("%d answers of %d", r.Requests, served.Load())
	}
	mu.Lock()
	defer mu.Unlock()
	for _, name := range run.Machines {
		if seconds[name] == 0 {
			t.Errorf("%s told no second", name)
		}
	}
}

// TestStopSeenFromThree: requests that were due while a server stood still have the
// latencies that the schedule gives them, whoever was to send them.
func TestStopSeenFromThree(t *testing.T) {
	t.Parallel()
	const stop, rate = 500 * time.Millisecond, 600
	var standing sync.RWMutex
	var served atomic.Int64
	s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		if served.Add(1) == rate/2 { // after the warm-up, long before the end
			standing.Lock()
			time.AfterFunc(stop, standing.Unlock)
		}
		standing.RLock()
		defer standing.RUnlock()
	}))
	defer s.Close()
	_, run := loadOf(t, s.URL, "600/s", 3*time.Second, nil)
	got, err := run.Run(bounded(t))
	if err != nil {
		t.Fatal(err)
	}
	var all []*load.Result
	for _, g := range got {
		all = append(all, g.Loaded.Result)
	}
	r := load.Merge(all)
	// Of those due in the first half of the stop each waits for the other half or
	// more. A busy machine adds to them, and takes none away.
	if n, want := r.Latency.Above(int64(stop/2)), int64(rate*stop.Seconds()/2); n < want*9/10 {
		t.Errorf("%d requests took longer than %v; the schedule has %d", n, stop/2, want)
	}
	if r.Latency.Max() < int64(stop)*9/10 {
		t.Errorf("the longest took %v, and the server stood still for %v", time.Duration(r.Latency.Max()), stop)
	}
}

// TestLoadEndsEverywhere: interrupted, every machine ends within a second, and
// what there was until then comes back.
func TestLoadEndsEverywhere(t *testing.T) {
	t.Parallel()
	var served atomic.Int64
	s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { served.Add(1) }))
	defer s.Close()
	_, run := loadOf(t, s.URL, "300/s", time.Hour, nil)
	ctx, cancel := context.WithCancel(bounded(t))
	var mu sync.Mutex
	answered := map[string]bool{}
	run.Tick = func(name string, second load.Second) {
		mu.Lock()
		defer mu.Unlock()
		if second.Requests > 0 {
			answered[name] = true
		}
		if len(answered) == len(run.Machines) {
			cancel()
		}
	}
	got, err := run.Run(ctx)
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range got {
		if g.Loaded.Result == nil || g.Loaded.Result.Requests == 0 || g.Error == nil {
			t.Errorf("%s: %+v, %v", g.Name, g.Loaded.Result, g.Error)
		}
	}
	// The server may still read what was sent before the end.
	for end, n := time.Now().Add(time.Minute), int64(-1); n != served.Load(); time.Sleep(200 * time.Millisecond) {
		if n = served.Load(); time.Now().After(end) {
			t.Fatal("requests still come a minute after the end")
		}
	}
}

// A result of a load that cannot be is refused.
func TestForgedLoads(t *testing.T) {
	t.Parallel()
	o := smallLoad(t)
	text, err := json.Marshal(loadedOnce(t, o))
	if err != nil {
		t.Fatal(err)
	}
	for why, change := range map[string]func(*Loaded){
		"":             func(*Loaded) {},
		"no result":    func(l *Loaded) { l.Result = nil },
		"measured":     func(l *Loaded) { l.Result.Wall = time.Hour },
		"connections":  func(l *Loaded) { l.Result.Connections = 9 },
		"answers":      func(l *Loaded) { l.Result.Sent = 0 },
		"count":        func(l *Loaded) { l.Result.BytesIn = -1 },
		"histogram":    func(l *Loaded) { l.Result.Service = nil },
		"statuses":     func(l *Loaded) { l.Result.Statuses[200] = 1e9 },
		"figure":       func(l *Loaded) { l.Result.Asked = -1 },
		"processors":   func(l *Loaded) { l.Cores = -1 },
		"second":       func(l *Loaded) { l.Result.Timeline = []load.Second{{Requests: -1}} },
		"text is too ": func(l *Loaded) { l.Result.FirstError = strings.Repeat("x", 5000) },
	} {
		var l Loaded
		if err := json.Unmarshal(text, &l); err != nil {
			t.Fatal(err)
		}
		change(&l)
		err := checkLoaded(o, l)
		if why == "" && err != nil || why != "" && (err == nil || !strings.Contains(err.Error(), why)) {
			t.Errorf("%q: %v", why, err)
		}
	}
}

// Results and seconds that come at any time do not disturb a load that begins: the
// race detector sees what is not locked.
func TestLoadIsLocked(t *testing.T) {
	t.Parallel()
	s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer s.Close()
	h, run := loadOf(t, s.URL, "300/s", time.Hour, nil)
	run.Say, run.Tick = func(string, string) {}, func(string, load.Second) {}
	var early sync.WaitGroup
	stop := make(chan struct{})
	for i, name := range run.Machines {
		early.Go(func() {
			var l runListener
			for {
				if l.result != nil {
					l.tick(name, Ticked{Order: fmt.Sprintf("%s.%d.1", l.run, i+1)})
					_ = l.result(name, outcome{Order: fmt.Sprintf("%s.%d.1", l.run, i+1), Error: "it ends early"})
				} else {
					h.mu.Lock()
					if len(h.listeners) > 0 {
						l = h.listeners[0]
					}
					h.mu.Unlock()
				}
				select {
				case <-stop:
					return
				case <-time.After(time.Millisecond):
				}
			}
		})
	}
	got, err := run.Run(bounded(t))
	close(stop)
	early.Wait()
	if err != nil || len(got) != 3 {
		t.Errorf("%+v, %v", got, err)
	}
}

// A second of an order of another run, or of another machine's order, is not counted: an agent may
// still work on an order of the run before.
func TestSecondsOfOtherOrders(t *testing.T) {
	h := hub(t, HubOptions{})
	var got []string
	run := &LoadRun{Hub: h, Machines: []string{"a", "b"}, Orders: make([]LoadOrder, 2), Tick: func(name string, s load.Second) { got = append(got, fmt.Sprint(name, " ", s.Requests)) }}
	run.addShares("new")
	run.begun = time.Now().Add(-time.Hour)
	defer h.addListener("new", listener{tick: run.passSecond})()
	for i, c := range []struct{ name, order string }{{"a", "old.1.1"}, {"a", ""}, {"a", "new.2.1"}, {"a", "new.1.2"}, {"a", "new.1.1"}, {"b", "new.2.1"}, {"c", "new.1.1"}} {
		text, err := json.Marshal(Ticked{c.order, load.Second{At: time.Second, Requests: int64(i)}})
		if err != nil {
			t.Fatal(err)
		}
		h.passTick(c.name, text)
	}
	if want := []string{"a 4", "b 5"}; !slices.Equal(got, want) {
		t.Errorf("counted are the seconds %q, want %q", got, want)
	}
}
