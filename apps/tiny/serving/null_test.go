package serving

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/tarebench/tare/apps/tiny"
	"github.com/tarebench/tare/contender/server"
)

// TestNullServesTiny: it answers as the app says, over one connection.
func TestNullServesTiny(t *testing.T) {
	opened, err := Null().New().Open(true)
	if err != nil {
		t.Fatal(err)
	}
	s, err := opened.Make(server.Options{})
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
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(20 * time.Second)); err != nil {
		t.Fatal(err)
	}
	in := bufio.NewReader(conn)
	for _, q := range [][2]string{
		{"GET", "/v1/id/7"}, {"HEAD", "/v1/id/7"}, {"GET", "/v1/id/a-b_c.d~e"}, {"GET", "/v1/id/" + strings.Repeat("x", 3000)}, {"GET", "/v1/id/a+b"}, {"GET", "/v1/id/a;b"},
		{"GET", "/v1/id/7?x=/y"}, {"GET", "/v1/id/a%20b"}, {"GET", "/v1/id/100%25"}, {"GET", "/v1/id/%2525"}, {"GET", "/v1/id/caf%c3%a9"}, {"GET", "/v1/id/%22%5C"},
		{"GET", "/v1/id/%3Cb%3E%26"}, {"GET", "/v1/id/%FF"}, {"GET", "/v1/id/a%2Fb"}, {"GET", "/v1/id/%zz"}, {"GET", "/health"}, {"GET", "/health?x"},
		{"POST", "/v1/id/7"}, {"DELETE", "/v1/id/7"}, {"BREW", "/v1/id/7"}, {"PUT", "/health"},
		{"GET", "/"}, {"GET", "/v1/id/"}, {"GET", "/v1/id"}, {"GET", "/v1/id/a/b"}, {"GET", "/v1/id/a/"}, {"POST", "/v1/id/"}, {"GET", "/healthy"}, {"OPTIONS", "*"},
		{"GET", "http://x/v1/id/1"}, {"GET", "http://x"},
	} {
		fmt.Fprintf(conn, "%s %s HTTP/1.1\r\nHost: x\r\n\r\n", q[0], q[1])
		r, err := http.ReadResponse(in, &http.Request{Method: q[0]})
		if err != nil {
			t.Fatalf("%v: %v", q, err)
		}
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Fatalf("%v: %v", q, err)
		}
		status, kind, want := tiny.Answer(q[0], strings.TrimPrefix(q[1], "http://x"))
		if q[0] == "HEAD" {
			want = nil
		}
		if r.StatusCode != status || status == 200 && (r.Header.Get("Content-Type") != kind || string(body) != string(want)) {
			t.Errorf("%v: %d %q %q, want %d %q %q", q, r.StatusCode, r.Header.Get("Content-Type"), body, status, kind, want)
		}
		if status == 405 && r.Header.Get("Allow") == "" {
			t.Errorf("%v: no Allow", q)
		}
	}
	if err := s.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
	if err := <-served; err != nil {
		t.Error(err)
	}
}

// TestNullAllocatesNothing: answering does not allocate.
func TestNullAllocatesNothing(t *testing.T) {
	q := server.Request{Method: []byte("GET"), Target: []byte("/v1/id/12345678")}
	out := make([]byte, 0, 1<<10)
	if n := testing.AllocsPerRun(100, func() { out = appendResponse(out[:0], &q, "") }); n != 0 {
		t.Errorf("%v allocations", n)
	}
	if !bytes.HasSuffix(out, []byte("\r\n\r\n{\"id\":\"12345678\"}\n")) {
		t.Errorf("%q", out)
	}
}
