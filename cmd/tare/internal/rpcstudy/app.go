package rpcstudy

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/dynamicpb"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/contender/wire"
	"github.com/tarebench/tare/kinds/server"
	"github.com/tarebench/tare/load"
)

// This file makes HTTP requests of the service's messages. It converts the responses of all transports
// to one form, in which they are compared.

// AppName is the name of workloads that request the user's service.
const AppName = "service"

// Settings of contenders, which are the generated servers. Their template reads the first two.
const (
	setMessages = "messages" // file with the messages
	setVerify   = "verify"   // "on" if the server compares requests with the expected ones
	setProtocol = "protocol" // protocol of the requests
)

// Protocols of requests.
const (
	overHTTP        = "http" // JSON by the google.api.http rules of the gateway
	overGRPC        = "grpc"
	overConnect     = "connect"
	overConnectJSON = "connect-json"
)

type call struct {
	method  *Method
	message proto.Message
}

// App returns the service for package server, which measures servers over HTTP. It has an op for each
// method, and allID, which calls all methods in turn.
func (d *Document) App() (server.App, error) {
	ops := []string{allID}
	pools := map[string][]server.Request{}
	for _, m := range d.Methods {
		ops = append(ops, m.ID)
		for _, message := range m.requests {
			q, err := canonicalRequest(call{m, message})
			if err != nil {
				return server.App{}, fmt.Errorf("%s: %w", m.ID, err)
			}
			pools[m.ID] = append(pools[m.ID], q)
		}
	}
	var err error
	if pools[allID], err = alternateMethods(d.Methods, pools); err != nil {
		return server.App{}, err
	}
	return server.App{
		Name: AppName,
		Ops:  ops,
		Requests: func(w tare.Workload) ([]server.Request, error) {
			return pools[w.Op], nil
		},
		Repeats: ops,
		Answers: handlerResponses,
		Probes: func() []server.Probe {
			return server.Probing("the request that was sent", pools[allID]...)
		},
		Same:     server.SameJSON,
		Words:    []string{setProtocol},
		Settings: d.writeSettings,
		Dialect:  newDialect,
	}, nil
}

// Limits of the requests of all methods together.
const (
	maxTurn      = 100_000   // requests
	maxTurnBytes = 256 << 20 // bytes of their bodies
)

// alternateMethods returns requests that call the methods in turn. Methods with fewer requests repeat
// theirs. For example, requests a1, a2, a3 of A and b1 of B give a1, b1, a2, b1, a3, b1.
func alternateMethods(methods []*Method, pools map[string][]server.Request) (list []server.Request, err error) {
	turns, bytes := 0, 0
	for _, m := range methods {
		turns = max(turns, len(pools[m.ID]))
	}
	for i := range turns {
		for _, m := range methods {
			pool := pools[m.ID]
			q := pool[i%len(pool)]
			bytes += len(q.Body)
			if len(list) == maxTurn || bytes > maxTurnBytes {
				longest := slices.MaxFunc(methods, func(a, b *Method) int { return len(a.requests) - len(b.requests) })
				return nil, fmt.Errorf("%s has %d requests, and as often as it each of the %d methods is asked for: more than %d requests or %d MiB; give it fewer, or choose it by --method",
					longest.ID, turns, len(methods), maxTurn, maxTurnBytes>>20)
			}
			list = append(list, q)
		}
	}
	return list, nil
}

// canonicalRequest returns a call as JSON for Connect, which a server that does no work receives. For
// others a dialect encodes the call.
func canonicalRequest(c call) (server.Request, error) {
	body, err := toJSON(c.message)
	return postRequest(c, body, server.TypeJSON), err
}

// postRequest returns a call as a POST request. header has further names and values, alternately.
func postRequest(c call, body []byte, contentType string, header ...string) server.Request {
	q := server.Request{
		Method: http.MethodPost, Path: c.method.Path(), Body: body, Call: c, Status: http.StatusOK,
		Header: map[string]string{server.ContentType: contentType},
	}
	for i := 0; i < len(header); i += 2 {
		q.Header[header[i]] = header[i+1]
	}
	return q
}

// handlerResponses returns the one response of each method.
func handlerResponses(_ wire.Workload, list []server.Request) ([]server.Response, error) {
	out := make([]server.Response, len(list))
	responses := map[*Method]server.Response{}
	for i, q := range list {
		m := q.Call.(call).method
		r, ok := responses[m]
		if !ok {
			body, err := toJSON(m.answer)
			if err != nil {
				return nil, err
			}
			r = server.Answered(server.TypeJSON, body)
			responses[m] = r
		}
		out[i] = r
	}
	return out, nil
}

// serverMessages is the file of a generated server. Its template declares the same type.
type serverMessages struct {
	Methods map[string]serverMethod `json:"methods"` // methods by path of gRPC
}

// serverMethod has messages in protocol buffers, encoded in base64.
type serverMethod struct {
	Answer   string   `json:"answer"`
	Requests []string `json:"requests"` // only if the server verifies them
}

// writeSettings writes the file and the settings of a server. It verifies requests only in a probe, as
// the check takes time.
func (d *Document) writeSettings(w wire.Workload, _ []server.Request, set map[string]string, dir string) error {
	messages := serverMessages{map[string]serverMethod{}}
	for _, m := range d.Methods {
		b, err := marshalMessage(m.answer)
		if err != nil {
			return fmt.Errorf("%s: %w", m.ID, err)
		}
		method := serverMethod{Answer: base64.StdEncoding.EncodeToString(b)}
		for _, q := range m.requests {
			if b, err = marshalMessage(q); err != nil {
				return fmt.Errorf("%s: %w", m.ID, err)
			}
			method.Requests = append(method.Requests, base64.StdEncoding.EncodeToString(b))
		}
		messages.Methods[m.Path()] = method
	}
	text, err := json.Marshal(messages)
	if err != nil {
		return err
	}
	set[setMessages] = filepath.Join(dir, "messages.json")
	if w.Op == server.OpProbes {
		set[setVerify] = "on"
	}
	return os.WriteFile(set[setMessages], text, 0o600)
}

