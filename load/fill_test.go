package load

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/tarebench/tare/internal/assert"
)

func TestFillWrites(t *testing.T) {
	c := counters{}
	r := Request{Method: "POST", Path: "/users/000000000?k=00", Body: []byte("n00000@x.........."), Fill: []Fill{
		{At: 7, Width: 9, Counter: "deleted", Step: true, Add: 300_000_000}, {At: 19, Width: 2, Counter: "created"},
		{Body: true, At: 1, Width: 5, Counter: "created", Step: true}, {Body: true, At: 8, Width: 5, Varint: true, Counter: "deleted", Add: 300_000_000},
	}}
	for _, p := range []Protocol{HTTP1, H2C, GRPC} {
		all, err := encodeRequests(Options{Target: Target{Addr: "a:1"}, Protocol: p, Requests: []Request{r}, PerConn: 5}, c)
		assert.NoError(t, "encode", err)
		q := &all[0]
		for i := range 5 {
			f := newFramer(p, nil)
			f.open()
			f.takeOutput()
			assert.NoError(t, "ask", f.startRequest(q, q.drawNumbers(nil), i == 4, false))
			sent := bytes.Clone(f.takeOutput())
			for _, want := range []string{fmt.Sprintf("/users/30000000%d?k=0%d", i, i), fmt.Sprintf("n0000%d@x", i)} {
				assert.Equal(t, fmt.Sprintf("%q has %q", sent, want), bytes.Contains(sent, []byte(want)), true)
			}
			at := bytes.Index(sent, []byte("@x")) + 2
			n, width := binary.Uvarint(sent[at:])
			assert.Equal(t, "varint", n, uint64(300_000_000+i))
			assert.Equal(t, "its bytes", width, 5)
			assert.Equal(t, "what is behind it", string(sent[at+5:]), ".....")
		}
		for name := range c {
			assert.Equal(t, name, c[name].Load(), 5)
			c[name].Store(0)
		}
		assert.Equal(t, "the request itself", bytes.Contains(q.wire, []byte("/users/000000000?k=00")), true)
	}
}

func TestFillsRefused(t *testing.T) {
	good := Fill{At: 1, Width: 2, Counter: "n"}
	for want, fills := range map[string][]Fill{
		"fill 0: no counter":            {{At: 1, Width: 1}},
		"fill 0: a varint in a path":    {{At: 1, Width: 1, Varint: true, Counter: "n"}},
		"0 bytes: 1 to 18":              {{At: 1, Counter: "n"}},
		"19 bytes: 1 to 18":             {{At: 1, Width: 19, Counter: "n"}},
		"10 bytes: 1 to 9":              {{Body: true, Width: 10, Varint: true, Counter: "n"}},
		"1 bytes at 0: there are 6":     {{Width: 1, Counter: "n"}},
		"2 bytes at 5: there are 6":     {{At: 5, Width: 2, Counter: "n"}},
		"2 bytes at -1: there are 4":    {{Body: true, At: -1, Width: 2, Counter: "n"}},
		"2 bytes at 3: there are 4":     {{Body: true, At: 3, Width: 2, Counter: "n"}},
		"fill 1: byte 2 is another one": {good, {At: 2, Width: 2, Counter: "m"}},
	} {
		for _, p := range []Protocol{HTTP1, GRPC} {
			_, err := Open(Options{Target: Target{Addr: "127.0.0.1:1"}, Protocol: p, Requests: []Request{{Method: "POST", Path: "/abcde", Body: []byte("body"), Fill: fills}}})
			assert.ErrorContains(t, want, err, want)
		}
	}
	for want, o := range map[string]Options{
		`protocol "h4": h2c, grpc or h3`: {Protocol: "h4", Requests: []Request{{Method: "POST"}}},
	} {
		o.Target.Addr = "127.0.0.1:1"
		_, err := Open(o)
		assert.ErrorContains(t, want, err, want)
	}
}

