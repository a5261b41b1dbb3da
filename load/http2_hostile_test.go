package load

import (
	"bufio"
	"context"
	"io"
	"net"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tarebench/tare/internal/assert"
	"github.com/tarebench/tare/load/h2"
)

// peer is the server's side of one connection, which a test controls.
type peer struct {
	net.Conn
	r      *bufio.Reader
	stream uint32 // of the request that was read last
}

func (p *peer) say(frames ...string) {
	_, _ = io.WriteString(p, strings.Join(frames, ""))
}

// next reads one frame. It returns false at the end of the connection.
func (p *peer) next() (h2.Frame, bool) {
	head := make([]byte, h2.HeaderLen)
	if _, err := io.ReadFull(p.r, head); err != nil {
		return h2.Frame{}, false
	}
	payload := make([]byte, int(head[0])<<16|int(head[1])<<8|int(head[2]))
	if _, err := io.ReadFull(p.r, payload); err != nil {
		return h2.Frame{}, false
	}
	f, _, _, err := new(h2.Reader).Next(append(head, payload...))
	return f, err == nil
}

// until reads up to a frame with this type and flag. It returns false if there is none.
func (p *peer) until(t h2.Type, flag uint8) bool {
	for {
		f, ok := p.next()
		if ok && f.Type == h2.Headers {
			p.stream = f.Stream
		}
		if !ok || f.Type == t && f.Flags&flag == flag {
			return ok
		}
	}
}

// asked reads up to the next request without a body.
func (p *peer) asked() bool { return p.until(h2.Headers, h2.EndStream) }

// of returns a frame on the stream of the request.
func (p *peer) of(kind h2.Type, flags uint8, payload string) string {
	return rawFrame(kind, flags, p.stream, payload)
}

// fine returns a valid response.
func (p *peer) fine() string {
	return p.of(h2.Headers, h2.EndHeaders, block(ok2)) + p.of(h2.Data, h2.EndStream, "fine")
}

// hostile listens, and calls treat for each connection after its preface has arrived.
func hostile(t *testing.T, treat func(p *peer)) (addr string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	assert.NoError(t, "listen", err)
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			wg.Go(func() {
				defer c.Close()
				_ = c.SetDeadline(time.Now().Add(10 * time.Second))
				p := &peer{Conn: c, r: bufio.NewReader(c)}
				if _, err := p.r.Discard(len(h2.Preface)); err == nil {
					treat(p)
				}
			})
		}
	})
	t.Cleanup(func() {
		l.Close()
		wg.Wait()
	})
	return l.Addr().String()
}

// against runs a phase on two connections to a server that treat controls.
func against(t *testing.T, o Options, leg Leg, treat func(p *peer)) *Result {
	t.Helper()
	o.Target, o.Protocol, o.Connections = Target{Addr: hostile(t, treat)}, H2C, 2
	if o.Requests == nil {
		o.Requests = []Request{{Method: "GET"}}
	}
	s, err := Open(o)
	assert.NoError(t, "open", err)
	defer s.Close()
	r, err := s.Run(context.Background(), leg)
	assert.NoError(t, "run", err)
	adds(t, s.s, leg, r, false)
	return r
}

