package server

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/load"
)

func TestShare(t *testing.T) {
	for _, c := range []struct {
		allowed []int
		known   int
		want    cores
	}{
		{nil, 8, cores{clients: 2, servers: 8}},
		{nil, 0, cores{clients: 1, servers: 1}},
		{[]int{3}, 8, cores{client: []int{3}, server: []int{3}, clients: 1, servers: 1}},
		{[]int{0, 1}, 2, cores{client: []int{0}, server: []int{1}, clients: 1, servers: 1}},
		{[]int{0, 2, 4, 6}, 8, cores{client: []int{0}, server: []int{2, 4, 6}, clients: 1, servers: 3}},
		{[]int{0, 1, 2, 3, 4}, 8, cores{client: []int{0, 1}, server: []int{2, 3, 4}, clients: 2, servers: 3}},
	} {
		if got := splitCPUs(c.allowed, c.known); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%v of %d: %+v, want %+v", c.allowed, c.known, got, c.want)
		}
	}
}

func TestParseList(t *testing.T) {
	for text, want := range map[string][]int{
		"0":       {0},
		"0-3,8":   {0, 1, 2, 3, 8},
		"2, 0-1":  {0, 1, 2},
		"1,1":     {1},
		"":        nil,
		"x":       nil,
		"3-1":     nil,
		"0-99999": nil,
		"-1":      nil,
	} {
		if got := parseList(text); !reflect.DeepEqual(got, want) {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}

func TestParseURL(t *testing.T) {
	for text, want := range map[string]serverAddr{
		"http://localhost":                 {addr: "localhost:80", host: "localhost"},
		"https://example.org/":             {addr: "example.org:443", host: "example.org", tls: true},
		"http://127.0.0.1:8080/a%20b/c":    {addr: "127.0.0.1:8080", host: "127.0.0.1:8080", prefix: "/a%20b/c"},
		"http://[::1]:8080/a/?q=1#section": {addr: "[::1]:8080", host: "[::1]:8080", prefix: "/a"},
	} {
		if got, err := parseURL(text); err != nil || got != want {
			t.Errorf("%s: %+v, %v", text, got, err)
		}
	}
}

func TestListening(t *testing.T) {
	for text, want := range map[string]string{
		"127.0.0.1:80": "127.0.0.1:80", ":80": "127.0.0.1:80", "0.0.0.0:80": "127.0.0.1:80", "[::]:80": "127.0.0.1:80",
		"[::1]:80": "[::1]:80", "localhost:80": "localhost:80",
	} {
		if got, err := parseListenAddr(text); err != nil || got.addr != want {
			t.Errorf("%s: %+v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "80", "192.0.2.1:80", "example.org:80"} {
		_, err := parseListenAddr(text)
		asClass(t, err, tare.ErrProtocol, "it reports that it listens at")
	}
}

// The servers of this process encrypt with one certificate, which is good for
// its addresses and trusted by no other client.
func TestKeyPair(t *testing.T) {
	k := New()
	pair, err := k.pair()
	if err != nil {
		t.Fatal(err)
	}
	if again, _ := k.pair(); again != pair {
		t.Error("another certificate for each server")
	}
	cert, key, err := pair.writeFiles(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &http.Server{ErrorLog: log.New(io.Discard, "", 0)}
	go s.ServeTLS(l, cert, key)
	defer s.Close()
	conn, err := dialTarget(t.Context(), load.Target{Addr: l.Addr().String(), TLS: pair.clientConfig()})
	if err != nil {
		t.Fatal(err)
	}
	conn.Close()
	other, err := newKeyPair()
	if err != nil {
		t.Fatal(err)
	}
	if conn, err := dialTarget(t.Context(), load.Target{Addr: l.Addr().String(), TLS: other.clientConfig()}); err == nil {
		conn.Close()
		t.Error("somebody else's certificate is trusted")
	}
}

func loadTarget() load.Target { return load.Target{Addr: "127.0.0.1:8080", Host: "there"} }

// What is sent is what was asked for.
func TestSerialise(t *testing.T) {
	for _, c := range []struct {
		q    Request
		want string
	}{
		{Get("/a?b"), "GET /p/a?b HTTP/1.1\r\nHost: there\r\n\r\n"},
		{Request{Method: "POST", Path: "/"}, "POST /p/ HTTP/1.1\r\nHost: there\r\nContent-Length: 0\r\n\r\n"},
		{
			Request{Method: "PUT", Path: "/", Header: map[string]string{"X-B": "2", "X-A": "1", "host": "me"}, Body: []byte("hi")},
			"PUT /p/ HTTP/1.1\r\nX-A: 1\r\nX-B: 2\r\nhost: me\r\nContent-Length: 2\r\n\r\nhi",
		},
	} {
		got := encodeRequest(c.q, "/p", loadTarget())
		if string(got) != c.want {
			t.Errorf("%+v: %q, want %q", c.q, got, c.want)
		}
		if r, err := http.ReadRequest(bufio.NewReader(bytes.NewReader(got))); err != nil || r.Method != c.q.Method {
			t.Errorf("%q reads as %+v, %v", got, r, err)
		}
	}
}

// talk answers the n-th connection's requests with the n-th text.
func talk(t *testing.T, texts ...string) *http1Sender {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	over := make(chan struct{})
	t.Cleanup(func() { l.Close(); <-over })
	go func() {
		defer close(over)
		for _, text := range texts {
			c, err := l.Accept()
			if err != nil {
				return
			}
			in := bufio.NewReader(c)
			for part := range strings.SplitSeq(text, "|") {
				if _, err := http.ReadRequest(in); err != nil {
					break
				}
				io.WriteString(c, strings.TrimSuffix(part, "…"))
			}
			if strings.HasSuffix(text, "…") { // it waits for the other side to go
				io.Copy(io.Discard, in)
			}
			c.Close()
		}
	}()
	return &http1Sender{target: load.Target{Addr: l.Addr().String()}, limit: 10 * time.Second}
}

func TestAsk(t *testing.T) {
	const good = "HTTP/1.1 200 OK\r\nContent-Type: Text/Plain; charset=utf-8\r\nContent-Length: 2\r\n\r\nok"
	for name, texts := range map[string][]string{
		"kept":         {good + "|" + good},
		"interim":      {"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n" + good + "|" + good},
		"chunked":      {"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\n1\r\no\r\n1\r\nk\r\n0\r\nX: y\r\n\r\n|" + good},
		"closes":       {strings.Replace(good, "\r\n\r\n", "\r\nConnection: close\r\n\r\n", 1), good},
		"just goes":    {good, good},
		"without size": {"HTTP/1.0 200 OK\r\nContent-Type: text/plain\r\n\r\nok", good},
	} {
		t.Run(name, func(t *testing.T) {
			l := talk(t, texts...)
			defer l.close()
			for i := range 2 {
				r, err := l.send(t.Context(), Get("/"))
				if err != nil || r.Status != 200 || string(r.Body) != "ok" || r.Header[ContentType] != "text/plain" {
					t.Fatalf("request %d: %+v, %v", i, r, err)
				}
			}
		})
	}
	for want, text := range map[string]string{
		"malformed HTTP": "hello there\r\n\r\n",
		"the connection was closed before the answer was complete": "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nok",
	} {
		l := talk(t, text)
		_, err := l.send(t.Context(), Get("/"))
		if err == nil || !strings.Contains(errorText(err), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
		l.close()
	}
	l := talk(t, "…")
	l.limit = 50 * time.Millisecond
	if _, err := l.send(t.Context(), Get("/")); !isDeadline(err) || errorText(err) != "no answer in time" {
		t.Errorf("no answer: %v", err)
	}
	l.close()
	l = talk(t, "…")
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(20*time.Millisecond, cancel)
	if _, err := l.send(ctx, Get("/")); err == nil {
		t.Error("answered after the end")
	}
}

// A body of any length is read, and some of it kept.
func TestAskLong(t *testing.T) {
	body := strings.Repeat("x", maxBody+70000)
	l := talk(t, fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s|HTTP/1.1 204 No Content\r\n\r\n", len(body), body))
	defer l.close()
	if r, err := l.send(t.Context(), Get("/")); err != nil || len(r.Body) != maxBody {
		t.Errorf("%d bytes, %v", len(r.Body), err)
	}
	if r, err := l.send(t.Context(), Get("/")); err != nil || r.Status != 204 {
		t.Errorf("then %+v, %v", r, err)
	}
}

// A head without an end is refused, whatever it consists of, interim answers included.
// What was read before does not count.
func TestAskEndlessHead(t *testing.T) {
	for name, c := range map[string]struct{ start, rest string }{
		"status line":     {"HTTP/1.1 200 ", "O"},
		"field":           {"HTTP/1.1 200 OK\r\nA: ", "b"},
		"fields":          {"HTTP/1.1 200 OK\r\n", "A: b\r\n"},
		"interim answers": {"", "HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n"},
	} {
		t.Run(name, func(t *testing.T) {
			endless := c.start + strings.Repeat(c.rest, 8*load.MaxHead/len(c.rest))
			l := talk(t, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n|"+endless+"…")
			l.limit = 5 * time.Second
			defer l.close()
			if _, err := l.send(t.Context(), Get("/")); err != nil {
				t.Fatal(err)
			}
			if _, err := l.send(t.Context(), Get("/")); errorText(err) != "the head of the answer has more than 262144 bytes" {
				t.Errorf("an endless head: %v", err)
			}
		})
	}
	head := "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nA: "
	head += strings.Repeat("b", load.MaxHead-len(head)-len("\r\n\r\n")) + "\r\n\r\n"
	l := talk(t, head+"ok|"+head+"ok")
	defer l.close()
	for i := range 2 {
		if r, err := l.send(t.Context(), Get("/")); err != nil || string(r.Body) != "ok" {
			t.Errorf("the longest head, request %d: %+v, %v", i, r, err)
		}
	}
}

// How many processors the load generator could use is what it says itself, each
// time anew.
func TestCoresOfTheLoadGenerator(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("as many as there are")
	}
	t.Parallel()
	k := New()
	k.cores = func() cores { return cores{clients: 3, servers: 1} }
	b := &bench{t, k, opened(t, k, program("good"))}
	if _, err := b.Hello(t.Context(), "good", "1"); err != nil {
		t.Fatal(err)
	}
	for _, connections := range []int{1, 5, 2} {
		in := b.ready(b.input("get-7", tare.Traffic{Connections: connections}))
		b.visit(in.ID, 0, 50)
		if s, _ := b.Gauges(in.ID); s[tare.KeyClientCores] != float64(min(connections, 3)) { // a thread needs a connection
			t.Errorf("%v processors for %d connections", s[tare.KeyClientCores], connections)
		}
	}
}
