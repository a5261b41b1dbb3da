package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"connectrpc.com/connect"

	"github.com/tarebench/tare/apps/users"
	"github.com/tarebench/tare/apps/users/proto"
	"github.com/tarebench/tare/contender"
	"github.com/tarebench/tare/contender/rpc"
	"github.com/tarebench/tare/contenders/rpc/connect/protoconnect"
)

// client calls app users through the connections of one transport.
type client struct {
	transport *http.Transport
	service   protoconnect.UserServiceClient
}

// newClient returns a client for one of the protocols of connect-go.
func newClient(t rpc.Target) (rpc.Client, error) {
	// No client accepts compressed responses.
	options := []connect.ClientOption{connect.WithAcceptCompression("gzip", nil, nil)}
	http2 := t.HTTP2
	switch t.Protocol {
	case rpc.Connect: // connect-go uses this protocol by default
	case rpc.ConnectJSON:
		options = append(options, connect.WithProtoJSON())
	case rpc.GRPC:
		options = append(options, connect.WithGRPC())
		http2 = true
	default:
		return nil, fmt.Errorf("protocol %q: %w", t.Protocol, contender.ErrUnsupported)
	}
	newClientOver := func(tr *http.Transport) (rpc.Client, error) {
		tr.DisableCompression = true
		tr.DialContext = t.DialContext
		return &client{transport: tr, service: protoconnect.NewUserServiceClient(&http.Client{Transport: tr}, "http://"+t.Addr, options...)}, nil
	}
	if http2 {
		return rpc.ByPolicy(t, func() (rpc.Client, error) {
			tr := &http.Transport{Protocols: &http.Protocols{}}
			tr.Protocols.SetUnencryptedHTTP2(true)
			return newClientOver(tr)
		})
	}
	n := max(1, t.Callers)
	return newClientOver(&http.Transport{
		DisableKeepAlives:   t.Policy == rpc.Fresh,
		MaxIdleConns:        n,
		MaxIdleConnsPerHost: n,
		MaxConnsPerHost:     n,
	})
}

func (c *client) Create(ctx context.Context, d users.Draft) (users.User, error) {
	response, err := c.service.CreateUser(ctx, connect.NewRequest(&proto.CreateUserRequest{Name: d.Name, Email: d.Email}))
	return userOrError(response, err)
}

func (c *client) Get(ctx context.Context, id int64) (users.User, error) {
	response, err := c.service.GetUser(ctx, connect.NewRequest(&proto.GetUserRequest{Id: id}))
	return userOrError(response, err)
}

func (c *client) Update(ctx context.Context, id int64, d users.Draft) (users.User, error) {
	response, err := c.service.UpdateUser(ctx, connect.NewRequest(&proto.UpdateUserRequest{Id: id, Name: d.Name, Email: d.Email}))
	return userOrError(response, err)
}

func (c *client) Delete(ctx context.Context, id int64) error {
	_, err := c.service.DeleteUser(ctx, connect.NewRequest(&proto.DeleteUserRequest{Id: id}))
	return readError(err)
}

func (c *client) List(ctx context.Context, q users.Query) (users.Page, error) {
	response, err := c.service.ListUsers(ctx, connect.NewRequest(proto.FromQuery(q)))
	if err != nil {
		return users.Page{}, readError(err)
	}
	return proto.ToPage(response.Msg), nil
}

func (c *client) Close() error {
	c.transport.CloseIdleConnections()
	return nil
}

func userOrError(response *connect.Response[proto.User], err error) (users.User, error) {
	if err != nil {
		return users.User{}, readError(err)
	}
	return proto.ToUser(response.Msg), nil
}

// readError returns the error of the service in err, or the error of the transport.
func readError(err error) error {
	var e *connect.Error
	if !errors.As(err, &e) || !connect.IsWireError(err) {
		return err
	}
	for _, code := range users.Codes() {
		if connect.Code(code.GRPC()) == e.Code() {
			return &users.Error{Code: code, Message: e.Message()}
		}
	}
	return err
}