func TestNumbersWithoutRoom(t *testing.T) {
	for _, c := range []struct {
		width  int
		varint bool
		n      int64
		want   string // empty: it has none
	}{
		{2, false, 99, "99"}, {2, false, 100, ""}, {2, false, -1, ""}, {18, false, 999_999_999_999_999_999, "999999999999999999"}, {18, false, 1e18, ""},
		{1, true, 0, "\x00"}, {1, true, 127, "\x7f"}, {1, true, 128, ""}, {2, true, 127, ""}, {2, true, 128, "\x80\x01"}, {9, true, 1<<63 - 1, "\xff\xff\xff\xff\xff\xff\xff\xff\x7f"},
	} {
		b := make([]byte, c.width)
		ok := Fill{Varint: c.varint}.Write(b[:c.width], c.n)
		if ok != (c.want != "") || ok && string(b) != c.want {
			t.Errorf("%d in %d bytes, varint %v: %v %q", c.n, c.width, c.varint, ok, b)
		}
	}
}

// listing is a server that records the path and body of each request.
type listing struct {
	mu  sync.Mutex
	got []string
}

func (l *listing) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	b, _ := io.ReadAll(r.Body)
	l.mu.Lock()
	l.got = append(l.got, r.URL.Path+" "+string(b))
	l.mu.Unlock()
}

// take returns what was requested since the last call, sorted.
func (l *listing) take() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	got := l.got
	l.got = nil
	slices.Sort(got)
	return got
}

// All connections of a session share its counters: no number occurs twice, none is skipped, and
// Rewind starts them again.
func TestFillsAreShared(t *testing.T) {
	for _, p := range []Protocol{HTTP1, H2C} {
		l := &listing{}
		addr := serveStandard(t, l)
		s, err := Open(Options{Target: Target{Addr: addr}, Protocol: p, Connections: 7, Requests: []Request{
			{Method: "PUT", Path: "/0000", Body: []byte("at 000"), Fill: []Fill{{At: 1, Width: 4, Counter: "n", Step: true}, {Body: true, At: 3, Width: 3, Counter: "n"}}},
		}})
		assert.NoError(t, "open", err)
		for range 2 {
			r, err := s.Run(context.Background(), Leg{Ops: 200})
			assert.NoError(t, "run", err)
			assert.Equal(t, "errors", len(r.Errors), 0)
			got := l.take()
			for i, got := range got {
				assert.Equal(t, "request", got, fmt.Sprintf("/%04d at %03d", i, i))
			}
			some{200, 206}.check(t, "requests", int64(len(got)))
			s.Rewind()
		}
		s.Close()
	}
}

// A number that does not fit ends the phase with an error. After Rewind the session can be used
// again.
func TestCounterRunsOut(t *testing.T) {
	addr := serveStandard(t, &listing{})
	for p, leg := range map[Protocol]Leg{HTTP1: {Duration: time.Minute}, H2C: {Duration: time.Minute, Profile: Constant{PerSecond: 2000}}} {
		s, err := Open(Options{Target: Target{Addr: addr}, Protocol: p, Connections: 3, Requests: []Request{{Method: "GET", Path: "/00", Fill: []Fill{{At: 1, Width: 2, Counter: "n", Step: true}}}}})
		assert.NoError(t, "open", err)
		r, err := s.Run(context.Background(), leg)
		assert.ErrorContains(t, "run", err, `request 0: counter "n" has come to 10`)
		assert.ErrorContains(t, "run", err, "which does not take 2 bytes")
		adds(t, s.s, leg, r, true)
		some{90, 100}.check(t, "requests", s.Totals().Sent)
		s.Rewind()
		r, err = s.Run(context.Background(), Leg{Ops: 50})
		assert.NoError(t, "next leg", err)
		assert.Equal(t, string(p)+": first error", r.FirstError, "")
		s.Close()
	}
}
