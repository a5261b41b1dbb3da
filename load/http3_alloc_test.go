package load

import (
	"context"
	"crypto/tls"
	"io"
	"runtime"
	"testing"

	"github.com/tarebench/tare/internal/assert"
	"github.com/tarebench/tare/load/h3"
)

// instantCarrier answers each request at once, without a connection.
type instantCarrier struct {
	answer []byte
	rest   []byte // of the answer
}

func (c *instantCarrier) NewStream() CarrierStream       { return &instantCarrier{answer: c.answer} }
func (c *instantCarrier) Traffic() (in, out int64)       { return 0, 0 }
func (c *instantCarrier) Over() bool                     { return false }
func (c *instantCarrier) Close()                         {}
func (c *instantCarrier) OpenWait(context.Context) error { return nil }
func (c *instantCarrier) Send([]byte) error              { return nil }
func (c *instantCarrier) Cancel(h3.Code)                 {}

func (c *instantCarrier) Open() (bool, error) {
	c.rest = c.answer
	return true, nil
}

func (c *instantCarrier) Read(b []byte) (int, error) {
	if len(c.rest) == 0 {
		return 0, io.EOF
	}
	n := copy(b, c.rest)
	c.rest = c.rest[n:]
	return n, nil
}

// A request of HTTP/3 allocates nothing in this package. The QUIC transport allocates for each
// stream.
func TestRequestsOfHTTP3AllocateNothing(t *testing.T) {
	if raced {
		t.Skip("the race detector allocates")
	}
	answer := append(section(":status", "200", "content-type", "text/plain", "x-id", "a-value"), dataFrame(string(make([]byte, 10_000)))...)
	s, err := Open(Options{
		Target: Target{Addr: "127.0.0.1:1", TLS: &tls.Config{MinVersion: tls.VersionTLS13}}, Protocol: HTTP3, Connections: 2, Streams: 3,
		Requests: []Request{{Method: "GET", Path: "/0", Fill: []Fill{{At: 1, Width: 1, Counter: "n"}}}},
		Carry: func(context.Context, string, *tls.Config) (Carrier, int64, bool, error) {
			return &instantCarrier{answer: answer}, 1, false, nil
		},
	})
	assert.NoError(t, "open", err)
	defer s.Close()
	const ops = 20_000
	var before, after runtime.MemStats
	for _, n := range []int64{100, ops} { // the first opens connections and makes room
		runtime.ReadMemStats(&before)
		r, err := s.Run(t.Context(), Leg{Ops: n})
		runtime.ReadMemStats(&after)
		assert.NoError(t, "run", err)
		assert.Equal(t, "answers", r.Requests, n)
		assert.Equal(t, "bytes of bodies", r.BodyIn, n*10_000)
	}
	if n := after.Mallocs - before.Mallocs; n > ops/10 {
		t.Errorf("%d allocations of %d requests", n, ops)
	}
}
