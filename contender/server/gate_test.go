package server

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tarebench/tare/contender/server/rawtest"
	"github.com/tarebench/tare/load/h2"
)

// gated serves handler behind a gate that change has changed, and returns where.
func gated(t *testing.T, handler http.Handler, change func(*gate)) (addr string, g *gate) {
	t.Helper()
	r := &running{receipts: &Receipts{}, budget: &budget{max: 1 << 20}}
	ops := r.newOps("things", Options{})
	ops.gated, ops.hosts = true, newHosts("127.0.0.1:0", nil)
	s := HTTP2(handler)
	if err := guardServer(s, ops); err != nil {
		t.Fatal(err)
	}
	g = r.newGate(s, ops, false)
	if change != nil {
		change(g)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(g.wrapListener(newLimits(100).wrapListener(l))) }()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		_ = s.Shutdown(ctx) // or connections of the test are cut off
		<-ended
	})
	return l.Addr().String(), g
}

// mirror answers with what it got.
func mirror(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	fmt.Fprintf(w, "%s %s %s %d %s %v", r.Method, r.RequestURI, r.Host, r.ContentLength, body, err)
}

// TestRawRequests: every request is read in one way, or refused.
func TestRawRequests(t *testing.T) {
	addr, g := gated(t, http.HandlerFunc(mirror), nil)
	list := rawtest.Cases("/things")
	for _, c := range list {
		if err := c.Check(addr); err != nil {
			t.Error(err)
		}
	}
	if used := g.budget.used.Load(); used != 0 {
		t.Errorf("%d bytes are still reserved", used)
	}
	t.Logf("%d cases", len(list))
}

