package load

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/tarebench/tare/load/h2"
)

// prefixLen is how many bytes gRPC puts before a message: whether it is
// compressed, and its length.
const prefixLen = 5

// mostValues is how many values a field may have in a session that goes into the
// dynamic table: of a thousand paths each would only push others out.
const mostValues = 16

// requestHeads are what the requests of a session say in their heads.
type requestHeads struct {
	o      Options
	values map[string]map[string]bool // by name
	varies bool                       // the path does, each time
	fields h2.Fields
}

func headsOf(o Options) *requestHeads {
	l := &requestHeads{o: o, values: map[string]map[string]bool{}}
	for _, r := range o.Requests {
		for _, f := range l.of(r) {
			if l.values[f[0]] == nil {
				l.values[f[0]] = map[string]bool{}
			}
			l.values[f[0]][f[1]] = true
		}
		l.varies = l.varies || slices.ContainsFunc(r.Fill, func(f Fill) bool { return !f.Body })
	}
	return l
}

// of is the head of a request.
func (l *requestHeads) of(r Request) [][2]string {
	t := l.o.Target
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
	list := [][2]string{{":method", r.Method}, {":scheme", scheme}, {":authority", authority}, {":path", path}}
	for _, h := range r.Header {
		if name := strings.ToLower(h[0]); name != "host" {
			list = append(list, [2]string{name, h[1]})
		}
	}
	if l.o.Protocol == GRPC {
		for _, h := range [][2]string{{"content-type", "application/grpc"}, {"te", "trailers"}} {
			if field(r, h[0]) == nil {
				list = append(list, h)
			}
		}
	} else if field(r, "content-length") == nil && hasLength(r) {
		list = append(list, [2]string{"content-length", strconv.Itoa(len(r.Body))})
	}
	return list
}

// recurs reports whether fields of a name go into the dynamic table.
func (l *requestHeads) recurs(name string) bool {
	return name != "content-length" && len(l.values[name]) <= mostValues && (name != ":path" || !l.varies)
}

// encode is a request as HTTP/2 sends it. Its block begins with what is never in
// the dynamic table among the fields that come first, and ends with what is not
// among the others.
func (l *requestHeads) encode(r Request, c counters) (encoded, error) {
	if err := checkFields2(r); err != nil {
		return encoded{}, err
	}
	e := encoded{body: len(r.Body), status: r.Status, items: int64(r.Items), head: r.Method == "HEAD", content: r.Body}
	path, before, length := 0, 0, 0
	for _, f := range l.of(r) {
		name, value := f[0], f[1]
		into := &e.tail
		if name[0] == ':' {
			into = &e.wire
		}
		switch {
		case name == ":path" && !l.recurs(name): // its bytes are there to be written over
			*into = h2.AppendLiteral(*into, name, value)
			path = len(*into) - len(value)
		case h2.InStatic(name, value) || !l.recurs(name):
			*into = h2.AppendField(*into, name, value)
		default:
			known := l.fields.Ready(name, value)
			e.known = append(e.known, known)
			length += known.Len()
		}
	}
	if length += len(e.wire) + len(e.tail); length >= h2.MaxFrame {
		return encoded{}, fmt.Errorf("a head of %d bytes: below %d in HTTP/2", length, h2.MaxFrame)
	}
	if e.stream = r.Stream; l.o.Protocol == GRPC && !r.Stream {
		before = prefixLen
		e.content = append(binary.BigEndian.AppendUint32([]byte{0}, uint32(len(r.Body))), r.Body...)
	}
	return e, e.fills(r, c, path, before)
}

// checkFields2 refuses fields that are about an HTTP/1.1 connection (RFC 9113,
// section 8.2.2).
func checkFields2(r Request) error {
	for _, h := range r.Header {
		switch name := strings.ToLower(h[0]); {
		case ofConnection([]byte(name)), name == "te" && h[1] != "trailers":
			return fmt.Errorf("header %s: HTTP/2 and HTTP/3 have none", h[0])
		}
	}
	return nil
}
