package services

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// load is senders who send batches of ten events at a rate, and what they know.
type load struct {
	t    *testing.T
	stop chan struct{}
	all  sync.WaitGroup

	mu    sync.Mutex
	acked []string
	took  []time.Duration // that acknowledged batches took
	tried map[string]bool

	accepted, full atomic.Int64 // batches
}

// senders send to a service until they are ended, so many requests a second at
// most, all together.
func senders(s *service, rate int) *load {
	const connections = 16
	l := &load{t: s.t, stop: make(chan struct{}), tried: map[string]bool{}}
	life := time.Now().UnixNano()
	every := time.Second * connections / time.Duration(rate)
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: connections}, Timeout: time.Minute}
	for i := range connections {
		l.all.Go(func() {
			next := time.Now()
			for n := 0; ; n++ {
				select {
				case <-l.stop:
					return
				case <-time.After(time.Until(next)):
				}
				if next = next.Add(every); time.Until(next) < -time.Second {
					next = time.Now() // what was missed is not caught up with
				}
				l.send(client, s.addr, fmt.Sprintf("%d-%d-%d", life, i, n))
			}
		})
	}
	return l
}

func (l *load) send(client *http.Client, addr, name string) {
	var ids, events []string
	for k := range 10 {
		id := fmt.Sprintf("%s-%d", name, k)
		ids, events = append(ids, id), append(events, event(id, ""))
	}
	l.mu.Lock()
	for _, id := range ids {
		l.tried[id] = true
	}
	l.mu.Unlock()
	began := time.Now()
	r, err := client.Post("http://"+addr+"/", "application/json", strings.NewReader("["+strings.Join(events, ",")+"]"))
	if err != nil {
		return // nothing is known
	}
	body, _ := io.ReadAll(r.Body)
	_ = r.Body.Close()
	switch {
	case r.StatusCode == http.StatusOK:
		l.mu.Lock()
		l.acked, l.took = append(l.acked, ids...), append(l.took, time.Since(began))
		l.mu.Unlock()
		l.accepted.Add(1)
	case r.StatusCode == http.StatusServiceUnavailable && r.Header.Get("Retry-After") != "":
		l.full.Add(1)
	default:
		l.t.Errorf("%s: %s", r.Status, body)
	}
}

// end ends the senders.
func (l *load) end() {
	close(l.stop)
	l.all.Wait()
}

// check wants all that was acknowledged among what arrived, and nothing that
// was never sent. It returns how many are there twice.
func (l *load) check(arrived []string) (duplicates int) {
	l.t.Helper()
	there := map[string]bool{}
	for _, text := range arrived {
		var e struct{ ID string }
		must(l.t, json.Unmarshal([]byte(text), &e))
		if there[e.ID] {
			duplicates++
		}
		if there[e.ID] = true; !l.tried[e.ID] {
			l.t.Fatalf("%s arrived, and was never sent", e.ID)
		}
	}
	missing := 0
	for _, id := range l.acked {
		if !there[id] {
			missing++
		}
	}
	if missing > 0 || len(l.acked) == 0 {
		l.t.Errorf("%d of %d events that were acknowledged have not arrived", missing, len(l.acked))
	}
	return duplicates
}
