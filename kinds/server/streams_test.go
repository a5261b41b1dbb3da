package server

import (
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/tarebench/tare/load"
)

// inPlainText serves HTTP/2 with prior knowledge.
func inPlainText(t *testing.T, h http.HandlerFunc) load.Target {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &http.Server{Handler: h, Protocols: new(http.Protocols)}
	s.Protocols.SetUnencryptedHTTP2(true)
	over := make(chan struct{})
	go func() {
		defer close(over)
		_ = s.Serve(l)
	}()
	t.Cleanup(func() {
		_ = s.Close()
		<-over
	})
	return load.Target{Addr: l.Addr().String()}
}

func TestStreams(t *testing.T) {
	target := inPlainText(t, func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		if r.ProtoMajor != 2 || r.URL.RawQuery != "a=b" || r.Header.Get("X-Case") != "7" {
			t.Errorf("asked %s %s %v", r.Proto, r.URL, r.Header)
		}
		w.Header().Set(ContentType, "Text/Plain; charset=utf-8")
		w.WriteHeader(http.StatusAccepted)
		_, _ = w.Write(body)
	})
	s := newHTTP2Sender(target, "/in", 5*time.Second, false)
	defer s.close()
	for range 3 {
		r, err := s.send(t.Context(), Request{Method: "PUT", Path: "/x?a=b", Header: map[string]string{"X-Case": "7"}, Body: []byte("hello")})
		if err != nil || r.Status != http.StatusAccepted || string(r.Body) != "hello" || r.Header[ContentType] != TypeText {
			t.Errorf("%+v, %v", r, err)
		}
	}
}

// The head of an answer over HTTP/2 has the bound of one over HTTP/1.1.
func TestLongHeadOfStreams(t *testing.T) {
	target := inPlainText(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Long", strings.Repeat("x", 2*load.MaxHead))
	})
	s := newHTTP2Sender(target, "", 5*time.Second, false)
	defer s.close()
	if r, err := s.send(t.Context(), Get("/")); err == nil {
		t.Errorf("status %d of an answer whose head is too long", r.Status)
	}
}

// The status of gRPC is at the end, or in the head of an answer that is nothing
// else, or the answer is none.
func TestStatusOfGRPC(t *testing.T) {
	target := inPlainText(t, func(w http.ResponseWriter, r *http.Request) {
		got, err := io.ReadAll(r.Body)
		if err != nil || string(got) != "\x00\x00\x00\x00\x02ab" {
			t.Errorf("asked %q, %v", got, err)
		}
		w.Header().Set(ContentType, "application/grpc")
		body := "\x00\x00\x00\x00\x01x"
		switch r.URL.Path {
		case "/unavailable":
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		case "/refused in the head":
			w.Header().Set("Grpc-Status", "6")
			return
		case "/nothing at the end":
		case "/no number":
			w.Header().Set(http.TrailerPrefix+"Grpc-Status", "ok")
		case "/compressed":
			body = "\x01" + body[1:]
			fallthrough
		case "/good":
			w.Header().Set(http.TrailerPrefix+"Grpc-Status", "0")
		case "/refused":
			body = ""
			w.Header().Set(http.TrailerPrefix+"Grpc-Status", "5")
			w.(http.Flusher).Flush()
		}
		_, _ = io.WriteString(w, body)
	})
	s := newHTTP2Sender(target, "", 5*time.Second, true)
	defer s.close()
	for path, want := range map[string]struct {
		status int
		told   string
		err    string
	}{
		"/good":                {200, "0", ""},
		"/refused":             {404, "5", ""},
		"/refused in the head": {409, "6", ""},
		"/unavailable":         {503, "", ""},
		"/nothing at the end":  {0, "", "ends without a status"},
		"/no number":           {0, "", `"ok" is no status`},
		"/compressed":          {0, "", "compressed"},
	} {
		r, err := s.send(t.Context(), Request{Method: "POST", Path: strings.ReplaceAll(path, " ", "%20"), Body: []byte("ab")})
		if want.err != "" {
			if err == nil || !strings.Contains(err.Error(), want.err) {
				t.Errorf("%s: %+v, %v, want %q", path, r, err, want.err)
			}
			continue
		}
		if err != nil || r.Status != want.status || r.Header[GRPCStatus] != want.told {
			t.Errorf("%s: %+v, %v", path, r, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.send(ctx, Request{Method: "POST", Path: "/good"}); err == nil {
		t.Error("it was asked after the end")
	}
}

func TestStatusesOfGRPC(t *testing.T) {
	var got []int
	for code := range 18 {
		got = append(got, httpStatusOf(code))
	}
	want := []int{200, 499, 500, 400, 504, 404, 409, 403, 429, 400, 409, 400, 501, 500, 503, 500, 401, 500}
	for code := range want {
		if got[code] != want[code] {
			t.Errorf("%d is %d, want %d", code, got[code], want[code])
		}
	}
}

func TestFill(t *testing.T) {
	from := fillCounters{}
	q := Request{Path: "/users/000000000/x", Body: []byte("e00000@b \x80\x80\x80\x80\x00."), Fill: []load.Fill{
		{At: 7, Width: 9, Counter: "a", Add: 300_000_000},
		{Body: true, At: 1, Width: 5, Counter: "b", Step: true},
		{Body: true, At: 9, Width: 5, Varint: true, Counter: "a", Add: 300_000_000, Step: true},
	}}
	for i, want := range []string{
		"/users/300000000/x e00000@b \x80\xc6\x86\x8f\x01.",
		"/users/300000001/x e00001@b \x81\xc6\x86\x8f\x01.",
		"/users/300000002/x e00002@b \x82\xc6\x86\x8f\x01.",
	} {
		got := from.fillRequest(q)
		if text := got.Path + " " + string(got.Body); text != want || got.Fill != nil {
			t.Errorf("%d: %q, want %q", i, text, want)
		}
	}
	if string(q.Body[:6]) != "e00000" || q.Path != "/users/000000000/x" {
		t.Error("the request itself was written to")
	}
}