func TestHostileHTTP2(t *testing.T) {
	const ops = 12
	ping := rawFrame(h2.Ping, 0, 0, "12345678")
	for name, c := range map[string]struct {
		treat  func(p *peer)
		class  Class  // of all requests; empty: all are answered
		says   string // of the first error
		opened some
	}{
		"goes away in the middle of a stream": {treat: func(p *peer) {
			for p.say(says()); p.asked(); {
				p.say(p.of(h2.Headers, h2.EndHeaders, block(ok2)), string(h2.AppendGoAway(nil, p.stream, h2.NoError)), p.of(h2.Data, h2.EndStream, "x"))
			}
		}, opened: some{ops, -1}},
		"goes away between streams": {treat: func(p *peer) {
			for p.say(says()); p.asked(); {
				p.say(p.fine(), string(h2.AppendGoAway(nil, p.stream, h2.NoError)))
			}
		}, opened: some{ops, -1}},
		"goes away without the request": {treat: func(p *peer) {
			for p.say(says()); p.asked(); {
				p.say(string(h2.AppendGoAway(nil, p.stream-1, 2)))
			}
		}, class: ErrReset, says: "the server went away and left the request: INTERNAL_ERROR", opened: some{ops, -1}},
		"goes away and closes in the middle": {treat: func(p *peer) {
			p.say(says())
			p.asked()
			p.say(p.of(h2.Headers, h2.EndHeaders, block(ok2)), string(h2.AppendGoAway(nil, p.stream, h2.NoError)))
		}, class: ErrReset, opened: some{ops, -1}},
		"resets every stream": {treat: func(p *peer) {
			for p.say(says()); p.asked(); {
				p.say(string(h2.AppendReset(nil, p.stream, h2.RefusedStream)))
			}
		}, class: ErrReset, says: "REFUSED_STREAM", opened: some{2, 2}},
		"waits for replies": {treat: func(p *peer) {
			for p.say(says()); p.asked(); {
				p.say(p.of(h2.Headers, h2.EndHeaders, block(ok2)), ping)
				if !p.until(h2.Ping, h2.Ack) {
					return
				}
				p.say(p.of(h2.Data, h2.EndStream, "x"), says())
				if !p.until(h2.Settings, h2.Ack) {
					return
				}
			}
		}, opened: some{2, 2}},
		"continues for ever": {treat: func(p *peer) {
			p.say(says())
			for p.asked(); ; {
				head := p.of(h2.Headers, 0, block(ok2))
				if _, err := io.WriteString(p, head+strings.Repeat(p.of(h2.Continuation, 0, ""), 1000)); err != nil {
					return
				}
				for {
					if _, err := io.WriteString(p, strings.Repeat(p.of(h2.Continuation, 0, ""), 1000)); err != nil {
						return
					}
				}
			}
		}, class: ErrFraming, says: "too long", opened: some{ops, -1}},
		"a huge head": {treat: func(p *peer) {
			p.say(says())
			p.asked()
			p.say(p.of(h2.Headers, 0, block(ok2)), strings.Repeat(p.of(h2.Continuation, 0, block("a: "+strings.Repeat("x", 10000))), 30))
			p.until(h2.Data, 0)
		}, class: ErrFraming, says: "too long", opened: some{ops, -1}},
		"frames that nobody knows, without end": {treat: func(p *peer) {
			for p.say(says()); p.asked(); {
				endless(p)
			}
		}, class: ErrFraming, says: "frames without end that belong to no answer", opened: some{ops, -1}},
		"a window that overflows": {treat: func(p *peer) {
			p.say(says())
			p.asked()
			p.say(string(h2.AppendWindowUpdate(nil, 0, h2.MaxWindow)))
			p.until(h2.Data, 0)
		}, class: ErrFraming, says: "a window larger than can be", opened: some{ops, -1}},
		"a body for another stream": {treat: func(p *peer) {
			p.say(says())
			p.asked()
			p.stream += 2
			p.say(p.fine())
			p.until(h2.Data, 0)
		}, class: ErrFraming, says: "was not opened", opened: some{ops, -1}},
	} {
		t.Run(name, func(t *testing.T) {
			r := against(t, Options{}, Leg{Ops: ops}, c.treat)
			if c.class == "" {
				assert.Equal(t, "first error", r.FirstError, "")
				assert.Equal(t, "requests", r.Requests, ops)
			} else {
				assert.Equal(t, "requests", r.Requests, 0)
				some{ops, ops + 1}.check(t, string(c.class), r.Errors[c.class])
				assert.Equal(t, "classes", len(r.Errors), 1)
				assert.Equal(t, r.FirstError+" has "+c.says, strings.Contains(r.FirstError, c.says), true)
			}
			c.opened.check(t, "opened", r.Opened)
		})
	}
}

// A server that sends only frames that require replies does not delay a request beyond its timeout.
func TestPingFlood(t *testing.T) {
	pings := strings.Repeat(rawFrame(h2.Ping, 0, 0, "12345678"), 500)
	r := against(t, Options{Timeout: 200 * time.Millisecond}, Leg{Ops: 2}, func(p *peer) {
		go func() { _, _ = io.Copy(io.Discard, p.r) }()
		for p.say(says()); ; {
			if _, err := io.WriteString(p, pings); err != nil {
				return
			}
		}
	})
	assert.Equal(t, "requests", r.Requests, 0)
	if r.Errors[ErrTimeout]+r.Errors[ErrFraming] == 0 {
		t.Errorf("%v", r.Errors)
	}
}

// endless sends frames of an unknown type until the connection breaks.
func endless(p *peer) {
	noise := strings.Repeat(rawFrame(0x42, 0, 0, strings.Repeat("x", 1000)), 100)
	for {
		if _, err := io.WriteString(p, noise); err != nil {
			return
		}
	}
}

// Endless unknown frames delay neither the end of requests nor the end of the phase, with or
// without a request in flight.
func TestUnknownFrames(t *testing.T) {
	for _, engine := range append(loops(t), Portable) {
		for name, leg := range map[string]Leg{
			"busy": {Ops: 4},
			"idle": {Duration: 300 * time.Millisecond, Think: 100 * time.Millisecond},
		} {
			t.Run(string(engine)+" "+name, func(t *testing.T) {
				ended := make(chan *Result, 1)
				go func() {
					ended <- against(t, Options{Engine: engine, Timeout: 10 * time.Second}, leg, func(p *peer) {
						for p.say(says()); p.asked(); {
							if name == "idle" {
								p.say(p.fine())
							}
							endless(p)
						}
					})
				}()
				select {
				case r := <-ended:
					if name == "busy" {
						assert.Equal(t, "class framing", r.Errors[ErrFraming] >= 4, true)
					} else if r.Requests == 0 {
						t.Error("no answer")
					}
				case <-time.After(30 * time.Second):
					t.Fatal("it did not end")
				}
			})
		}
	}
}

