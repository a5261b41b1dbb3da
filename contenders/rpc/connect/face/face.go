// Package face serves users over Connect and gRPC, by connect-go.
package face

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

// New is the face.
func New() rpc.Face {
	return rpc.Face{Serve: serve, Protocols: []string{rpc.Connect, rpc.ConnectJSON, rpc.GRPC}, Dial: dial, Store: opener()}
}

func serve(o server.Options, u *users.Service) (server.Server, error) {
	options := []connect.HandlerOption{connect.WithReadMaxBytes(users.MaxBody), connect.WithInterceptors(layers(o, u)...)}
	mux := http.NewServeMux()
	path, handler := protoconnect.NewUserServiceHandler(&service{users: u, receipts: o.Receipts}, options...)
	mux.Handle(path, receive(handler, o.Receipts))
	mux.Handle(grpchealth.NewHandler(grpchealth.NewStaticChecker(protoconnect.UserServiceName)))
	reflector := grpcreflect.NewStaticReflector(protoconnect.UserServiceName)
	mux.Handle(grpcreflect.NewHandlerV1(reflector))
	mux.Handle(grpcreflect.NewHandlerV1Alpha(reflector))
	mux.HandleFunc("GET /health", func(w http.ResponseWriter, _ *http.Request) {
		o.Receipts.Request()
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		_, _ = io.WriteString(w, "ok\n") // the client has gone
	})
	refuse := connect.NewErrorWriter()
	astray := &users.Error{Code: users.NotFound, Message: "nothing is at this path; there are POST /" + protoconnect.UserServiceName + "/CreateUser, GetUser, UpdateUser, DeleteUser and ListUsers, and GET /health"}
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		_ = refuse.Write(w, r, refusal(astray)) // the client has gone
	})
	return server.HTTP2(mux), nil
}

// layers are the interceptors, the outermost first.
func layers(o server.Options, u *users.Service) []connect.Interceptor {
	l := layer{users: u, receipts: o.Receipts}
	list := []connect.Interceptor{connect.UnaryInterceptorFunc(l.identify)}
	if o.Log != nil {
		list = append(list, l.log(slog.New(slog.NewTextHandler(o.Log, nil))))
	}
	list = append(list, connect.UnaryInterceptorFunc(l.recover))
	if u.Limited() {
		list = append(list, connect.UnaryInterceptorFunc(l.limit))
	}
	return list
}
