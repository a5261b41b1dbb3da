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

// Null builds the router that does no work: measurements of it show the cost of the harness. It knows all
// responses in advance and finds them by the number of the request. Over a socket it is a loop that reads to
// the end of a request and writes a stored response.
func Null(_ context.Context, spec Spec) (http.Handler, error) {
	return &null{handler: newHandler(nil), spec: spec}, nil
}

type null struct {
	*handler
	spec Spec
	next atomic.Int64 // request that comes over the socket
	raw  [][]byte     // answers over the socket
}

// findAnswer returns the correct response to q: status 404 if q must be rejected.
func (n *null) findAnswer(q wire.HTTPRequest) Answer {
	if a, ok := n.spec.Answer(q); ok {
		if _, there := a.Header[headerRequestID]; there {
			a.Header[headerRequestID] = "0123456789abcdef"
		}
		return a
	}
	return Answer{HTTPResponse: wire.HTTPResponse{Status: http.StatusNotFound}}
}

// loadRequest replaces the handler's method. The request is renewed as for other routers.
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

// prepareAnswers builds the responses to requests over the socket.
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

// serveConn responds on the only connection.
func (n *null) serveConn(l net.Listener) error {
	conn, err := l.Accept()
	if err != nil {
		return err
	}
	defer conn.Close()
	buf := make([]byte, 0, 64<<10)
	for {
		k, err := conn.Read(buf[len(buf):cap(buf)])
		if err != nil || k == 0 { // closed, or a request that does not fit
			return err
		}
		if buf = buf[:len(buf)+k]; !bytes.HasSuffix(buf, []byte("\r\n\r\n")) {
			continue
		}
		buf = buf[:0]
		*n.spec.calls += int64(len(n.spec.Layers))
		if _, err := conn.Write(n.raw[n.next.Load()]); err != nil {
			return err
		}
	}
}