// TestGateDelivers: the stack gets requests as they were meant, however they come, and
// the answers are in order.
func TestGateDelivers(t *testing.T) {
	addr, _ := gated(t, http.HandlerFunc(mirror), nil)
	const post = "POST /a?b=%0a HTTP/1.1\r\nHost: localhost:1\r\nContent-Type: application/json\r\n"
	long := strings.Repeat("0123456789", 10_000)
	text := post + "Content-Length: 2\r\n\r\n[]" +
		"GET /health/live HTTP/1.1\r\nHost: localhost\r\n\r\n" + // which the gate answers
		post + "Transfer-Encoding: chunked\r\nTrailer: X\r\n\r\n3;x=\"y\"\r\nabc\r\n0A \r\n0123456789\r\n000\r\nX: y\r\n\r\n" +
		"GET http://localhost/c?d HTTP/1.1\r\nHost: localhost\r\n\r\n" +
		post + "Content-Length: 0\r\n\r\n" +
		post + "Content-Length: 100000\r\n\r\n" + long +
		"HEAD /health/live HTTP/1.1\r\nHost: localhost\r\n\r\n" +
		"GET /e HTTP/1.0\r\n\r\n"
	want := []string{
		"POST /a?b=%0a localhost:1 2 [] <nil>", "alive\n", "POST /a?b=%0a localhost:1 13 abc0123456789 <nil>", "GET /c?d localhost 0  <nil>",
		"POST /a?b=%0a localhost:1 0  <nil>", "POST /a?b=%0a localhost:1 100000 " + long + " <nil>", "", "GET /e  0  <nil>",
	}
	for _, size := range []int{1 << 20, 4096, 1000, 7} {
		conn, err := net.Dial("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		_ = conn.SetDeadline(time.Now().Add(time.Minute))
		go func() {
			for rest := text; rest != ""; {
				n := min(size, len(rest))
				if _, err := io.WriteString(conn, rest[:n]); err != nil {
					t.Errorf("in parts of %d bytes: %v", size, err)
					return
				}
				rest = rest[n:]
			}
		}()
		in := bufio.NewReader(conn)
		for i, w := range want {
			method := http.MethodPost
			if i == 6 {
				method = http.MethodHead
			}
			r, err := http.ReadResponse(in, &http.Request{Method: method})
			if err != nil {
				t.Fatalf("in parts of %d bytes, answer %d: %v", size, i, err)
			}
			body, err := io.ReadAll(r.Body)
			if err != nil || r.StatusCode != http.StatusOK || string(body) != w {
				t.Errorf("in parts of %d bytes, answer %d: %d %.100q, %v; want %.100q", size, i, r.StatusCode, body, err, w)
			}
		}
		if _, err := in.ReadByte(); err != io.EOF {
			t.Errorf("the connection stays: %v", err)
		}
	}
}

// TestGateClosesSlow: whoever sends slowly is told so, and is gone when the time for a
// request is over. A byte now and then does not help.
func TestGateClosesSlow(t *testing.T) {
	const limit = 300 * time.Millisecond
	var asked sync.Map
	addr, g := gated(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { asked.Store(r.URL.Path, nil) }), func(g *gate) { g.timeout = limit })
	const post = "POST /slow HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
	var all sync.WaitGroup
	for _, tt := range []struct {
		begin, drip string
		status      int
	}{
		{"", "", 0}, {"", "P", 408}, {"POST", "", 408}, {post, "X", 408}, {post, "", 408},
		{post + "Content-Length: 1000\r\n\r\n", "", 408}, {post + "Content-Length: 1000\r\n\r\n[", " ", 408},
		{post + "Transfer-Encoding: chunked\r\n\r\n", "0", 408}, {post + "Transfer-Encoding: chunked\r\n\r\n100\r\n[", " ", 408},
		{post + "Transfer-Encoding: chunked\r\n\r\n2\r\n[]\r\n0\r\n", "X: y\r\n", 408}, {post + "Transfer-Encoding: chunked\r\n\r\n", "1\r\n[\r\n", 408},
		{"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n" + post + "Content-Length: 1000\r\n\r\n", " ", 408},
		{h2.Preface[:20], "", 408}, {h2.Preface, "", 0}, {h2.Preface + "\x00\x00\x00\x04\x00\x00\x00\x00\x00" + "\x00\x00\x10\x06", "", 0},
	} {
		all.Go(func() {
			conn, err := net.Dial("tcp", addr)
			if err != nil {
				t.Error(err)
				return
			}
			defer conn.Close()
			began := time.Now()
			_, _ = io.WriteString(conn, tt.begin)
			go func() {
				for tt.drip != "" {
					time.Sleep(limit / 20)
					if _, err := io.WriteString(conn, tt.drip); err != nil {
						return
					}
				}
			}()
			_ = conn.SetReadDeadline(began.Add(20 * time.Second))
			text, err := io.ReadAll(conn)
			if timeout, ok := err.(net.Error); ok && timeout.Timeout() {
				t.Errorf("%q, then %q: held for %v", tt.begin, tt.drip, time.Since(began))
			}
			if tt.status != 0 && !strings.Contains(string(text), fmt.Sprintf("HTTP/1.1 %d ", tt.status)) {
				t.Errorf("%q, then %q: %q, %v, want %d", tt.begin, tt.drip, text, err, tt.status)
			}
		})
	}
	all.Wait()
	if _, ok := asked.Load("/slow"); ok {
		t.Error("the stack has seen a request that did not arrive")
	}
	if used := g.budget.used.Load(); used != 0 {
		t.Errorf("%d bytes are still reserved", used)
	}
}

// TestWatcherAndStackTimeOut: a request that did not arrive in time makes its client a slow
// one, also where the stack's own time limit ends first and resets the stream. One that is
// reset before is over.
func TestWatcherAndStackTimeOut(t *testing.T) {
	for _, late := range []bool{false, true} {
		w := newWatcher(&budget{max: 1 << 20}, time.Minute)
		w.grow, w.shrink = func(int) bool { return true }, func(int64) {}
		if err := w.inspectInput(h2.AppendHeader(nil, 0, h2.Headers, h2.EndHeaders, 1)); err != nil {
			t.Fatal(err)
		}
		if late {
			w.streams[1].opened = time.Now().Add(-time.Minute)
		}
		w.inspectOutput(h2.AppendHeader(nil, 0, h2.Headers, h2.EndHeaders|h2.EndStream, 1))
		w.inspectOutput(h2.AppendFrame(nil, h2.Frame{Type: h2.RSTStream, Stream: 1, Payload: make([]byte, 4)}))
		if closes := !w.closeTime().After(time.Now()); closes != late {
			t.Errorf("reset after its time: %t; it closes the connection at once: %t", late, closes)
		}
	}
}

