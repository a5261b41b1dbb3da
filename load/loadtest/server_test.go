package loadtest

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/tarebench/tare/internal/assert"
)

// get sends one request with the standard library's client, in the protocol of the server.
func get(t *testing.T, s *Server, method string) (status int, body string, err error) {
	t.Helper()
	tr := &http.Transport{TLSClientConfig: s.Client(), DisableKeepAlives: true}
	if s.options.HTTP2 {
		tr.Protocols, tr.DisableKeepAlives = new(http.Protocols), false
		tr.Protocols.SetHTTP2(true)
		tr.Protocols.SetUnencryptedHTTP2(true)
	}
	defer tr.CloseIdleConnections()
	url := "http://" + s.Addr()
	if s.Client() != nil {
		url = "https://" + s.Addr()
	}
	q, err := http.NewRequest(method, url, strings.NewReader("four"))
	assert.NoError(t, "request", err)
	limit := time.Minute
	if s.behaviour == Stall || s.behaviour == LongLength { // which never end
		limit = 200 * time.Millisecond
	}
	r, err := (&http.Client{Transport: tr, Timeout: limit}).Do(q)
	if err != nil {
		return 0, "", err
	}
	defer r.Body.Close()
	b, err := io.ReadAll(r.Body)
	return r.StatusCode, string(b), err
}

func TestBehaviours(t *testing.T) {
	const hello = "Hello, world!\n"
	for b, want := range map[Behaviour]struct {
		status int
		body   string
	}{
		Plain: {200, hello}, Split: {200, hello}, Bytes: {200, hello}, SlowBytes: {200, hello}, Slow: {200, hello}, Coalesced: {200, hello},
		Chunked: {200, hello}, Interim: {200, hello}, NoContent: {204, ""}, NotModified: {304, ""}, BigHead: {200, hello},
		UntilClose: {200, hello}, Announced: {200, hello}, Status: {404, hello}, Unannounced: {200, hello},
		ShortLength: {200, hello[:7]}, Twice: {200, hello},
		HangUp: {}, CloseMidway: {}, LongLength: {}, TwoLengths: {}, Reset: {}, ResetFirst: {}, Garbage: {}, Stall: {}, Refuse: {},
	} {
		for _, secure := range []bool{false, true} {
			s, err := Start(b, Options{TLS: secure})
			assert.NoError(t, string(b), err)
			status, body, err := get(t, s, "POST")
			if failed := err != nil; failed != (want.status == 0) {
				t.Errorf("%s, TLS %v: %d %q %v", b, secure, status, body, err)
			}
			if want.status != 0 && (status != want.status || body != want.body || s.BodyBytes() != 4 || s.Requests() != 1 || s.Accepted() != 1) {
				t.Errorf("%s, TLS %v: %d %q, %d bytes of %d requests on %d connections", b, secure, status, body, s.BodyBytes(), s.Requests(), s.Accepted())
			}
			s.Close()
			if s.Close(); s.Open() != 0 {
				t.Errorf("%s: %d connections are left", b, s.Open())
			}
		}
	}
}

func TestHead(t *testing.T) {
	for _, b := range []Behaviour{Plain, Chunked, Split} {
		s, err := Start(b, Options{})
		assert.NoError(t, string(b), err)
		status, body, err := get(t, s, "HEAD")
		s.Close()
		if err != nil || status != 200 || body != "" {
			t.Errorf("%s: %d %q %v", b, status, body, err)
		}
	}
}

// The same over HTTP/2, except for a 304 with a length, for whose body net/http waits.
func TestBehavioursOfHTTP2(t *testing.T) {
	const hello = "Hello, world!\n"
	for b, want := range map[Behaviour]struct {
		status int
		body   string
	}{
		Plain: {200, hello}, Split: {200, hello}, Bytes: {200, hello}, SlowBytes: {200, hello}, Slow: {200, hello}, Coalesced: {200, hello},
		Chunked: {200, hello}, Interim: {200, hello}, NoContent: {204, ""}, BigHead: {200, hello},
		Announced: {200, hello}, Status: {404, hello}, Unannounced: {200, hello},
		HangUp: {}, CloseMidway: {}, ShortLength: {}, LongLength: {}, Reset: {}, ResetFirst: {}, Garbage: {}, Stall: {}, Refuse: {},
	} {
		for _, secure := range []bool{false, true} {
			s, err := Start(b, Options{TLS: secure, HTTP2: true})
			assert.NoError(t, string(b), err)
			status, body, err := get(t, s, "POST")
			if failed := err != nil; failed != (want.status == 0) {
				t.Errorf("%s, TLS %v: %d %q %v", b, secure, status, body, err)
			}
			if want.status != 0 && (status != want.status || body != want.body || s.BodyBytes() != 4 || s.Requests() != 1 || s.Accepted() != 1) {
				t.Errorf("%s, TLS %v: %d %q, %d bytes of %d requests on %d connections", b, secure, status, body, s.BodyBytes(), s.Requests(), s.Accepted())
			}
			s.Close()
		}
	}
}

// Responses of gRPC are messages with a prefix, followed by trailers.
func TestGRPC(t *testing.T) {
	s, err := Start(Plain, Options{GRPC: true, Body: []byte("abc")})
	assert.NoError(t, "start", err)
	defer s.Close()
	status, body, err := get(t, s, "POST")
	assert.NoError(t, "get", err)
	assert.Equal(t, "status", status, 200)
	assert.Equal(t, "body", body, "\x00\x00\x00\x00\x03abc")
}
