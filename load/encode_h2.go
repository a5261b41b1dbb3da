package load

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/tarebench/tare/load/h2"
)

// prefixLen is the length of the prefix of a gRPC message: a compression flag and the message's length.
const prefixLen = 5

// maxValues limits the use of the dynamic table of HTTP/2, which replaces a repeated field by a short
// index. A field with more different values stays out: a thousand paths would only evict other entries.
const maxValues = 16

// requestHeads encodes the headers of requests for HTTP/2 and HTTP/3.
type requestHeads struct {
	o          Options
	values     map[string]map[string]bool
	pathVaries bool // some path contains a number of a counter
	fields     h2.Fields
}

func newRequestHeads(o Options) *requestHeads {
	l := &requestHeads{o: o, values: map[string]map[string]bool{}}
	for _, r := range o.Requests {
		for _, f := range l.listFields(r) {
			if l.values[f[0]] == nil {
				l.values[f[0]] = map[string]bool{}
			}
			l.values[f[0]][f[1]] = true
		}
		l.pathVaries = l.pathVaries || slices.ContainsFunc(r.Fill, func(f Fill) bool { return !f.Body })
	}
	return l
}

// listFields returns the header fields of a request. Pseudo-fields such as :path come first.
func (l *requestHeads) listFields(r Request) [][2]string {
	t := l.o.Target
	scheme, authority, path := "http", t.hostHeader(), r.Path
	if t.TLS != nil {
		scheme = "https"
	}
	if host := findField(r, "host"); host != nil {
		authority = *host
	}
	if path == "" {
		path = "/"
	}
	list := [][2]string{{":method", r.Method}, {":scheme", scheme}, {":authority", authority}, {":path", path}}
	for _, h := range r.Header {
		if name := strings.ToLower(h[0]); name != "host" {
			list = append(list, [2]string{name, h[1]})
		}
	}
	if l.o.Protocol == GRPC {
		for _, h := range [][2]string{{"content-type", "application/grpc"}, {"te", "trailers"}} {
			if findField(r, h[0]) == nil {
				list = append(list, h)
			}
		}
	} else if findField(r, "content-length") == nil && hasLength(r) {
		list = append(list, [2]string{"content-length", strconv.Itoa(len(r.Body))})
	}
	return list
}

// isRepeated reports whether fields of a name are worth an entry of the dynamic table.
func (l *requestHeads) isRepeated(name string) bool {
	return name != "content-length" && len(l.values[name]) <= maxValues && (name != ":path" || !l.pathVaries)
}

// encodeRequest serialises a request for HTTP/2. Fields that may be in the dynamic table follow the other
// pseudo-fields.
func (l *requestHeads) encodeRequest(r Request, c counters) (encodedRequest, error) {
	if err := checkHTTP2Fields(r); err != nil {
		return encodedRequest{}, err
	}
	e := encodedRequest{body: len(r.Body), status: r.Status, items: int64(r.Items), head: r.Method == "HEAD", content: r.Body}
	path := 0 // offset of the path in wire
	prefix := 0
	length := 0
	for _, f := range l.listFields(r) {
		name, value := f[0], f[1]
		part := &e.tail
		if name[0] == ':' {
			part = &e.wire
		}
		switch {
		case name == ":path" && !l.isRepeated(name): // literally: numbers are written over its bytes
			*part = h2.AppendLiteral(*part, name, value)
			path = len(*part) - len(value)
		case h2.InStatic(name, value) || !l.isRepeated(name):
			*part = h2.AppendField(*part, name, value)
		default:
			known := l.fields.Ready(name, value)
			e.known = append(e.known, known)
			length += known.Len()
		}
	}
	if length += len(e.wire) + len(e.tail); length >= h2.MaxFrame {
		return encodedRequest{}, fmt.Errorf("a head of %d bytes: below %d in HTTP/2", length, h2.MaxFrame)
	}
	if e.stream = r.Stream; l.o.Protocol == GRPC && !r.Stream {
		prefix = prefixLen
		e.content = append(binary.BigEndian.AppendUint32([]byte{0}, uint32(len(r.Body))), r.Body...)
	}
	return e, e.addFills(r, c, path, prefix)
}

// checkHTTP2Fields rejects fields about an HTTP/1.1 connection (RFC 9113, section 8.2.2).
func checkHTTP2Fields(r Request) error {
	for _, h := range r.Header {
		switch name := strings.ToLower(h[0]); {
		case isConnectionField([]byte(name)), name == "te" && h[1] != "trailers":
			return fmt.Errorf("header %s: HTTP/2 and HTTP/3 have none", h[0])
		}
	}
	return nil
}
