package server

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// up serves an app on a loopback address until the test ends.
func up(t testing.TB, app Make, o Options) (Server, string) {
	t.Helper()
	s, err := app(o)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- s.Serve(l) }()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		if err := s.Shutdown(ctx); err != nil {
			t.Errorf("shutdown: %v", err)
		}
		if err := <-served; err != nil && err != http.ErrServerClosed {
			t.Errorf("serve: %v", err)
		}
	})
	return s, l.Addr().String()
}

func connect(t testing.TB, addr string) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	if err := conn.SetDeadline(time.Now().Add(20 * time.Second)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return conn
}

// answered is a response in one line: status, type and body.
func answered(t testing.TB, in *bufio.Reader, method string) string {
	t.Helper()
	r, err := http.ReadResponse(in, &http.Request{Method: method})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	body, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimRight(fmt.Sprintf("%d %s %s %t", r.StatusCode, r.Header.Get("Content-Type"), body, r.Close), " ")
}

// echo answers with what it was asked.
func echo(dst []byte, q *Request, extra string) []byte {
	said := strings.TrimSpace(fmt.Sprintf("%s %s %s %s", q.Method, q.Target, q.ID, q.Body))
	if q.TooLong {
		said += " too long"
	}
	return Reply(dst, q, fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: %d\r\n", len(said)), extra, said)
}

// TestNullKeepsBodies: a body comes with its request, whatever reads it end in, and
// one that is too long ends the connection.
func TestNullKeepsBodies(t *testing.T) {
	long := strings.Repeat("b", 9000)
	chunks := "Transfer-Encoding: chunked\r\n\r\n"
	for name, tt := range map[string]struct{ sent, want string }{
		"length":   {"PUT /a HTTP/1.1\r\nHost: x\r\nX-Request-Id: me\r\nContent-Length: 3\r\n\r\nabc", "200 text/plain PUT /a me abc false"},
		"many":     {"PUT /a HTTP/1.1\r\nHost: x\r\nX-Request-Id: me\r\nContent-Length: 9000\r\n\r\n" + long, "200 text/plain PUT /a me " + long + " false"},
		"chunks":   {"PUT /a HTTP/1.1\r\nHost: x\r\n" + chunks + "2\r\nab\r\n1\r\nc\r\n0\r\n\r\n", "200 text/plain PUT /a  abc false"},
		"too long": {"PUT /a HTTP/1.1\r\nHost: x\r\nContent-Length: 9001\r\n\r\n" + long + "b", "200 text/plain PUT /a too long true"},
		"too many": {"PUT /a HTTP/1.1\r\nHost: x\r\n" + chunks + "1\r\nb\r\n2328\r\n" + long + "\r\n0\r\n\r\n", "200 text/plain PUT /a too long true"},
	} {
		counts := &Receipts{}
		_, addr := up(t, Null{Answer: echo, MaxBody: 9000}.Serve, Options{Receipts: counts})
		conn := connect(t, addr)
		in := bufio.NewReader(conn)
		for range 2 {
			io.WriteString(conn, tt.sent)
			if got := answered(t, in, "PUT"); got != tt.want {
				t.Errorf("%s: %.60q, want %.60q", name, got, tt.want)
			}
			if strings.HasSuffix(tt.want, "true") {
				break
			}
		}
	}
}

// TestNullHandsOver: a connection that begins as those of HTTP/2 do is another's,
// from its first byte, and ends with the server while it waits.
func TestNullHandsOver(t *testing.T) {
	ended := make(chan error, 1)
	s, addr := up(t, Null{Answer: echo, HTTP2: func(c *Conn) {
		preface := make([]byte, 24)
		_, err := io.ReadFull(c, preface)
		if err == nil {
			c.Write(preface)
			_, err = c.Await(preface)
		}
		ended <- err
	}}.Serve, Options{})
	plain, conn := connect(t, addr), connect(t, addr)
	io.WriteString(plain, "GET /a HTTP/1.1\r\nHost: x\r\n\r\n")
	if got := answered(t, bufio.NewReader(plain), "GET"); got != "200 text/plain GET /a false" {
		t.Errorf("%q", got)
	}
	const preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
	io.WriteString(conn, preface)
	got := make([]byte, len(preface))
	if _, err := io.ReadFull(conn, got); err != nil || string(got) != preface {
		t.Errorf("%q, %v", got, err)
	}
	if err := s.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
	if err := <-ended; err != errEnds {
		t.Error(err)
	}
}

// TestNullFrames: requests are found wherever reads end, bodies are skipped and
// counted, and a connection lives as long as its client says.
func TestNullFrames(t *testing.T) {
	for name, tt := range map[string]struct {
		sent string
		want []string // method, then status, type, body, whether it closes
		body int64
	}{
		"two at once":      {"GET /v1/id/1 HTTP/1.1\r\nHost: x\r\n\r\nGET /v1/id/2 HTTP/1.1\r\nHost: x\r\n\r\n", []string{"GET 200 text/plain GET /v1/id/1 false", "GET 200 text/plain GET /v1/id/2 false"}, 0},
		"head":             {"HEAD /v1/id/1 HTTP/1.1\r\nHost: x\r\n\r\nHEAD /x HTTP/1.1\r\nHost: x\r\n\r\nGET /health HTTP/1.1\r\nHost: x\r\n\r\n", []string{"HEAD 200 text/plain  false", "HEAD 200 text/plain  false", "GET 200 text/plain GET /health false"}, 0},
		"body":             {"POST /v1/id/1 HTTP/1.1\r\nhost:x\r\ncontent-length: 5 \r\n\r\nGET /GET /health HTTP/1.1\r\nHost: x\r\n\r\n", []string{"POST 200 text/plain POST /v1/id/1 false", "GET 200 text/plain GET /health false"}, 5},
		"no body":          {"POST /v1/id/1 HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n", []string{"POST 200 text/plain POST /v1/id/1 false"}, 0},
		"chunks":           {"POST /v1/id/1 HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: Chunked\r\n\r\n3;x=y\r\nabc\r\nA \r\n0123456789\r\n0\r\nTrailer: x\r\n\r\nGET /health HTTP/1.1\r\nHost: x\r\n\r\n", []string{"POST 200 text/plain POST /v1/id/1 false", "GET 200 text/plain GET /health false"}, 13},
		"no chunks":        {"POST /health HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /health HTTP/1.1\r\nHost: x\r\n\r\n", []string{"POST 200 text/plain POST /health false", "GET 200 text/plain GET /health false"}, 0},
		"close":            {"GET /health HTTP/1.1\r\nHost: x\r\nConnection: foo, Close\r\n\r\nGET /health HTTP/1.1\r\nHost: x\r\n\r\n", []string{"GET 200 text/plain GET /health true"}, 0},
		"1.0":              {"GET /health HTTP/1.0\r\n\r\nGET /health HTTP/1.0\r\n\r\n", []string{"GET 200 text/plain GET /health true"}, 0},
		"1.0 keeps":        {"GET /health HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\nGET /v1/id/1 HTTP/1.0\r\n\r\n", []string{"GET 200 text/plain GET /health false", "GET 200 text/plain GET /v1/id/1 true"}, 0},
		"absolute":         {"GET http://x/v1/id/1 HTTP/1.1\r\nHost: x\r\n\r\nGET http://x HTTP/1.1\r\nHost: x\r\n\r\n", []string{"GET 200 text/plain GET http://x/v1/id/1 false", "GET 200 text/plain GET http://x false"}, 0},
		"long head":        {"GET /health HTTP/1.1\r\nHost: x\r\nCookie: " + strings.Repeat("c", 20_000) + "\r\n\r\nGET /health HTTP/1.1\r\nHost: x\r\n\r\n", []string{"GET 200 text/plain GET /health false", "GET 200 text/plain GET /health false"}, 0},
		"too long head":    {"GET /health HTTP/1.1\r\nHost: x\r\nCookie: " + strings.Repeat("c", 70_000), []string{"GET 431   true"}, 0},
		"no host":          {"GET /health HTTP/1.1\r\n\r\n", []string{"GET 400   true"}, 0},
		"two hosts":        {"GET /health HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n", []string{"GET 400   true"}, 0},
		"two lengths":      {"POST /health HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\n1", []string{"GET 400   true"}, 0},
		"signed length":    {"POST /health HTTP/1.1\r\nHost: x\r\nContent-Length: +1\r\n\r\n1", []string{"GET 400   true"}, 0},
		"length and chunk": {"POST /health HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n1", []string{"GET 400   true"}, 0},
		"other coding":     {"POST /health HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip, chunked\r\n\r\n", []string{"GET 501   true"}, 0},
		"other version":    {"GET /health HTTP/2.0\r\nHost: x\r\n\r\n", []string{"GET 505   true"}, 0},
		"no version":       {"GET /health\r\nHost: x\r\n\r\n", []string{"GET 400   true"}, 0},
		"two blanks":       {"GET  /health HTTP/1.1\r\nHost: x\r\n\r\n", []string{"GET 400   true"}, 0},
		"blank in a name":  {"GET /health HTTP/1.1\r\nHost : x\r\n\r\n", []string{"GET 400   true"}, 0},
		"folded":           {"GET /health HTTP/1.1\r\nHost: x\r\n y\r\n\r\n", []string{"GET 400   true"}, 0},
		"bare line feed":   {"GET /health HTTP/1.1\nHost: x\r\n\r\n", []string{"GET 400   true"}, 0},
		"bad chunk":        {"POST /health HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n-1\r\n", []string{"GET 400   true"}, 0},
		"chunk too long":   {"POST /health HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nab\r\n", []string{"GET 400   true"}, 0},
		"endless size":     {"POST /health HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n" + strings.Repeat("0", 5000), []string{"GET 400   true"}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			counts := &Receipts{}
			_, addr := up(t, Null{Answer: echo}.Serve, Options{Receipts: counts})
			for _, step := range []int{len(tt.sent), 1 + len(tt.sent)/40} {
				conn := connect(t, addr)
				go func() {
					for rest := tt.sent; rest != ""; {
						n := min(step, len(rest))
						if _, err := io.WriteString(conn, rest[:n]); err != nil {
							return // refused meanwhile
						}
						rest = rest[n:]
					}
				}()
				in := bufio.NewReader(conn)
				for _, want := range tt.want {
					method, want, _ := strings.Cut(want, " ")
					if got := strings.ReplaceAll(answered(t, in, method), "\n", ""); got != want {
						t.Errorf("in steps of %d: %q, want %q", step, got, want)
					}
				}
			}
			c := counts.readCounts()
			if good := int64(2 * len(tt.want)); !strings.HasPrefix(tt.want[0], "GET 4") && !strings.HasPrefix(tt.want[0], "GET 5") && (c.Requests != good || c.BodyBytes != 2*tt.body) {
				t.Errorf("%+v counted, sent were %d requests with %d bytes", c, good, 2*tt.body)
			}
		})
	}
}

