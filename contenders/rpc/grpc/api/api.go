// Package api serves app users, an API that stores users, over gRPC with grpc-go.
package api

import (
	"context"
	"log/slog"
	"net"

	"google.golang.org/grpc"
	"google.golang.org/grpc/health"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/reflection"

	"github.com/tarebench/tare/apps/users"
	"github.com/tarebench/tare/contender/rpc"
	"github.com/tarebench/tare/contender/server"
	"github.com/tarebench/tare/contenders/rpc/grpc/stub"
)

// New returns the transport of this contender: its server and its client.
func New() rpc.Face {
	return rpc.Face{Serve: newServer, Protocols: []string{rpc.GRPC}, Dial: newClient, Store: newOpener()}
}

// newServer returns a server with the service, the health check and reflection.
func newServer(o server.Options, u *users.Service) (server.Server, error) {
	s := grpc.NewServer(append(serverOptions(o.Ops), // o.Ops is nil in a study
		grpc.MaxRecvMsgSize(users.MaxBody),
		grpc.MaxHeaderListSize(server.MaxHead),
		grpc.ForceServerCodecV2(newCodec(o.Receipts)),
		grpc.ConnectionTimeout(server.ReadTimeout),
		grpc.KeepaliveParams(keepalive.ServerParameters{MaxConnectionIdle: server.IdleTimeout}),
		grpc.ChainUnaryInterceptor(newInterceptors(o, u)...),
	)...)
	stub.RegisterUserServiceServer(s, &service{users: u, receipts: o.Receipts})
	h := health.NewServer()
	h.SetServingStatus(stub.UserService_ServiceDesc.ServiceName, grpc_health_v1.HealthCheckResponse_SERVING)
	grpc_health_v1.RegisterHealthServer(s, h)
	reflection.Register(s)
	return &gracefulServer{Server: s, health: h}, nil
}

// newInterceptors returns the interceptors, the outermost first.
func newInterceptors(o server.Options, u *users.Service) []grpc.UnaryServerInterceptor {
	l := interceptors{users: u, receipts: o.Receipts}
	list := []grpc.UnaryServerInterceptor{l.setRequestID}
	if o.Log != nil {
		list = append(list, l.addLog(slog.New(slog.NewTextHandler(o.Log, nil))))
	}
	list = append(list, l.recoverPanic)
	if u.Limited() {
		list = append(list, l.limitRate)
	}
	return list
}

// gracefulServer has the methods Serve and Shutdown of an http.Server.
type gracefulServer struct {
	*grpc.Server
	health *health.Server
}

// Serve serves until Shutdown. It then returns nil.
func (r *gracefulServer) Serve(l net.Listener) error { return r.Server.Serve(l) }

// Shutdown sets the health check to not serving, and waits for the calls in progress. When ctx ends, it
// cancels them.
func (r *gracefulServer) Shutdown(ctx context.Context) error {
	r.health.Shutdown()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		r.GracefulStop()
	}()
	select {
	case <-ended:
		return nil
	case <-ctx.Done():
		r.Stop()
		<-ended
		return ctx.Err()
	}
}
