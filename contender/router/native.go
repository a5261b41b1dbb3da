package router

import (
	"net"

	"github.com/tarebench/tare/contender/wire"
)

// Native is a stack with requests and contexts of its own, such as fasthttp.
type Native struct {
	// Prepare makes a request ready to be served time and again, off the clock.
	// raw is what would come over a connection, and is to be read as the stack's
	// own server reads it.
	Prepare func(raw []byte) (Prepared, error)

	// Listen starts the stack's own server on l and returns at once. stop ends
	// it, after the client has closed its connection.
	Listen func(l net.Listener) (stop func(), err error)
}

// Prepared is one request that can be served in process.
type Prepared struct {
	// Serve undoes what the last time left in the request and the response, as
	// the server does between two requests, sends the request through the
	// handlers and returns the answer. The body may be overwritten by the next
	// call. This is what is timed.
	Serve func() (status int, body []byte)

	// Header is a header of that answer; empty: it is not there.
	Header func(name string) string
}

// answer serves the request once and shows what came of it.
func (p Prepared) answer(spec Spec) Answer {
	before := spec.LayerCalls()
	status, body := p.Serve()
	return Answer{
		HTTPResponse: wire.HTTPResponse{Status: status, Header: shown(p.Header), Body: body},
		LayerCalls:   spec.LayerCalls() - before,
	}
}

func (n Native) load(q wire.HTTPRequest) (Prepared, error)      { return n.Prepare(requestBytes(q)) }
func (n Native) listen(l net.Listener) (stop func(), err error) { return n.Listen(l) }
