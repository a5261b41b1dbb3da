package api

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"

	"github.com/tarebench/tare/apps/users"
	"github.com/tarebench/tare/contender/rpc"
	"github.com/tarebench/tare/internal/protowire"
	"github.com/tarebench/tare/internal/userswire"
)

// newClient returns a client of app users for gRPC or HTTP. Both use net/http.
func newClient(t rpc.Target) (rpc.Client, error) {
	if t.Protocol != rpc.GRPC {
		return rpc.HTTPClient(t)
	}
	return rpc.ByPolicy(t, func() (rpc.Client, error) {
		tr := &http.Transport{Protocols: &http.Protocols{}, DisableCompression: true, DialContext: t.DialContext}
		tr.Protocols.SetUnencryptedHTTP2(true)
		return &client{base: "http://" + t.Addr + servicePath, http: http.Client{Transport: tr}}, nil
	})
}

type client struct {
	base string // URL of the service; a method's name follows
	http http.Client
}

func (c *client) Create(ctx context.Context, d users.Draft) (users.User, error) {
	return parseUser(c.callMethod(ctx, "CreateUser", protowire.AppendString(protowire.AppendString(nil, 1, d.Name), 2, d.Email)))
}

func (c *client) Get(ctx context.Context, id int64) (users.User, error) {
	return parseUser(c.callMethod(ctx, "GetUser", protowire.AppendNumber(nil, 1, id)))
}

func (c *client) Update(ctx context.Context, id int64, d users.Draft) (users.User, error) {
	return parseUser(c.callMethod(ctx, "UpdateUser", protowire.AppendString(protowire.AppendString(protowire.AppendNumber(nil, 1, id), 2, d.Name), 3, d.Email)))
}

func (c *client) Delete(ctx context.Context, id int64) error {
	_, err := c.callMethod(ctx, "DeleteUser", protowire.AppendNumber(nil, 1, id))
	return err
}

func (c *client) List(ctx context.Context, q users.Query) (users.Page, error) {
	m, err := c.callMethod(ctx, "ListUsers", protowire.AppendNumber(protowire.AppendNumber(protowire.AppendString(nil, 1, q.Text), 2, int64(q.Page)), 3, int64(q.Limit)))
	if err != nil {
		return users.Page{}, err
	}
	return userswire.Decoder{}.Page(m)
}

func (c *client) Close() error {
	c.http.CloseIdleConnections()
	return nil
}

// callMethod makes one call with message m and returns the response's message. An error of the service is a
// *users.Error.
func (c *client) callMethod(ctx context.Context, method string, m []byte) ([]byte, error) {
	body := append(binary.BigEndian.AppendUint32([]byte{0}, uint32(len(m))), m...)
	q, err := http.NewRequestWithContext(ctx, http.MethodPost, c.base+method, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	q.Header.Set("Content-Type", "application/grpc")
	q.Header.Set("TE", "trailers")
	response, err := c.http.Do(q)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	received, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, err
	}
	fields := response.Trailer
	if response.Header.Get("Grpc-Status") != "" { // an error may be in the headers, without trailers
		fields = response.Header
	}
	if status := fields.Get("Grpc-Status"); status != "0" {
		return nil, parseStatus(status, fields.Get("Grpc-Message"))
	}
	if message, ok := parseMessage(received); ok {
		return message, nil
	}
	return nil, fmt.Errorf("%s: the answer: %w", method, protowire.ErrMessage)
}

// parseStatus returns the error for a grpc-status other than 0. It is a *users.Error if the service has its
// code.
func parseStatus(status, message string) error {
	text, err := url.PathUnescape(message)
	for _, code := range users.Codes() {
		if err == nil && status == strconv.Itoa(code.GRPC()) {
			return &users.Error{Code: code, Message: text}
		}
	}
	return fmt.Errorf("grpc-status %q: %s", status, message)
}

// parseUser decodes a User, or returns err if it is not nil.
func parseUser(m []byte, err error) (users.User, error) {
	if err != nil {
		return users.User{}, err
	}
	return userswire.Decoder{}.User(m)
}
