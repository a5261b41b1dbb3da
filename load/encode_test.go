package load

import (
	"bufio"
	"bytes"
	"io"
	"net/http"
	"testing"

	"github.com/tarebench/tare/internal/assert"
)

func TestEncode(t *testing.T) {
	target := Target{Addr: "127.0.0.1:8080"}
	for name, c := range map[string]struct {
		target Target
		r      Request
		want   string
		last   string // empty: as want
	}{
		"plain": {target, Request{Method: "GET", Path: "/a?b=c"},
			"GET /a?b=c HTTP/1.1\r\nHost: 127.0.0.1:8080\r\n\r\n", "GET /a?b=c HTTP/1.1\r\nHost: 127.0.0.1:8080\r\nConnection: close\r\n\r\n"},
		"no path":  {Target{Addr: "[::1]:80", Host: "example.org"}, Request{Method: "GET"}, "GET / HTTP/1.1\r\nHost: example.org\r\n\r\n", "GET / HTTP/1.1\r\nHost: example.org\r\nConnection: close\r\n\r\n"},
		"own host": {target, Request{Method: "GET", Header: [][2]string{{"X", "y"}, {"host", "h"}}}, "GET / HTTP/1.1\r\nX: y\r\nhost: h\r\n\r\n", "GET / HTTP/1.1\r\nX: y\r\nhost: h\r\nConnection: close\r\n\r\n"},
		"body": {target, Request{Method: "POST", Path: "/p", Body: []byte("ab")},
			"POST /p HTTP/1.1\r\nHost: 127.0.0.1:8080\r\nContent-Length: 2\r\n\r\nab", "POST /p HTTP/1.1\r\nHost: 127.0.0.1:8080\r\nContent-Length: 2\r\nConnection: close\r\n\r\nab"},
		"no body": {target, Request{Method: "PUT", Path: "/p"},
			"PUT /p HTTP/1.1\r\nHost: 127.0.0.1:8080\r\nContent-Length: 0\r\n\r\n", "PUT /p HTTP/1.1\r\nHost: 127.0.0.1:8080\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"},
		"own length and connection": {target, Request{Method: "POST", Header: [][2]string{{"content-length", "1"}, {"Connection", "keep-alive"}}, Body: []byte("a")},
			"POST / HTTP/1.1\r\nHost: 127.0.0.1:8080\r\ncontent-length: 1\r\nConnection: keep-alive\r\n\r\na", ""},
	} {
		e, err := encodeRequests(Options{Target: c.target, Requests: []Request{c.r}, PerConn: 1}, nil)
		assert.NoError(t, name, err)
		assert.Equal(t, name, string(e[0].wire), c.want)
		if c.last == "" {
			c.last = c.want
		}
		assert.Equal(t, name+", last", string(e[0].last), c.last)
		assert.Equal(t, name+", body", e[0].body, len(c.r.Body))
		for _, wire := range [][]byte{e[0].wire, e[0].last} {
			r, err := http.ReadRequest(bufio.NewReader(bytes.NewReader(wire)))
			assert.NoError(t, name, err)
			body, err := io.ReadAll(r.Body)
			assert.NoError(t, name, err)
			assert.Equal(t, name+", body read", string(body), string(c.r.Body))
		}
	}
	e, err := encodeRequests(Options{Target: target, Requests: []Request{{Method: "HEAD", Header: [][2]string{{"Connection", "x, Close"}}}}}, nil)
	assert.NoError(t, "HEAD", err)
	assert.Equal(t, "head", e[0].head, true)
	assert.Equal(t, "closes", e[0].closes, true)
}

func TestEncodeRefuses(t *testing.T) {
	for want, r := range map[string]Request{
		"method \"\" is no method":          {Path: "/"},
		"method \"GE T\" is no method":      {Method: "GE T"},
		"method CONNECT":                    {Method: "CONNECT"},
		"does not begin with /":             {Method: "GET", Path: "http://x/"},
		"\"/a b\" is not escaped":           {Method: "GET", Path: "/a b"},
		"\"/\\r\\n\" is not escaped":        {Method: "GET", Path: "/\r\n"},
		"\"/\u00e9\" is not escaped":        {Method: "GET", Path: "/\u00e9"},
		"header name \"a b\"":               {Method: "GET", Header: [][2]string{{"a b", ""}}},
		"header name \"\"":                  {Method: "GET", Header: [][2]string{{"", ""}}},
		"more than one line":                {Method: "GET", Header: [][2]string{{"a", "b\r\nc: d"}}},
		"bodies are sent with Content-Leng": {Method: "POST", Header: [][2]string{{"Transfer-Encoding", "chunked"}}},
		"status 99: 200 to 999":             {Method: "GET", Status: 99},
		"status 1000":                       {Method: "GET", Status: 1000},
		"-1 items":                          {Method: "GET", Items: -1},
		"is 5, the body has 2":              {Method: "POST", Header: [][2]string{{"Content-Length", "5"}}, Body: []byte("ab")},
	} {
		_, err := encodeRequests(Options{Target: Target{Addr: "x:1"}, Requests: []Request{{Method: "GET"}, r}}, nil)
		assert.ErrorContains(t, want, err, want)
		assert.ErrorContains(t, want, err, "request 1: ")
	}
}
