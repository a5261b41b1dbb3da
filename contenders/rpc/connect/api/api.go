// Package api serves app users, an API that stores users, over Connect and gRPC with connect-go.
package api

import (
	"io"
	"log/slog"
	"net/http"

	"connectrpc.com/connect"
	"connectrpc.com/grpchealth"
	"connectrpc.com/grpcreflect"

	"github.com/tarebench/tare/apps/users"
	"github.com/tarebench/tare/contender/rpc"
	"github.com/tarebench/tare/contender/server"
	"github.com/tarebench/tare/contenders/rpc/connect/protoconnect"
)

// New returns the transport of this contender: its server and its client.
func New() rpc.Face {
	return rpc.Face{Serve: newServer, Protocols: []string{rpc.Connect, rpc.ConnectJSON, rpc.GRPC}, Dial: newClient, Store: newOpener()}
}

// newServer returns a server with the service, GET /health, and gRPC's health check and reflection.
func newServer(o server.Options, u *users.Service) (server.Server, error) {
	options := []connect.HandlerOption{connect.WithReadMaxBytes(users.MaxBody), connect.WithInterceptors(newInterceptors(o, u)...)}
	mux := http.NewServeMux()
	path, handler := protoconnect.NewUserServiceHandler(&service{users: u, receipts: o.Receipts}, options...)
	mux.Handle(path, countBodies(handler, o.Receipts))
	mux.Handle(grpchealth.NewHandler(grpchealth.NewStaticChecker(protoconnect.UserServiceName)))
	reflector := grpcreflect.NewStaticReflector(protoconnect.UserServiceName)
	mux.Handle(grpcreflect.NewHandlerV1(reflector))
	mux.Handle(grpcreflect.NewHandlerV1Alpha(reflector))
	mux.HandleFunc("GET /health", func(w http.ResponseWriter, _ *http.Request) {
		o.Receipts.Request()
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		_, _ = io.WriteString(w, "ok\n") // fails if the client has disconnected
	})
	errorWriter := connect.NewErrorWriter()
	notFound := &users.Error{Code: users.NotFound, Message: "nothing is at this path; there are POST /" + protoconnect.UserServiceName + "/CreateUser, GetUser, UpdateUser, DeleteUser and ListUsers, and GET /health"}
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		_ = errorWriter.Write(w, r, newError(notFound)) // fails if the client has disconnected
	})
	return server.HTTP2(mux), nil
}

// newInterceptors returns the interceptors, the outermost first.
func newInterceptors(o server.Options, u *users.Service) []connect.Interceptor {
	l := interceptors{users: u, receipts: o.Receipts}
	list := []connect.Interceptor{connect.UnaryInterceptorFunc(l.setRequestID)}
	if o.Log != nil {
		list = append(list, l.addLog(slog.New(slog.NewTextHandler(o.Log, nil))))
	}
	list = append(list, connect.UnaryInterceptorFunc(l.recoverPanic))
	if u.Limited() {
		list = append(list, connect.UnaryInterceptorFunc(l.limitRate))
	}
	return list
}
