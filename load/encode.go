package load

import (
	"fmt"
	"net"
	"strconv"
	"strings"

	"github.com/tarebench/tare/load/h2"
)

type encodedRequest struct {
	wire    []byte      // HTTP/1.1, HTTP/3: the complete request; HTTP/2: start of the header block
	last    []byte      // HTTP/1.1: wire as the last request of a connection
	known   []*h2.Field // HTTP/2: fields that may be in the connection's dynamic table
	tail    []byte
	content []byte
	body    int // length in bytes
	status  int // the only correct status; 0 means any that Accept accepts
	items   int64
	stream  bool // gRPC: any number of messages in both directions
	head    bool // HEAD: the response has no body
	closes  bool
	draws   []draw // numbers to write into the request
}

// encodeRequests serialises every request for the protocol of o. c has the counters whose numbers requests
// contain.
func encodeRequests(o Options, c counters) ([]encodedRequest, error) {
	var encode func(r Request) (encodedRequest, error)
	if o.Protocol == HTTP1 {
		encode = func(r Request) (encodedRequest, error) { return encodeHTTP1(o, r, c) }
	} else if heads := newRequestHeads(o); o.Protocol == HTTP3 {
		encode = func(r Request) (encodedRequest, error) { return heads.encodeHTTP3(r, c) }
	} else {
		encode = func(r Request) (encodedRequest, error) { return heads.encodeRequest(r, c) }
	}
	out := make([]encodedRequest, len(o.Requests))
	for i, r := range o.Requests {
		err := CheckRequest(r)
		var e encodedRequest
		if err == nil {
			e, err = encode(r)
		}
		if err != nil {
			return nil, fmt.Errorf("request %d: %w", i, err)
		}
		out[i] = e
	}
	return out, nil
}

func encodeHTTP1(o Options, r Request, c counters) (encodedRequest, error) {
	path := r.Path
	if path == "" {
		path = "/"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s HTTP/1.1\r\n", r.Method, path)
	host, length, connection := findField(r, "host"), findField(r, "content-length"), findField(r, "connection")
	if host == nil {
		fmt.Fprintf(&b, "Host: %s\r\n", o.Target.hostHeader())
	}
	for _, h := range r.Header {
		fmt.Fprintf(&b, "%s: %s\r\n", h[0], h[1])
	}
	if length == nil && hasLength(r) {
		fmt.Fprintf(&b, "Content-Length: %d\r\n", len(r.Body))
	}
	e := encodedRequest{body: len(r.Body), status: r.Status, items: int64(r.Items), head: r.Method == "HEAD"}
	e.closes = connection != nil && asksToClose(*connection)
	e.wire = append([]byte(b.String()+"\r\n"), r.Body...)
	e.last = e.wire
	if o.PerConn > 0 && connection == nil {
		e.last = append([]byte(b.String()+"Connection: close\r\n\r\n"), r.Body...)
	}
	return e, e.addFills(r, c, len(r.Method)+1, 0)
}

func hasLength(r Request) bool {
	return len(r.Body) > 0 || r.Method == "POST" || r.Method == "PUT" || r.Method == "PATCH"
}

// asksToClose reports whether the value of a Connection field has the option close.
func asksToClose(connection string) bool {
	for option := range strings.SplitSeq(connection, ",") {
		if strings.EqualFold(strings.TrimSpace(option), "close") {
			return true
		}
	}
	return false
}

func (t Target) hostHeader() string {
	if t.Host != "" {
		return t.Host
	}
	return t.Addr
}

func findField(r Request, name string) *string {
	for i, h := range r.Header {
		if strings.EqualFold(h[0], name) {
			return &r.Header[i][1]
		}
	}
	return nil
}

// CheckRequest returns an error if a server could not parse r as exactly one request.
func CheckRequest(r Request) error {
	switch {
	case !isTokenText(r.Method):
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
		if !isTokenText(h[0]) {
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
	if coding := findField(r, "transfer-encoding"); coding != nil {
		return fmt.Errorf("header Transfer-Encoding: bodies are sent with Content-Length")
	}
	if length := findField(r, "content-length"); length != nil && *length != strconv.Itoa(len(r.Body)) {
		return fmt.Errorf("header Content-Length is %s, the body has %d bytes", *length, len(r.Body))
	}
	return nil
}

func isTokenText(s string) bool {
	for i := range len(s) {
		if !isToken(s[i]) {
			return false
		}
	}
	return s != ""
}

// checkTarget returns an error if the address is not host:port, or the host cannot be in a request.
func checkTarget(t Target) error {
	_, port, err := net.SplitHostPort(t.Addr)
	if err != nil || port == "" {
		return fmt.Errorf("target address %q is not host:port", t.Addr)
	}
	if host := t.hostHeader(); strings.ContainsFunc(host, func(r rune) bool { return r <= ' ' || r >= 0x7f }) {
		return fmt.Errorf("target host %q cannot be sent", host)
	}
	return nil
}
