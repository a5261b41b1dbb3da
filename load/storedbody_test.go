package load

import (
	"bytes"
	"sync/atomic"
	"testing"

	"github.com/tarebench/tare/internal/assert"
	"github.com/tarebench/tare/load/h2"
)

// Bodies that are stored for Verify are bounded, for one response and for all of them, and are
// released by the next request.
func TestKeptIsBounded(t *testing.T) {
	var room atomic.Int64
	piece := bytes.Repeat([]byte("x"), 1<<20)
	for name, framers := range map[string][2]framer{
		"HTTP/1.1": {newFramer(HTTP1, &room), newFramer(HTTP1, &room)},
		"HTTP/2":   {newFramer(H2C, &room), newFramer(H2C, &room)},
	} {
		room.Store(3 << 20)
		var takes []func()
		for _, f := range framers {
			f.open()
			switch f := f.(type) {
			case *http1:
				f.reset(false, true)
				takes = append(takes, func() { f.takeBody(piece) })
			case *http2:
				c := &f.calls[0]
				c.inFlight, c.hasHead, c.response.storeBody, c.header.status = true, true, true, 200
				c.room, f.roomConn = 16<<20, 16<<20
				takes = append(takes, func() {
					if err := f.handleData(c, h2.Frame{Type: h2.Data, Payload: piece}); err != nil {
						t.Fatal(err)
					}
				})
			}
		}
		takes[0]()
		takes[1]()
		takes[0]()
		assert.Equal(t, name+": room left", room.Load(), 0)
		takes[1]()
		assert.Equal(t, name+": of the one that fits", len(framers[0].currentResponse().stored), 2<<20)
		assert.Equal(t, name+": the one that does not is kept", framers[1].currentResponse().storeBody, false)
		assert.Equal(t, name+": room left", room.Load(), 1<<20)
	}

	k := storedBody{}
	for range maxBody >> 20 {
		if !k.appendPart(piece) {
			t.Fatal("it fits")
		}
	}
	assert.Equal(t, "one more", k.appendPart(piece), false)
	assert.Equal(t, "memory of a long body", cap(k.body), 0)
}
