package api_test

import (
	"context"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/tarebench/tare/apps/users"
	"github.com/tarebench/tare/contender/server"
	"github.com/tarebench/tare/contenders/rpc/null/api"
	"github.com/tarebench/tare/load/h2"
)

// peer is a client of HTTP/2 that sends any bytes.
type peer struct {
	t    *testing.T
	conn net.Conn
	r    h2.Reader
	d    *h2.Decoder
	rest []byte // received bytes that r has not read
}

// connect starts a server with 100 users and returns a peer that has sent its preface
// and settings.
func connect(t *testing.T, settings ...h2.Setting) *peer {
	t.Helper()
	store, err := users.Open(t.Context(), users.MemoryStore, 100)
	if err != nil {
		t.Fatal(err)
	}
	s, err := api.New().Serve(server.Options{Receipts: &server.Receipts{}}, users.New(users.Config{}, store))
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- s.Serve(l) }()
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
		<-served
	})
	if err := conn.SetDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	p := &peer{t: t, conn: conn, d: h2.NewDecoder(h2.TableSize)}
	p.send([]byte(h2.Preface), h2.AppendSettings(nil, settings...))
	return p
}

// send writes the parts.
func (p *peer) send(parts ...[]byte) {
	p.t.Helper()
	for _, b := range parts {
		if _, err := p.conn.Write(b); err != nil {
			p.t.Fatal(err)
		}
	}
}

// readFrame returns the next frame, or false if the connection has ended.
func (p *peer) readFrame() (h2.Frame, bool) {
	p.t.Helper()
	buf := make([]byte, 4096)
	for {
		f, n, isComplete, err := p.r.Next(p.rest)
		if err != nil {
			p.t.Fatal(err)
		}
		if p.rest = p.rest[n:]; isComplete {
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

// headers returns the frame that begins a call.
func headers(stream uint32, flags uint8, path, contentType string) []byte {
	b := h2.AppendHeader(nil, 0, h2.Headers, flags, stream)
	b = h2.AppendField(h2.AppendField(h2.AppendField(b, ":method", "POST"), ":scheme", "http"), ":path", path)
	b = h2.AppendField(h2.AppendField(b, ":authority", "a"), "content-type", contentType)
	h2.SetLength(b)
	return b
}

// lastData returns the frame that ends the body of a call.
func lastData(stream uint32, text string) []byte {
	return h2.AppendFrame(nil, h2.Frame{Type: h2.Data, Flags: h2.EndStream, Stream: stream, Payload: []byte(text)})
}

const (
	listUsers = "/tare.users.v1.UserService/ListUsers"
	grpcType  = "application/grpc"
)

// TestKeepsToWindows checks that the server sends no more than the windows of the client
// allow, and that a response that waits for a window does not block another call forever.
func TestKeepsToWindows(t *testing.T) {
	p := connect(t, h2.Setting{ID: h2.InitialWindowSize, Value: 10}, h2.Setting{ID: h2.HeaderTableSize, Value: 0})
	p.send(headers(1, h2.EndHeaders, listUsers, grpcType), lastData(1, "\x00\x00\x00\x00\x02\x18\x64")) // 100 users
	p.send(headers(3, h2.EndHeaders, "/tare.users.v1.UserService/Nothing", grpcType), lastData(3, "\x00\x00\x00\x00\x00"))
	window, got := 10, 0 // number of bytes
	for ended := 0; ended < 2; {
		f, ok := p.readFrame()
		if !ok {
			t.Fatal("the connection has ended")
		}
		switch f.Type {
		case h2.Data:
			got += len(f.Payload)
			if window -= len(f.Payload); window < 0 {
				t.Fatalf("%d bytes beyond the window", -window)
			}
			if window == 0 {
				window = 1500
				p.send(h2.AppendWindowUpdate(nil, 1, 1500))
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

// TestRefuses checks the response to calls that are not valid gRPC, and that invalid HTTP/2
// ends the connection.
func TestRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		sent   []byte
		status string // grpc-status, or the HTTP status if the response has no grpc-status
		flags  uint8  // of the frame with the headers
		goAway bool   // the connection ends
	}{
		"no gRPC":       {headers(1, h2.EndHeaders|h2.EndStream, listUsers, "application/json"), "415", h2.EndStream, false},
		"no message":    {append(headers(1, h2.EndHeaders, listUsers, grpcType), lastData(1, "\x01\x00\x00\x00\x00")...), "3", h2.EndStream, false},
		"no buffers":    {append(headers(1, h2.EndHeaders, listUsers, grpcType), lastData(1, "\x00\x00\x00\x00\x01\xff")...), "3", h2.EndStream, false},
		"an even call":  {headers(2, h2.EndHeaders|h2.EndStream, listUsers, grpcType), "", 0, true},
		"half a head":   {append(headers(1, 0, listUsers, grpcType), lastData(1, "")...), "", 0, true},
		"a bad block":   {h2.AppendFrame(nil, h2.Frame{Type: h2.Headers, Flags: h2.EndHeaders, Stream: 1, Payload: []byte{0xff, 0xff}}), "", 0, true},
		"a promise":     {h2.AppendFrame(nil, h2.Frame{Type: h2.PushPromise, Flags: h2.EndHeaders, Stream: 1, Payload: []byte("1234")}), "", 0, true},
		"a long frame":  {h2.AppendHeader(nil, h2.MaxFrame+1, h2.Data, 0, 1), "", 0, true},
		"a call, again": {append(headers(1, h2.EndHeaders|h2.EndStream, listUsers, "x"), headers(1, h2.EndHeaders|h2.EndStream, listUsers, "x")...), "", 0, true},
	} {
		t.Run(name, func(t *testing.T) {
			p := connect(t)
			p.send(c.sent)
			for {
				f, ok := p.readFrame()
				switch {
				case !ok:
					t.Fatal("the connection has ended without GOAWAY")
				case f.Type == h2.GoAway:
					if !c.goAway {
						t.Fatalf("GOAWAY with code %v", h2.Code(f.Number(4)))
					}
					return
				case f.Type == h2.Headers && !c.goAway:
					status := ""
					if err := p.d.Decode(f.Payload, func(name, value []byte) error {
						if string(name) == ":status" && status == "" || string(name) == "grpc-status" {
							status = string(value)
						}
						return nil
					}); err != nil || status != c.status || !f.Has(c.flags) {
						t.Errorf("%q, %v, flags %x; want %q", status, err, f.Flags, c.status)
					}
					return
				}
			}
		})
	}
}

// TestRefusesLongMessages checks that the server resets the stream of a message that is too
// long before the message is complete, and then serves another call.
func TestRefusesLongMessages(t *testing.T) {
	p := connect(t)
	p.send(headers(1, h2.EndHeaders, listUsers, grpcType))
	window := h2.Window
	for {
		for window >= 8000 {
			p.send(h2.AppendFrame(nil, h2.Frame{Type: h2.Data, Stream: 1, Payload: make([]byte, 8000)}))
			window -= 8000
		}
		f, ok := p.readFrame()
		switch {
		case !ok:
			t.Fatal("the connection has ended")
		case f.Type == h2.WindowUpdate && f.Stream == 1:
			window += int(f.Number(0))
		case f.Type == h2.RSTStream:
			p.send(headers(3, h2.EndHeaders, "/grpc.health.v1.Health/Check", grpcType), lastData(3, "\x00\x00\x00\x00\x00"))
		case f.Type == h2.Data && f.Stream == 3:
			if string(f.Payload) != "\x00\x00\x00\x00\x02\x08\x01" {
				t.Errorf("%q, want that it serves", f.Payload)
			}
			return
		}
	}
}