func TestNullContinues(t *testing.T) {
	_, addr := up(t, Null{Answer: Anything}.Serve, Options{})
	conn := connect(t, addr)
	in := bufio.NewReader(conn)
	io.WriteString(conn, "PUT /anything HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n")
	if got := answered(t, in, "PUT"); got != "100   false" {
		t.Errorf("before the body: %q", got)
	}
	io.WriteString(conn, "abc")
	if got := answered(t, in, "PUT"); got != "200 text/plain ok\n false" {
		t.Errorf("after the body: %q", got)
	}
}

func TestNullShutdown(t *testing.T) {
	s, err := Null{Answer: Anything}.Serve(Options{})
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- s.Serve(l) }()
	fresh, idle, half := connect(t, l.Addr().String()), connect(t, l.Addr().String()), connect(t, l.Addr().String())
	io.WriteString(idle, "GET /health HTTP/1.1\r\nHost: x\r\n\r\n")
	io.WriteString(half, "GET /health HTTP/1.1\r\nHost: x\r\n\r\nGET /hea")
	for _, conn := range []net.Conn{idle, half} {
		if got := answered(t, bufio.NewReader(conn), "GET"); got != "200 text/plain ok\n false" {
			t.Errorf("%q", got)
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if err := s.Shutdown(ctx); err != nil {
		t.Error(err)
	}
	if err := <-served; err != nil {
		t.Error(err)
	}
	for name, conn := range map[string]net.Conn{"fresh": fresh, "idle": idle, "half": half} {
		if n, err := conn.Read(make([]byte, 1)); n != 0 || err == nil {
			t.Errorf("%s: still open", name)
		}
	}
	if conn, err := net.Dial("tcp", l.Addr().String()); err == nil {
		conn.Close()
		t.Error("it still listens")
	}
	if err := s.Serve(l); err != nil {
		t.Errorf("Serve after Shutdown: %v", err)
	}
}

// FuzzHead: what is taken for a request is one to net/http too, and the same.
func FuzzHead(f *testing.F) {
	f.Add("GET /v1/id/7?a HTTP/1.1\r\nHost: x\r\nConnection: close, keep-alive\r\n")
	f.Add("POST http://x/y HTTP/1.0\r\nContent-Length: 12\r\nExpect: 100-continue\r\n")
	f.Add("PUT * HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nA:\r\n")
	f.Fuzz(func(t *testing.T, block string) {
		if strings.Contains(block, "\r\n\r\n") || !strings.HasSuffix(block, "\r\n") {
			return // never comes
		}
		q, err := parseHead([]byte(block))
		if err != nil {
			return
		}
		r, err := http.ReadRequest(bufio.NewReader(strings.NewReader(block + "\r\n")))
		if err != nil {
			if strings.Contains(err.Error(), "invalid URI") || strings.Contains(err.Error(), "parse ") || strings.Contains(err.Error(), "malformed") {
				return // ids are decoded later; values of headers nobody reads
			}
			t.Fatalf("%q: net/http refuses it: %v", block, err)
		}
		want := r.ContentLength
		if len(r.TransferEncoding) == 0 && want < 0 {
			want = 0
		}
		if r.Method != string(q.Method) || r.RequestURI != string(q.Target) || want != q.length || r.ProtoAtLeast(1, 1) == q.http10 {
			t.Errorf("%q: %s %s, body of %d; net/http: %s %s, %d", block, q.Method, q.Target, q.length, r.Method, r.RequestURI, want)
		}
	})
}
