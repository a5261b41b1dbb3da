package conformance

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/tarebench/tare/apps/users"
	"github.com/tarebench/tare/contender/rpc"
)

// plain calls a service by requests that are put together here, whatever the
// protocol: what a client of somebody else's would send.
type plain struct {
	base, protocol string
	transport      *http.Transport
	limit          time.Duration
	sent           atomic.Int64 // bytes of messages

	id       string                 // of requests; empty: they have none
	answered atomic.Pointer[string] // id of the last answer
	slowly   func([]byte) io.Reader // how bodies are sent; nil: at once
}

var _ rpc.Client = &plain{}

// dialPlain makes a client for addr, encrypted where secure is not nil, and of HTTP/2
// where that is chosen or gRPC.
func dialPlain(protocol, addr string, secure *tls.Config, http2 bool, limit time.Duration) *plain {
	p := &plain{base: "http://" + addr, protocol: protocol, limit: limit, transport: &http.Transport{TLSClientConfig: secure, MaxIdleConnsPerHost: creators, DisableCompression: true, Protocols: &http.Protocols{}}}
	switch {
	case secure != nil:
		p.base = "https://" + addr
		p.transport.Protocols.SetHTTP1(protocol != rpc.GRPC)
		p.transport.Protocols.SetHTTP2(protocol == rpc.GRPC)
	case http2 || protocol == rpc.GRPC:
		p.transport.Protocols.SetUnencryptedHTTP2(true)
	default:
		p.transport.Protocols.SetHTTP1(true)
	}
	return p
}

// Close ends its connections.
func (p *plain) Close() error {
	p.transport.CloseIdleConnections()
	return nil
}

// Create calls CreateUser.
func (p *plain) Create(ctx context.Context, d users.Draft) (users.User, error) {
	return p.user(p.call(ctx, "CreateUser", "POST", "/v1/users", message{{"name", d.Name}, {"email", d.Email}}))
}

// Get calls GetUser.
func (p *plain) Get(ctx context.Context, id int64) (users.User, error) {
	return p.user(p.call(ctx, "GetUser", "GET", pathOf(id), message{{"id", id}}))
}

// Update calls UpdateUser.
func (p *plain) Update(ctx context.Context, id int64, d users.Draft) (users.User, error) {
	return p.user(p.call(ctx, "UpdateUser", "PUT", pathOf(id), message{{"id", id}, {"name", d.Name}, {"email", d.Email}}))
}

// Delete calls DeleteUser.
func (p *plain) Delete(ctx context.Context, id int64) error {
	answer, err := p.call(ctx, "DeleteUser", "DELETE", pathOf(id), message{{"id", id}})
	if err == nil && p.binary() && len(answer) > 0 || err == nil && !p.binary() && string(bytes.TrimSpace(answer)) != "{}" {
		err = fmt.Errorf("delete is answered with %.60q", answer)
	}
	return err
}

// List calls ListUsers.
func (p *plain) List(ctx context.Context, q users.Query) (users.Page, error) {
	v := url.Values{"query": {q.Text}, "page": {strconv.Itoa(q.Page)}, "limit": {strconv.Itoa(q.Limit)}}
	path := "/v1/users?" + v.Encode()
	if q == (users.Query{}) {
		path = "/v1/users"
	}
	answer, err := p.call(ctx, "ListUsers", "GET", path, message{{"query", q.Text}, {"page", int64(q.Page)}, {"limit", int64(q.Limit)}})
	if err != nil {
		return users.Page{}, err
	}
	if p.binary() {
		return protoPage(answer)
	}
	return jsonPage(answer)
}

func (p *plain) user(answer []byte, err error) (users.User, error) {
	switch {
	case err != nil:
		return users.User{}, err
	case p.binary():
		return protoUser(answer)
	}
	return jsonUser(answer)
}

// binary reports whether messages are protocol buffers.
func (p *plain) binary() bool { return p.protocol == rpc.GRPC || p.protocol == rpc.Connect }

func pathOf(id int64) string { return "/v1/users/" + strconv.FormatInt(id, 10) }

