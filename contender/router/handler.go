package router

import (
	"bufio"
	"bytes"
	"fmt"
	"net"
	"net/http"
	"net/url"

	"github.com/tarebench/tare/contender/wire"
)

// handler is the [stack] of a router for net/http, without a socket.
//
// A router may write into the request. A server would allocate a new one; handler copies the original. This
// takes about 15 ns, for all routers alike.
type handler struct {
	http.Handler
	request http.Request
	url     url.URL
	writer  recorder
}

func newHandler(h http.Handler) *handler {
	return &handler{Handler: h, writer: recorder{header: http.Header{}}}
}

func (h *handler) loadRequest(q wire.HTTPRequest) (Prepared, error) {
	original, err := http.ReadRequest(bufio.NewReader(bytes.NewReader(formatRequest(q))))
	if err != nil {
		return Prepared{}, fmt.Errorf("read the request: %w", err)
	}
	original.RemoteAddr = "127.0.0.1:50000"
	return Prepared{
		Serve: func() (int, []byte) {
			h.renewRequest(original)
			h.ServeHTTP(&h.writer, &h.request)
			return h.writer.takeResponse()
		},
		Header: h.writer.header.Get,
	}, nil
}

func (h *handler) renewRequest(original *http.Request) {
	h.request, h.url = *original, *original.URL
	h.request.URL = &h.url
	h.writer.resetResponse()
}

func (h *handler) startServer(l net.Listener) (stop func(), err error) {
	server := &http.Server{Handler: h.Handler}
	return serveUntil(server.Serve, l, func() { _ = server.Close() }), nil
}

// recorder is a minimal response writer. Each response reuses the memory of the last.
type recorder struct {
	header http.Header
	status int // 0 until the handler sets or implies it
	body   []byte
}

func (w *recorder) resetResponse() {
	if len(w.header) > 0 {
		clear(w.header)
	}
	w.status, w.body = 0, w.body[:0]
}

func (w *recorder) takeResponse() (status int, body []byte) {
	if w.status == 0 {
		w.status = http.StatusOK // as a server does when a handler returns
	}
	return w.status, w.body
}

func (w *recorder) Header() http.Header { return w.header }

func (w *recorder) WriteHeader(status int) {
	if w.status == 0 {
		w.status = status
	}
}

func (w *recorder) Write(p []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	w.body = append(w.body, p...)
	return len(p), nil
}

func (w *recorder) WriteString(s string) (int, error) {
	w.WriteHeader(http.StatusOK)
	w.body = append(w.body, s...)
	return len(s), nil
}

// Flush exists because the writer of net/http's server has it.
func (w *recorder) Flush() { w.WriteHeader(http.StatusOK) }

// Ask sends request q to h in this process and returns the response.
func Ask(h http.Handler, spec Spec, q wire.HTTPRequest) (Answer, error) {
	p, err := newHandler(h).loadRequest(q)
	if err != nil {
		return Answer{}, err
	}
	return p.serveOnce(spec), nil
}