// floods returns functions whose frames a server may send endlessly, on a stream or on the
// connection.
func floods() map[string]func(p *peer) string {
	return map[string]func(p *peer) string{
		"PRIORITY":      func(p *peer) string { return p.of(h2.Priority, 0, "\x00\x00\x00\x00\x07") },
		"SETTINGS":      func(*peer) string { return string(h2.AppendSettings(nil)) },
		"WINDOW_UPDATE": func(p *peer) string { return string(h2.AppendWindowUpdate(nil, p.stream, 1)) },
		"empty DATA":    func(p *peer) string { return p.of(h2.Data, 0, "") },
		"RST_STREAM":    func(p *peer) string { return string(h2.AppendReset(nil, p.stream, 8)) },
		"GOAWAY":        func(*peer) string { return string(h2.AppendGoAway(nil, h2.MaxWindow, h2.NoError)) },
		"unknown types": func(*peer) string { return rawFrame(99, 0, 0, "what is this") },
		"1xx":           func(p *peer) string { return p.of(h2.Headers, h2.EndHeaders, block(":status: 103")) },
		"garbage":       func(*peer) string { return "HTTP/1.1 200 OK\r\n\r\n" },
	}
}

// During an endless flood of frames no request takes much longer than its timeout, every request is
// counted in one class, and memory does not grow.
func TestFloods(t *testing.T) {
	if testing.Short() {
		t.Skip("many connections")
	}
	for name, frame := range floods() {
		for _, engine := range append(loops(t), Portable) {
			t.Run(name+" "+string(engine), func(t *testing.T) {
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				o := Options{Timeout: 200 * time.Millisecond, Engine: engine}
				r := against(t, o, Leg{Ops: 4}, func(p *peer) {
					p.say(says())
					if !p.asked() {
						return
					}
					text := p.of(h2.Headers, h2.EndHeaders, block(ok2))
					if strings.HasPrefix(name, "1xx") {
						text = ""
					}
					many := strings.Repeat(frame(p), 500)
					go func() { _, _ = io.Copy(io.Discard, p.r) }()
					for _, err := io.WriteString(p, text); err == nil; {
						_, err = io.WriteString(p, many)
					}
				})
				runtime.ReadMemStats(&after)
				assert.Equal(t, "requests", r.Requests, 0)
				some{4, 5}.check(t, "lost", r.Sent)
				assert.Equal(t, "lost by class", r.Errors[ErrTimeout]+r.Errors[ErrFraming]+r.Errors[ErrReset]-r.Unasked, r.Sent)
				if grown := int64(after.HeapInuse) - int64(before.HeapInuse); grown > 64<<20 {
					t.Errorf("%d bytes more in use", grown)
				}
			})
		}
	}
}

// If a server never opens its flow-control window far enough for the body, the request is counted
// as a timeout.
func TestNoWindow(t *testing.T) {
	t.Parallel()
	for _, engine := range append(loops(t), Portable) {
		for _, room := range []uint32{0, 1, 1000} {
			o := Options{Timeout: 150 * time.Millisecond, Engine: engine, Requests: []Request{{Method: "POST", Body: make([]byte, 100_000)}}}
			r := against(t, o, Leg{Ops: 2}, func(p *peer) {
				p.say(string(h2.AppendSettings(nil, h2.Setting{ID: h2.InitialWindowSize, Value: room})))
				_, _ = io.Copy(io.Discard, p.r)
			})
			assert.Equal(t, "requests", r.Requests, 0)
			assert.Equal(t, "timeouts", r.Errors[ErrTimeout], r.Sent)
		}
	}
}

