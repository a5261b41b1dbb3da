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
	gateway "github.com/tarebench/tare/contenders/rpc/gateway/face"
	gin "github.com/tarebench/tare/contenders/rpc/gin/face"
	grpc "github.com/tarebench/tare/contenders/rpc/grpc/face"
)

// face is one way to offer the service, and how its client keeps connections.
type face struct {
	rpc.Face
	policy string
	log    io.Writer        // its access log; nil: it has none
	store  users.Repository // nil: the indexed one, in memory
}

func grpcFace() face    { return face{Face: grpc.New(), policy: rpc.One} }
func ginFace() face     { return face{Face: gin.New(), policy: rpc.Pool} }
func gatewayFace() face { return face{Face: gateway.New(), policy: rpc.Pool} } // which dials its backend

// service is a face that serves.
type service struct {
	face
	addr     string
	users    *users.Service
	accepted atomic.Int64 // connections
}

// serve serves n users until the test ends.
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
	made := &service{face: f, users: users.New(users.Config{}, store)}
	s, err := f.Serve(server.Options{Log: f.log, Receipts: &server.Receipts{}}, made.users)
	if err != nil {
		tb.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	made.addr = l.Addr().String()
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(counting{l, &made.accepted}) }()
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
	return made
}

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

// counting counts the connections of a listener.
type counting struct {
	net.Listener
	accepted *atomic.Int64
}

func (c counting) Accept() (net.Conn, error) {
	conn, err := c.Listener.Accept()
	if err == nil {
		c.accepted.Add(1)
	}
	return conn, err
}

// TestSame: each face does what the benchmarks ask for, and by the same calls,
// over no more connections than there are callers.
func TestSame(t *testing.T) {
	const callers, each = 4, 50
	var want users.Calls
	for name, f := range map[string]face{"gRPC": grpcFace(), "Gin": ginFace(), "gateway": gatewayFace()} {
		s := f.serve(t, seeded)
		c := s.dial(t, callers)
		var next atomic.Int64
		var all sync.WaitGroup
		for range callers {
			all.Go(func() {
				for range each {
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
		all.Wait()
		calls := s.users.Calls()
		if n := int64(callers * each); calls.Create != n || calls.Get != n || calls.Update != n || calls.Delete != n || calls.List != n {
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
