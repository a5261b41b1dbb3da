package api_test

import (
	"context"
	"errors"
	"net"
	"net/http"
	"slices"
	"testing"
	"time"

	"connectrpc.com/grpcreflect"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/tarebench/tare/apps/users"
	"github.com/tarebench/tare/contender/server"
	"github.com/tarebench/tare/contenders/rpc/connect/api"
)

// TestReflection checks that a client without generated code finds the service and its
// types.
func TestReflection(t *testing.T) {
	store, err := users.Open(t.Context(), users.MemoryStore, 0)
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
	tr := &http.Transport{Protocols: &http.Protocols{}}
	tr.Protocols.SetUnencryptedHTTP2(true)
	stream := grpcreflect.NewClient(&http.Client{Transport: tr}, "http://"+l.Addr().String()).NewStream(ctx)
	const name = "tare.users.v1.UserService"
	if list, err := stream.ListServices(); err != nil || !slices.Contains(list, protoreflect.FullName(name)) {
		t.Errorf("services: %v, %v", list, err)
	}
	if files, err := stream.FileContainingSymbol(name); err != nil || len(files) == 0 {
		t.Errorf("%d files, %v", len(files), err)
	}
	if _, err := stream.Close(); err != nil {
		t.Error(err)
	}
	tr.CloseIdleConnections()
	if err := s.Shutdown(ctx); err != nil {
		t.Error(err)
	}
	if err := <-ended; !errors.Is(err, http.ErrServerClosed) {
		t.Error(err)
	}
}
