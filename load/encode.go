package load

import (
	"fmt"
	"net"
	"strconv"
	"strings"

	"github.com/tarebench/tare/load/h2"
)

// encoded is a request as it is sent.
type encoded struct {
	wire    []byte      // HTTP/2: what its header block begins with
	last    []byte      // HTTP/1.1: the same on the last request of a connection, where that is known before
	known   []*h2.Field // HTTP/2: of the block, what may be in the connection's table
	tail    []byte      // HTTP/2: what it ends with
	content []byte      // HTTP/2: of its DATA
	body    int         // bytes of the body
	status  int         // the only one that is no error; 0: any that is accepted
	items   int64       // in the body
	stream  bool        // gRPC: of any number of messages, either way
	head    bool        // HEAD: the answer has no body
	closes  bool        // it asks for the connection to be closed
	draws   []draw      // numbers that are written into it each time
}

// encode serialises every request. Where there is a last request of a
// connection, that one asks for the connection to be closed.
func encode(o Options, c counters) ([]encoded, error) {
	one := func(r Request) (encoded, error) { return encode1(o, r, c) }
	if o.Protocol == HTTP3 {
		one = func(r Request) (encoded, error) { return encode3(r, c) }
	} else if o.Protocol != HTTP1 {
		all := headsOf(o)
		one = func(r Request) (encoded, error) { return all.encode(r, c) }
	}
	out := make([]encoded, len(o.Requests))
	for i, r := range o.Requests {
		err := CheckRequest(r)
		var e encoded
		if err == nil {
			e, err = one(r)
		}
		if err != nil {
			return nil, fmt.Errorf("request %d: %w", i, err)
		}
		out[i] = e
	}
	return out, nil
}

// encode1 is a request as HTTP/1.1 sends it.
func encode1(o Options, r Request, c counters) (encoded, error) {
	path := r.Path
	if path == "" {
		path = "/"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s HTTP/1.1\r\n", r.Method, path)
	host, length, connection := field(r, "host"), field(r, "content-length"), field(r, "connection")
	if host == nil {
		fmt.Fprintf(&b, "Host: %s\r\n", o.Target.host())
	}
	for _, h := range r.Header {
		fmt.Fprintf(&b, "%s: %s\r\n", h[0], h[1])
	}
	if length == nil && hasLength(r) {
		fmt.Fprintf(&b, "Content-Length: %d\r\n", len(r.Body))
	}
	e := encoded{body: len(r.Body), status: r.Status, items: int64(r.Items), head: r.Method == "HEAD"}
	e.closes = connection != nil && asksToClose(*connection)
	e.wire = append([]byte(b.String()+"\r\n"), r.Body...)
	e.last = e.wire
	if o.PerConn > 0 && connection == nil {
		e.last = append([]byte(b.String()+"Connection: close\r\n\r\n"), r.Body...)
	}
	return e, e.fills(r, c, len(r.Method)+1, 0)
}

// encode3 is what numbers are written into of a request of HTTP/3, which others
// serialise: its path and its body.
func encode3(r Request, c counters) (encoded, error) {
	if err := checkFields2(r); err != nil {
		return encoded{}, err
	}
	e := encoded{body: len(r.Body), status: r.Status, items: int64(r.Items), head: r.Method == "HEAD", wire: []byte(r.Path), content: r.Body}
	return e, e.fills(r, c, 0, 0)
}

// hasLength reports whether a request says how long its body is.
func hasLength(r Request) bool {
	return len(r.Body) > 0 || r.Method == "POST" || r.Method == "PUT" || r.Method == "PATCH"
}

func asksToClose(connection string) bool {
	for option := range strings.SplitSeq(connection, ",") {
		if strings.EqualFold(strings.TrimSpace(option), "close") {
			return true
		}
	}
	return false
}

// host is what the Host field says where a request does not.
func (t Target) host() string {
	if t.Host != "" {
		return t.Host
	}
	return t.Addr
}

// field is the value of a field of a request, nil where it has none.
func field(r Request, name string) *string {
	for i, h := range r.Header {
		if strings.EqualFold(h[0], name) {
			return &r.Header[i][1]
		}
	}
	return nil
}

// CheckRequest refuses what could not be read as one request.
func CheckRequest(r Request) error {
	switch {
	case !token(r.Method):
		return fmt.Errorf("method %q is no method", r.Method)
	case r.Method == "CONNECT":
		return fmt.Errorf("method CONNECT makes a tunnel, not a request")
	case r.Path != "" && r.Path[0] != '/' && r.Path != "*":
		return fmt.Errorf("path %q does not begin with /", r.Path)
	}
	for i := range len(r.Path) {
		if c := r.Path[i]; c <= ' ' || c >= 0x7f {
			return fmt.Errorf("path %q is not escaped", r.Path)
		}
	}
	for _, h := range r.Header {
		if !token(h[0]) {
			return fmt.Errorf("header name %q is no name", h[0])
		}
		if strings.ContainsAny(h[1], "\r\n\x00") {
			return fmt.Errorf("header %s: the value %q is more than one line", h[0], h[1])
		}
	}
	switch {
	case r.Status != 0 && (r.Status < 200 || r.Status > 999):
		return fmt.Errorf("status %d: 200 to 999", r.Status)
	case r.Items < 0:
		return fmt.Errorf("%d items", r.Items)
	}
	if coding := field(r, "transfer-encoding"); coding != nil {
		return fmt.Errorf("header Transfer-Encoding: bodies are sent with Content-Length")
	}
	if length := field(r, "content-length"); length != nil && *length != strconv.Itoa(len(r.Body)) {
		return fmt.Errorf("header Content-Length says %s, the body has %d bytes", *length, len(r.Body))
	}
	return nil
}

func token(s string) bool {
	for i := range len(s) {
		if !isToken(s[i]) {
			return false
		}
	}
	return s != ""
}

// checkTarget refuses addresses that cannot be dialled and hosts that cannot
// be sent.
func checkTarget(t Target) error {
	_, port, err := net.SplitHostPort(t.Addr)
	if err != nil || port == "" {
		return fmt.Errorf("target address %q is not host:port", t.Addr)
	}
	if host := t.host(); strings.ContainsFunc(host, func(r rune) bool { return r <= ' ' || r >= 0x7f }) {
		return fmt.Errorf("target host %q cannot be sent", host)
	}
	return nil
}
