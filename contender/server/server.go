// Package server is the kind of contender that answers HTTP requests from the lab. An author writes
// one function for each app, in the way that the framework recommends:
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
// The same program runs without a lab: go run . -app tiny -addr 127.0.0.1:8080.
//
// A lab is the tare process that measures contenders. To be comparable, all
// frameworks have HTTP/1.1 with keep-alive on a TCP listener of this package, the
// time-outs of this package, an access log only if the study requests one, and one
// atomic addition per request that is answered and per middleware that is called.
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

// HTTP2Speaker is a server that may speak HTTP/2 without encryption in addition to HTTP/1.1. An [http.Server]
// need not implement it, as its field Protocols has the same information.
type HTTP2Speaker interface{ SpeaksHTTP2() bool }

// Options define how to serve an app.
type Options struct {
	Variant  string      // one of the program's variants; "" if it has none
	Log      io.Writer   // destination of the framework's own access log, a line per request; nil for no log
	TLS      *tls.Config // configuration of the listener, which encrypts the connections; nil for plain text
	Receipts *Receipts   // counts requests; never nil
	Ops      *Ops        // answers some requests before the app does, e.g. /metrics; may be nil
}

// Time-outs of all servers. Production settings differ, but a server without
// any spends less on each request than one with them.
const (
	// ReadTimeout limits the time in which the headers of a request must arrive. If a framework has no
	// time-out for headers, or if there is no lab, it limits the time of the complete request.
	ReadTimeout = 10 * time.Second
	// IdleTimeout limits the time until the next request on a connection.
	IdleTimeout = 2 * time.Minute
)

// MaxHead limits the bytes of the request line and headers of a request.
// A framework may have a lower limit.
const MaxHead = 32 << 10

// Main serves the lab that started this process, and exits. If no lab started it, Main serves the app that the
// command line selects. variants are the names of the variants, if there is more than one.
func Main(apps Apps, variants ...string) {
	contender.Main(Host{Apps: apps, Variants: variants}.Program())
}

// Host is a program of servers, for kinds that build on this one.
type Host struct {
	Kind     string // name of the kind in studies; if "", it is the constant Kind
	Apps     Apps
	Variants []string // names of the variants, if there is more than one

	// HTTP2 reports whether a variant speaks nothing but HTTP/2. If nil, all variants speak HTTP/1.1.
	HTTP2 func(variant string) bool

	// Together lists the variants that are served together over one service without a lab, each at
	// an address of its own, unless flag -face selects others. If empty, one variant is served.
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

// standard is a server of net/http that this package made.
type standard struct{ http.Server }

// addGuard makes the server call ops before the app, and limits each request: the complete request must arrive
// within [ReadTimeout], and over HTTP/2 the numbers of streams and of bytes in flight are limited. It does nothing
// if ops is nil.
func (s *standard) addGuard(ops *Ops) {
	if ops == nil {
		return
	}
	s.Handler = ops.Handler(s.Handler)
	s.ReadTimeout, s.ReadHeaderTimeout = ReadTimeout, ReadTimeout
	s.IdleTimeout = -1 // the gate has one; net/http would also retain broken HTTP/2 connections that long
	if s.Protocols != nil && s.Protocols.UnencryptedHTTP2() {
		s.HTTP2 = &http.HTTP2Config{MaxConcurrentStreams: MaxStreams, MaxReceiveBufferPerConnection: http2Buffer, MaxReceiveBufferPerStream: http2Buffer}
	}
}

// http2Buffer is the number of bytes of bodies that a client may send before the app reads them. It must be at
// least the initial window of HTTP/2, 65535 bytes.
const http2Buffer = 1 << 16

// Shutdown closes all connections that are still open when ctx ends.
func (s *standard) Shutdown(ctx context.Context) error {
	err := s.Server.Shutdown(ctx)
	if err != nil {
		_ = s.Close()
	}
	return err
}

// Unescape decodes the value of a path parameter, for routers on net/http that match URL.RawPath if it is set and
// otherwise URL.Path. A value from URL.Path is decoded already. RawPath is set if the path arrived in another
// encoding than the default one of [url.URL.EscapedPath].
func Unescape(r *http.Request, value string) (string, error) {
	if r.URL.RawPath == "" {
		return value, nil
	}
	return url.PathUnescape(value)
}
