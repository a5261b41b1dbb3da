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

// plainClient calls a service by plain requests, whatever the protocol, as a third-party client
// would.
type plainClient struct {
	base, protocol string
	transport      *http.Transport
	limit          time.Duration
	sent           atomic.Int64 // bytes of messages

	id     string                 // of requests; "" if they have none
	lastID atomic.Pointer[string] // id of the last response
	slowly func([]byte) io.Reader // makes slow bodies; nil if they are sent immediately
}

var _ rpc.Client = &plainClient{}

// dialPlain returns a client for addr, encrypted if secure is not nil, and of HTTP/2 if that is set
// or the protocol is gRPC.
func dialPlain(protocol, addr string, secure *tls.Config, http2 bool, limit time.Duration) *plainClient {
	p := &plainClient{base: "http://" + addr, protocol: protocol, limit: limit, transport: &http.Transport{TLSClientConfig: secure, MaxIdleConnsPerHost: creators, DisableCompression: true, Protocols: &http.Protocols{}}}
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
func (p *plainClient) Close() error {
	p.transport.CloseIdleConnections()
	return nil
}

// Create calls CreateUser.
func (p *plainClient) Create(ctx context.Context, d users.Draft) (users.User, error) {
	return p.parseUser(p.sendCall(ctx, "CreateUser", "POST", "/v1/users", message{{"name", d.Name}, {"email", d.Email}}))
}

// Get calls GetUser.
func (p *plainClient) Get(ctx context.Context, id int64) (users.User, error) {
	return p.parseUser(p.sendCall(ctx, "GetUser", "GET", pathOf(id), message{{"id", id}}))
}

// Update calls UpdateUser.
func (p *plainClient) Update(ctx context.Context, id int64, d users.Draft) (users.User, error) {
	return p.parseUser(p.sendCall(ctx, "UpdateUser", "PUT", pathOf(id), message{{"id", id}, {"name", d.Name}, {"email", d.Email}}))
}

// Delete calls DeleteUser.
func (p *plainClient) Delete(ctx context.Context, id int64) error {
	answer, err := p.sendCall(ctx, "DeleteUser", "DELETE", pathOf(id), message{{"id", id}})
	if err == nil && p.isBinary() && len(answer) > 0 || err == nil && !p.isBinary() && string(bytes.TrimSpace(answer)) != "{}" {
		err = fmt.Errorf("delete is answered with %.60q", answer)
	}
	return err
}

// List calls ListUsers.
func (p *plainClient) List(ctx context.Context, q users.Query) (users.Page, error) {
	v := url.Values{"query": {q.Text}, "page": {strconv.Itoa(q.Page)}, "limit": {strconv.Itoa(q.Limit)}}
	path := "/v1/users?" + v.Encode()
	if q == (users.Query{}) {
		path = "/v1/users"
	}
	answer, err := p.sendCall(ctx, "ListUsers", "GET", path, message{{"query", q.Text}, {"page", int64(q.Page)}, {"limit", int64(q.Limit)}})
	if err != nil {
		return users.Page{}, err
	}
	if p.isBinary() {
		return protoPage(answer)
	}
	return jsonPage(answer)
}

func (p *plainClient) parseUser(answer []byte, err error) (users.User, error) {
	switch {
	case err != nil:
		return users.User{}, err
	case p.isBinary():
		return protoUser(answer)
	}
	return jsonUser(answer)
}

// isBinary reports whether messages are protocol buffers.
func (p *plainClient) isBinary() bool { return p.protocol == rpc.GRPC || p.protocol == rpc.Connect }

func pathOf(id int64) string { return "/v1/users/" + strconv.FormatInt(id, 10) }

// sendCall sends a request and returns the message of its response, or its error.
func (p *plainClient) sendCall(ctx context.Context, name, method, path string, m message) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, p.limit)
	defer cancel()
	var body []byte
	kind := "application/json"
	switch {
	case p.protocol == rpc.HTTP:
		if m[0].name == "id" {
			m = m[1:] // the id is in the path
		}
		if method == "POST" || method == "PUT" {
			body = m.encodeJSON()
		}
	case p.isBinary():
		kind, body = "application/proto", m.encodeProto()
	default:
		body = m.encodeJSON()
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
	p.lastID.Store(&id)
	if p.protocol == rpc.GRPC {
		return parseGRPC(a, answer)
	}
	return p.parseHTTP(a, answer, kind, method == "POST" && p.protocol == rpc.HTTP)
}

// methods is the path before the name of a method.
const methods = "/tare.users.v1.UserService/"

// parseHTTP returns the message of a response over HTTP, or its error.
func (p *plainClient) parseHTTP(a *http.Response, answer []byte, kind string, created bool) ([]byte, error) {
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
	e, err := parseRefusal(a, answer)
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

// parseRefusal parses the error response over HTTP.
func parseRefusal(a *http.Response, answer []byte) (*users.Error, error) {
	var e users.Error
	if err := errors.Join(isKind(a, "application/json"), json.Unmarshal(answer, &e)); err != nil {
		return nil, fmt.Errorf("status %d: a refusal that is none: %w: %.200q", a.StatusCode, err, answer)
	}
	if !slices.Contains(users.Codes(), e.Code) || e.Message == "" {
		return nil, fmt.Errorf("status %d: a refusal without code or message: %.200q", a.StatusCode, answer)
	}
	return &e, nil
}

// parseGRPC returns the message of a response over gRPC, or the error of its trailers.
func parseGRPC(a *http.Response, answer []byte) ([]byte, error) {
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
