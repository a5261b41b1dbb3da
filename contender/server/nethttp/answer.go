// Package nethttp serves the apps ingest and homelab on package net/http. Contenders that differ only in
// their JSON share it:
//
//	func main() {
//		server.Main(server.Apps{serving.App(nethttp.Ingest(map[ingest.Format]nethttp.Decoder{ingest.JSON: decode}))})
//	}
//
// Bodies are decoded from buffers that are reused, up to the app's limit of bytes.
package nethttp

import (
	"io"
	"net/http"
	"strconv"
)

// Content types of answers.
const (
	typeJSON    = "application/json"
	typeText    = "text/plain; charset=utf-8"
	typeMetrics = "text/plain; version=0.0.4"
)

// writeAnswer writes a complete answer. It ignores an error: the client has disconnected.
func writeAnswer(w http.ResponseWriter, status int, contentType string, body []byte) {
	h := w.Header()
	h.Set("Content-Type", contentType)
	h.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	_, _ = w.Write(body)
}

type countingReader struct {
	r io.Reader
	n int64
}

func (c *countingReader) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, err
}

// Methods for the header Allow.
const (
	allowRead = "GET, HEAD"
	allowPost = "POST"
)
