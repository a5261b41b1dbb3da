// Package face serves users over gRPC, by grpc-go.
package face

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

// New is the face.
func New() rpc.Face {
	return rpc.Face{Serve: serve, Protocols: []string{rpc.GRPC}, Dial: dial, Store: opener()}
}

func serve(o server.Options, u *users.Service) (server.Server, error) {
	s := grpc.NewServer(append(before(o.Ops),
		grpc.MaxRecvMsgSize(users.MaxBody),
		grpc.MaxHeaderListSize(server.MaxHead),
		grpc.ForceServerCodecV2(newCodec(o.Receipts)),
		grpc.ConnectionTimeout(server.ReadTimeout),
		grpc.KeepaliveParams(keepalive.ServerParameters{MaxConnectionIdle: server.IdleTimeout}),
		grpc.ChainUnaryInterceptor(layers(o, u)...),
	)...)
	stub.RegisterUserServiceServer(s, &service{users: u, receipts: o.Receipts})
	h := health.NewServer()
	h.SetServingStatus(stub.UserService_ServiceDesc.ServiceName, grpc_health_v1.HealthCheckResponse_SERVING)
	grpc_health_v1.RegisterHealthServer(s, h)
	reflection.Register(s)
	return &running{s, h}, nil
}

// layers are the interceptors, the outermost first.
func layers(o server.Options, u *users.Service) []grpc.UnaryServerInterceptor {
	l := layer{users: u, receipts: o.Receipts}
	list := []grpc.UnaryServerInterceptor{l.identify}
	if o.Log != nil {
		list = append(list, l.log(slog.New(slog.NewTextHandler(o.Log, nil))))
	}
	list = append(list, l.recover)
	if u.Limited() {
		list = append(list, l.limit)
	}
	return list
}

// running is a server that ends in the way of package net/http's.
type running struct {
	*grpc.Server
	health *health.Server
}

// Serve ends without an error when Shutdown is called.
func (r *running) Serve(l net.Listener) error { return r.Server.Serve(l) }

// Shutdown says that the service is about to go, and ends what has not ended
// with ctx.
func (r *running) Shutdown(ctx context.Context) error {
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
