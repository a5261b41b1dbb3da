package api_test

import (
	"context"
	"errors"
	"net"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tarebench/tare/apps/users"
	"github.com/tarebench/tare/contender/rpc"
	"github.com/tarebench/tare/contender/server"
	"github.com/tarebench/tare/contenders/rpc/connect/api"
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
	for _, v := range []struct {
		protocol, policy string
		http2            bool
		want             int64
	}{
		{rpc.Connect, rpc.Pool, false, 1},
		{rpc.Connect, rpc.Fresh, false, calls},
		{rpc.ConnectJSON, rpc.Pool, true, 2},
		{rpc.Connect, rpc.One, true, 1},
		{rpc.GRPC, rpc.One, true, 1},
		{rpc.GRPC, rpc.Fresh, true, calls},
	} {
		var opened atomic.Int64
		c, err := api.New().Dial(rpc.Target{
			Addr: l.Addr().String(), Protocol: v.protocol, HTTP2: v.http2, Policy: v.policy, Callers: 2,
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
		if err := c.Close(); err != nil || opened.Load() != v.want {
			t.Errorf("%+v: %d connections for %d calls; %v", v, opened.Load(), calls, err)
		}
	}
	if err := s.Shutdown(ctx); err != nil {
		t.Error(err)
	}
	if err := <-ended; !errors.Is(err, http.ErrServerClosed) {
		t.Error(err)
	}
}
