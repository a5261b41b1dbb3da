package fleet

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/tarebench/tare/load"
)

// hostileMessages are how many messages each side gets.
func hostileMessages() int {
	switch {
	case os.Getenv("TARE_SOAK") == "1":
		return 1_000_000
	case testing.Short():
		return 4_000
	}
	return 20_000
}

// mostHeap is the most memory that hostile messages may take.
const mostHeap = 1 << 30

// watcher sees panics and memory.
type watcher struct {
	t     *testing.T
	mu    sync.Mutex
	bugs  map[string]int
	lines map[string]int
	heap  uint64
	sent  int
	count map[string]int
}

func newWatcher(t *testing.T) *watcher {
	return &watcher{t: t, bugs: map[string]int{}, lines: map[string]int{}, count: map[string]int{}}
}

func (w *watcher) log(line string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if strings.Contains(line, "a bug of tare") {
		w.bugs[line]++
	}
	for _, known := range []string{"gave the order up", "began: "} {
		if strings.Contains(line, known) {
			w.lines[known]++
		}
	}
}

// note counts a message that was sent, and one that a handler was seen to take.
func (w *watcher) note(handler string, sent int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.sent += sent
	w.count[handler]++
	if sent > 0 && w.sent%500 == 0 {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		w.heap = max(w.heap, m.HeapInuse)
	}
}

func (w *watcher) total() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.sent
}

