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

// A client for app users that speaks HTTP, gRPC and Connect with net/http alone.

// methodsPath precedes a method in gRPC and Connect.
const methodsPath = "/tare.users.v1.UserService/"

// plainClient calls a service in any protocol, without its library.
type plainClient struct {
	base, protocol string // base is the URL without a path
	transport      *http.Transport
	limit          time.Duration // longest time of a call
	sent           atomic.Int64  // bytes of sent messages, without gRPC's prefixes

	id       string                 // X-Request-Id of requests, or ""
	lastID   atomic.Pointer[string] // X-Request-Id of the last response
	slowBody func([]byte) io.Reader // delays a body; may be nil
}

var _ rpc.Client = &plainClient{}

// dialPlain returns a client for addr, with TLS if secure is not nil. gRPC needs HTTP/2; others use it in
// plain text if http2 is set. limit is for each call.
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

func (p *plainClient) Close() error {
	p.transport.CloseIdleConnections()
	return nil
}

func (p *plainClient) Create(ctx context.Context, d users.Draft) (users.User, error) {
	return p.parseUser(p.sendCall(ctx, "CreateUser", "POST", "/v1/users", message{{"name", d.Name}, {"email", d.Email}}))
}

func (p *plainClient) Get(ctx context.Context, id int64) (users.User, error) {
	return p.parseUser(p.sendCall(ctx, "GetUser", "GET", userPath(id), message{{"id", id}}))
}

func (p *plainClient) Update(ctx context.Context, id int64, d users.Draft) (users.User, error) {
	return p.parseUser(p.sendCall(ctx, "UpdateUser", "PUT", userPath(id), message{{"id", id}, {"name", d.Name}, {"email", d.Email}}))
}

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

func (p *plainClient) List(ctx context.Context, query users.Query) (users.Page, error) {
	values := url.Values{"query": {query.Text}, "page": {strconv.Itoa(query.Page)}, "limit": {strconv.Itoa(query.Limit)}}
	path := "/v1/users?" + values.Encode()
	if query == (users.Query{}) {
		path = "/v1/users"
	}
	answer, err := p.sendCall(ctx, "ListUsers", "GET", path, message{{"query", query.Text}, {"page", int64(query.Page)}, {"limit", int64(query.Limit)}})
	if err != nil {
		return users.Page{}, err
	}
	if p.isBinary() {
		return newDecoder().Page(answer)
	}
	return parseJSONPage(answer)
}

func (p *plainClient) parseUser(answer []byte, err error) (users.User, error) {
	switch {
	case err != nil:
		return users.User{}, err
	case p.isBinary():
		return newDecoder().User(answer)
	}
	return parseJSONUser(answer)
}

func (p *plainClient) isBinary() bool { return p.protocol == rpc.GRPC || p.protocol == rpc.Connect }

func userPath(id int64) string { return "/v1/users/" + strconv.FormatInt(id, 10) }

// encodeCall returns the body of a request and its content type, and counts it in p.sent. method is for HTTP.
func (p *plainClient) encodeCall(method string, m message) (body []byte, kind string) {
	kind = "application/json"
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
	return body, kind
}

// sendCall sends a request, and returns the message of the response or its error. name is for gRPC and Connect;
// method and path are for HTTP.
func (p *plainClient) sendCall(ctx context.Context, name, method, path string, m message) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, p.limit)
	defer cancel()
	body, kind := p.encodeCall(method, m)
	if p.protocol != rpc.HTTP {
		method, path = "POST", methodsPath+name
	}
	var reader io.Reader = bytes.NewReader(body)
	if p.slowBody != nil {
		reader = p.slowBody(body)
	}
	request, err := http.NewRequestWithContext(ctx, method, p.base+path, reader)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", kind)
	if p.protocol == rpc.GRPC {
		request.Header.Set("TE", "trailers")
	}
	if p.id != "" {
		request.Header.Set("X-Request-Id", p.id)
	}
	response, err := p.transport.RoundTrip(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, err
	}
	id := response.Header.Get("X-Request-Id")
	p.lastID.Store(&id)
	if p.protocol == rpc.GRPC {
		return parseGRPC(response, answer)
	}
	isCreate := method == "POST" && p.protocol == rpc.HTTP
	return p.parseHTTP(response, answer, kind, isCreate)
}

// parseHTTP returns the message of a response over HTTP or Connect, or its error. kind is the expected content
// type. A create must have status 201, others 200.
func (p *plainClient) parseHTTP(response *http.Response, answer []byte, kind string, isCreate bool) ([]byte, error) {
	want := http.StatusOK
	if isCreate {
		want = http.StatusCreated
	}
	if response.StatusCode < 400 {
		if response.StatusCode != want {
			return nil, fmt.Errorf("status %d, want %d", response.StatusCode, want)
		}
		return answer, checkKind(response, kind)
	}
	e, err := parseRefusal(response, answer)
	if err == nil {
		err = e
		if response.StatusCode != e.Code.HTTP() {
			err = fmt.Errorf("status %d of a refusal with code %s", response.StatusCode, e.Code)
		}
	}
	return nil, err
}

// checkKind checks the content type of a response, without parameters.
func checkKind(response *http.Response, want string) error {
	if kind, _, _ := strings.Cut(response.Header.Get("Content-Type"), ";"); strings.TrimSpace(kind) != want {
		return fmt.Errorf("an answer of type %q, want %s", response.Header.Get("Content-Type"), want)
	}
	return nil
}

func parseRefusal(response *http.Response, answer []byte) (*users.Error, error) {
	var e users.Error
	if err := errors.Join(checkKind(response, "application/json"), json.Unmarshal(answer, &e)); err != nil {
		return nil, fmt.Errorf("status %d: not an error response: %w: %.200q", response.StatusCode, err, answer)
	}
	if !slices.Contains(users.Codes(), e.Code) || e.Message == "" {
		return nil, fmt.Errorf("status %d: a refusal without code or message: %.200q", response.StatusCode, answer)
	}
	return &e, nil
}

// parseGRPC returns the message, or the error in the trailers.
func parseGRPC(response *http.Response, answer []byte) ([]byte, error) {
	if response.StatusCode != http.StatusOK || !strings.HasPrefix(response.Header.Get("Content-Type"), "application/grpc") {
		return nil, fmt.Errorf("status %d of type %q is no gRPC", response.StatusCode, response.Header.Get("Content-Type"))
	}
	trailer := response.Trailer
	if response.Header.Get("Grpc-Status") != "" { // a response without a message may have only headers
		trailer = response.Header
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
	const prefix = 5 // bytes: a flag, 0 without compression, and the length
	isMessage := len(answer) >= prefix && answer[0] == 0 && int(binary.BigEndian.Uint32(answer[1:])) == len(answer)-prefix
	if !isMessage {
		return nil, fmt.Errorf("an answer that is no gRPC message: %.60q", answer)
	}
	return answer[prefix:], nil
}
