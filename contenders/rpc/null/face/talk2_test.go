package face_test

import (
	"context"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/tarebench/tare/apps/users"
	"github.com/tarebench/tare/contender/server"
	"github.com/tarebench/tare/contenders/rpc/null/face"
	"github.com/tarebench/tare/load/h2"
)

// peer is a client that says what it is told to.
type peer struct {
	t    *testing.T
	conn net.Conn
	r    h2.Reader
	d    *h2.Decoder
	rest []byte
}

// connect serves 100 users to a peer that has said its preface and settings.
func connect(t *testing.T, settings ...h2.Setting) *peer {
	t.Helper()
	store, err := users.Open(t.Context(), users.MemoryStore, 100)
	if err != nil {
		t.Fatal(err)
	}
	s, err := face.New().Serve(server.Options{Receipts: &server.Receipts{}}, users.New(users.Config{}, store))
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	over := make(chan error, 1)
	go func() { over <- s.Serve(l) }()
	conn, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		conn.Close()
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := s.Shutdown(ctx); err != nil {
			t.Error(err)
		}
		<-over
	})
	if err := conn.SetDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	p := &peer{t: t, conn: conn, d: h2.NewDecoder(h2.TableSize)}
	p.say([]byte(h2.Preface), h2.AppendSettings(nil, settings...))
	return p
}

func (p *peer) say(parts ...[]byte) {
	p.t.Helper()
	for _, b := range parts {
		if _, err := p.conn.Write(b); err != nil {
			p.t.Fatal(err)
		}
	}
}

// next is the next frame; false: the connection has ended.
func (p *peer) next() (h2.Frame, bool) {
	p.t.Helper()
	buf := make([]byte, 4096)
	for {
		f, n, whole, err := p.r.Next(p.rest)
		if err != nil {
			p.t.Fatal(err)
		}
		if p.rest = p.rest[n:]; whole {
			return f, true
		}
		n, err = p.conn.Read(buf)
		if err == io.EOF || err != nil && strings.Contains(err.Error(), "reset") {
			return f, false
		} else if err != nil {
			p.t.Fatal(err)
		}
		p.rest = append(p.rest, buf[:n]...)
	}
}

// head is that of a call on a stream, of a content type.
func head(stream uint32, flags uint8, path, kind string) []byte {
	b := h2.AppendHeader(nil, 0, h2.Headers, flags, stream)
	b = h2.AppendField(h2.AppendField(h2.AppendField(b, ":method", "POST"), ":scheme", "http"), ":path", path)
	b = h2.AppendField(h2.AppendField(b, ":authority", "a"), "content-type", kind)
	h2.SetLength(b)
	return b
}

func data(stream uint32, text string) []byte {
	return h2.AppendFrame(nil, h2.Frame{Type: h2.Data, Flags: h2.EndStream, Stream: stream, Payload: []byte(text)})
}

const listing, kind = "/tare.users.v1.UserService/ListUsers", "application/grpc"

// An answer is sent as its caller gives way to it, and others are not kept waiting
// for ever.
func TestKeepsToWindows(t *testing.T) {
	p := connect(t, h2.Setting{ID: h2.InitialWindowSize, Value: 10}, h2.Setting{ID: h2.HeaderTableSize, Value: 0})
	p.say(head(1, h2.EndHeaders, listing, kind), data(1, "\x00\x00\x00\x00\x02\x18\x64"), head(3, h2.EndHeaders, "/tare.users.v1.UserService/Nothing", kind), data(3, "\x00\x00\x00\x00\x00"))
	room, got := 10, 0
	for ended := 0; ended < 2; {
		f, ok := p.next()
		if !ok {
			t.Fatal("the connection has ended")
		}
		switch f.Type {
		case h2.Data:
			got += len(f.Payload)
			if room -= len(f.Payload); room < 0 {
				t.Fatalf("%d bytes more than there was room for", -room)
			}
			if room == 0 {
				room = 1500
				p.say(h2.AppendWindowUpdate(nil, 1, 1500))
			}
		case h2.Headers:
			if err := p.d.Decode(f.Payload, func(name, value []byte) error {
				if want := map[uint32]string{1: "0", 3: "12"}[f.Stream]; string(name) == "grpc-status" && string(value) != want {
					t.Errorf("stream %d: grpc-status %s, want %s", f.Stream, value, want)
				}
				return nil
			}); err != nil {
				t.Fatal(err)
			}
			if f.Has(h2.EndStream) {
				ended++
			}
		}
	}
	if got < 5000 {
		t.Errorf("a page of 100 users in %d bytes", got)
	}
}

