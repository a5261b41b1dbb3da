package load

import (
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"

	"github.com/tarebench/tare/load/h2"
)

// prefixLen is how many bytes gRPC puts before a message: whether it is
// compressed, and its length.
const prefixLen = 5

// encode2 is a request as HTTP/2 sends it: a header block that puts nothing into
// a table, and what its DATA holds.
func encode2(o Options, r Request, c counters) (encoded, error) {
	if err := checkFields2(r); err != nil {
		return encoded{}, err
	}
	t, grpc := o.Target, o.Protocol == GRPC
	scheme, authority, path := "http", t.host(), r.Path
	if t.TLS != nil {
		scheme = "https"
	}
	if host := field(r, "host"); host != nil {
		authority = *host
	}
	if path == "" {
		path = "/"
	}
	e := encoded{body: len(r.Body), status: r.Status, items: int64(r.Items), head: r.Method == "HEAD", content: r.Body}
	b := h2.AppendField(nil, ":method", r.Method)
	b = h2.AppendField(b, ":scheme", scheme)
	b = h2.AppendLiteral(b, ":authority", authority)
	b = h2.AppendLiteral(b, ":path", path)
	at, before := len(b)-len(path), 0
	for _, h := range r.Header {
		if name := strings.ToLower(h[0]); name != "host" {
			b = h2.AppendField(b, name, h[1])
		}
	}
	switch {
	case grpc:
		before = prefixLen
		e.content = append(binary.BigEndian.AppendUint32([]byte{0}, uint32(len(r.Body))), r.Body...)
		for _, h := range [][2]string{{"content-type", "application/grpc"}, {"te", "trailers"}} {
			if field(r, h[0]) == nil {
				b = h2.AppendField(b, h[0], h[1])
			}
		}
	case field(r, "content-length") == nil && hasLength(r):
		b = h2.AppendField(b, "content-length", strconv.Itoa(len(r.Body)))
	}
	if len(b) >= h2.MaxFrame {
		return encoded{}, fmt.Errorf("a head of %d bytes: below %d in HTTP/2", len(b), h2.MaxFrame)
	}
	e.wire = b
	return e, e.fills(r, c, at, before)
}

// checkFields2 refuses fields that are about an HTTP/1.1 connection (RFC 9113,
// section 8.2.2).
func checkFields2(r Request) error {
	for _, h := range r.Header {
		switch name := strings.ToLower(h[0]); {
		case ofConnection([]byte(name)), name == "te" && h[1] != "trailers":
			return fmt.Errorf("header %s: HTTP/2 has none", h[0])
		}
	}
	return nil
}
