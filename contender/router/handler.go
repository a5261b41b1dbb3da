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

// handler serves the requests of net/http without a socket. All requests of a
// workload go through one http.Request and one response writer.
//
// A router may write into the request: the pattern it found, values by name. A
// server would have made a new one for the next request, so each is restored
// before it is used again, the URL with it, by copying the two structs. That
// takes about 15 ns and is the same for all.
type handler struct {
	http.Handler
	request http.Request
	url     url.URL
	writer  recorder
}

func newHandler(h http.Handler) *handler {
	return &handler{Handler: h, writer: recorder{header: http.Header{}}}
}

// load reads the request as a server would.
func (h *handler) load(q wire.HTTPRequest) (Prepared, error) {
	original, err := http.ReadRequest(bufio.NewReader(bytes.NewReader(requestBytes(q))))
	if err != nil {
		return Prepared{}, fmt.Errorf("read the request: %w", err)
	}
	original.RemoteAddr = "127.0.0.1:50000"
	return Prepared{
		Serve: func() (int, []byte) {
			h.renew(original)
			h.ServeHTTP(&h.writer, &h.request)
			return h.writer.answered()
		},
		Header: h.writer.header.Get,
	}, nil
}

// renew makes request and writer as good as new.
func (h *handler) renew(original *http.Request) {
	h.request, h.url = *original, *original.URL
	h.request.URL = &h.url
	h.writer.reset()
}

// Listen serves l as net/http does unless told otherwise.
func (h *handler) listen(l net.Listener) (stop func(), err error) {
	server := &http.Server{Handler: h.Handler}
	return serveUntil(server.Serve, l, func() { _ = server.Close() }), nil
}

// recorder is the least that a response writer can be: it keeps headers,
// status and body in memory that is used again.
type recorder struct {
	header http.Header
	status int
	body   []byte
}

func (w *recorder) reset() {
	if len(w.header) > 0 {
		clear(w.header)
	}
	w.status, w.body = 0, w.body[:0]
}

func (w *recorder) answered() (status int, body []byte) {
	if w.status == 0 {
		w.status = http.StatusOK // as the server does when a handler returns
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

// Flush is there because the server's own writer has it.
func (w *recorder) Flush() { w.WriteHeader(http.StatusOK) }

// Ask sends one request through h in this process.
func Ask(h http.Handler, spec Spec, q wire.HTTPRequest) (Answer, error) {
	p, err := newHandler(h).load(q)
	if err != nil {
		return Answer{}, err
	}
	return p.answer(spec), nil
}
