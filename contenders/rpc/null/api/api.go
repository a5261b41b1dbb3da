// Package api serves app users, an API that stores users, over HTTP/1.1 and gRPC on the same port. It has
// as little code as possible, and no server of net/http or grpc-go.
package api

import (
	"context"
	"time"

	"github.com/tarebench/tare/apps/users"
	"github.com/tarebench/tare/contender/rpc"
	"github.com/tarebench/tare/contender/server"
)

// New returns the transport of the null contender, the reference that does as little as possible.
func New() rpc.Face {
	return rpc.Face{Serve: newServer, Protocols: []string{rpc.GRPC, rpc.HTTP}, Dial: newClient}
}

// newServer returns the server of both protocols.
func newServer(o server.Options, u *users.Service) (server.Server, error) {
	f := &nullServer{users: u, receipts: o.Receipts}
	f.ctx, f.cancel = context.WithCancel(context.Background())
	if o.Log != nil {
		f.logLine = server.Lines(o.Log)
	}
	// Null counts every request in other receipts. Those of o count only requests that reach the service.
	s, err := server.Null{Answer: f.respondHTTP, MaxBody: users.MaxBody, HTTP2: f.serveHTTP2}.Serve(server.Options{})
	f.Server = s
	return f, err
}

type nullServer struct {
	server.Server
	users    *users.Service
	receipts *server.Receipts                                          // counts requests, bytes of bodies and calls of middleware
	logLine  func(method, path string, status int, took time.Duration) // nil without an access log
	ctx      context.Context                                           // of all calls; ends with the server
	cancel   context.CancelFunc
}

// SpeaksHTTP2 implements [server.HTTP2Speaker]: a standalone service accepts gRPC.
func (f *nullServer) SpeaksHTTP2() bool { return true }

// Shutdown ends the server, and then the context of all calls.
func (f *nullServer) Shutdown(ctx context.Context) error {
	defer f.cancel()
	return f.Server.Shutdown(ctx)
}