// call sends a request and returns the message of its answer, or its refusal.
func (p *plain) call(ctx context.Context, name, method, path string, m message) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, p.limit)
	defer cancel()
	var body []byte
	kind := "application/json"
	switch {
	case p.protocol == rpc.HTTP:
		if m[0].name == "id" {
			m = m[1:] // which is in the path
		}
		if method == "POST" || method == "PUT" {
			body = m.json()
		}
	case p.binary():
		kind, body = "application/proto", m.proto()
	default:
		body = m.json()
	}
	p.sent.Add(int64(len(body)))
	if p.protocol == rpc.GRPC {
		kind, body = "application/grpc+proto", append(binary.BigEndian.AppendUint32([]byte{0}, uint32(len(body))), body...)
	}
	if p.protocol != rpc.HTTP {
		method, path = "POST", methods+name
	}
	var sending io.Reader = bytes.NewReader(body)
	if p.slowly != nil {
		sending = p.slowly(body)
	}
	q, err := http.NewRequestWithContext(ctx, method, p.base+path, sending)
	if err != nil {
		return nil, err
	}
	q.Header.Set("Content-Type", kind)
	if p.protocol == rpc.GRPC {
		q.Header.Set("TE", "trailers")
	}
	if p.id != "" {
		q.Header.Set("X-Request-Id", p.id)
	}
	a, err := p.transport.RoundTrip(q)
	if err != nil {
		return nil, err
	}
	defer a.Body.Close()
	answer, err := io.ReadAll(a.Body)
	if err != nil {
		return nil, err
	}
	id := a.Header.Get("X-Request-Id")
	p.answered.Store(&id)
	if p.protocol == rpc.GRPC {
		return unframed(a, answer)
	}
	return p.judged(a, answer, kind, method == "POST" && p.protocol == rpc.HTTP)
}

// methods is the path before the name of a method.
const methods = "/tare.users.v1.UserService/"

// judged is the message of an answer over HTTP, or what it refuses.
func (p *plain) judged(a *http.Response, answer []byte, kind string, created bool) ([]byte, error) {
	want := http.StatusOK
	if created {
		want = http.StatusCreated
	}
	if a.StatusCode < 400 {
		if a.StatusCode != want {
			return nil, fmt.Errorf("status %d, want %d", a.StatusCode, want)
		}
		return answer, isKind(a, kind)
	}
	e, err := refusalIn(a, answer)
	if err == nil {
		err = e
		if a.StatusCode != e.Code.HTTP() {
			err = fmt.Errorf("status %d of a refusal with code %s", a.StatusCode, e.Code)
		}
	}
	return nil, err
}

func isKind(a *http.Response, want string) error {
	if kind, _, _ := strings.Cut(a.Header.Get("Content-Type"), ";"); strings.TrimSpace(kind) != want {
		return fmt.Errorf("an answer of type %q, want %s", a.Header.Get("Content-Type"), want)
	}
	return nil
}

// refusalIn reads the refusal of an answer over HTTP.
func refusalIn(a *http.Response, answer []byte) (*users.Error, error) {
	var e users.Error
	if err := errors.Join(isKind(a, "application/json"), json.Unmarshal(answer, &e)); err != nil {
		return nil, fmt.Errorf("status %d: a refusal that is none: %w: %.200q", a.StatusCode, err, answer)
	}
	if !slices.Contains(users.Codes(), e.Code) || e.Message == "" {
		return nil, fmt.Errorf("status %d: a refusal without code or message: %.200q", a.StatusCode, answer)
	}
	return &e, nil
}

// unframed is the message of an answer over gRPC, or what its trailers refuse.
func unframed(a *http.Response, answer []byte) ([]byte, error) {
	if a.StatusCode != http.StatusOK || !strings.HasPrefix(a.Header.Get("Content-Type"), "application/grpc") {
		return nil, fmt.Errorf("status %d of type %q is no gRPC", a.StatusCode, a.Header.Get("Content-Type"))
	}
	from := a.Trailer
	if a.Header.Get("Grpc-Status") != "" {
		from = a.Header
	}
	status := from.Get("Grpc-Status")
	if status != "0" {
		for _, code := range users.Codes() {
			if strconv.Itoa(code.GRPC()) == status {
				text, err := url.PathUnescape(from.Get("Grpc-Message"))
				if err != nil {
					return nil, fmt.Errorf("grpc-message: %w", err)
				}
				return nil, &users.Error{Code: code, Message: text}
			}
		}
		return nil, fmt.Errorf("grpc-status %q: %s", status, from.Get("Grpc-Message"))
	}
	const prefix = 5
	if len(answer) < prefix || answer[0] != 0 || int(binary.BigEndian.Uint32(answer[1:])) != len(answer)-prefix {
		return nil, fmt.Errorf("an answer that is no gRPC message: %.60q", answer)
	}
	return answer[prefix:], nil
}
