package server

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/tarebench/tare/contender/wire"
)

func (l *lab) prepareApp(app string, set map[string]string) wire.Reply {
	l.t.Helper()
	return l.do(wire.Request{Op: wire.OpPrepare, Workload: &wire.Workload{ID: "w", Set: set, Spec: json.RawMessage(`{"app":"` + app + `"}`)}})
}

// TestServiceCounts: stats have what the service says of itself, and after a reset it is as it was.
func TestServiceCounts(t *testing.T) {
	l := visit(t, Apps{goods(counter), Plain("tiny", plainTiny)})
	l.do(wire.Request{Op: wire.OpHello, Protocol: wire.Protocol})
	addr := l.prepareApp("shop", nil).Addr
	for range 2 {
		post(t, "http://"+addr+"/tea")
		if got := post(t, "http://"+addr+"/milk"); got != "2\n" {
			t.Errorf("%q", got)
		}
		if a := l.do(wire.Request{Op: wire.OpStats, On: "w"}); a.Calls == nil || a.Calls.Create != 2 || a.Delivered != 2 {
			t.Errorf("%+v", a)
		}
		if a := l.do(wire.Request{Op: wire.OpReset, On: "w"}); a.Error != nil {
			t.Fatal(a.Error)
		}
		if a := l.do(wire.Request{Op: wire.OpStats, On: "w"}); *a.Calls != (wire.Calls{}) {
			t.Errorf("%+v", a.Calls)
		}
	}
	post(t, "http://"+addr+"/fault-of-disk")
	if a := l.do(wire.Request{Op: wire.OpStats, On: "w"}); a.Message != "fault-of-disk" {
		t.Errorf("a fault: %+v", a)
	}
	l.prepare(nil)
	if a := l.do(wire.Request{Op: wire.OpReset, On: "w"}); a.Error == nil || a.Error.Class != "unsupported" {
		t.Errorf("tiny is reset: %+v", a)
	}
	if a := l.do(wire.Request{Op: wire.OpStats, On: "w"}); a.Calls != nil || a.Delivered != 0 {
		t.Errorf("tiny: %+v", a)
	}
}

// TestEnd: a server that is told to end lets a request under way end, has its
// service closed afterwards, and can be asked what it counted.
func TestEnd(t *testing.T) {
	begun := make(chan struct{}, 1)
	var kept *stock
	l := visit(t, Apps{goods(func(o Options, s *stock) (Server, error) {
		kept = s
		return HTTP(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodGet {
				return
			}
			o.Receipts.Request()
			begun <- struct{}{}
			time.Sleep(300 * time.Millisecond)
			if s.closed.Load() {
				t.Error("the service was closed before its server")
			}
			s.sold.Add(1)
		})), nil
	})})
	l.do(wire.Request{Op: wire.OpHello, Protocol: wire.Protocol})
	addr := l.prepareApp("shop", nil).Addr
	sold := make(chan string, 1)
	go func() { sold <- post(t, "http://"+addr+"/tea") }()
	<-begun
	a := l.do(wire.Request{Op: wire.OpEnd, On: "w"})
	if a.Error != nil || a.Message != "" || a.WallNS <= 0 || time.Duration(a.WallNS) > 5*time.Second {
		t.Errorf("end: %+v", a)
	}
	<-sold
	if a := l.do(wire.Request{Op: wire.OpStats, On: "w"}); a.Delivered != 1 || a.Received != 1 {
		t.Errorf("stats: %+v", a)
	}
	if conn, err := net.Dial("tcp", addr); err == nil {
		conn.Close()
		t.Error("somebody still listens")
	}
	if !kept.closed.Load() || !kept.lab {
		t.Errorf("closed %v, under a lab %v", kept.closed.Load(), kept.lab)
	}
	if a := l.prepareApp("shop", nil); a.Addr == "" {
		t.Errorf("afterwards: %+v", a)
	}
}

// TestEndCuts: what has not ended in time is cut off, and that is said.
func TestEndCuts(t *testing.T) {
	hold := make(chan struct{})
	defer close(hold)
	begun := make(chan struct{}, 1)
	r, err := Host{}.startServer(anywhere(goods(func(_ Options, s *stock) (Server, error) {
		s.closes = errors.New("the till jams")
		return HTTP(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
			begun <- struct{}{}
			<-hold
		})), nil
	})))
	if err != nil {
		t.Fatal(err)
	}
	conn := connect(t, r.addr)
	io.WriteString(conn, "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n[]")
	<-begun
	if err := r.stopServer(50 * time.Millisecond); err == nil || strings.Contains(err.Error(), "\n") || !strings.HasSuffix(err.Error(), "; the till jams") {
		t.Errorf("%v", err)
	}
	if err := r.stopServer(50 * time.Millisecond); err != nil {
		t.Errorf("a second time: %v", err)
	}
}

// TestServiceThatCannotBe: a server whose service cannot be opened does not start,
// and nobody listens in its place.
func TestServiceThatCannotBe(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr().String()
	l.Close()
	a := alone{Host{Apps: Apps{goods(counter)}}}
	var said bytes.Buffer
	code := a.main([]string{"-addr", addr, "-place", "closed"}, os.Stdout, &said)
	if code != 1 || said.String() != "shop: no room\n" {
		t.Errorf("code %d: %s", code, said.String())
	}
	if conn, err := net.Dial("tcp", addr); err == nil {
		conn.Close()
		t.Error("somebody listens")
	}
}

// TestNotices: whoever starts a service is told what there is to know.
func TestNotices(t *testing.T) {
	for place, want := range map[string]int{"": 1, "here": 0} {
		a := alone{Host{Apps: Apps{goods(counter)}}}
		s, err := a.parseFlags([]string{"-addr", "127.0.0.1:0", "-place=" + place}, nil, func(string) string { return "" })
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(context.Background())
		said, done := make(lines, 9), make(chan error, 1)
		go func() { done <- a.serveUntilDone(ctx, s, said) }()
		if want == 1 {
			if line := <-said; !strings.HasSuffix(line, ": nothing is kept\n") {
				t.Errorf("%q: %q", place, line)
			}
		}
		if line := <-said; !strings.Contains(line, ": serving shop at http://") {
			t.Errorf("%q: %q", place, line)
		}
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}
