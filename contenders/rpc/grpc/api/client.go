package api

import (
	"context"
	"fmt"
	"net"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/connectivity"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"

	"github.com/tarebench/tare/apps/users"
	"github.com/tarebench/tare/apps/users/proto"
	"github.com/tarebench/tare/contender"
	"github.com/tarebench/tare/contender/rpc"
	"github.com/tarebench/tare/contenders/rpc/grpc/stub"
)

// client calls app users through one connection, which concurrent calls share.
type client struct {
	conn *grpc.ClientConn
	stub stub.UserServiceClient
}

// newClient returns a client with as many connections as t demands.
func newClient(t rpc.Target) (rpc.Client, error) {
	if t.Protocol != rpc.GRPC {
		return nil, fmt.Errorf("protocol %q: %w", t.Protocol, contender.ErrUnsupported)
	}
	dial := func(ctx context.Context, addr string) (net.Conn, error) { return t.DialContext(ctx, "tcp", addr) }
	return rpc.ByPolicy(t, func() (rpc.Client, error) {
		conn, err := grpc.NewClient("passthrough:///"+t.Addr, grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithContextDialer(dial))
		if err != nil {
			return nil, err
		}
		return &client{conn: conn, stub: stub.NewUserServiceClient(conn)}, nil
	})
}

func (c *client) Create(ctx context.Context, d users.Draft) (users.User, error) {
	m, err := c.stub.CreateUser(ctx, &proto.CreateUserRequest{Name: d.Name, Email: d.Email})
	return c.userOrError(ctx, m, err)
}

func (c *client) Get(ctx context.Context, id int64) (users.User, error) {
	m, err := c.stub.GetUser(ctx, &proto.GetUserRequest{Id: id})
	return c.userOrError(ctx, m, err)
}

func (c *client) Update(ctx context.Context, id int64, d users.Draft) (users.User, error) {
	m, err := c.stub.UpdateUser(ctx, &proto.UpdateUserRequest{Id: id, Name: d.Name, Email: d.Email})
	return c.userOrError(ctx, m, err)
}

func (c *client) Delete(ctx context.Context, id int64) error {
	_, err := c.stub.DeleteUser(ctx, &proto.DeleteUserRequest{Id: id})
	return c.readError(ctx, err)
}

func (c *client) List(ctx context.Context, q users.Query) (users.Page, error) {
	m, err := c.stub.ListUsers(ctx, proto.FromQuery(q))
	if err != nil {
		return users.Page{}, c.readError(ctx, err)
	}
	return proto.ToPage(m), nil
}

func (c *client) Close() error { return c.conn.Close() }

func (c *client) userOrError(ctx context.Context, m *proto.User, err error) (users.User, error) {
	if err != nil {
		return users.User{}, c.readError(ctx, err)
	}
	return proto.ToUser(m), nil
}

// readError returns the error of the service in err, or err itself. Unavailable may come from the service
// or the transport. It is from the service only if the connection is ready.
func (c *client) readError(ctx context.Context, err error) error {
	s, isStatus := status.FromError(err)
	isUnreachable := s.Code() == codes.Unavailable && c.conn.GetState() != connectivity.Ready
	if err == nil || !isStatus || ctx.Err() != nil || isUnreachable {
		return err
	}
	for _, code := range users.Codes() {
		if codes.Code(code.GRPC()) == s.Code() {
			return &users.Error{Code: code, Message: s.Message()}
		}
	}
	return err
}
