// Package rpc is the kind of contender that serves app users over one protocol or
// several, and brings the client that its users would take. An author says how
// to serve, in the way of package contender/server, and how to call:
//
//	func main() { rpc.Main(rpc.Face{Serve: serve, Dial: dial}) }
//
// The lab starts the program twice where its own client drives it: once to serve,
// once to call. Else the lab's load generator calls, the same for all.
package rpc

import (
	"context"
	"net"

	"github.com/tarebench/tare/apps/users"
	"github.com/tarebench/tare/apps/users/serving"
)

// Kind is what studies call this kind of contender.
const Kind = "rpc"

// Protocols that requests can be in.
const (
	HTTP        = "http"         // JSON over the paths of package users
	GRPC        = "grpc"         // over HTTP/2
	Connect     = "connect"      // protocol buffers
	ConnectJSON = "connect-json" // the same with JSON
)

// Policies of connections.
const (
	Pool  = "pool"  // a connection for each caller, kept open
	One   = "one"   // one for all; HTTP/2 only
	Fresh = "fresh" // a new one for each request
)

// Face is one way to offer the service.
type Face struct {
	// Serve makes a server for the service.
	Serve serving.Serve

	// Protocols are those it speaks, the usual one first.
	Protocols []string

	// Dial makes the client that users of this face would take. It opens its
	// connections by Target.DialContext.
	Dial func(t Target) (Client, error)

	// Store opens the stores that package users does not have itself: SQLite and
	// PostgreSQL. Nil: they are not built in.
	Store users.Opener

	Variants []string // ways to run it; none: one way
}

// Target is what a client is to reach.
type Target struct {
	Addr     string // host:port, in plain text
	Variant  string
	Protocol string // one of Face.Protocols
	HTTP2    bool   // of protocols that can do without; gRPC never can
	Policy   string
	Callers  int // that call at once, at most

	// Dial opens a connection, which is counted; nil: package net does, and it is
	// not. Clients use DialContext.
	Dial func(ctx context.Context, network, addr string) (net.Conn, error)
}

// DialContext opens a connection for a client. All that a client opens come from
// here, so that the lab can be told how many there are and what goes over them.
func (t Target) DialContext(ctx context.Context, network, addr string) (net.Conn, error) {
	if t.Dial == nil {
		var d net.Dialer
		return d.DialContext(ctx, network, addr)
	}
	return t.Dial(ctx, network, addr)
}

// Client calls a service. All methods can be called at once. A refusal is a
// *[users.Error]; any other error is of the transport.
type Client interface {
	Create(ctx context.Context, d users.Draft) (users.User, error)
	Get(ctx context.Context, id int64) (users.User, error)
	Update(ctx context.Context, id int64, d users.Draft) (users.User, error)
	Delete(ctx context.Context, id int64) error
	List(ctx context.Context, q users.Query) (users.Page, error)
	Close() error
}
