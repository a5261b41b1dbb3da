package router

import (
	"net"

	"github.com/tarebench/tare/contender/wire"
)

// Native is an HTTP stack with an own request type, such as fasthttp.
type Native struct {
	// Prepare parses a request for repeated serving. It is not timed. raw is the request as a connection
	// delivers it. The stack's own server must parse it likewise.
	Prepare func(raw []byte) (Prepared, error)

	// Listen starts the stack's own server on l without waiting. stop ends it; the client has closed its
	// connection by then.
	Listen func(l net.Listener) (stop func(), err error)
}

// Prepared is one request that can be served in process.
type Prepared struct {
	// Serve, which is timed, resets request and response as the server does between two. It calls the handlers
	// and returns the response. The next call may overwrite body.
	Serve func() (status int, body []byte)

	// Header returns a header of the last response, "" if it is missing.
	Header func(name string) string
}

// serveOnce serves the request once. The answer has the number of middleware calls.
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
