package router

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"net"
	"net/http"
	"sync/atomic"

	"github.com/tarebench/tare/contender/wire"
)

// Null builds a router that does nothing, so its cost is that of the measurement itself. All responses are
// computed in advance and chosen by the number of the request. Over a socket it reads each request completely.
func Null(_ context.Context, spec Spec) (http.Handler, error) {
	return &null{handler: newHandler(nil), spec: spec}, nil
}

// null implements [stack] with the request and writer of handler.
type null struct {
	*handler
	spec Spec
	next atomic.Int64 // number of the client's next request
	raw  [][]byte     // responses by number of the request
}

func (n *null) findAnswer(q wire.HTTPRequest) Answer {
	a, ok := n.spec.Answer(q)
	if !ok { // no route matches q
		return Answer{HTTPResponse: wire.HTTPResponse{Status: http.StatusNotFound}}
	}
	if _, hasID := a.Header[headerRequestID]; hasID {
		a.Header[headerRequestID] = "0123456789abcdef" // replaces a generated id
	}
	return a
}

// loadRequest overrides the method of handler. Serve renews the request as for other routers, but writes a
// stored response.
func (n *null) loadRequest(q wire.HTTPRequest) (Prepared, error) {
	original, err := http.ReadRequest(bufio.NewReader(bytes.NewReader(formatRequest(q))))
	if err != nil {
		return Prepared{}, fmt.Errorf("read the request: %w", err)
	}
	a := n.findAnswer(q)
	return Prepared{
		Serve: func() (int, []byte) {
			n.renewRequest(original)
			*n.spec.calls += a.LayerCalls
			n.writer.status = a.Status
			_, _ = n.writer.Write(a.Body)
			return n.writer.takeResponse()
		},
		Header: func(name string) string { return a.Header[name] },
	}, nil
}

func (n *null) prepareAnswers(requests []wire.HTTPRequest) error {
	n.raw = make([][]byte, len(requests))
	for i, q := range requests {
		a := n.findAnswer(q)
		b := fmt.Appendf(nil, "HTTP/1.1 %d %s\r\nContent-Length: %d\r\n", a.Status, http.StatusText(a.Status), len(a.Body))
		for name, value := range a.Header {
			b = fmt.Appendf(b, "%s: %s\r\n", name, value)
		}
		n.raw[i] = append(append(b, "\r\n"...), a.Body...)
	}
	return nil
}

func (n *null) startServer(l net.Listener) (stop func(), err error) {
	return serveUntil(n.serveConn, l, func() { _ = l.Close() }), nil
}

// serveConn answers requests, which end with the empty line after their head.
func (n *null) serveConn(l net.Listener) error {
	conn, err := l.Accept()
	if err != nil {
		return err
	}
	defer conn.Close()
	buf := make([]byte, 0, 64<<10)
	for {
		size, err := conn.Read(buf[len(buf):cap(buf)])
		if err != nil || size == 0 { // closed, or the request is too long
			return err
		}
		if buf = buf[:len(buf)+size]; !bytes.HasSuffix(buf, []byte("\r\n\r\n")) {
			continue
		}
		buf = buf[:0]
		*n.spec.calls += int64(len(n.spec.Layers))
		if _, err := conn.Write(n.raw[n.next.Load()]); err != nil {
			return err
		}
	}
}
