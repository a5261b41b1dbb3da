package api_test

import (
	"context"
	"errors"
	"net"
	"slices"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/reflection/grpc_reflection_v1"

	"github.com/tarebench/tare/apps/users"
	"github.com/tarebench/tare/contender/server"
	"github.com/tarebench/tare/contenders/rpc/grpc/api"
)

// TestReflection checks that a client without generated code finds the service, its
// types and its health.
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
	conn, err := grpc.NewClient("passthrough:///"+l.Addr().String(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	const name = "tare.users.v1.UserService"
	h, err := grpc_health_v1.NewHealthClient(conn).Check(ctx, &grpc_health_v1.HealthCheckRequest{Service: name})
	if err != nil || h.GetStatus() != grpc_health_v1.HealthCheckResponse_SERVING {
		t.Errorf("health: %v, %v", h, err)
	}
	stream, err := grpc_reflection_v1.NewServerReflectionClient(conn).ServerReflectionInfo(ctx)
	if err != nil {
		t.Fatal(err)
	}
	request := func(q *grpc_reflection_v1.ServerReflectionRequest) *grpc_reflection_v1.ServerReflectionResponse {
		if err := stream.Send(q); err != nil {
			t.Fatal(err)
		}
		response, err := stream.Recv()
		if err != nil {
			t.Fatal(err)
		}
		return response
	}
	list := request(&grpc_reflection_v1.ServerReflectionRequest{MessageRequest: &grpc_reflection_v1.ServerReflectionRequest_ListServices{}}).GetListServicesResponse().GetService()
	if !slices.ContainsFunc(list, func(s *grpc_reflection_v1.ServiceResponse) bool { return s.GetName() == name }) {
		t.Errorf("services: %v", list)
	}
	files := request(&grpc_reflection_v1.ServerReflectionRequest{MessageRequest: &grpc_reflection_v1.ServerReflectionRequest_FileContainingSymbol{FileContainingSymbol: name}}).GetFileDescriptorResponse().GetFileDescriptorProto()
	if len(files) < 2 { // users.proto and timestamp.proto
		t.Errorf("%d files", len(files))
	}
	if err := errors.Join(stream.CloseSend(), conn.Close(), s.Shutdown(ctx), <-ended); err != nil {
		t.Error(err)
	}
}
