package loadtest

import (
	"net"

	"github.com/tarebench/tare/load/h2"
)

type partialRequest struct {
	stream uint32
	isHead bool
	block  []byte
	body   int64 // bytes
}

// serveHTTP2 responds to the requests of one HTTP/2 connection. A client must not interleave the frames of
// two requests.
func (s *Server) serveHTTP2(c net.Conn) {
	preface, buffer := make([]byte, 0, len(h2.Preface)), make([]byte, 32<<10)
	var reader h2.Reader
	var request partialRequest
	control := &response{server: s, conn: c} // writes the frames outside of responses
	control.writeText(string(h2.AppendSettings(nil, h2.Setting{ID: h2.MaxStreams, Value: 100})))
	decoder, number := h2.NewDecoder(h2.TableSize), 0
	for control.err == nil {
		n, err := c.Read(buffer)
		if err != nil {
			return
		}
		in := buffer[:n]
		if missing := len(h2.Preface) - len(preface); missing > 0 {
			n = min(missing, len(in))
			preface, in = append(preface, in[:n]...), in[n:]
			if len(preface) == len(h2.Preface) && string(preface) != h2.Preface {
				return
			}
		}
		for len(in) > 0 {
			frame, n, isComplete, err := reader.Next(in)
			if err != nil {
				return
			}
			in = in[n:]
			if !isComplete || !request.takeFrame(frame, decoder, control) {
				continue
			}
			if s.options.GRPC {
				request.body = max(0, request.body-5) // without the prefix of the message
			}
			s.bodyBytes.Add(request.body)
			s.requests.Add(1)
			number++
			out := &responseHTTP2{
				response: response{server: s, conn: c, number: number, isHead: request.isHead}, stream: request.stream,
			}
			if !out.respond() || out.err != nil {
				return
			}
		}
	}
}

// takeFrame processes one frame and reports whether it completes the request. Through control it
// acknowledges SETTINGS and PING, and extends windows by the length of DATA. It sets control.err if a frame
// is invalid.
func (q *partialRequest) takeFrame(f h2.Frame, d *h2.Decoder, control *response) (isComplete bool) {
	switch f.Type {
	case h2.Settings:
		if !f.Has(h2.Ack) {
			control.writeText(string(h2.AppendHeader(nil, 0, h2.Settings, h2.Ack, 0)))
		}
	case h2.Ping:
		if !f.Has(h2.Ack) {
			control.writeText(string(h2.AppendFrame(nil, h2.Frame{Type: h2.Ping, Flags: h2.Ack, Payload: f.Payload})))
		}
	case h2.Headers, h2.Continuation:
		b, err := f.Payload, error(nil)
		if f.Type == h2.Headers {
			*q = partialRequest{stream: f.Stream}
			b, err = f.Content()
		}
		q.block = append(q.block, b...)
		if err == nil && f.Has(h2.EndHeaders) {
			err = d.Decode(q.block, func(name, value []byte) error {
				q.isHead = q.isHead || string(name) == ":method" && string(value) == "HEAD"
				return nil
			})
		}
		control.err = err
		return f.Type == h2.Headers && f.Has(h2.EndStream)
	case h2.Data:
		b, err := f.Content()
		q.body += int64(len(b))
		if n := uint32(len(f.Payload)); n > 0 {
			control.writeText(string(h2.AppendWindowUpdate(h2.AppendWindowUpdate(nil, 0, n), f.Stream, n)))
		}
		if err != nil {
			control.err = err
		}
		return f.Has(h2.EndStream)
	}
	return false
}