// TestBudget: bodies that have not arrived store what the budget allows, and no more.
// Small requests are served meanwhile, and large ones when there is room again.
func TestBudget(t *testing.T) {
	addr, g := gated(t, http.HandlerFunc(mirror), nil)
	const size = 300_000
	body := strings.Repeat(" ", size)
	post := fmt.Sprintf("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n", size)
	var conns []net.Conn
	answers := make(chan int, 20)
	for range cap(answers) {
		conn, err := net.Dial("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		conns = append(conns, conn)
		go func() {
			_, _ = io.WriteString(conn, post+body[1:]) // or it is refused meanwhile
			status := 0
			if r, err := http.ReadResponse(bufio.NewReader(conn), nil); err == nil {
				status = r.StatusCode
			}
			answers <- status
		}()
	}
	refused := 0
	for most := int(g.budget.max) / size; refused < len(conns)-most; refused++ {
		if status := <-answers; status != 503 && status != 0 { // 0: the answer was lost with the connection
			t.Errorf("status %d", status)
		}
	}
	if used := g.budget.used.Load(); used > g.budget.max {
		t.Errorf("%d bytes are stored, %d may be", used, g.budget.max)
	}
	small := rawtest.Case{Text: "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n[]"}
	if err := small.Check(addr); err != nil {
		t.Error(err)
	}
	for _, conn := range conns {
		_ = conn.Close()
	}
	for range 3 {
		<-answers
	}
	for end := time.Now().Add(20 * time.Second); g.budget.used.Load() > 0; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%d bytes are still reserved", g.budget.used.Load())
		}
	}
	large := rawtest.Case{Text: post + body}
	if err := large.Check(addr); err != nil {
		t.Error(err)
	}
}

// TestGateSeesClientsGo: a handler learns that its client has gone, also of one that
// sends the next request before, and is not told so by the time-out of its request.
func TestGateSeesClientsGo(t *testing.T) {
	told := make(chan error, 1)
	addr, _ := gated(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-r.Context().Done():
			told <- nil
		case <-time.After(20 * time.Second):
			told <- fmt.Errorf("it was not told")
		}
	}), nil)
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = io.WriteString(conn, "GET /things HTTP/1.1\r\nHost: localhost\r\n\r\n")
	time.AfterFunc(50*time.Millisecond, func() { _ = conn.Close() })
	if err := <-told; err != nil {
		t.Error(err)
	}
}

// TestChunkExtensions: a client cannot send without end between chunks.
func TestChunkExtensions(t *testing.T) {
	addr, _ := gated(t, http.HandlerFunc(mirror), nil)
	post := "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
	for name, c := range map[string]rawtest.Case{
		"some extensions":         {Text: post + strings.Repeat("1;a=b\r\n \r\n", 100) + "0\r\n\r\n"},
		"a long extension":        {Text: post + "1;a=" + strings.Repeat("b", 2*maxExtensions) + "\r\n \r\n0\r\n\r\n", Status: 400},
		"many extensions":         {Text: post + strings.Repeat("1;"+strings.Repeat("a", 100)+"\r\n \r\n", 100) + "0\r\n\r\n", Status: 400},
		"many trailers":           {Text: post + "0\r\n" + strings.Repeat("X: 0123456789abcdef\r\n", 1000) + "\r\n", Status: 400},
		"a body that is too long": {Text: post + fmt.Sprintf("%x\r\n", DefaultMaxBody+1), Status: 413},
	} {
		c.Name = name
		if err := c.Check(addr); err != nil {
			t.Error(err)
		}
	}
}
