package server

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/tarebench/tare/load"
)

// This file requests single responses over HTTP/2, also of gRPC. For example, the gRPC status 5 (not
// found) becomes the HTTP status 404.

// http2Sender sends requests over HTTP/2 one after another, by package net/http instead of the load
// generator.
type http2Sender struct {
	target    load.Target
	prefix    string        // begins every path
	limit     time.Duration // limit of a response
	grpc      bool          // requests are messages of gRPC
	transport *http.Transport
}

func newHTTP2Sender(t load.Target, prefix string, limit time.Duration, grpc bool) *http2Sender {
	transport := &http.Transport{DisableCompression: true, MaxResponseHeaderBytes: load.MaxHead, Protocols: new(http.Protocols)}
	s := &http2Sender{target: t, prefix: prefix, limit: limit, grpc: grpc, transport: transport}
	if t.TLS == nil {
		s.transport.Protocols.SetUnencryptedHTTP2(true)
	} else {
		s.transport.Protocols.SetHTTP2(true)
		s.transport.TLSClientConfig = t.TLS.Clone()
		s.transport.TLSClientConfig.NextProtos = nil // the transport sets them
	}
	return s
}

func (s *http2Sender) close() { s.transport.CloseIdleConnections() }

// send sends q and reads the response, with the status of its trailers if there is one.
func (s *http2Sender) send(ctx context.Context, q Request) (Response, error) {
	ctx, cancel := context.WithTimeout(ctx, s.limit)
	defer cancel()
	scheme := "http"
	if s.target.TLS != nil {
		scheme = "https"
	}
	path, query, _ := strings.Cut(s.prefix+q.Path, "?")
	body := q.Body
	if s.grpc { // prefix of a message: 0 for not compressed, and its length
		body = append(binary.BigEndian.AppendUint32([]byte{0}, uint32(len(body))), body...)
	}
	out := (&http.Request{
		Method: q.Method, URL: &url.URL{Scheme: scheme, Host: s.target.Addr, Opaque: path, RawQuery: query}, Host: s.target.Host,
		Header: http.Header{}, Body: io.NopCloser(bytes.NewReader(body)), ContentLength: int64(len(body)),
	}).WithContext(ctx)
	for _, h := range sortedHeaders(q) {
		out.Header.Set(h[0], h[1])
	}
	answer, err := s.transport.RoundTrip(out)
	if err != nil {
		return Response{}, err
	}
	defer answer.Body.Close()
	body, err = io.ReadAll(io.LimitReader(answer.Body, maxBody))
	if err == nil {
		_, err = io.Copy(io.Discard, answer.Body)
	}
	if err != nil {
		return Response{}, fmt.Errorf("the body: %w", err)
	}
	r := Response{Status: answer.StatusCode, Body: body, Header: map[string]string{}}
	if kind := typeOf(answer.Header.Get(ContentType)); kind != "" {
		r.Header[ContentType] = kind
	}
	if s.grpc && r.Status == http.StatusOK {
		err = readTrailers(&r, answer)
	}
	return r, err
}

// GRPCStatus is the header of a response that contains its status of gRPC.
const GRPCStatus = "Grpc-Status"

// readTrailers reads the status from the trailers, or from the headers of a response without a
// body.
func readTrailers(r *Response, answer *http.Response) error {
	text := answer.Trailer.Get(GRPCStatus)
	if text == "" && len(r.Body) == 0 {
		text = answer.Header.Get(GRPCStatus)
	}
	n, err := strconv.Atoi(text)
	switch {
	case text == "":
		return errors.New("the answer ends without a status of gRPC")
	case err != nil:
		return fmt.Errorf("%q is no status of gRPC", text)
	case len(r.Body) > 0 && r.Body[0] != 0:
		return errors.New("the answer is compressed")
	}
	r.Header[GRPCStatus], r.Status = text, httpStatusOf(n)
	return nil
}

// httpStatusOf returns the HTTP status for a status of gRPC, as documented in google.rpc.Code.
func httpStatusOf(code int) int {
	switch code {
	case 0:
		return http.StatusOK
	case 1:
		return 499 // the client has gone
	case 3, 9, 11: // invalid argument, failed precondition, out of range
		return http.StatusBadRequest
	case 4:
		return http.StatusGatewayTimeout
	case 5:
		return http.StatusNotFound
	case 6, 10: // already exists, aborted
		return http.StatusConflict
	case 7:
		return http.StatusForbidden
	case 8:
		return http.StatusTooManyRequests
	case 12:
		return http.StatusNotImplemented
	case 14:
		return http.StatusServiceUnavailable
	case 16:
		return http.StatusUnauthorized
	}
	return http.StatusInternalServerError
}
