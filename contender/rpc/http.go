package rpc

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/tarebench/tare/apps/users"
	"github.com/tarebench/tare/contender"
)

// HTTPClient returns a client on net/http for implementations with the JSON of package users. It keeps connections
// open and reads responses to their end, as net/http requires for that. It is a [Face.Dial].
func HTTPClient(t Target) (Client, error) { return dialHTTP(t, plain{}) }

// ProtoJSONClient is HTTPClient for implementations with the JSON of protocol buffers,
// which has names in camel case, and numbers of 64 bits as strings.
func ProtoJSONClient(t Target) (Client, error) { return dialHTTP(t, protoJSON{}) }

func dialHTTP(t Target, f form) (Client, error) {
	if t.Protocol != HTTP {
		return nil, fmt.Errorf("protocol %q: %w", t.Protocol, contender.ErrUnsupported)
	}
	newClient := func(tr *http.Transport) (Client, error) {
		return &httpClient{base: "http://" + t.Addr, http: http.Client{Transport: tr}, form: f}, nil
	}
	if t.HTTP2 {
		return ByPolicy(t, func() (Client, error) {
			tr := &http.Transport{Protocols: &http.Protocols{}, DisableCompression: true, DialContext: t.DialContext}
			tr.Protocols.SetUnencryptedHTTP2(true)
			return newClient(tr)
		})
	}
	n := max(1, t.Callers)
	return newClient(&http.Transport{
		DialContext:        t.DialContext,
		DisableKeepAlives:  t.Policy == Fresh,
		DisableCompression: true, // no transport compresses its responses, and no client requests it
		MaxIdleConns:       n, MaxIdleConnsPerHost: n, MaxConnsPerHost: n,
	})
}

type httpClient struct {
	base string
	http http.Client
	form form
}

// form decodes users and pages in one of the two forms of JSON: plain or protoJSON.
type form interface {
	readUser(d *json.Decoder) (users.User, error)
	readPage(d *json.Decoder) (users.Page, error)
}

func (c *httpClient) Create(ctx context.Context, d users.Draft) (u users.User, err error) {
	err = c.sendRequest(ctx, http.MethodPost, "/v1/users", &d, http.StatusCreated, func(body *json.Decoder) (err error) {
		u, err = c.form.readUser(body)
		return err
	})
	return u, err
}

func (c *httpClient) Get(ctx context.Context, id int64) (u users.User, err error) {
	err = c.sendRequest(ctx, http.MethodGet, userPath(id), nil, http.StatusOK, func(body *json.Decoder) (err error) {
		u, err = c.form.readUser(body)
		return err
	})
	return u, err
}

func (c *httpClient) Update(ctx context.Context, id int64, d users.Draft) (u users.User, err error) {
	err = c.sendRequest(ctx, http.MethodPut, userPath(id), &d, http.StatusOK, func(body *json.Decoder) (err error) {
		u, err = c.form.readUser(body)
		return err
	})
	return u, err
}

func (c *httpClient) Delete(ctx context.Context, id int64) error {
	return c.sendRequest(ctx, http.MethodDelete, userPath(id), nil, http.StatusOK, func(body *json.Decoder) error { return body.Decode(&struct{}{}) })
}

func (c *httpClient) List(ctx context.Context, q users.Query) (p users.Page, err error) {
	err = c.sendRequest(ctx, http.MethodGet, "/v1/users"+formatQuery(q), nil, http.StatusOK, func(body *json.Decoder) (err error) {
		p, err = c.form.readPage(body)
		return err
	})
	return p, err
}

func (c *httpClient) Close() error {
	c.http.CloseIdleConnections()
	return nil
}

func userPath(id int64) string { return "/v1/users/" + strconv.FormatInt(id, 10) }

// formatQuery returns the query string of a list, without the fields that are zero.
func formatQuery(q users.Query) string {
	v := url.Values{}
	if q.Text != "" {
		v.Set("query", q.Text)
	}
	if q.Page != 0 {
		v.Set("page", strconv.Itoa(q.Page))
	}
	if q.Limit != 0 {
		v.Set("limit", strconv.Itoa(q.Limit))
	}
	if len(v) == 0 {
		return ""
	}
	return "?" + v.Encode()
}

// sendRequest sends a request, with draft as its body unless draft is nil. If the response has the given status, it
// calls read with the body. Otherwise it returns the error in the response.
func (c *httpClient) sendRequest(ctx context.Context, method, path string, draft *users.Draft, status int, read func(*json.Decoder) error) error {
	var body io.Reader
	if draft != nil {
		text, err := json.Marshal(draft)
		if err != nil {
			return err
		}
		body = bytes.NewReader(text)
	}
	q, err := http.NewRequestWithContext(ctx, method, c.base+path, body)
	if err != nil {
		return err
	}
	if draft != nil {
		q.Header.Set("Content-Type", "application/json")
	}
	a, err := c.http.Do(q)
	if err != nil {
		return err
	}
	defer a.Body.Close()
	d := json.NewDecoder(a.Body)
	if a.StatusCode != status {
		err = readError(a.StatusCode, d)
	} else if err = read(d); err != nil {
		err = fmt.Errorf("%s %s: the answer: %w", method, path, err)
	}
	_, _ = io.Copy(io.Discard, a.Body) // net/http closes the connection if a part of the body is unread
	return err
}

// readError returns the [*users.Error] in a response of the given status, or another error if the response has none.
func readError(status int, d *json.Decoder) error {
	var e users.Error
	if err := d.Decode(&e); err != nil || status < 400 || !slices.Contains(users.Codes(), e.Code) {
		return fmt.Errorf("status %d without an error response", status)
	}
	return &e
}

// plain is the JSON of package users.
type plain struct{}

func (plain) readUser(d *json.Decoder) (u users.User, err error) {
	err = d.Decode(&u)
	return u, err
}

func (plain) readPage(d *json.Decoder) (p users.Page, err error) {
	err = d.Decode(&p)
	return p, err
}

// protoJSON is the JSON of the messages in proto/users.proto.
type protoJSON struct{}

// protoUser is [users.User] in the JSON of protocol buffers.
type protoUser struct {
	ID        int64     `json:"id,string"`
	Name      string    `json:"name"`
	Email     string    `json:"email"`
	CreatedAt time.Time `json:"createdAt"`
	UpdatedAt time.Time `json:"updatedAt"`
}

func (protoJSON) readUser(d *json.Decoder) (users.User, error) {
	var u protoUser
	err := d.Decode(&u)
	return users.User(u), err
}

func (protoJSON) readPage(d *json.Decoder) (p users.Page, err error) {
	var list struct {
		Users []protoUser `json:"users"`
		Total int64       `json:"total,string"`
		Page  int         `json:"page"`
		Limit int         `json:"limit"`
	}
	if err := d.Decode(&list); err != nil {
		return p, err
	}
	p = users.Page{Users: make([]users.User, len(list.Users)), Total: list.Total, Page: list.Page, Limit: list.Limit}
	for i, u := range list.Users {
		p.Users[i] = users.User(u)
	}
	return p, nil
}
