// Package server is for contenders (programs to measure) that answer HTTP requests. An author writes one
// function for each app, as the framework recommends:
//
//	func main() { server.Main(server.Apps{server.Plain("tiny", tiny)}) }
//
//	func tiny(o server.Options) (server.Server, error) {
//		mux := http.NewServeMux()
//		mux.HandleFunc("GET /health", func(w http.ResponseWriter, _ *http.Request) {
//			o.Receipts.Request()
//			…
//		})
//		return server.HTTP(mux), nil
//	}
//
// A lab is the tare process that measures. The program also runs without one:
// go run . -app tiny -addr 127.0.0.1:8080.
//
// To be comparable, all frameworks have HTTP/1.1 with keep-alive, and the listener and time-outs of this
// package. They have an access log only if a study requests one. They count each answered request and each
// middleware call by one atomic addition.
package server

import (
	"context"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"net/url"
	"time"

	"github.com/tarebench/tare/contender"
)

// Kind is the name of this kind of contender in studies.
const Kind = "server"

// Server serves connections until it is shut down. [http.Server] is one.
type Server interface {
	// Serve answers the connections of l. It returns when Shutdown is called, or for an error.
	Serve(l net.Listener) error

	// Shutdown waits for requests in flight until ctx ends, and closes everything.
	Shutdown(ctx context.Context) error
}

// Fronted is a server that consists of several servers. Front returns the one that accepts the connections.
type Fronted interface{ Front() Server }

// HTTP2Speaker may speak HTTP/2 without encryption, and HTTP/1.1. An [http.Server] has its field Protocols
// instead.
type HTTP2Speaker interface{ SpeaksHTTP2() bool }

// Options define how to serve an app.
type Options struct {
	Variant  string      // one of the program's variants; "" if it has none
	Log      io.Writer   // destination of the framework's own access log, a line per request; nil for none
	TLS      *tls.Config // encrypts the connections; nil for plain text
	Receipts *Receipts   // counts requests, which tare compares with those it sent; never nil
	Ops      *Ops        // answers some requests before the app, such as /metrics; may be nil
}

// Time-outs of all servers. Without any, a server spends less on each request.
const (
	// ReadTimeout limits the headers of a request. Without such a time-out in the framework, or without
	// measuring, it limits the complete request.
	ReadTimeout = 10 * time.Second
	// IdleTimeout limits the time until the next request on a connection.
	IdleTimeout = 2 * time.Minute
)

// MaxHead limits the request line and headers, in bytes. A framework may have a lower limit.
const MaxHead = 32 << 10

// Main serves an app and exits. The measuring process selects the app, or else the command line. variants
// names the variants, if there are several.
func Main(apps Apps, variants ...string) {
	contender.Main(Host{Apps: apps, Variants: variants}.Program())
}

// Host is a program of servers, for kinds that build on this one.
type Host struct {
	Kind     string // name of the kind in studies; if "", it is the constant Kind
	Apps     Apps
	Variants []string // empty if there is one

	// HTTP2 reports whether a variant speaks nothing but HTTP/2. If nil, all variants speak HTTP/1.1.
	HTTP2 func(variant string) bool

	// Together lists variants served together without measuring, each at its own address. Flag -face selects
	// others. If empty, one is served.
	Together []string
}

// Program returns the program for [contender.Main].
func (h Host) Program() contender.Program {
	if h.Kind == "" {
		h.Kind = Kind
	}
	return contender.Program{Kind: h.Kind, Variants: h.Variants, Serve: h.serveLab, Alone: alone{h}.main}
}

// HTTP returns a server of package net/http for handler.
func HTTP(handler http.Handler) Server {
	return &standard{http.Server{Handler: handler, ReadHeaderTimeout: ReadTimeout, IdleTimeout: IdleTimeout, MaxHeaderBytes: MaxHead}}
}

// HTTPBodies is HTTP for apps whose requests have bodies: [ReadTimeout] covers each complete request.
func HTTPBodies(handler http.Handler) Server {
	return &standard{http.Server{Handler: handler, ReadTimeout: ReadTimeout, IdleTimeout: IdleTimeout, MaxHeaderBytes: MaxHead}}
}

// HTTP2 is HTTPBodies with HTTP/2 in plain text as well, for clients with prior knowledge.
func HTTP2(handler http.Handler) Server {
	s := &standard{http.Server{Handler: handler, ReadTimeout: ReadTimeout, IdleTimeout: IdleTimeout, MaxHeaderBytes: MaxHead, Protocols: &http.Protocols{}}}
	s.Protocols.SetHTTP1(true)
	s.Protocols.SetHTTP2(true)
	s.Protocols.SetUnencryptedHTTP2(true)
	return s
}

type standard struct{ http.Server }

// addGuard makes the server call ops before the app. It limits the time of each complete request, and over
// HTTP/2 the streams and bytes in flight. It does nothing if ops is nil.
func (s *standard) addGuard(ops *Ops) {
	if ops == nil {
		return
	}
	s.Handler = ops.Handler(s.Handler)
	s.ReadTimeout, s.ReadHeaderTimeout = ReadTimeout, ReadTimeout
	s.IdleTimeout = -1 // the gate has one; net/http would keep broken HTTP/2 connections
	if s.Protocols != nil && s.Protocols.UnencryptedHTTP2() {
		s.HTTP2 = &http.HTTP2Config{MaxConcurrentStreams: MaxStreams, MaxReceiveBufferPerConnection: http2Buffer, MaxReceiveBufferPerStream: http2Buffer}
	}
}

// http2Buffer limits bodies that a client sends ahead. HTTP/2's initial window is 65535 bytes, so it cannot be
// less.
const http2Buffer = 1 << 16

// Shutdown closes all connections that are still open when ctx ends.
func (s *standard) Shutdown(ctx context.Context) error {
	err := s.Server.Shutdown(ctx)
	if err != nil {
		_ = s.Close()
	}
	return err
}

// Unescape decodes a path parameter, for routers that match URL.RawPath if set, else URL.Path. A value from
// URL.Path is already decoded. RawPath is set if the path has another encoding than [url.URL.EscapedPath].
func Unescape(r *http.Request, value string) (string, error) {
	if r.URL.RawPath == "" {
		return value, nil
	}
	return url.PathUnescape(value)
}