// What is no gRPC is refused, and what is no HTTP/2 ends the connection.
func TestRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		say    []byte
		status string
		flags  uint8
		goes   bool // away
	}{
		"no gRPC":       {head(1, h2.EndHeaders|h2.EndStream, listing, "application/json"), "415", h2.EndStream, false},
		"no message":    {append(head(1, h2.EndHeaders, listing, kind), data(1, "\x01\x00\x00\x00\x00")...), "3", h2.EndStream, false},
		"no buffers":    {append(head(1, h2.EndHeaders, listing, kind), data(1, "\x00\x00\x00\x00\x01\xff")...), "3", h2.EndStream, false},
		"an even call":  {head(2, h2.EndHeaders|h2.EndStream, listing, kind), "", 0, true},
		"half a head":   {append(head(1, 0, listing, kind), data(1, "")...), "", 0, true},
		"a bad block":   {h2.AppendFrame(nil, h2.Frame{Type: h2.Headers, Flags: h2.EndHeaders, Stream: 1, Payload: []byte{0xff, 0xff}}), "", 0, true},
		"a promise":     {h2.AppendFrame(nil, h2.Frame{Type: h2.PushPromise, Flags: h2.EndHeaders, Stream: 1, Payload: []byte("1234")}), "", 0, true},
		"a long frame":  {h2.AppendHeader(nil, h2.MaxFrame+1, h2.Data, 0, 1), "", 0, true},
		"a call, again": {append(head(1, h2.EndHeaders|h2.EndStream, listing, "x"), head(1, h2.EndHeaders|h2.EndStream, listing, "x")...), "", 0, true},
	} {
		t.Run(name, func(t *testing.T) {
			p := connect(t)
			p.say(c.say)
			for {
				f, ok := p.next()
				switch {
				case !ok:
					t.Fatal("the connection has ended without a word")
				case f.Type == h2.GoAway:
					if !c.goes {
						t.Fatalf("it goes away: %v", h2.Code(f.Number(4)))
					}
					return
				case f.Type == h2.Headers && !c.goes:
					said := ""
					if err := p.d.Decode(f.Payload, func(name, value []byte) error {
						if string(name) == ":status" && said == "" || string(name) == "grpc-status" {
							said = string(value)
						}
						return nil
					}); err != nil || said != c.status || !f.Has(c.flags) {
						t.Errorf("%q, %v, flags %x; want %q", said, err, f.Flags, c.status)
					}
					return
				}
			}
		})
	}
}

// A message that is too long is refused before it has come whole.
func TestRefusesLongMessages(t *testing.T) {
	p := connect(t)
	p.say(head(1, h2.EndHeaders, listing, kind))
	room := h2.Window
	for {
		for room >= 8000 {
			p.say(h2.AppendFrame(nil, h2.Frame{Type: h2.Data, Stream: 1, Payload: make([]byte, 8000)}))
			room -= 8000
		}
		f, ok := p.next()
		switch {
		case !ok:
			t.Fatal("the connection has ended")
		case f.Type == h2.WindowUpdate && f.Stream == 1:
			room += int(f.Number(0))
		case f.Type == h2.RSTStream:
			p.say(head(3, h2.EndHeaders, "/grpc.health.v1.Health/Check", kind), data(3, "\x00\x00\x00\x00\x00"))
		case f.Type == h2.Data && f.Stream == 3:
			if string(f.Payload) != "\x00\x00\x00\x00\x02\x08\x01" {
				t.Errorf("%q, want that it serves", f.Payload)
			}
			return
		}
	}
}
