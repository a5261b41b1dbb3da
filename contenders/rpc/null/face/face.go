// Package face serves users over HTTP/1.1, and over gRPC on the same port, with as
// little as that takes.
package face

import (
	"context"
	"time"

	"github.com/tarebench/tare/apps/users"
	"github.com/tarebench/tare/contender/rpc"
	"github.com/tarebench/tare/contender/server"
)

// New returns the null contender's transport: its server and its client.
func New() rpc.Face {
	return rpc.Face{Serve: newServer, Protocols: []string{rpc.GRPC, rpc.HTTP}, Dial: newClient}
}

func newServer(o server.Options, u *users.Service) (server.Server, error) {
	f := &nullServer{users: u, receipts: o.Receipts}
	f.ctx, f.cancel = context.WithCancel(context.Background())
	if o.Log != nil {
		f.line = server.Lines(o.Log)
	}
	// Its own receipts are not those of o, which do not count every request.
	s, err := server.Null{Answer: f.answerHTTP, MaxBody: users.MaxBody, HTTP2: f.serveHTTP2}.Serve(server.Options{})
	f.Server = s
	return f, err
}

// nullServer serves the users service.
type nullServer struct {
	server.Server
	users    *users.Service
	receipts *server.Receipts
	line     func(method, path string, status int, took time.Duration) // nil if there is no log
	ctx      context.Context                                           // of all calls, until the end of the server
	cancel   context.CancelFunc
}

// SpeaksHTTP2 tells what stands before a service that runs alone to let gRPC through.
func (f *nullServer) SpeaksHTTP2() bool { return true }

func (f *nullServer) Shutdown(ctx context.Context) error {
	defer f.cancel()
	return f.Server.Shutdown(ctx)
}
