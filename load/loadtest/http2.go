package loadtest

import (
	"net"

	"github.com/tarebench/tare/load/h2"
)

// stream is the request that an HTTP/2 connection is receiving.
type stream struct {
	id    uint32
	head  bool   // the request is a HEAD
	block []byte // header block so far
	body  int64  // bytes of the body so far
}

// serveHTTP2 responds to the requests of one HTTP/2 connection, one after another.
func (s *Server) serveHTTP2(c net.Conn) {
	preface, b := make([]byte, 0, len(h2.Preface)), make([]byte, 32<<10)
	var r h2.Reader
	q := stream{}
	out := &act{s: s, c: c}
	out.writeText(string(h2.AppendSettings(nil, h2.Setting{ID: h2.MaxStreams, Value: 100})))
	d, k := h2.NewDecoder(h2.TableSize), 0
	for out.err == nil {
		n, err := c.Read(b)
		if err != nil {
			return
		}
		in := b[:n]
		if more := len(h2.Preface) - len(preface); more > 0 {
			n = min(more, len(in))
			preface, in = append(preface, in[:n]...), in[n:]
			if len(preface) == len(h2.Preface) && string(preface) != h2.Preface {
				return
			}
		}
		for len(in) > 0 {
			f, n, whole, err := r.Next(in)
			if err != nil {
				return
			}
			in = in[n:]
			if !whole || !q.takeFrame(f, d, out) {
				continue
			}
			if s.o.GRPC {
				q.body = max(0, q.body-5) // without the prefix of the message
			}
			s.bodies.Add(q.body)
			s.requests.Add(1)
			k++
			a := &act2{act: act{s: s, c: c, k: k, head: q.head}, id: q.id}
			if !a.respond() || a.err != nil {
				return
			}
		}
	}
}

// takeFrame processes one frame and reports whether it completes the request. It replies to SETTINGS, PING and
// DATA.
func (q *stream) takeFrame(f h2.Frame, d *h2.Decoder, out *act) (whole bool) {
	switch f.Type {
	case h2.Settings:
		if !f.Has(h2.Ack) {
			out.writeText(string(h2.AppendHeader(nil, 0, h2.Settings, h2.Ack, 0)))
		}
	case h2.Ping:
		if !f.Has(h2.Ack) {
			out.writeText(string(h2.AppendFrame(nil, h2.Frame{Type: h2.Ping, Flags: h2.Ack, Payload: f.Payload})))
		}
	case h2.Headers, h2.Continuation:
		b, err := f.Payload, error(nil)
		if f.Type == h2.Headers {
			*q = stream{id: f.Stream}
			b, err = f.Content()
		}
		q.block = append(q.block, b...)
		if err == nil && f.Has(h2.EndHeaders) {
			err = d.Decode(q.block, func(name, value []byte) error {
				q.head = q.head || string(name) == ":method" && string(value) == "HEAD"
				return nil
			})
		}
		out.err = err
		return f.Type == h2.Headers && f.Has(h2.EndStream)
	case h2.Data:
		b, err := f.Content()
		q.body += int64(len(b))
		if n := uint32(len(f.Payload)); n > 0 {
			out.writeText(string(h2.AppendWindowUpdate(h2.AppendWindowUpdate(nil, 0, n), f.Stream, n)))
		}
		if err != nil {
			out.err = err
		}
		return f.Has(h2.EndStream)
	}
	return false
}
