package load

import (
	"fmt"

	"github.com/tarebench/tare/load/h2"
	"github.com/tarebench/tare/load/h3"
)

// encodeHTTP3 serialises a request for HTTP/3: a HEADERS frame and a DATA frame. It uses the static table
// only.
func (l *requestHeads) encodeHTTP3(r Request, c counters) (encodedRequest, error) {
	if err := checkHTTP2Fields(r); err != nil {
		return encodedRequest{}, err
	}
	section, path := h3.AppendSectionPrefix(nil), 0
	for _, f := range l.listFields(r) {
		if f[0] == ":path" && len(r.Fill) > 0 { // a literal: numbers are written over its bytes
			section = h3.AppendLiteral(section, f[0], f[1])
			path = len(section) - len(f[1])
		} else {
			section = h3.AppendField(section, f[0], f[1])
		}
	}
	if len(section) >= h2.MaxFrame {
		return encodedRequest{}, fmt.Errorf("a head of %d bytes: below %d in HTTP/3", len(section), h2.MaxFrame)
	}
	e := encodedRequest{body: len(r.Body), status: r.Status, items: int64(r.Items), head: r.Method == "HEAD"}
	e.wire = h3.AppendFrame(nil, h3.Headers, section)
	path += len(e.wire) - len(section)
	if len(r.Body) > 0 {
		e.wire = h3.AppendFrame(e.wire, h3.Data, r.Body)
	}
	return e, e.addFills(r, c, path, 0)
}