// Content types.
const (
	typeGRPC  = "application/grpc"
	typeProto = "application/proto"
)

// newDialect returns the encoding that the setting setProtocol selects.
func newDialect(c tare.Contender, set map[string]string) (server.Dialect, error) {
	d := server.Dialect{Name: set[setProtocol]}
	if c.Role == tare.RoleNull {
		d.Name = overConnectJSON
		return d, nil
	}
	if !slices.Contains(c.Protocols, d.Name) {
		return d, fmt.Errorf("%s: %q; this contender speaks %s", setProtocol, d.Name, strings.Join(c.Protocols, ", "))
	}
	switch d.Name {
	case overGRPC:
		d.Protocol, d.Encode, d.Decode = load.GRPC, encodeWith(typeGRPC, "Te", "trailers"), decodeGRPC
	case overConnect:
		d.Encode, d.Decode = encodeWith(typeProto, "Connect-Protocol-Version", "1"), decodeProto
	case overConnectJSON:
		d.Encode, d.Decode = encodeJSON, decodeJSON
	case overHTTP:
		d.Encode, d.Decode = encodeRule, decodeRule
	}
	return d, nil
}

// encodeWith returns a function that encodes calls in protocol buffers.
func encodeWith(contentType string, header ...string) func(server.Request) (server.Request, bool, error) {
	return func(q server.Request) (server.Request, bool, error) {
		c := q.Call.(call)
		b, err := marshalMessage(c.message)
		return postRequest(c, b, contentType, header...), true, err
	}
}

func encodeJSON(q server.Request) (server.Request, bool, error) {
	c := q.Call.(call)
	body, err := toJSON(c.message)
	return postRequest(c, body, server.TypeJSON, "Connect-Protocol-Version", "1"), true, err
}

func encodeRule(q server.Request) (server.Request, bool, error) {
	c := q.Call.(call)
	path, body, err := c.method.rule.encode(c.message)
	out := server.Request{Method: c.method.rule.method, Path: path, Body: body, Call: c, Status: http.StatusOK}
	if body != nil {
		out.Header = map[string]string{server.ContentType: server.TypeJSON}
	}
	return out, true, err
}

// prefixLen is the length of the prefix of a message in gRPC: one byte for compression, four for the
// length.
const prefixLen = 5

// decodeGRPC decodes one message that is not compressed. Other responses stay.
func decodeGRPC(q server.Request, got server.Response) server.Response {
	b := got.Body
	if got.Status != http.StatusOK || len(b) < prefixLen {
		return got
	}
	isCompressed, length := b[0] != 0, uint64(binary.BigEndian.Uint32(b[1:]))
	if isCompressed || length != uint64(len(b)-prefixLen) {
		return got
	}
	got.Body = b[prefixLen:]
	return toCanonical(q, got, typeGRPC, func(m proto.Message) error { return proto.Unmarshal(got.Body, m) })
}

func decodeProto(q server.Request, got server.Response) server.Response {
	return toCanonical(q, got, typeProto, func(m proto.Message) error { return proto.Unmarshal(got.Body, m) })
}

func decodeJSON(q server.Request, got server.Response) server.Response {
	return toCanonical(q, got, server.TypeJSON, func(m proto.Message) error { return protojson.Unmarshal(got.Body, m) })
}

// decodeRule decodes a response of the gateway. If it is one field (response_body), the others come
// from the expected response.
func decodeRule(q server.Request, got server.Response) server.Response {
	c := q.Call.(call)
	if c.method.rule.answer == "" {
		return decodeJSON(q, got)
	}
	fd := c.method.desc.Output().Fields().ByName(protoreflect.Name(c.method.rule.answer))
	return toCanonical(q, got, server.TypeJSON, func(m proto.Message) error {
		object := fmt.Appendf(nil, "{%q:%s}", fd.JSONName(), got.Body)
		if err := protojson.Unmarshal(object, m); err != nil {
			return err
		}
		complete := proto.Clone(c.method.answer).ProtoReflect()
		complete.Clear(fd)
		if m.ProtoReflect().Has(fd) {
			complete.Set(fd, m.ProtoReflect().Get(fd))
		}
		proto.Reset(m)
		proto.Merge(m, complete.Interface())
		return nil
	})
}

// toCanonical returns a response in the same form for all protocols: its message as compact JSON. read
// decodes the message. A response that it cannot read stays.
func toCanonical(q server.Request, got server.Response, contentType string, read func(proto.Message) error) server.Response {
	if got.Status != http.StatusOK {
		return got
	}
	m := dynamicpb.NewMessage(q.Call.(call).method.desc.Output())
	if read(m) != nil {
		return got
	}
	body, err := toJSON(m)
	if err != nil {
		return got
	}
	header := map[string]string{}
	switch gotType := got.Header[server.ContentType]; gotType {
	case "":
		// The comparison with the expected response reports the missing header.
	case contentType, contentType + "+proto":
		header[server.ContentType] = server.TypeJSON
	default:
		header[server.ContentType] = gotType
	}
	return server.Response{Status: http.StatusOK, Header: header, Body: body}
}
