// Package rpc is for programs that tare compares, of kind rpc: they serve package apps/users, which stores
// users, over one or several protocols. They also have the client that callers would choose:
//
//	func main() { rpc.Main(rpc.Face{Serve: serve, Dial: dial}) }
//
// If a workload uses this client, the program runs twice: once to serve, once to call. Otherwise tare's load
// generator calls, the same for all.
package rpc

import (
	"context"
	"net"

	"github.com/tarebench/tare/apps/users"
	"github.com/tarebench/tare/apps/users/serving"
)

// Kind is what studies call this kind of contender.
const Kind = "rpc"

// Protocols of requests.
const (
	HTTP        = "http"         // JSON over the paths of package users
	GRPC        = "grpc"         // gRPC over HTTP/2
	Connect     = "connect"      // Connect with protocol buffers
	ConnectJSON = "connect-json" // Connect with JSON
)

// Policies define the connections of a client.
const (
	Pool  = "pool"  // a connection for each caller, which stays open
	One   = "one"   // one connection for all callers; HTTP/2 only if there are several
	Fresh = "fresh" // a new connection for each call
)

// Face is one implementation of the service.
type Face struct {
	// Serve makes a server for the service.
	Serve serving.Serve

	// Protocols lists the supported protocols, the usual one first.
	Protocols []string

	// Dial makes the client that users of this implementation would choose. It must open connections with
	// Target.DialContext. nil means no client.
	Dial func(t Target) (Client, error)

	// Store opens SQLite and PostgreSQL, which package users does not contain. nil means none.
	Store users.Opener

	Variants []string // empty if there is one
}

// Target defines the server and the connections of a client.
type Target struct {
	Addr     string // host:port, in plain text
	Variant  string
	Protocol string // one of Face.Protocols
	HTTP2    bool   // use HTTP/2; always set for gRPC
	Policy   string // Pool, One or Fresh
	Callers  int    // largest number of concurrent calls

	// Dial opens a counted connection. If nil, package net opens one that is
	// not counted. Clients use DialContext.
	Dial func(ctx context.Context, network, addr string) (net.Conn, error)
}

// DialContext opens a connection. Clients must use it, so that connections and bytes are counted.
func (t Target) DialContext(ctx context.Context, network, addr string) (net.Conn, error) {
	if t.Dial == nil {
		var d net.Dialer
		return d.DialContext(ctx, network, addr)
	}
	return t.Dial(ctx, network, addr)
}

// Client calls a service. Its methods are safe for concurrent use. An error of the service is a
// *[users.Error]; others are of the transport.
type Client interface {
	Create(ctx context.Context, d users.Draft) (users.User, error)
	Get(ctx context.Context, id int64) (users.User, error)
	Update(ctx context.Context, id int64, d users.Draft) (users.User, error)
	Delete(ctx context.Context, id int64) error
	List(ctx context.Context, q users.Query) (users.Page, error)
	Close() error
}
