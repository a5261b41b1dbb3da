package api

import (
	"context"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/tarebench/tare/apps/users"
	"github.com/tarebench/tare/apps/users/proto"
	"github.com/tarebench/tare/contender/server"
	"github.com/tarebench/tare/contenders/rpc/grpc/stub"
)

// service implements the generated interface of app users.
type service struct {
	stub.UnimplementedUserServiceServer
	users    *users.Service
	receipts *server.Receipts // counts for the program that measures
}

func (s *service) CreateUser(ctx context.Context, m *proto.CreateUserRequest) (*proto.User, error) {
	s.receipts.Request()
	u, err := s.users.Create(ctx, users.Draft{Name: m.GetName(), Email: m.GetEmail()})
	return userOrError(u, err)
}

func (s *service) GetUser(ctx context.Context, m *proto.GetUserRequest) (*proto.User, error) {
	s.receipts.Request()
	u, err := s.users.Get(ctx, m.GetId())
	return userOrError(u, err)
}

func (s *service) UpdateUser(ctx context.Context, m *proto.UpdateUserRequest) (*proto.User, error) {
	s.receipts.Request()
	u, err := s.users.Update(ctx, m.GetId(), users.Draft{Name: m.GetName(), Email: m.GetEmail()})
	return userOrError(u, err)
}

func (s *service) DeleteUser(ctx context.Context, m *proto.DeleteUserRequest) (*proto.DeleteUserResponse, error) {
	s.receipts.Request()
	if err := s.users.Delete(ctx, m.GetId()); err != nil {
		return nil, newStatus(err)
	}
	return &proto.DeleteUserResponse{}, nil
}

func (s *service) ListUsers(ctx context.Context, m *proto.ListUsersRequest) (*proto.ListUsersResponse, error) {
	s.receipts.Request()
	p, err := s.users.List(ctx, proto.ToQuery(m))
	if err != nil {
		return nil, newStatus(err)
	}
	return proto.FromPage(p), nil
}

func userOrError(u users.User, err error) (*proto.User, error) {
	if err != nil {
		return nil, newStatus(err)
	}
	return proto.FromUser(u), nil
}

func newStatus(err error) error {
	e := users.RefusalOf(err)
	return status.Error(codes.Code(e.Code.GRPC()), e.Message)
}
