package sinktest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tarebench/tare/apps/ingest/spool"
	"github.com/tarebench/tare/cmd/tare/internal/sink"
	"github.com/tarebench/tare/internal/assert"
)

// Every sink must pass these tests. Each stores events in a spool and lets a service send them. It then
// compares the events at the destination.

// Subject is a sink under test, with its destination.
type Subject struct {
	Open    func(t testing.TB) sink.Sink
	Arrived func() []string // returns the events or rows of the destination in order, as JSON with an id

	Away   func()                              // stops the destination; may be nil
	Back   func()                              // starts it again
	Fail   func(fault func(request int) Fault) // makes the destination answer each request with a fault; nil if it cannot fail
	Refuse func(text string)                   // rejects events that contain text; may be nil

	Once      bool // the destination stores an event that is sent again only once
	Unordered bool // some events may be sent again and arrive later
}

// Run runs the tests of a sink, each with a new subject. Events must arrive in order, and none may be lost.
// Restarts, failing requests or an absent destination do not excuse.
func Run(t *testing.T, newSubject func(t *testing.T) Subject) {
	test := func(name string, run func(*testing.T, *testService)) {
		t.Run(name, func(t *testing.T) {
			if os.Getenv(envReal) == "" { // tests share a real destination, which some stop
				t.Parallel() // the tests mostly wait
			}
			run(t, newTestService(t, newSubject(t)))
		})
	}
	test("order", testOrder)
	test("restart", testRestart)
	test("shutdown", testShutdown)
	test("away", testAway)
	test("faults", testFaults)
	test("poison", testPoison)
}

// Parse returns the target of a URL of one of kinds.
func Parse(t testing.TB, url string, kinds ...sink.Kind) sink.Target {
	t.Helper()
	list, err := sink.Kinds(kinds).Parse(url)
	assert.NoError(t, url, err)
	return list[0]
}

// Open opens the sink of a URL of one of kinds.
func Open[S sink.Sink](t testing.TB, url string, kinds ...sink.Kind) S {
	t.Helper()
	opened, err := Parse(t, url, kinds...).Open(sink.Settings{Now: time.Now})
	assert.NoError(t, "open", err)
	return opened.Sink.(S)
}

const (
	sinkName    = "it"             // name of the sink under test
	batchEvents = 20               // number of events in a batch
	sendTimeout = 10 * time.Minute // time to send the complete spool
)

// testService is a spool with the service that sends its events.
type testService struct {
	t            *testing.T
	subject      Subject
	dir          string
	spool        *spool.Spool
	service      *sink.Service
	acknowledged []string // ids of events, in order
}

func newTestService(t *testing.T, s Subject) *testService {
	t.Helper()
	r := &testService{t: t, subject: s, dir: t.TempDir()}
	r.openSpool(spool.DefaultBytes)
	t.Cleanup(func() { _ = r.spool.Close() })
	return r
}

// openSpool opens the spool, perhaps again, with a bound in bytes.
func (r *testService) openSpool(bound int64) {
	r.t.Helper()
	if r.spool != nil {
		r.must(r.spool.Close())
	}
	var err error
	r.spool, _, err = spool.Open(r.dir, spool.Options{Bytes: bound, Now: time.Now})
	r.must(err)
}

func (r *testService) must(err error) {
	r.t.Helper()
	if err != nil {
		r.t.Fatal(err)
	}
}

// Line returns an event as the ingest service writes it.
func Line(id string) string {
	return fmt.Sprintf(`{"id":%q,"timestamp":"2026-11-02T15:04:05.123Z","metadata":{"user_id":"u-%s","screen_width":1920,"scroll_depth":0.5,"logged_in":true}}`, id, id)
}

// Traced returns an event of a request with a traceparent.
func Traced(id, trace string) string {
	return strings.Replace(Line(id), `,"metadata"`, `,"traceparent":"`+trace+`","metadata"`, 1)
}

