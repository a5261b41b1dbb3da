package users_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tarebench/tare/apps/users"
	"github.com/tarebench/tare/contender/rpc"
	"github.com/tarebench/tare/contender/server"
	gateway "github.com/tarebench/tare/contenders/rpc/gateway/api"
	gin "github.com/tarebench/tare/contenders/rpc/gin/api"
	grpc "github.com/tarebench/tare/contenders/rpc/grpc/api"
)

// face is one transport of the service, with the settings of a benchmark.
type face struct {
	rpc.Face
	policy string           // how the client keeps connections, e.g. rpc.Pool
	log    io.Writer        // access log; nil means none
	store  users.Repository // nil means the indexed store in memory
}

func grpcFace() face    { return face{Face: grpc.New(), policy: rpc.One} }
func ginFace() face     { return face{Face: gin.New(), policy: rpc.Pool} }
func gatewayFace() face { return face{Face: gateway.New(), policy: rpc.Pool} } // the gateway dials its gRPC backend

// service is a face that is serving.
type service struct {
	face
	addr     string // address of the server
	users    *users.Service
	accepted atomic.Int64 // number of connections that the server has accepted
}

// serve starts a server with n users, and stops it when the test ends.
func (f face) serve(tb testing.TB, n int) *service {
	tb.Helper()
	store, err := f.store, error(nil)
	if store == nil {
		store, err = users.Open(tb.Context(), users.MemoryStore, n)
	} else {
		err = store.Reset(tb.Context(), n)
	}
	if err != nil {
		tb.Fatal(err)
	}
	running := &service{face: f, users: users.New(users.Config{}, store)}
	s, err := f.Serve(server.Options{Log: f.log, Receipts: &server.Receipts{}}, running.users)
	if err != nil {
		tb.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	running.addr = l.Addr().String()
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(countingListener{l, &running.accepted}) }()
	tb.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := s.Shutdown(ctx); err != nil {
			tb.Error(err)
		}
		if err := <-ended; err != nil && !errors.Is(err, http.ErrServerClosed) {
			tb.Error(err)
		}
	})
	return running
}

// dial returns a client for as many concurrent callers, and closes it when the test ends.
func (s *service) dial(tb testing.TB, callers int) rpc.Client {
	tb.Helper()
	c, err := s.Dial(rpc.Target{Addr: s.addr, Protocol: s.Protocols[0], Policy: s.policy, Callers: callers})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := c.Close(); err != nil {
			tb.Error(err)
		}
	})
	return c
}

// countingListener counts the connections that a listener accepts.
type countingListener struct {
	net.Listener
	accepted *atomic.Int64
}

func (c countingListener) Accept() (net.Conn, error) {
	conn, err := c.Listener.Accept()
	if err == nil {
		c.accepted.Add(1)
	}
	return conn, err
}

// TestSame checks that the operations of the benchmarks work with each face, cause the same
// calls of the business logic, and take no more connections than there are callers.
func TestSame(t *testing.T) {
	const callers, rounds = 4, 50 // a caller does each operation once per round
	var want users.Calls
	for name, f := range map[string]face{"gRPC": grpcFace(), "Gin": ginFace(), "gateway": gatewayFace()} {
		s := f.serve(t, seeded)
		c := s.dial(t, callers)
		var next atomic.Int64
		var running sync.WaitGroup
		for range callers {
			running.Go(func() {
				for range rounds {
					n := next.Add(1) - 1
					for _, do := range []operation{create, get, update, list} {
						if err := do(t.Context(), c, n); err != nil {
							t.Errorf("%s: %v", name, err)
						}
					}
					if err := c.Delete(t.Context(), users.FirstID+seeded-1-n); err != nil {
						t.Errorf("%s: %v", name, err)
					}
				}
			})
		}
		running.Wait()
		calls := s.users.Calls()
		if n := int64(callers * rounds); calls.Create != n || calls.Get != n || calls.Update != n || calls.Delete != n || calls.List != n {
			t.Errorf("%s: %+v", name, calls)
		}
		switch {
		case want == users.Calls{}:
			want = calls
		case calls != want:
			t.Errorf("%s: %+v, another: %+v", name, calls, want)
		}
		if n := s.accepted.Load(); n > callers || s.policy == rpc.One && n != 1 {
			t.Errorf("%s: %d connections for %d callers", name, n, callers)
		}
	}
}
