package load

import (
	"context"
	"maps"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/tarebench/tare/internal/assert"
	"github.com/tarebench/tare/load/h2"
)

// ledger counts the responses of a server, by the number in the path.
type ledger struct {
	mu       sync.Mutex
	answered map[int]int
	left     int
}

// serve responds to each request, except those that are to be left unprocessed: leave is called
// with the number of the request on its connection, and reports whether to leave it.
func (l *ledger) serve(p *peer, leave func(p *peer, n int) bool) {
	p.say(says())
	d := h2.NewDecoder(h2.TableSize)
	for n := 1; ; n++ {
		f, ok := p.next()
		for ok && f.Type != h2.Headers {
			f, ok = p.next()
		}
		if !ok {
			return
		}
		number := -1
		if err := d.Decode(f.Payload, func(name, value []byte) error {
			if string(name) == ":path" {
				number, _ = strconv.Atoi(string(value[1:]))
			}
			return nil
		}); err != nil {
			return
		}
		p.stream = f.Stream
		l.mu.Lock()
		if leave(p, n) {
			l.left++
		} else {
			l.answered[number]++
			p.say(p.fine())
		}
		l.mu.Unlock()
	}
}

// A request that the server reports as not processed is sent again with the same numbers, and is
// counted as one request everywhere.
func TestLeftRequests(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for servers that are silent")
	}
	left := map[string]func(p *peer, n int) bool{
		"a connection has seven requests": func(p *peer, n int) bool {
			if n == 7 {
				p.say(string(h2.AppendGoAway(nil, p.stream, h2.NoError)))
			}
			return n > 7
		},
		"each eighth leaves with the connection": func(p *peer, n int) bool {
			if n == 8 {
				p.say(string(h2.AppendGoAway(nil, p.stream-2, h2.NoError)))
			}
			return n > 7
		},
		"each fifth is refused": func(p *peer, n int) bool {
			if n%5 == 0 {
				p.say(string(h2.AppendReset(nil, p.stream, h2.RefusedStream)))
			}
			return n%5 == 0
		},
	}
	for name, leave := range left {
		t.Run(name, func(t *testing.T) {
			for _, engine := range append(loops(t), Portable) {
				for _, leg := range []Leg{{Ops: 100}, {Duration: 300 * time.Millisecond, Profile: Constant{PerSecond: 400}}, {Ops: 30, Think: time.Millisecond}} {
					l := &ledger{answered: map[int]int{}}
					o := Options{
						Protocol: H2C, Engine: engine, Connections: 2, Timeout: 5 * time.Second,
						Target:   Target{Addr: hostile(t, func(p *peer) { l.serve(p, leave) })},
						Requests: []Request{{Method: "GET", Path: "/000000", Fill: []Fill{{At: 1, Width: 6, Counter: "n", Step: true}}}},
					}
					if engine != Portable {
						o.Streams = 4
					}
					s, err := Open(o)
					assert.NoError(t, "open", err)
					r, err := s.Run(context.Background(), leg)
					assert.NoError(t, "run", err)
					adds(t, s.s, leg, r, false)
					sent := s.Totals().Sent
					s.Close()
					assert.Equal(t, "first error", r.FirstError, "")
					assert.Equal(t, "sent and answered", r.Sent, r.Requests)
					l.mu.Lock()
					if name != "a connection has seven requests" && r.Resent == 0 {
						t.Errorf("nothing was sent again: %d were left", l.left)
					}
					want := map[int]int{}
					for n := range int(sent) {
						want[n] = 1
					}
					if !maps.Equal(l.answered, want) {
						t.Errorf("%d were sent, and answered were %v", sent, l.answered)
					}
					l.mu.Unlock()
				}
			}
		})
	}
}

// A request is lost if the server leaves it again and again, or if no server accepts it in time.
func TestLeftForEver(t *testing.T) {
	for _, engine := range append(loops(t), Portable) {
		var mu sync.Mutex
		asked := 0
		r := against(t, Options{Engine: engine}, Leg{Ops: 2}, func(p *peer) {
			for p.say(says()); p.asked(); {
				mu.Lock()
				asked++
				mu.Unlock()
				p.say(string(h2.AppendReset(nil, p.stream, h2.RefusedStream)))
			}
		})
		assert.Equal(t, "answers", r.Requests, 0)
		some{2, 3}.check(t, "class reset", r.Errors[ErrReset])
		assert.Equal(t, "first error", r.FirstError, "reset: the server reset the stream: REFUSED_STREAM")
		mu.Lock()
		some{2 * maxTries, 3 * maxTries}.check(t, "asked", int64(asked))
		mu.Unlock()

		r = against(t, Options{Engine: engine, Timeout: 300 * time.Millisecond}, Leg{Ops: 2}, func(p *peer) {
			p.say(says())
			for n := 0; p.asked(); n++ {
				if n == 0 {
					p.say(string(h2.AppendReset(nil, p.stream, h2.RefusedStream)))
				}
			}
		})
		assert.Equal(t, "answers", r.Requests, 0)
		some{2, 3}.check(t, "class timeout", r.Errors[ErrTimeout])
		if got := r.Latency; got.Min() < int64(300*time.Millisecond) {
			t.Errorf("a timeout entered at %v", time.Duration(got.Min()))
		}
	}
}
