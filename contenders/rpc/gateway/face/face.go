// Package face serves users over HTTP, by gRPC-Gateway.
package face

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
		b, err := newBackend(u, o.Ops != nil)
		if err != nil {
			return nil, err
		}
		if err := stub.RegisterUserServiceHandler(context.Background(), mux, b.conn); err != nil {
			return nil, errors.Join(err, b.close())
		}
		return &running{Server: server.HTTP2(l.around(mux, o)), backend: b}, nil
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

// pipeSize is the buffer of a connection in memory, in bytes: that of a TCP socket
// on loopback is of this order.
const pipeSize = 256 << 10

// newBackend returns the gRPC server and a client of it. Standalone they are
// connected in memory, so that there is no second port that asks for no token. In a
// study they are connected over loopback, which is what is measured, and the server
// takes no connection but the client's.
func newBackend(u *users.Service, standalone bool) (*backend, error) {
	var listener net.Listener
	var dial func(context.Context, string) (net.Conn, error)
	if standalone {
		pipe := bufconn.Listen(pipeSize)
		listener, dial = pipe, func(ctx context.Context, _ string) (net.Conn, error) { return pipe.DialContext(ctx) }
	} else {
		own, err := newOwnListener()
		if err != nil {
			return nil, err
		}
		listener, dial = own, own.dial
	}
	conn, err := grpc.NewClient("passthrough:///"+listener.Addr().String(), grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithContextDialer(dial))
	if err != nil {
		return nil, errors.Join(err, listener.Close())
	}
	s := grpc.NewServer(grpc.ConnectionTimeout(server.ReadTimeout), grpc.UnaryInterceptor(recovered))
	stub.RegisterUserServiceServer(s, &service{users: u})
	return &backend{listener: listener, server: s, conn: conn}, nil
}

// ownListener accepts the connections that its own dial has opened, and closes any
// other.
type ownListener struct {
	net.Listener
	mu     sync.Mutex      // held while dial connects, so that Accept finds the address
	dialed map[string]bool // local addresses of open connections that Accept has not returned yet
}

func newOwnListener() (*ownListener, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	return &ownListener{Listener: l, dialed: map[string]bool{}}, err
}

func (l *ownListener) dial(ctx context.Context, _ string) (net.Conn, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	var d net.Dialer
	conn, err := d.DialContext(ctx, "tcp", l.Addr().String())
	if err == nil {
		l.dialed[conn.LocalAddr().String()] = true
	}
	return conn, err
}

// Accept returns the next connection of dial.
func (l *ownListener) Accept() (net.Conn, error) {
	for {
		conn, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		addr := conn.RemoteAddr().String()
		l.mu.Lock()
		own := l.dialed[addr]
		delete(l.dialed, addr)
		l.mu.Unlock()
		if own {
			return conn, nil
		}
		_ = conn.Close()
	}
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

// Front returns the gateway.
func (r *running) Front() server.Server { return r.Server }

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