// addEvents stores n events in pairs and records the acknowledged ones.
func (r *testService) addEvents(prefix string, n int) (err error) {
	for i := 0; i < n; i += 2 {
		a, b := fmt.Sprintf("%s-%d", prefix, i), fmt.Sprintf("%s-%d", prefix, i+1)
		if err = r.spool.Keep(context.Background(), []byte(Line(a)+"\n"+Line(b)+"\n"), 2); err != nil {
			return err
		}
		r.acknowledged = append(r.acknowledged, a, b)
	}
	return nil
}

func (r *testService) startService() {
	r.t.Helper()
	var err error
	r.service, err = sink.Start(sink.Config{
		Dir: r.dir, Dead: 1 << 20, Poll: time.Millisecond, Now: time.Now,
		Sinks:   []sink.Named{{Name: sinkName, Limits: sink.Limits{Events: batchEvents, Bytes: 1 << 20, Age: time.Millisecond}, Sink: r.subject.Open(r.t)}},
		Backoff: sink.Backoff{First: time.Millisecond, Last: 20 * time.Millisecond},
		Log:     slog.New(slog.NewTextHandler(io.Discard, nil)),
	})
	r.must(err)
}

// stopService stops the service within limit, and returns the number of unsent events.
func (r *testService) stopService(limit time.Duration) uint64 {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	unsent, err := r.service.Stop(ctx)
	r.must(err)
	return unsent
}

func eventIDs(t testing.TB, events []string) (list []string) {
	t.Helper()
	for _, event := range events {
		var e struct{ ID string }
		if err := json.Unmarshal([]byte(event), &e); err != nil || e.ID == "" {
			t.Fatalf("%q has no id: %v", event, err)
		}
		list = append(list, e.ID)
	}
	return list
}

// checkArrived requires that exactly the acknowledged events have arrived, in order. It returns the number of
// duplicates.
func (r *testService) checkArrived(maxDuplicates int) int {
	r.t.Helper()
	Check(r.t, r.acknowledged, eventIDs(r.t, r.subject.Arrived()), nil, r.subject.Unordered)
	duplicates := len(r.subject.Arrived()) - len(r.acknowledged)
	if r.subject.Once {
		maxDuplicates = 0
	}
	if duplicates > maxDuplicates {
		r.t.Errorf("%d duplicates, want at most %d", duplicates, maxDuplicates)
	}
	return duplicates
}

// Check requires that every acknowledged event has arrived, and others only if possible. Unless unordered,
// first arrivals must be in the order of acknowledged.
func Check(t testing.TB, acknowledged, arrived []string, possible map[string]bool, unordered bool) {
	t.Helper()
	first := map[string]int{}
	for i, id := range arrived {
		if _, seen := first[id]; !seen {
			first[id] = i
		}
	}
	last, missing := -1, 0
	isAcknowledged := map[string]bool{}
	for _, id := range acknowledged {
		isAcknowledged[id] = true
		index, ok := first[id]
		if !ok {
			missing++
			if missing <= 3 {
				t.Errorf("%s was acknowledged and has not arrived", id)
			}
			continue
		}
		if index < last && !unordered {
			t.Fatalf("%s arrived before one that was acknowledged earlier", id)
		}
		last = max(last, index)
	}
	if missing > 0 {
		t.Errorf("%d of %d have not arrived", missing, len(acknowledged))
	}
	for id := range first {
		if !isAcknowledged[id] && !possible[id] {
			t.Fatalf("%s arrived and was never sent", id)
		}
	}
}

func testOrder(_ *testing.T, r *testService) {
	r.startService()
	r.must(r.addEvents("a", 500))
	r.stopService(sendTimeout)
	r.checkArrived(0)
}

