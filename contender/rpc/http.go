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

// HTTPClient is a Face.Dial on net/http for JSON as package users writes it. It reads responses to their end:
// net/http otherwise closes the connection.
func HTTPClient(t Target) (Client, error) { return dialHTTP(t, plainJSON{}) }

// ProtoJSONClient is HTTPClient for the JSON of protocol buffers: names are in camel case, 64-bit integers are
// strings.
func ProtoJSONClient(t Target) (Client, error) { return dialHTTP(t, protoJSON{}) }

// dialHTTP returns a client that decodes responses in form f. An HTTP/2 transport has one connection, so
// ByPolicy combines several. An HTTP/1 transport has all connections.
func dialHTTP(t Target, f jsonForm) (Client, error) {
	if t.Protocol != HTTP {
		return nil, fmt.Errorf("protocol %q: %w", t.Protocol, contender.ErrUnsupported)
	}
	// No client requests compressed responses.
	newClient := func(tr *http.Transport) (Client, error) {
		tr.DialContext, tr.DisableCompression = t.DialContext, true
		return &httpClient{base: "http://" + t.Addr, http: http.Client{Transport: tr}, form: f}, nil
	}
	if t.HTTP2 {
		return ByPolicy(t, func() (Client, error) {
			tr := &http.Transport{Protocols: &http.Protocols{}}
			tr.Protocols.SetUnencryptedHTTP2(true)
			return newClient(tr)
		})
	}
	n := max(1, t.Callers)
	return newClient(&http.Transport{
		DisableKeepAlives: t.Policy == Fresh, // a new connection for each call
		MaxIdleConns:      n, MaxIdleConnsPerHost: n, MaxConnsPerHost: n,
	})
}

type httpClient struct {
	base string
	http http.Client
	form jsonForm
}

// jsonForm decodes one form of JSON: plainJSON or protoJSON.
type jsonForm interface {
	readUser(d *json.Decoder) (users.User, error)
	readPage(d *json.Decoder) (users.Page, error)
}

func (c *httpClient) Create(ctx context.Context, d users.Draft) (users.User, error) {
	return c.requestUser(ctx, http.MethodPost, "/v1/users", &d, http.StatusCreated)
}

func (c *httpClient) Get(ctx context.Context, id int64) (users.User, error) {
	return c.requestUser(ctx, http.MethodGet, userPath(id), nil, http.StatusOK)
}

func (c *httpClient) Update(ctx context.Context, id int64, d users.Draft) (users.User, error) {
	return c.requestUser(ctx, http.MethodPut, userPath(id), &d, http.StatusOK)
}

func (c *httpClient) requestUser(ctx context.Context, method, path string, draft *users.Draft, wantStatus int) (u users.User, err error) {
	err = c.sendRequest(ctx, method, path, draft, wantStatus, func(body *json.Decoder) (err error) {
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

// formatQuery returns a query such as "?limit=20&page=2", without zero fields.
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

// sendRequest sends a request; its body is draft, unless that is nil. If the response has wantStatus it calls
// readBody. Otherwise it returns the error in the response.
func (c *httpClient) sendRequest(ctx context.Context, method, path string, draft *users.Draft, wantStatus int, readBody func(*json.Decoder) error) error {
	var body io.Reader
	if draft != nil {
		text, err := json.Marshal(draft)
		if err != nil {
			return err
		}
		body = bytes.NewReader(text)
	}
	request, err := http.NewRequestWithContext(ctx, method, c.base+path, body)
	if err != nil {
		return err
	}
	if draft != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	response, err := c.http.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	decoder := json.NewDecoder(response.Body)
	if response.StatusCode != wantStatus {
		err = readError(response.StatusCode, decoder)
	} else if err = readBody(decoder); err != nil {
		err = fmt.Errorf("%s %s: the answer: %w", method, path, err)
	}
	_, _ = io.Copy(io.Discard, response.Body) // net/http closes the connection if the body is unread
	return err
}

// readError returns the [*users.Error] in a response, or another error.
func readError(status int, d *json.Decoder) error {
	var e users.Error
	err := d.Decode(&e)
	hasError := err == nil && status >= http.StatusBadRequest && slices.Contains(users.Codes(), e.Code)
	if !hasError {
		return fmt.Errorf("status %d without an error response", status)
	}
	return &e
}

type plainJSON struct{}

func (plainJSON) readUser(d *json.Decoder) (u users.User, err error) {
	err = d.Decode(&u)
	return u, err
}

func (plainJSON) readPage(d *json.Decoder) (p users.Page, err error) {
	err = d.Decode(&p)
	return p, err
}

type protoJSON struct{}

// protoUser is [users.User] in protocol buffers' JSON.
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