// end reports what was seen; handlers are those that must have been reached.
func (w *watcher) end(handlers ...string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for line, n := range w.bugs {
		w.t.Errorf("%d times: %s", n, line)
	}
	if w.heap > mostHeap {
		w.t.Errorf("%d MB of memory", w.heap>>20)
	}
	for _, name := range handlers {
		if w.count[name] == 0 {
			w.t.Errorf("%s was never reached", name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(w.count)) {
		w.t.Logf("%9d %s", w.count[name], name)
	}
	w.t.Logf("%d messages, at most %d MB of heap, %v", w.sent, w.heap>>20, w.lines)
}

// question sends a message that must be answered.
func (w *watcher) question(nc *nats.Conn, handler, subject string, text []byte, sent int) []byte {
	w.t.Helper()
	m, err := nc.Request(subject, text, 20*time.Second)
	if err != nil {
		w.t.Fatalf("%s does not answer %.300q: %v", handler, text, err)
	}
	w.note(handler, sent)
	return m.Data
}

// loadedOnce is what a load of an order measured.
func loadedOnce(t *testing.T, o LoadOrder) Loaded {
	t.Helper()
	l, err := prepareLoad(o)
	if err != nil {
		t.Fatal(err)
	}
	defer l.session.Close()
	p, err := o.parseProfile()
	if err != nil {
		t.Fatal(err)
	}
	r, err := l.session.Run(t.Context(), load.Leg{Duration: o.Duration, Profile: p})
	if err != nil {
		t.Fatal(err)
	}
	return Loaded{r, 1}
}

// smallLoad is an order for a load of a server of the test's.
func smallLoad(t *testing.T) LoadOrder {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	t.Cleanup(s.Close)
	addr := strings.TrimPrefix(s.URL, "http://")
	return LoadOrder{Target: Target{Addr: addr, Host: addr}, Requests: []load.Request{{Method: "GET", Path: "/"}}, Connections: 2, Timeout: time.Second, Duration: 200 * time.Millisecond, Rate: "100/s", Seed: 1, Of: 1}
}

// fuzzedRun is a run that a hostile agent has an order of.
type fuzzedRun struct {
	*watcher
	c    changer
	h    *Hub
	nc   *nats.Conn
	dir  string
	file File
	held Content
	from subjects
}

// TestHostileAgent: no message of an agent ends its coordinator, whatever its fields hold,
// or takes more memory than there is.
func TestHostileAgent(t *testing.T) {
	t.Parallel()
	w := newWatcher(t)
	h := hub(t, HubOptions{Log: w.log})
	nc, err := nats.Connect("", nats.InProcessServer(h.server), nats.UserInfo("a", h.issuePassword("a")), nats.CustomInboxPrefix(inboxOf("a")))
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	path := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(path, bytes.Repeat([]byte("x"), maxPart+10), 0o600); err != nil {
		t.Fatal(err)
	}
	f := fuzzedRun{watcher: w, c: changer{rand.New(rand.NewPCG(1, 2)), t}, h: h, nc: nc, dir: t.TempDir(), from: subjects{h.options.Prefix, "a"}}
	if f.file, f.held, err = OpenFile("doc.json", path); err != nil {
		t.Fatal(err)
	}
	defer f.held.(io.Closer).Close()
	order := smallLoad(t)
	loaded := loadedOnce(t, order)
	for n := 0; w.total() < hostileMessages(); n++ {
		if n%4 == 3 {
			f.loadRun(n, order, loaded)
		} else {
			f.studyRun(n)
		}
	}
	w.end(fromHello, fromPermit, fromFile, fromTick, fromResult, "hello taken", "round given", "file sent", "second taken", "result of a study taken", "result of a load taken")
}

// hello sends what an agent says of itself.
func (f *fuzzedRun) hello() {
	said := Hello{Protocol: Protocol, Name: "a", Version: "v", OS: "linux", Arch: "amd64", CPUs: 2, Go: "go1", Load: 1, Order: "o", Doing: "study s"}
	_, before := f.h.currentOrder("a")
	_ = f.nc.Publish(f.from.fromAgent(fromHello), f.c.text(said))
	f.note(fromHello, 1)
	_ = f.nc.Flush()
	if _, after := f.h.currentOrder("a"); after != before {
		f.note("hello taken", 0)
	}
}

// parcel sends an outcome as parcels are sent. Either the outcome was changed before, or
// the parts are.
func (f *fuzzedRun) parcel(id string, text []byte, change bool) (r receipt) {
	of := max(1, (len(text)+maxPart-1)/maxPart)
	for n := range of {
		p := parcelPart{id, n, of, text[n*maxPart : min(len(text), (n+1)*maxPart)]}
		message, err := json.Marshal(p)
		if err != nil {
			f.t.Fatal(err)
		}
		if change {
			message = f.c.text(p)
		}
		if len(message) > maxMessage-1000 {
			return receipt{Refused: "it is too long to be sent"}
		}
		r = receipt{}
		_ = json.Unmarshal(f.question(f.nc, fromResult, f.from.fromAgent(fromResult), message, 1), &r)
	}
	return r
}

// result sends a result: one level of it is changed.
func (f *fuzzedRun) result(id, order string, document any) receipt {
	inner, err := json.Marshal(document)
	if err != nil {
		f.t.Fatal(err)
	}
	level := f.c.IntN(8)
	if level > 2 {
		inner = f.c.text(document)
	}
	out := outcome{Order: order, Result: inner}
	text, err := json.Marshal(out)
	if err != nil {
		f.t.Fatal(err)
	}
	if level == 2 {
		text = f.c.text(out, "error", "nothing", "result")
	}
	return f.parcel(id, text, level < 2)
}

// studyRun is one run of a study.
func (f *fuzzedRun) studyRun(n int) {
	run := &StudyRun{
		Hub: f.h, Dir: filepath.Join(f.dir, fmt.Sprint(n)), Machines: []string{"a"}, Share: 2, Say: func(string, string) {}, Contents: map[string]Content{f.file.Hash: f.held},
		Study: StudyOrder{Command: "run", ID: "s", Text: study, Files: []File{f.file}, Seed: 5},
	}
	if err := run.openJournal(); err != nil {
		f.t.Fatal(err)
	}
	defer os.RemoveAll(run.Dir)
	defer run.journal.Close()
	id := run.run + ".1.1"
	if err := run.record(event{What: "begin", Order: id, Machine: "a"}); err != nil {
		f.t.Fatal(err)
	}
	defer f.h.addListener(run.run, listener{permit: run.answerPermit, file: run.answerFile, result: run.acceptOutcome})()
	state := func() assignmentState { run.mu.Lock(); defer run.mu.Unlock(); return run.pool.findAssignment(id).state }
	ask := func(text []byte, sent int) {
		var p permitReply
		if _ = json.Unmarshal(f.question(f.nc, fromPermit, f.from.fromAgent(fromPermit), text, sent), &p); p.Round > 0 {
			f.note("round given", 0)
		}
	}
	for m := 0; m < 80 && state() != lost && state() != delivered; m++ {
		if m%20 == 0 { // so that there are some
			text, _ := json.Marshal(permitRequest{id, m / 20})
			ask(text, 0)
		}
		switch f.c.IntN(5) {
		case 0:
			f.hello()
		case 1:
			ask(f.c.text(permitRequest{id, m / 20}), 1)
		case 2:
			var got fileReply
			if _ = json.Unmarshal(f.question(f.nc, fromFile, f.from.fromAgent(fromFile), f.c.text(fileRequest{id, f.file.Hash, 1}), 1), &got); len(got.Data) > 0 {
				f.note("file sent", 0)
			}
		case 3:
			_ = f.nc.Publish(f.from.fromAgent(fromTick), f.c.text(Ticked{Order: id}))
			f.note(fromTick, 1)
		case 4:
			run.mu.Lock()
			rounds := len(run.pool.findAssignment(id).rounds)
			run.mu.Unlock()
			if r := f.result(fmt.Sprint(n, ".", m), id, result(run.Study, rounds)); r.Refused == "" && state() == delivered {
				f.note("result of a study taken", 0)
			}
		}
	}
}

// loadRun is one run of a load.
func (f *fuzzedRun) loadRun(n int, order LoadOrder, loaded Loaded) {
	var ticks atomic.Int64
	run := &LoadRun{Hub: f.h, Machines: []string{"a"}, Orders: []LoadOrder{order}, Say: func(string, string) {}, Tick: func(string, load.Second) { ticks.Add(1) }}
	runID := fmt.Sprintf("l%d", n)
	run.addShares(runID)
	run.begun = time.Now().Add(-time.Hour)
	id := runID + ".1.1"
	defer f.h.addListener(runID, listener{tick: run.passSecond, result: run.recordResult})()
	over := func() bool { run.mu.Lock(); defer run.mu.Unlock(); return run.shares[0].isOver }
	for m := 0; m < 40 && !over(); m++ {
		before := ticks.Load()
		_ = f.nc.Publish(f.from.fromAgent(fromTick), f.c.text(Ticked{id, load.Second{At: time.Duration(m) * time.Second, Requests: 5}}))
		f.note(fromTick, 1)
		if r := f.result(fmt.Sprint(n, "/", m), id, loaded); r.Refused == "" && over() {
			f.note("result of a load taken", 0)
		}
		if ticks.Load() > before {
			f.note("second taken", 0)
		}
	}
}

// TestHostileCoordinator: no message of a coordinator ends an agent, whatever its fields
// hold, or takes more memory than there is.
func TestHostileCoordinator(t *testing.T) {
	t.Parallel()
	w := newWatcher(t)
	c := newCluster(t)
	nc, err := nats.Connect(c.url())
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	a := &Agent{Prefix: DefaultPrefix, Hello: Hello{Name: "a"}, Log: w.log, Limits: Limits{Rate: 1e4, Duration: time.Hour}, times: protocolTimes{
		helloInterval: 5 * time.Millisecond, lostAfter: time.Second, abandonAfter: 300 * time.Millisecond, replyTimeout: 100 * time.Millisecond, retryDelay: time.Millisecond, rejoinDelay: 20 * time.Millisecond, stopTimeout: time.Second,
	}}
	a.Study = func(ctx context.Context, o StudyOrder, task Task) ([]byte, error) {
		for _, f := range o.Files {
			if err := task.Fetch(ctx, f, io.Discard); err != nil {
				return nil, err
			}
		}
		for done := range 3 {
			if more, err := task.Permit(ctx, done); err != nil || !more {
				return []byte("{}"), err
			}
		}
		return []byte("{}"), nil
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { defer close(ended); _ = a.ServeJoined(ctx, Join{URL: c.url()}) }()
	defer func() { stop(); <-ended }()
	of := subjects{DefaultPrefix, "a"}
	hellos := make(chan struct{}, 1)
	answers := changer{rand.New(rand.NewPCG(3, 4)), t}
	var mu sync.Mutex // each subscription has a goroutine
	for subject, answer := range map[string]func(m *nats.Msg) []byte{
		fromPermit: func(*nats.Msg) []byte { return answers.text(permitReply{Round: 1}, "wait", "end", "gone") },
		fromFile:   func(*nats.Msg) []byte { return answers.text(fileReply{Data: []byte("0123456789")}, "refused") },
		fromResult: func(*nats.Msg) []byte { return answers.text(receipt{Refused: "no"}, "busy") },
	} {
		_, err := nc.Subscribe(of.fromAgent(subject), func(m *nats.Msg) {
			mu.Lock()
			text := answer(m)
			mu.Unlock()
			_ = m.Respond(text)
			w.note("answers to "+subject, 1)
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if _, err := nc.Subscribe(of.fromAgent(fromHello), func(*nats.Msg) {
		w.note("hello heard", 0)
		select {
		case hellos <- struct{}{}:
		default:
		}
	}); err != nil {
		t.Fatal(err)
	}
	<-hellos
	change := changer{rand.New(rand.NewPCG(5, 6)), t}
	file := File{"doc.json", strings.Repeat("0", 64), 10}
	small := smallLoad(t)
	current := func() string { a.mu.Lock(); defer a.mu.Unlock(); return a.order }
	for n := 0; w.total() < hostileMessages(); n++ {
		o := Order{Protocol: Protocol, ID: fmt.Sprint("o", n, ".1.1"), Study: &StudyOrder{
			Command: "json", ID: "s", Names: []string{"doc.json"}, Flags: []string{"--only=sonic*", "--op=any"}, Files: []File{file}, Most: 3, Share: 1, Seed: 5, Kind: "codec", Contenders: map[string]string{"x": "y"},
		}}
		extra := []string{"load", "study"}
		switch n % 4 {
		case 1:
			o.Study.Command, o.Study.Text, o.Study.Names, o.Study.Files, o.Study.Flags = "run", study, nil, nil, []string{"--procs=2", "--env=GOGC=50"}
		case 2:
			o.Study = nil
			l := small
			o.Load = &l
		case 3:
			o.Study.Repo, o.Study.Packs = packed(), []File{{"pack", strings.Repeat("1", 64), 100}}
		}
		text := change.text(o, extra...)
		if n%5 == 0 { // and whole: the answers to it are changed
			text, _ = json.Marshal(o)
		}
		p := parcelPart{fmt.Sprint("p", n), 0, 1, text}
		message, _ := json.Marshal(p)
		if n%7 == 0 {
			message = change.text(p)
		}
		if len(message) > maxMessage-1000 {
			continue
		}
		w.question(nc, toOrder, of.toAgent(toOrder), message, 1)
		for range 4 {
			id := current()
			switch change.IntN(4) {
			case 0:
				w.question(nc, toStart, of.toAgent(toStart), change.text(startRequest{id, time.Now().UnixNano()}), 1)
			case 1:
				_ = nc.Publish(of.toAgent(toCancel), change.text(startRequest{Order: id}, "at_unix_ns"))
				w.note(toCancel, 1)
			case 2:
				w.question(nc, toClock, of.toAgent(toClock), change.text(startRequest{Order: id}), 1)
			case 3:
				_ = nc.Publish(DefaultPrefix+"."+subjectWho, change.text(startRequest{Order: id}))
				w.note(subjectWho, 1)
			}
		}
		for began := time.Now(); current() != ""; time.Sleep(time.Millisecond) {
			cancel, _ := json.Marshal(startRequest{Order: current()})
			_ = nc.Publish(of.toAgent(toCancel), cancel)
			if time.Since(began) > time.Minute {
				t.Fatalf("the order does not end: %s", text)
			}
		}
	}
	w.mu.Lock()
	for line, n := range w.lines {
		w.count[line] = n
	}
	w.mu.Unlock()
	w.end(toOrder, toStart, toCancel, toClock, subjectWho, "hello heard", "answers to "+fromPermit, "answers to "+fromFile, "answers to "+fromResult, "began: ", "gave the order up")
}
