// Package api serves app users, an API that stores users, over HTTP with gRPC-Gateway. The gateway
// converts HTTP with JSON to gRPC.
package api

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"

	"github.com/grpc-ecosystem/grpc-gateway/v2/runtime"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/test/bufconn"

	"github.com/tarebench/tare/apps/users"
	"github.com/tarebench/tare/contender/rpc"
	"github.com/tarebench/tare/contender/server"
	"github.com/tarebench/tare/contenders/rpc/gateway/stub"
)

// Ways to reach the gRPC service.
const (
	overLoopback = "dial"      // to a gRPC server in this process
	inProcess    = "inprocess" // by calls of the service's methods
)

// New returns the transport of this contender: its server and its client.
func New() rpc.Face {
	return rpc.Face{Serve: newServer, Protocols: []string{rpc.HTTP}, Dial: rpc.ProtoJSONClient, Store: newOpener(), Variants: []string{overLoopback, inProcess}}
}

// newServer returns the gateway, with a backend unless its variant is inProcess.
func newServer(o server.Options, u *users.Service) (server.Server, error) {
	mux := runtime.NewServeMux(
		runtime.WithMiddlewares(countBodies(o.Receipts)),
		runtime.WithErrorHandler(writeStatus),
		runtime.WithRoutingErrorHandler(writeNoRoute),
		runtime.WithForwardResponseOption(setCreated),
		runtime.WithDisablePathLengthFallback(),
	)
	err := mux.HandlePath(http.MethodGet, "/health", func(w http.ResponseWriter, _ *http.Request, _ map[string]string) {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		_, _ = io.WriteString(w, "ok\n") // fails if the client has disconnected
	})
	if err != nil {
		return nil, err
	}
	l := layers{users: u, receipts: o.Receipts} // receipts count requests, bodies and middleware for the program that measures
	switch o.Variant {
	case overLoopback, "":
		isStandalone := o.Ops != nil // not started by a measurement
		b, err := newBackend(u, isStandalone)
		if err != nil {
			return nil, err
		}
		if err := stub.RegisterUserServiceHandler(context.Background(), mux, b.conn); err != nil {
			return nil, errors.Join(err, b.closeAll())
		}
		return &gatewayServer{Server: server.HTTP2(l.addLayers(mux, o)), backend: b}, nil
	case inProcess:
		if err := stub.RegisterUserServiceHandlerServer(context.Background(), mux, &service{users: u}); err != nil {
			return nil, err
		}
		return server.HTTP2(l.addLayers(mux, o)), nil
	}
	return nil, fmt.Errorf("unknown variant %q", o.Variant)
}

// backend is the gRPC server and the connection to it.
type backend struct {
	listener net.Listener
	server   *grpc.Server
	conn     *grpc.ClientConn
}

// pipeSize is the size in bytes of the buffer of a connection in memory, about that of a TCP socket on
// loopback.
const pipeSize = 256 << 10

// newBackend returns the gRPC server and a client of it. A standalone service connects them in memory: on a
// second port, other programs could call the gRPC server without the token. A study measures the cost of
// loopback, and the server accepts only this client.
func newBackend(u *users.Service, standalone bool) (*backend, error) {
	var listener net.Listener
	var dial func(context.Context, string) (net.Conn, error)
	if standalone {
		pipe := bufconn.Listen(pipeSize)
		listener, dial = pipe, func(ctx context.Context, _ string) (net.Conn, error) { return pipe.DialContext(ctx) }
	} else {
		loopback, err := newDialListener()
		if err != nil {
			return nil, err
		}
		listener, dial = loopback, loopback.dialSelf
	}
	conn, err := grpc.NewClient("passthrough:///"+listener.Addr().String(), grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithContextDialer(dial))
	if err != nil {
		return nil, errors.Join(err, listener.Close())
	}
	s := grpc.NewServer(grpc.ConnectionTimeout(server.ReadTimeout), grpc.UnaryInterceptor(recoverMethod))
	stub.RegisterUserServiceServer(s, &service{users: u})
	return &backend{listener: listener, server: s, conn: conn}, nil
}

// dialListener accepts only connections of its method dialSelf, and closes all others.
type dialListener struct {
	net.Listener
	mu     sync.Mutex      // locked while dialSelf connects, so that Accept finds the address
	dialed map[string]bool // local addresses of connections that Accept has not returned yet
}

func newDialListener() (*dialListener, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	return &dialListener{Listener: l, dialed: map[string]bool{}}, err
}

func (l *dialListener) dialSelf(ctx context.Context, _ string) (net.Conn, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	var d net.Dialer
	conn, err := d.DialContext(ctx, "tcp", l.Addr().String())
	if err == nil {
		l.dialed[conn.LocalAddr().String()] = true
	}
	return conn, err
}

// Accept returns the next connection of dialSelf.
func (l *dialListener) Accept() (net.Conn, error) {
	for {
		conn, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		addr := conn.RemoteAddr().String()
		l.mu.Lock()
		isFromDialSelf := l.dialed[addr]
		delete(l.dialed, addr)
		l.mu.Unlock()
		if isFromDialSelf {
			return conn, nil
		}
		_ = conn.Close()
	}
}

// closeAll closes the connection and the server. No call may be in progress.
func (b *backend) closeAll() error {
	err := b.conn.Close()
	b.server.Stop()
	_ = b.listener.Close() // already closed if the server has served
	return err
}

type gatewayServer struct {
	server.Server
	backend *backend
}

// Front returns the gateway without its backend. Serve and Shutdown include the backend.
func (r *gatewayServer) Front() server.Server { return r.Server }

// Serve serves the gateway and its backend until the gateway ends.
func (r *gatewayServer) Serve(l net.Listener) error {
	ended := make(chan error, 1)
	go func() { ended <- r.backend.server.Serve(r.backend.listener) }()
	err := r.Server.Serve(l)
	if !errors.Is(err, http.ErrServerClosed) { // Shutdown will not be called
		err = errors.Join(err, r.backend.closeAll())
		<-ended
	}
	return err
}

// Shutdown ends the gateway first: its requests need the backend.
func (r *gatewayServer) Shutdown(ctx context.Context) error {
	return errors.Join(r.Server.Shutdown(ctx), r.backend.closeAll())
}
