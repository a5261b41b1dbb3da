package router

import (
	"bufio"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/tarebench/tare/contender"
	"github.com/tarebench/tare/contender/wire"
)

// parts is a stack whose server writes each answer in the given pieces, and
// closes the connection after an empty one.
type parts []string

func (p parts) loadRequest(wire.HTTPRequest) (Prepared, error) {
	return Prepared{}, contender.ErrUnsupported
}

func (p parts) startServer(l net.Listener) (func(), error) {
	serve := func(l net.Listener) error {
		conn, err := l.Accept()
		if err != nil {
			return err
		}
		defer conn.Close()
		for r := bufio.NewReader(conn); ; {
			q, err := http.ReadRequest(r)
			if err != nil {
				return err
			}
			_, _ = io.Copy(io.Discard, q.Body)
			for _, piece := range p {
				if piece == "" {
					return nil
				}
				if _, err := io.WriteString(conn, piece); err != nil {
					return err
				}
				time.Sleep(time.Millisecond) // the next piece is a packet of its own
			}
		}
	}
	return serveUntil(serve, l, func() { _ = l.Close() }), nil
}

func exchangeWith(t *testing.T, s stack) contender.Work {
	t.Helper()
	x, err := dialServer(s)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(x.close)
	w, err := x.newWork(Spec{calls: new(int64)}, []wire.HTTPRequest{{Method: "GET", Path: "/"}, {Method: "POST", Path: "/", Body: []byte("hello")}})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func TestAnswersInPieces(t *testing.T) {
	long := strings.Repeat("long ", 20000)
	for name, c := range map[string]struct {
		pieces parts
		status int
		body   string
	}{
		"whole":           {parts{"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n1 a"}, 200, "1 a"},
		"three":           {parts{"HTTP/1.1 200 O", "K\r\ncontent-length:3\r\nX: y\r\n\r", "\n1 a"}, 200, "1 a"},
		"empty":           {parts{"HTTP/1.1 200 OK\r\nCONTENT-LENGTH: 0 \r\n\r\n"}, 200, ""},
		"refusal":         {parts{"HTTP/1.1 404 Not Found\r\nContent-Length: 2\r\n\r\n", "no"}, 404, "no"},
		"long":            {parts{"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n", long}, 200, long},
		"header in value": {parts{"HTTP/1.1 200 OK\r\nX: content-length: 7\r\nContent-Length: 1\r\n\r\n0"}, 200, "0"},
	} {
		w := exchangeWith(t, c.pieces)
		for i := range 2 {
			n, err := w.Do(i)
			if n != len(c.body) || (err == nil) != (c.status == 200) {
				t.Errorf("%s: %d bytes, %v", name, n, err)
			}
		}
		out, err := w.Answer(1)
		var a Answer
		if err != nil || json.Unmarshal(out.Output, &a) != nil || a.Status != c.status || string(a.Body) != c.body || out.Size != int64(len(c.body)) {
			t.Errorf("%s: %+v, %v", name, a, err)
		}
	}
}

func TestBrokenAnswers(t *testing.T) {
	for name, c := range map[string]struct {
		pieces parts
		want   string
	}{
		"closed":     {parts{""}, "read the answer: EOF"},
		"cut":        {parts{"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n1 a", ""}, "read the answer: EOF"},
		"garbage":    {parts{"hello, world\r\n\r\n"}, "no answer in HTTP/1"},
		"no status":  {parts{"HTTP/1.1 abc\r\n\r\n"}, "no status in"},
		"no length":  {parts{"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"}, "does not say how long it is"},
		"bad length": {parts{"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n"}, "no valid length"},
		"huge":       {parts{"HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\n"}, "no valid length"},
		"too much":   {parts{"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n0HTTP/1.1"}, "8 bytes after the answer"},
		"no end":     {parts{strings.Repeat("x", 2<<20)}, "more than a megabyte"},
	} {
		w := exchangeWith(t, c.pieces)
		if _, err := w.Do(0); err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
		if _, err := exchangeWith(t, c.pieces).Answer(0); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: answer: %v, want %q", name, err, c.want)
		}
	}
}

func TestRequestBytes(t *testing.T) {
	for want, q := range map[string]wire.HTTPRequest{
		"GET /a?b=c HTTP/1.1\r\nHost: localhost\r\nAccept: */*\r\nX: y\r\n\r\n": {Method: "GET", Path: "/a?b=c", Header: map[string]string{"X": "y", "Accept": "*/*", "Host": "elsewhere", "content-length": "7"}},
		"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n{}":     {Method: "POST", Path: "/", Body: []byte("{}")},
		"DELETE / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n":     {Method: "DELETE", Path: "/"},
	} {
		if got := string(formatRequest(q)); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// FuzzHead: whatever a server sends, the length is one that was written there.
func FuzzHead(f *testing.F) {
	for _, seed := range []string{"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n", "HTTP/1.0 404\r\ncontent-length:0\r\n", "HTTP/1.1 200 OK\r\n", "HTTP/1.1 2", "\n", ""} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, head []byte) {
		_, length, err := parseHead(head)
		if err == nil && (length < 0 || length > 11*maxAnswer) {
			t.Errorf("length %d", length)
		}
		if err == nil && !strings.Contains(strings.ToLower(string(head)), "content-length:") {
			t.Errorf("a length of %d out of nothing", length)
		}
	})
}
