package api

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"

	"connectrpc.com/connect"

	"github.com/tarebench/tare/apps/users"
	"github.com/tarebench/tare/apps/users/proto"
	"github.com/tarebench/tare/contender/server"
)

// service implements the generated interface of app users.
type service struct {
	users    *users.Service
	receipts *server.Receipts // counts for the program that measures
}

func (s *service) CreateUser(ctx context.Context, q *connect.Request[proto.CreateUserRequest]) (*connect.Response[proto.User], error) {
	s.receipts.Request()
	u, err := s.users.Create(ctx, users.Draft{Name: q.Msg.GetName(), Email: q.Msg.GetEmail()})
	return userResponse(u, err)
}

func (s *service) GetUser(ctx context.Context, q *connect.Request[proto.GetUserRequest]) (*connect.Response[proto.User], error) {
	s.receipts.Request()
	u, err := s.users.Get(ctx, q.Msg.GetId())
	return userResponse(u, err)
}

func (s *service) UpdateUser(ctx context.Context, q *connect.Request[proto.UpdateUserRequest]) (*connect.Response[proto.User], error) {
	s.receipts.Request()
	u, err := s.users.Update(ctx, q.Msg.GetId(), users.Draft{Name: q.Msg.GetName(), Email: q.Msg.GetEmail()})
	return userResponse(u, err)
}

func (s *service) DeleteUser(ctx context.Context, q *connect.Request[proto.DeleteUserRequest]) (*connect.Response[proto.DeleteUserResponse], error) {
	s.receipts.Request()
	if err := s.users.Delete(ctx, q.Msg.GetId()); err != nil {
		return nil, newError(err)
	}
	return connect.NewResponse(&proto.DeleteUserResponse{}), nil
}

func (s *service) ListUsers(ctx context.Context, q *connect.Request[proto.ListUsersRequest]) (*connect.Response[proto.ListUsersResponse], error) {
	s.receipts.Request()
	p, err := s.users.List(ctx, proto.ToQuery(q.Msg))
	if err != nil {
		return nil, newError(err)
	}
	return connect.NewResponse(proto.FromPage(p)), nil
}

// userResponse returns the response with a user, or the error of the business logic.
func userResponse(u users.User, err error) (*connect.Response[proto.User], error) {
	if err != nil {
		return nil, newError(err)
	}
	return connect.NewResponse(proto.FromUser(u)), nil
}

func newError(err error) error {
	e := users.RefusalOf(err)
	return connect.NewError(connect.Code(e.Code.GRPC()), errors.New(e.Message))
}

// prefixLen is the length of the prefix of a gRPC message in bytes.
const prefixLen = 5

// countBodies returns a handler that calls next and counts the bytes of the body. The length of a decoded
// message would differ from that of its JSON.
func countBodies(next http.Handler, receipts *server.Receipts) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body := &countedBody{ReadCloser: r.Body}
		r.Body = body
		next.ServeHTTP(w, r)
		n := body.n
		if strings.HasPrefix(r.Header.Get("Content-Type"), "application/grpc") {
			n = max(0, n-prefixLen)
		}
		receipts.Body(n)
	})
}

type countedBody struct {
	io.ReadCloser
	n int64
}

func (c *countedBody) Read(p []byte) (int, error) {
	n, err := c.ReadCloser.Read(p)
	c.n += int64(n)
	return n, err
}
