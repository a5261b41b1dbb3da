// Package server is the kind of contender that answers HTTP requests which the
// lab sends. An author writes one function for each app they serve, in the way
// their framework is meant to be used:
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
// What is the same for all, whatever the framework: HTTP/1.1 with keep-alive on
// a TCP listener that is made here, the time-outs of this package, an access
// log only where one is asked for, and one atomic addition per request that is
// answered and per middleware that is called.
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

// Kind is what studies call this kind of contender.
const Kind = "server"

// Server serves connections until it is shut down. [http.Server] is one.
type Server interface {
	// Serve answers the connections of l. It returns when Shutdown is called,
	// or for an error.
	Serve(l net.Listener) error

	// Shutdown lets requests under way end, for as long as ctx lasts, and
	// closes everything.
	Shutdown(ctx context.Context) error
}

// Fronted is a server that has others behind it. Front is the one that connections come
// to.
type Fronted interface{ Front() Server }

// HTTP2Speaker is a server that may speak HTTP/2 without encryption beside HTTP/1.1. Of
// an [http.Server] that is known.
type HTTP2Speaker interface{ SpeaksHTTP2() bool }

// Options say how to serve an app.
type Options struct {
	Variant  string      // which of the program's variants to be; empty: it has none
	Log      io.Writer   // where the framework's own access log writes a line for each request; nil: there is none
	TLS      *tls.Config // the listener's, whose connections are encrypted already; nil: plain text
	Receipts *Receipts   // where requests are counted; never nil
	Ops      *Ops        // what is asked before the app; nil: nothing is
}

// Time-outs of all servers. Production settings differ, but a server without
// any spends less on each request than one with them.
const (
	ReadTimeout = 10 * time.Second // for the headers of a request, or where those have no time-out of their own, and alone, for the whole of it
	IdleTimeout = 2 * time.Minute  // for the next request on a connection
)

// MaxHead is how many bytes the request line and headers of a request may have.
// Frameworks with a lower bound of their own keep it.
const MaxHead = 32 << 10

// Main serves the lab that started this process, or else what the command line
// asks for, and exits. Variants are the ways to run it; none: one way.
func Main(apps Apps, variants ...string) {
	contender.Main(Host{Apps: apps, Variants: variants}.Program())
}

// Host is a program of servers, for kinds that build on this one.
type Host struct {
	Kind     string // what studies call the kind; empty: that of this package
	Apps     Apps
	Variants []string // ways to run it; none: one way

	// HTTP2 reports whether a variant speaks nothing but HTTP/2. Nil: none does.
	HTTP2 func(variant string) bool

	// Together are the variants that are served side by side over one service
	// where there is no lab, each at an address of its own, unless flag -face says
	// otherwise. None: one variant is served.
	Together []string
}

// Program is what [contender.Main] runs.
func (h Host) Program() contender.Program {
	if h.Kind == "" {
		h.Kind = Kind
	}
	return contender.Program{Kind: h.Kind, Variants: h.Variants, Serve: h.serve, Alone: alone{h}.main}
}

// HTTP serves handler by package net/http.
func HTTP(handler http.Handler) Server {
	return &standard{http.Server{Handler: handler, ReadHeaderTimeout: ReadTimeout, IdleTimeout: IdleTimeout, MaxHeaderBytes: MaxHead}}
}

// HTTPBodies is HTTP for apps whose requests have bodies: [ReadTimeout] is for
// the whole of each.
func HTTPBodies(handler http.Handler) Server {
	return &standard{http.Server{Handler: handler, ReadTimeout: ReadTimeout, IdleTimeout: IdleTimeout, MaxHeaderBytes: MaxHead}}
}

// HTTP2 is HTTPBodies that also speaks HTTP/2 in plain text, to clients that know
// it beforehand.
func HTTP2(handler http.Handler) Server {
	s := &standard{http.Server{Handler: handler, ReadTimeout: ReadTimeout, IdleTimeout: IdleTimeout, MaxHeaderBytes: MaxHead, Protocols: &http.Protocols{}}}
	s.Protocols.SetHTTP1(true)
	s.Protocols.SetHTTP2(true)
	s.Protocols.SetUnencryptedHTTP2(true)
	return s
}

type standard struct{ http.Server }

// guard asks ops before the app, and bounds what a request may take: all of it the time
// that its headers have under a lab, and over HTTP/2 how much of it there is at once.
func (s *standard) guard(ops *Ops) {
	if ops == nil {
		return
	}
	s.Handler = ops.Handler(s.Handler)
	s.ReadTimeout, s.ReadHeaderTimeout = ReadTimeout, ReadTimeout
	s.IdleTimeout = -1 // the gate's: a connection of HTTP/2 that is cut off would be stored for as long
	if s.Protocols != nil && s.Protocols.UnencryptedHTTP2() {
		s.HTTP2 = &http.HTTP2Config{MaxConcurrentStreams: MaxStreams, MaxReceiveBufferPerConnection: http2Buffer, MaxReceiveBufferPerStream: http2Buffer}
	}
}

// http2Buffer is how many bytes of bodies a client may send before they are read, at
// least as many as the protocol begins with.
const http2Buffer = 1 << 16

// Shutdown closes what has not ended with ctx.
func (s *standard) Shutdown(ctx context.Context) error {
	err := s.Server.Shutdown(ctx)
	if err != nil {
		_ = s.Close()
	}
	return err
}

// Unescape decodes a parameter for routers on net/http that match the path as
// it came in whenever that is not what [url.URL.EscapedPath] would make of it,
// and the decoded path otherwise.
func Unescape(r *http.Request, value string) (string, error) {
	if r.URL.RawPath == "" {
		return value, nil
	}
	return url.PathUnescape(value)
}
