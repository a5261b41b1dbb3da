package router

import (
	"net"

	"github.com/tarebench/tare/contender/wire"
)

// Native is an HTTP stack that does not use the request type of net/http, such as fasthttp.
type Native struct {
	// Prepare parses a request so that it can be served repeatedly. Its time is not measured.
	// raw is the request as a connection would deliver it. Prepare must parse it as the stack's
	// own server does.
	Prepare func(raw []byte) (Prepared, error)

	// Listen starts the stack's own server on l and returns without waiting. stop ends
	// the server; the client has closed its connection by then.
	Listen func(l net.Listener) (stop func(), err error)
}

// Prepared is one request that can be served in process.
type Prepared struct {
	// Serve first resets the request and the response, as the server does between
	// two requests. It then sends the request through the handlers and returns the
	// response. The next call may overwrite body. Only the time of Serve is measured.
	Serve func() (status int, body []byte)

	// Header returns a header of the last response, "" if it is missing.
	Header func(name string) string
}

// serveOnce serves the request once and returns the response with the number of middleware calls.
func (p Prepared) serveOnce(spec Spec) Answer {
	before := spec.LayerCalls()
	status, body := p.Serve()
	return Answer{
		HTTPResponse: wire.HTTPResponse{Status: status, Header: pickHeaders(p.Header), Body: body},
		LayerCalls:   spec.LayerCalls() - before,
	}
}

func (n Native) loadRequest(q wire.HTTPRequest) (Prepared, error)    { return n.Prepare(formatRequest(q)) }
func (n Native) startServer(l net.Listener) (stop func(), err error) { return n.Listen(l) }
