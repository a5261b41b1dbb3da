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

// plainClient calls a service in any protocol. It uses only net/http, and no library of the protocol.
type plainClient struct {
	base, protocol string // base is the URL without a path
	transport      *http.Transport
	limit          time.Duration // for each call
	sent           atomic.Int64  // bytes of the messages that were sent, without prefixes of gRPC

	id       string                 // X-Request-Id of requests; "" if they have none
	lastID   atomic.Pointer[string] // X-Request-Id of the last response
	slowBody func([]byte) io.Reader // returns a reader that delays a body; nil means no delay
}

var _ rpc.Client = &plainClient{}

// dialPlain returns a client for addr. If secure is not nil, the connections are encrypted. It uses HTTP/2
// for gRPC, and for other protocols in plain text if http2 is set. limit is the largest time of a call.
func dialPlain(protocol, addr string, secure *tls.Config, http2 bool, limit time.Duration) *plainClient {
	p := &plainClient{base: "http://" + addr, protocol: protocol, limit: limit, transport: &http.Transport{
		TLSClientConfig:     secure,
		MaxIdleConnsPerHost: creators,
		DisableCompression:  true,
		Protocols:           &http.Protocols{},
	}}
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
	return p.parseUser(p.sendCall(ctx, "GetUser", "GET", userPath(id), message{{"id", id}}))
}

// Update calls UpdateUser.
func (p *plainClient) Update(ctx context.Context, id int64, d users.Draft) (users.User, error) {
	return p.parseUser(p.sendCall(ctx, "UpdateUser", "PUT", userPath(id), message{{"id", id}, {"name", d.Name}, {"email", d.Email}}))
}

// Delete calls DeleteUser.
func (p *plainClient) Delete(ctx context.Context, id int64) error {
	answer, err := p.sendCall(ctx, "DeleteUser", "DELETE", userPath(id), message{{"id", id}})
	if err != nil {
		return err
	}
	isEmpty := string(bytes.TrimSpace(answer)) == "{}"
	if p.isBinary() {
		isEmpty = len(answer) == 0
	}
	if !isEmpty {
		return fmt.Errorf("delete is answered with %.60q", answer)
	}
	return nil
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
		return newDecoder().Page(answer)
	}
	return jsonPage(answer)
}

// parseUser parses the result of sendCall as a user.
func (p *plainClient) parseUser(answer []byte, err error) (users.User, error) {
	switch {
	case err != nil:
		return users.User{}, err
	case p.isBinary():
		return newDecoder().User(answer)
	}
	return jsonUser(answer)
}

// isBinary reports whether messages are protocol buffers.
func (p *plainClient) isBinary() bool { return p.protocol == rpc.GRPC || p.protocol == rpc.Connect }

// userPath returns the path of a user over HTTP.
func userPath(id int64) string { return "/v1/users/" + strconv.FormatInt(id, 10) }

// sendCall sends a request, and returns the message of the response or its error. name is the name of the
// method in gRPC and Connect; method and path are those over HTTP.
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
	var reader io.Reader = bytes.NewReader(body)
	if p.slowBody != nil {
		reader = p.slowBody(body)
	}
	q, err := http.NewRequestWithContext(ctx, method, p.base+path, reader)
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
	isCreate := method == "POST" && p.protocol == rpc.HTTP
	return p.parseHTTP(a, answer, kind, isCreate)
}

// methods is the path before the name of a method in gRPC and Connect.
const methods = "/tare.users.v1.UserService/"

// parseHTTP returns the message of a response over HTTP or Connect, or its error. kind is the expected
// content type. If isCreate is set, the expected status is 201 instead of 200.
func (p *plainClient) parseHTTP(a *http.Response, answer []byte, kind string, isCreate bool) ([]byte, error) {
	want := http.StatusOK
	if isCreate {
		want = http.StatusCreated
	}
	if a.StatusCode < 400 {
		if a.StatusCode != want {
			return nil, fmt.Errorf("status %d, want %d", a.StatusCode, want)
		}
		return answer, checkKind(a, kind)
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

// checkKind returns an error if the content type of a response, without parameters, is not want.
func checkKind(a *http.Response, want string) error {
	if kind, _, _ := strings.Cut(a.Header.Get("Content-Type"), ";"); strings.TrimSpace(kind) != want {
		return fmt.Errorf("an answer of type %q, want %s", a.Header.Get("Content-Type"), want)
	}
	return nil
}

// parseRefusal parses an error response over HTTP or Connect.
func parseRefusal(a *http.Response, answer []byte) (*users.Error, error) {
	var e users.Error
	if err := errors.Join(checkKind(a, "application/json"), json.Unmarshal(answer, &e)); err != nil {
		return nil, fmt.Errorf("status %d: not an error response: %w: %.200q", a.StatusCode, err, answer)
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
	trailer := a.Trailer
	if a.Header.Get("Grpc-Status") != "" { // a response without a message may have only headers
		trailer = a.Header
	}
	status := trailer.Get("Grpc-Status")
	if status != "0" {
		for _, code := range users.Codes() {
			if strconv.Itoa(code.GRPC()) == status {
				text, err := url.PathUnescape(trailer.Get("Grpc-Message"))
				if err != nil {
					return nil, fmt.Errorf("grpc-message: %w", err)
				}
				return nil, &users.Error{Code: code, Message: text}
			}
		}
		return nil, fmt.Errorf("grpc-status %q: %s", status, trailer.Get("Grpc-Message"))
	}
	const prefix = 5 // bytes: a flag, which is 0 without compression, and the length of the message
	if len(answer) < prefix || answer[0] != 0 || int(binary.BigEndian.Uint32(answer[1:])) != len(answer)-prefix {
		return nil, fmt.Errorf("an answer that is no gRPC message: %.60q", answer)
	}
	return answer[prefix:], nil
}
