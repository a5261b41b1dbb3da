package face

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/tarebench/tare/apps/users"
	"github.com/tarebench/tare/contender/rpc"
	"github.com/tarebench/tare/internal/protowire"
)

// newClient returns a client over net/http, for gRPC or HTTP.
func newClient(t rpc.Target) (rpc.Client, error) {
	if t.Protocol != rpc.GRPC {
		return rpc.HTTPClient(t)
	}
	return rpc.ByPolicy(t, func() (rpc.Client, error) {
		tr := &http.Transport{Protocols: &http.Protocols{}, DisableCompression: true, DialContext: t.DialContext}
		tr.Protocols.SetUnencryptedHTTP2(true)
		return &client{base: "http://" + t.Addr + methods, http: http.Client{Transport: tr}}, nil
	})
}

// client calls over gRPC.
type client struct {
	base string
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
	p := users.Page{Users: []users.User{}}
	err = protowire.Walk(m, func(f protowire.Field) error {
		switch f.Number {
		case 1:
			u, err := parseUser(f.Data, nil)
			p.Users = append(p.Users, u)
			return err
		case 2:
			p.Total = int64(f.N)
		case 3:
			p.Page = int(f.N)
		case 4:
			p.Limit = int(f.N)
		}
		return nil
	})
	return p, err
}

func (c *client) Close() error {
	c.http.CloseIdleConnections()
	return nil
}

// callMethod makes one call and returns the message of its answer.
func (c *client) callMethod(ctx context.Context, method string, m []byte) ([]byte, error) {
	body := append(binary.BigEndian.AppendUint32([]byte{0}, uint32(len(m))), m...)
	q, err := http.NewRequestWithContext(ctx, http.MethodPost, c.base+method, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	q.Header.Set("Content-Type", "application/grpc")
	q.Header.Set("TE", "trailers")
	a, err := c.http.Do(q)
	if err != nil {
		return nil, err
	}
	defer a.Body.Close()
	answer, err := io.ReadAll(a.Body)
	if err != nil {
		return nil, err
	}
	said := a.Trailer
	if a.Header.Get("Grpc-Status") != "" {
		said = a.Header
	}
	if status := said.Get("Grpc-Status"); status != "0" {
		return nil, parseStatus(status, said.Get("Grpc-Message"))
	}
	if answer, ok := (&grpcCall{body: answer}).readMessage(); ok {
		return answer, nil
	}
	return nil, fmt.Errorf("%s: the answer: %w", method, protowire.ErrMessage)
}

// parseStatus returns the error for a grpc-status other than 0.
func parseStatus(status, message string) error {
	text, err := url.PathUnescape(message)
	for _, code := range users.Codes() {
		if err == nil && status == strconv.Itoa(code.GRPC()) {
			return &users.Error{Code: code, Message: text}
		}
	}
	return fmt.Errorf("grpc-status %q: %s", status, message)
}

// parseUser decodes a User message, or returns err.
func parseUser(m []byte, err error) (u users.User, _ error) {
	if err != nil {
		return u, err
	}
	err = protowire.Walk(m, func(f protowire.Field) (err error) {
		switch f.Number {
		case 1:
			u.ID = int64(f.N)
		case 2:
			u.Name = string(f.Data)
		case 3:
			u.Email = string(f.Data)
		case 4:
			u.CreatedAt, err = parseTime(f.Data)
		case 5:
			u.UpdatedAt, err = parseTime(f.Data)
		}
		return err
	})
	return u, err
}

func parseTime(m []byte) (time.Time, error) {
	var at [3]int64
	err := protowire.Walk(m, func(f protowire.Field) error {
		at[min(f.Number, 2)] = int64(f.N)
		return nil
	})
	return time.Unix(at[1], at[2]).UTC(), err
}
