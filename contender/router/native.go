package router

import (
	"net"

	"github.com/tarebench/tare/contender/wire"
)

// Native is a stack with requests and contexts of its own, such as fasthttp.
type Native struct {
	// Prepare makes a request ready to be served repeatedly, off the clock.
	// raw is the request as a connection would deliver it. Prepare must parse it as the stack's
	// own server does.
	Prepare func(raw []byte) (Prepared, error)

	// Listen starts the stack's own server on l and returns at once. stop ends
	// it, after the client has closed its connection.
	Listen func(l net.Listener) (stop func(), err error)
}

// Prepared is one request that can be served in process.
type Prepared struct {
	// Serve restores the request and the response after the previous call, as
	// the server does between two requests, sends the request through the
	// handlers and returns the response, whose body may be overwritten by the next
	// call. The timer covers only Serve.
	Serve func() (status int, body []byte)

	// Header returns a header of that response, "" if it is missing.
	Header func(name string) string
}

// serveOnce serves the request once and returns the response.
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