// Between requests a server may send pings, settings and window updates, and GOAWAY, but no body:
// DATA is a framing error.
func TestHTTP2Idle(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("waits for servers that are silent")
	}
	leg := Leg{Duration: time.Second, Think: 300 * time.Millisecond} // long beside what the server waits
	r := against(t, Options{}, leg, func(p *peer) {
		for p.say(says()); p.asked(); {
			p.say(p.fine())
			time.Sleep(20 * time.Millisecond)
			p.say(rawFrame(h2.Ping, 0, 0, "12345678"), string(h2.AppendSettings(nil)), string(h2.AppendWindowUpdate(nil, 0, 9)))
			if !p.until(h2.Ping, h2.Ack) {
				return
			}
		}
	})
	assert.Equal(t, "first error", r.FirstError, "")
	assert.Equal(t, "opened", r.Opened, 2)
	some{2, -1}.check(t, "requests", r.Requests)

	r = against(t, Options{}, leg, func(p *peer) {
		for p.say(says()); p.asked(); {
			p.say(p.fine())
			time.Sleep(20 * time.Millisecond)
			p.say(string(h2.AppendGoAway(nil, p.stream, h2.NoError)))
			_, _ = io.Copy(io.Discard, p.r)
		}
	})
	assert.Equal(t, "first error", r.FirstError, "")
	some{1, -1}.check(t, "reconnects", r.Reconnects)

	r = against(t, Options{}, leg, func(p *peer) {
		for p.say(says()); p.asked(); {
			p.say(p.fine())
			time.Sleep(20 * time.Millisecond)
			p.say(p.of(h2.Data, 0, "more"))
		}
	})
	some{1, -1}.check(t, "unasked", r.Unasked)
	some{r.Unasked, -1}.check(t, "class framing", r.Errors[ErrFraming]) // more where a request was under way again
}

// A connection also answers a ping while it has nothing to send: servers assume that a client that
// does not answer is dead.
func TestPingBetweenRequests(t *testing.T) {
	t.Parallel()
	for _, engine := range append(loops(t), Portable) {
		for name, leg := range map[string]Leg{
			"think time": {Duration: time.Second, Think: time.Minute},
			"open loop":  {Duration: 2 * time.Second, Profile: Constant{PerSecond: 4}},
		} {
			t.Run(string(engine)+"/"+name, func(t *testing.T) {
				t.Parallel()
				var acked atomic.Int64
				r := against(t, Options{Engine: engine}, leg, func(p *peer) {
					for p.say(says()); p.asked(); {
						p.say(p.fine())
						time.Sleep(20 * time.Millisecond)
						p.say(rawFrame(h2.Ping, 0, 0, "12345678"))
						for {
							f, ok := p.next()
							if !ok {
								return
							}
							if f.Type == h2.Headers { // the next request came first
								p.say(rawFrame(h2.Headers, h2.EndHeaders|h2.EndStream, f.Stream, block(ok2)))
								return
							}
							if f.Type == h2.Ping && f.Flags&h2.Ack != 0 {
								acked.Add(1)
								break
							}
						}
					}
				})
				assert.Equal(t, "first error", r.FirstError, "")
				some{2, -1}.check(t, "pings answered between requests", acked.Load())
			})
		}
	}
}

// A body is sent in small parts, as the server opens its window. A response that comes before the
// server has read the complete body is valid, but no further request is sent on its connection.
func TestHTTP2BodiesAndWindows(t *testing.T) {
	body := make([]byte, 200_000)
	post := Options{Requests: []Request{{Method: "POST", Body: body}}}
	r := against(t, post, Leg{Ops: 6}, func(p *peer) {
		p.say(string(h2.AppendSettings(nil, h2.Setting{ID: h2.InitialWindowSize, Value: 1000})))
		for got := 0; ; {
			f, ok := p.next()
			switch {
			case !ok:
				return
			case f.Type == h2.Headers:
				p.stream, got = f.Stream, 0
			case f.Type == h2.Data:
				got += len(f.Payload)
				n := uint32(len(f.Payload))
				p.say(string(h2.AppendWindowUpdate(nil, 0, n)), string(h2.AppendWindowUpdate(nil, p.stream, n)))
				if f.Has(h2.EndStream) && got == len(body) {
					p.say(p.fine())
				}
			}
		}
	})
	assert.Equal(t, "first error", r.FirstError, "")
	assert.Equal(t, "requests", r.Requests, 6)
	assert.Equal(t, "body bytes", r.BodyOut, int64(6*len(body)))
	assert.Equal(t, "opened", r.Opened, 2)

	for _, body := range []int{200_000, 20 << 20} { // more than the window, and more than a socket takes
		post.Requests[0].Body = make([]byte, body)
		r = against(t, post, Leg{Ops: 4}, func(p *peer) {
			room := string(h2.AppendSettings(nil, h2.Setting{ID: h2.InitialWindowSize, Value: h2.MaxWindow})) + string(h2.AppendWindowUpdate(nil, 0, h2.MaxWindow-h2.Window))
			if body < 1<<20 {
				room += string(h2.AppendSettings(nil, h2.Setting{ID: h2.InitialWindowSize, Value: 1000}))
			}
			p.say(room)
			p.until(h2.Settings, h2.Ack)
			if p.stream == 0 {
				p.until(h2.Headers, 0)
			}
			p.say(p.fine())
			time.Sleep(50 * time.Millisecond)
		})
		assert.Equal(t, "first error", r.FirstError, "")
		assert.Equal(t, "requests", r.Requests, 4)
		some{4, 6}.check(t, "opened", r.Opened)
	}
}
