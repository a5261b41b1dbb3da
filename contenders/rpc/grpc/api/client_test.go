package api_test

import (
	"context"
	"errors"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tarebench/tare/apps/users"
	"github.com/tarebench/tare/contender/rpc"
	"github.com/tarebench/tare/contender/server"
	"github.com/tarebench/tare/contenders/rpc/grpc/api"
)

// TestClientDials checks that the client opens all connections with Target.Dial, and as
// many as the policy defines.
func TestClientDials(t *testing.T) {
	store, err := users.Open(t.Context(), users.MemoryStore, 3)
	if err != nil {
		t.Fatal(err)
	}
	s, err := api.New().Serve(server.Options{Receipts: &server.Receipts{}}, users.New(users.Config{}, store))
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(l) }()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	const calls = 5
	for policy, want := range map[string]int64{rpc.One: 1, rpc.Pool: 2, rpc.Fresh: calls} {
		var opened atomic.Int64
		c, err := api.New().Dial(rpc.Target{
			Addr: l.Addr().String(), Protocol: rpc.GRPC, HTTP2: true, Policy: policy, Callers: 2,
			Dial: func(ctx context.Context, network, addr string) (net.Conn, error) {
				opened.Add(1)
				return (&net.Dialer{}).DialContext(ctx, network, addr)
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		for range calls {
			if u, err := c.Get(ctx, users.FirstID); err != nil || u.ID != users.FirstID {
				t.Errorf("%+v, %v", u, err)
			}
		}
		if err := c.Close(); err != nil || opened.Load() != want {
			t.Errorf("%s: %d connections for %d calls, want %d; %v", policy, opened.Load(), calls, want, err)
		}
	}
	if err := errors.Join(s.Shutdown(ctx), <-ended); err != nil {
		t.Error(err)
	}
}
