// Package face serves users over HTTP, by gRPC-Gateway.
package face

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"

	"github.com/grpc-ecosystem/grpc-gateway/v2/runtime"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/tarebench/tare/apps/users"
	"github.com/tarebench/tare/contender/rpc"
	"github.com/tarebench/tare/contender/server"
	"github.com/tarebench/tare/contenders/rpc/gateway/stub"
)

// Ways to reach the gRPC service.
const (
	overLoopback = "dial"      // a server of its own in this process
	inProcess    = "inprocess" // by calling its methods
)

// New is the face.
func New() rpc.Face {
	return rpc.Face{Serve: serve, Protocols: []string{rpc.HTTP}, Dial: rpc.ProtoJSONClient, Store: opener(), Variants: []string{overLoopback, inProcess}}
}

func serve(o server.Options, u *users.Service) (server.Server, error) {
	mux := runtime.NewServeMux(
		runtime.WithMiddlewares(receive(o.Receipts)),
		runtime.WithErrorHandler(refuse),
		runtime.WithRoutingErrorHandler(astray),
		runtime.WithForwardResponseOption(created),
		runtime.WithDisablePathLengthFallback(),
	)
	err := mux.HandlePath(http.MethodGet, "/health", func(w http.ResponseWriter, _ *http.Request, _ map[string]string) {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		_, _ = io.WriteString(w, "ok\n") // the client has gone
	})
	if err != nil {
		return nil, err
	}
	l := layer{users: u, receipts: o.Receipts}
	switch o.Variant {
	case overLoopback, "":
		b, err := newBackend(u)
		if err != nil {
			return nil, err
		}
		if err := stub.RegisterUserServiceHandler(context.Background(), mux, b.conn); err != nil {
			return nil, errors.Join(err, b.close())
		}
		return &running{Server: server.HTTP2(o.Ops.Handler(l.around(mux, o))), backend: b}, nil
	case inProcess:
		if err := stub.RegisterUserServiceHandlerServer(context.Background(), mux, &service{users: u}); err != nil {
			return nil, err
		}
		return server.HTTP2(l.around(mux, o)), nil
	}
	return nil, fmt.Errorf("unknown variant %q", o.Variant)
}

// backend is the gRPC server and the connection to it.
type backend struct {
	listener net.Listener
	server   *grpc.Server
	conn     *grpc.ClientConn
}

func newBackend(u *users.Service) (*backend, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	conn, err := grpc.NewClient("passthrough:///"+listener.Addr().String(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return nil, errors.Join(err, listener.Close())
	}
	s := grpc.NewServer(grpc.ConnectionTimeout(server.ReadTimeout), grpc.UnaryInterceptor(recovered))
	stub.RegisterUserServiceServer(s, &service{users: u})
	return &backend{listener: listener, server: s, conn: conn}, nil
}

// close ends all of it; nothing is under way any more.
func (b *backend) close() error {
	err := b.conn.Close()
	b.server.Stop()
	_ = b.listener.Close() // which the server has closed if it served
	return err
}

// running is a gateway with its backend.
type running struct {
	server.Server
	backend *backend
}

// Serve serves both.
func (r *running) Serve(l net.Listener) error {
	ended := make(chan error, 1)
	go func() { ended <- r.backend.server.Serve(r.backend.listener) }()
	err := r.Server.Serve(l)
	if !errors.Is(err, http.ErrServerClosed) { // nobody will call Shutdown
		err = errors.Join(err, r.backend.close())
		<-ended
	}
	return err
}

// Shutdown ends the gateway first: its requests need the backend.
func (r *running) Shutdown(ctx context.Context) error {
	return errors.Join(r.Server.Shutdown(ctx), r.backend.close())
}