// testRestart stops the service several times, and checks that it resumes. Only the batch in flight may
// repeat.
func testRestart(t *testing.T, r *testService) {
	const restarts = 5
	for i := range restarts {
		r.startService()
		r.must(r.addEvents(fmt.Sprint("life", i), 200))
		r.stopService(time.Duration(i) * 3 * time.Millisecond) // increasingly long
		if i%2 == 1 {
			r.openSpool(spool.DefaultBytes)
		}
	}
	r.startService()
	r.stopService(sendTimeout)
	t.Logf("%d duplicates", r.checkArrived(restarts*batchEvents))
}

// testShutdown checks that unsent events stay in the spool.
func testShutdown(t *testing.T, r *testService) {
	if r.subject.Away == nil {
		t.Skip("the destination is always there")
	}
	r.subject.Away()
	r.startService()
	r.must(r.addEvents("a", 100))
	if unsent := r.stopService(50 * time.Millisecond); unsent != 100 {
		t.Errorf("%d are left", unsent)
	}
	r.subject.Back()
	r.startService()
	if unsent := r.stopService(sendTimeout); unsent != 0 {
		t.Errorf("%d are left", unsent)
	}
	r.checkArrived(batchEvents)
}

// testAway checks that the spool fills up while the destination is away, and then rejects events.
func testAway(t *testing.T, r *testService) {
	if r.subject.Away == nil {
		t.Skip("the destination is always there")
	}
	r.openSpool(spool.LeastBytes)
	r.startService()
	r.must(r.addEvents("before", 100))
	r.subject.Away()
	var err error
	for i := 0; err == nil; i++ {
		if err = r.addEvents(fmt.Sprint("away", i), 2); i > 10_000 {
			t.Fatal("it is never full")
		}
	}
	if !errors.Is(err, spool.ErrFull) {
		t.Fatal(err)
	}
	if size := r.spool.Status().Bytes; size > spool.LeastBytes {
		t.Errorf("%d bytes on disk", size)
	}
	r.subject.Back()
	for end := time.Now().Add(sendTimeout); r.addEvents("after", 2) != nil && time.Now().Before(end); {
		time.Sleep(time.Millisecond)
	}
	r.stopService(sendTimeout)
	r.checkArrived(batchEvents)
}

// testFaults checks for each fault that all events arrive if every third request has it.
func testFaults(t *testing.T, r *testService) {
	if r.subject.Fail == nil {
		t.Skip("the destination cannot be made to fail")
	}
	for _, fault := range Faults() {
		r.subject.Fail(func(request int) Fault {
			if request%3 == 1 {
				return fault
			}
			return None
		})
		r.startService()
		r.must(r.addEvents(fmt.Sprint("fault", fault), 200))
		r.stopService(sendTimeout)
	}
	t.Logf("%d duplicates", r.checkArrived(len(Faults())*200))
}

// testPoison checks that exactly the rejected events become dead letters.
func testPoison(t *testing.T, r *testService) {
	if r.subject.Refuse == nil {
		t.Skip("the destination rejects nothing")
	}
	r.subject.Refuse("poison")
	r.must(r.addEvents("a", 50))
	good := r.acknowledged
	r.must(r.addEvents("poison", 2))
	r.acknowledged = good
	r.must(r.addEvents("b", 50))
	r.startService()
	r.stopService(sendTimeout)
	r.checkArrived(0)
	text, err := os.ReadFile(filepath.Join(r.dir, sinkName+".dead.ndjson"))
	r.must(err)
	var reasons []string
	for line := range strings.Lines(string(text)) {
		var l sink.Letter
		r.must(json.Unmarshal([]byte(line), &l))
		reasons = append(reasons, l.Reason)
		if !strings.Contains(string(l.Event), `"poison-`) {
			t.Errorf("dead: %s", l.Event)
		}
	}
	if len(reasons) != 2 || reasons[0] == "" {
		t.Errorf("dead letters %q", reasons)
	}
	if st := r.spool.Status(); st.Cursors[0].Dead != 2 {
		t.Errorf("%d are counted as dead", st.Cursors[0].Dead)
	}
}
