package nethttp_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tarebench/tare/apps/ingest"
)

// soak is whether repetitions are as many as they are meant to be.
func soak() bool { return os.Getenv("TARE_SOAK") == "1" }

// ledger is what clients know of the events they sent.
type ledger struct {
	acks  atomic.Int64 // batches
	mu    sync.Mutex
	acked map[string]bool // by id, of all that were sent
}

func (l *ledger) note(ids []string, acked bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, id := range ids {
		l.acked[id] = acked
	}
}

func (l *ledger) count() (acked int) {
	for _, ok := range l.acked {
		if ok {
			acked++
		}
	}
	return acked
}

// feedAll feeds over n connections.
func (l *ledger) feedAll(s *service, n int, seed uint64) *sync.WaitGroup {
	var clients sync.WaitGroup
	for i := range n {
		random := rand.New(rand.NewPCG(seed, uint64(i)))
		clients.Go(func() { l.feed(s, fmt.Sprintf("a%d", i), random) })
	}
	return &clients
}

// feed sends batches of unique events over one connection, of all sizes, until the service is gone.
func (l *ledger) feed(s *service, name string, random *rand.Rand) {
	c := &http.Client{Transport: &http.Transport{}, Timeout: 30 * time.Second}
	defer c.CloseIdleConnections()
	for n := 0; ; n++ {
		var ids, records []string
		for k := range 1 + random.IntN(10) {
			id := fmt.Sprintf("%s-%d-%d", name, n, k)
			ids = append(ids, id)
			records = append(records, strings.Replace(record(id), `"u"`, `"`+strings.Repeat("u", random.IntN(4000))+`"`, 1))
		}
		body := "[" + strings.Join(records, ",") + "]"
		l.note(ids, false)
		r, err := s.send(c, "POST", "/", strings.NewReader(body), int64(len(body)))
		if err != nil {
			return
		}
		var receipt ingest.Receipt
		if err := json.Unmarshal([]byte(r.body), &receipt); err != nil || r.status != 200 || receipt.Accepted != len(ids) {
			s.t.Errorf("status %d: %s", r.status, r.body)
			return
		}
		l.note(ids, true)
		l.acks.Add(1)
	}
}

// check holds the files of a sink against what clients know.
func (l *ledger) check(t *testing.T, pattern string) {
	t.Helper()
	for _, wrong := range l.wrong(t, pattern) {
		t.Error(wrong)
	}
}

func (l *ledger) wrong(t *testing.T, pattern string) (wrong []string) {
	t.Helper()
	note := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) == 0 {
		t.Fatalf("%s: no files: %v", pattern, err)
	}
	kept := map[string]int{}
	for _, path := range files {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if len(text) > 0 && text[len(text)-1] != '\n' {
			note("%s ends in half a line", path)
		}
		for line := range bytes.Lines(text) {
			var r ingest.Record
			if err := json.Unmarshal(line, &r); err != nil || r.ID == "" || r.Metadata.Age == 0 {
				note("%s: a line that is no event: %v: %.80q", path, err, line)
			}
			kept[r.ID]++
		}
	}
	for id, acked := range l.acked {
		switch n := kept[id]; {
		case acked && n == 0:
			note("%s was acknowledged and is lost", id)
		case n > 1:
			note("%s is there %d times", id, n)
		}
		delete(kept, id)
	}
	for id := range kept {
		note("%s is there and was never sent", id)
	}
	return wrong
}

// TestKill: whatever moment the service is killed at, every event that was
// acknowledged is there once, and of the others none is there twice or in part.
func TestKill(t *testing.T) {
	kills := 10
	switch {
	case soak():
		kills = 100
	case testing.Short():
		kills = 4
	}
	for name, args := range map[string][]string{"written": nil, "stable": {"-fsync"}} {
		t.Run(name, func(t *testing.T) {
			acked, sent := 0, 0
			for i := range kills {
				if i%3 == 2 {
					args = append(args[:len(args):len(args)], "-rotate", "256KiB")
				}
				a, s := killOnce(t, uint64(i), args)
				acked, sent = acked+a, sent+s
				if t.Failed() {
					return
				}
			}
			if acked == 0 || acked == sent {
				t.Errorf("%d events were acknowledged of %d sent: nothing was under way when it was killed", acked, sent)
			}
			t.Logf("%d kills: %d events sent, %d acknowledged", kills, sent, acked)
		})
	}
}

func killOnce(t *testing.T, seed uint64, args []string) (acked, sent int) {
	t.Helper()
	l, pattern := killed(t, seed, nil, args)
	l.check(t, pattern)
	return l.count(), len(l.acked)
}

// TestKillFindsLosses: a service that acknowledges before it keeps is found out.
func TestKillFindsLosses(t *testing.T) {
	for seed := range uint64(20) {
		l, pattern := killed(t, seed, []string{envFault + "=hasty"}, nil)
		if wrong := l.wrong(t, pattern); strings.Contains(strings.Join(wrong, "\n"), "was acknowledged and is lost") {
			return
		}
	}
	t.Error("events are acknowledged before they are kept, and none is ever missed")
}

// killed is what clients know of a service that was killed, started again and
// ended, and where it has kept what.
func killed(t *testing.T, seed uint64, env, args []string) (l *ledger, pattern string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "events.ndjson")
	args = append([]string{"-app", "ingest", "-sink", "file:" + path}, args...)
	l = &ledger{acked: map[string]bool{}}
	s := startWith(t, env, args...)
	random := rand.New(rand.NewPCG(seed, 7))
	clients := l.feedAll(s, 4, random.Uint64())
	enough := 1 + random.Int64N(40)
	for begun := time.Now(); l.acks.Load() < enough && time.Since(begun) < 20*time.Second; {
		time.Sleep(time.Millisecond)
	}
	time.Sleep(time.Duration(random.IntN(5000)) * time.Microsecond)
	s.kill()
	clients.Wait()

	again := start(t, args...) // finds what is left
	for i := range 3 {
		id := fmt.Sprintf("b%d", i)
		if r := again.post(client(t), "["+record(id)+"]"); r.status != 200 {
			t.Errorf("after a restart: %d: %s", r.status, r.body)
		}
		l.note([]string{id}, true)
	}
	again.end()
	return l, path + "*"
}

// TestCut: a line that was left unfinished is cut off, and whoever starts the service is told.
func TestCut(t *testing.T) {
	path := filepath.Join(t.TempDir(), "events.ndjson")
	if err := os.WriteFile(path, []byte(record("a")+"\n"+record("b")[:40]), 0o600); err != nil {
		t.Fatal(err)
	}
	s := start(t, "-app", "ingest", "-sink", "file:"+path)
	if r := s.post(client(t), "["+record("c")+"]"); r.status != 200 {
		t.Errorf("%d: %s", r.status, r.body)
	}
	s.end()
	if !strings.Contains(s.words(), "40 bytes") || strings.Count(s.words(), "\n") != 3 {
		t.Errorf("it says %q", s.words())
	}
	l := ledger{acked: map[string]bool{"a": true, "c": true}}
	l.check(t, path)
	if s := start(t, "-app", "ingest"); !strings.Contains(s.words(), "thrown away") {
		t.Errorf("without a sink it says %q", s.words())
	}
}
