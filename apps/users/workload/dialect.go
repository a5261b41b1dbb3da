package workload

import (
	"cmp"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/apps/users"
	"github.com/tarebench/tare/contender/rpc"
	"github.com/tarebench/tare/internal/protowire"
	"github.com/tarebench/tare/kinds/server"
	"github.com/tarebench/tare/load"
)

// Requests have the canonical form HTTP with JSON, e.g. GET /v1/users/300000000. A server under test may need
// another protocol: in gRPC it is a message for GetUser. Responses are converted back.

// Settings that select how a server is called.
const (
	setProtocol = rpc.SetProtocol // default: the server's first one
	setHTTP2    = rpc.SetHTTP2    // default: on for gRPC
	setPolicy   = rpc.SetPolicy   // default: one for a client over http2, else pool
	setDriver   = "driver"        // program that sends requests; default: engine
	setReset    = server.SetReset

	driverEngine = "engine" // the load generator
	driverClient = "client" // the contender's own client
)

func settingNames() []string { return []string{setProtocol, setHTTP2, setPolicy, setDriver, setReset} }

// selectValue returns the value of a setting, or defaultValue if it is not set. It fails if the value is not
// one of known.
func selectValue(set map[string]string, key, defaultValue string, known ...string) (string, error) {
	value := cmp.Or(set[key], defaultValue)
	if !slices.Contains(known, value) {
		return "", fmt.Errorf("%s: %q is none of %s", key, value, strings.Join(known, ", "))
	}
	return value, nil
}

// newDialect returns the encoding of requests for a server with settings.
func newDialect(c tare.Contender, set map[string]string) (d server.Dialect, err error) {
	protocols := c.Protocols
	if len(protocols) == 0 {
		protocols = []string{rpc.HTTP}
	}
	if c.Role == tare.RoleNull { // the null server, which does nothing, gets the defaults
		set = nil
	}
	if d.Name, err = selectValue(set, setProtocol, protocols[0], rpc.HTTP, rpc.GRPC, rpc.Connect, rpc.ConnectJSON); err != nil {
		return d, err
	}
	if !slices.Contains(protocols, d.Name) {
		return d, fmt.Errorf("%s: %s; this contender speaks %s", setProtocol, d.Name, strings.Join(protocols, ", "))
	}
	defaultHTTP2 := "off"
	if d.Name == rpc.GRPC {
		defaultHTTP2 = "on"
	}
	http2, err := selectValue(set, setHTTP2, defaultHTTP2, "on", "off")
	if err != nil {
		return d, err
	}
	driver, err := selectValue(set, setDriver, driverEngine, driverEngine, driverClient)
	if err != nil {
		return d, err
	}
	defaultPolicy := rpc.Pool
	if driver == driverClient && http2 == "on" { // programs usually share one connection
		defaultPolicy = rpc.One
	}
	policy, err := selectValue(set, setPolicy, defaultPolicy, rpc.Pool, rpc.One, rpc.Fresh)
	switch {
	case err != nil:
		return d, err
	case d.Name == rpc.GRPC && http2 == "off":
		return d, fmt.Errorf("%s: off; gRPC takes HTTP/2", setHTTP2)
	case policy == rpc.One && driver == driverEngine:
		return d, fmt.Errorf("%s: %s; the load generator has one request in flight on each connection, %s: %s has not", setPolicy, policy, setDriver, driverClient)
	case policy == rpc.One && http2 == "off":
		return d, fmt.Errorf("%s: %s; one connection for all takes HTTP/2", setPolicy, policy)
	}
	if http2 == "on" {
		d.Protocol = load.H2C
	}
	if policy == rpc.Fresh {
		d.PerConn = 1 // one request per connection
	}
	if driver == driverClient {
		d.Client = map[string]string{rpc.SetProtocol: d.Name, rpc.SetHTTP2: http2, rpc.SetPolicy: policy}
	}
	switch d.Name {
	case rpc.GRPC:
		d.Protocol, d.Encode, d.Decode = load.GRPC, encodeGRPC, decodeGRPC
	case rpc.Connect:
		d.Encode, d.Decode = encodeConnect, decodeConnect
	case rpc.ConnectJSON:
		d.Encode, d.Decode = encodeConnectJSON, decodeConnectJSON
	}
	return d, nil
}

// methodPath returns the path of a call in gRPC and Connect.
func methodPath(c rpc.Call) string {
	return "/tare.users.v1.UserService/" + map[string]string{
		opCreate: "CreateUser", opGet: "GetUser", opUpdate: "UpdateUser", opDelete: "DeleteUser", opList: "ListUsers",
	}[c.Op]
}

// encodeCall converts a canonical request to gRPC or Connect, or returns false if it is no call. encode makes
// the message. header alternates names and values. The expected status is that of q, but 200 instead of 201.
func encodeCall(q server.Request, encode func(rpc.Call) message, header ...string) (server.Request, bool, error) {
	c, ok := callOf(q)
	if !ok {
		return q, false, nil
	}
	m := encode(c)
	request := server.Request{
		Method: http.MethodPost,
		Path:   methodPath(c),
		Header: map[string]string{},
		Body:   m.bytes,
		Fill:   m.fill,
		Status: q.Status,
	}
	if request.Status == http.StatusCreated {
		request.Status = http.StatusOK
	}
	for i := 0; i < len(header); i += 2 {
		request.Header[header[i]] = header[i+1]
	}
	return request, true, nil
}

// Content types.
const (
	typeGRPC  = "application/grpc"
	typeProto = "application/proto"
)

// grpcPrefix precedes a gRPC message: a flag and the length. The load generator adds it.
const grpcPrefix = 5

func encodeGRPC(q server.Request) (server.Request, bool, error) {
	return encodeCall(q, encodeMessage, server.ContentType, typeGRPC, "Te", "trailers")
}

func encodeConnect(q server.Request) (server.Request, bool, error) {
	return encodeCall(q, encodeMessage, server.ContentType, typeProto, "Connect-Protocol-Version", "1")
}

func encodeConnectJSON(q server.Request) (server.Request, bool, error) {
	return encodeCall(q, encodeJSON, server.ContentType, server.TypeJSON, "Connect-Protocol-Version", "1")
}

// encodeJSON returns the JSON of protocol buffers, with strings for 64 bits. See
// https://protobuf.dev/programming-guides/json.
func encodeJSON(c rpc.Call) (m message) {
	m.bytes = append(m.bytes, '{')
	add := func(name string, value any) {
		text, _ := json.Marshal(value) // marshaling strings and numbers cannot fail
		if len(m.bytes) > 1 {
			m.bytes = append(m.bytes, ',')
		}
		m.bytes = append(append(strconv.AppendQuote(m.bytes, name), ':'), text...)
	}
	if c.ID != 0 {
		add("id", strconv.FormatInt(c.ID, 10))
		if c.IDCounter != "" {
			m.fill = append(m.fill, idFill(c, true, len(m.bytes)-digits-1)) // digits before the last quote
		}
	}
	for _, f := range []struct{ name, text string }{{"name", c.Name}, {"email", zeroNumber(c.Email)}, {"query", c.Query}} {
		if f.text != "" {
			add(f.name, f.text)
		}
	}
	for _, f := range []struct {
		name   string
		number int
	}{{"page", c.Page}, {"limit", c.Limit}} {
		if f.number != 0 {
			add(f.name, f.number)
		}
	}
	m.bytes = append(m.bytes, '}')
	if f, ok := emailFill(c, m.bytes); ok {
		m.fill = append(m.fill, f)
	}
	return m
}

// decodeGRPC converts to the canonical form. The load generator has set the status from the trailers.
func decodeGRPC(q server.Request, got server.Response) server.Response {
	if got.Status != http.StatusOK {
		return errorResponse(got.Status, codeOf(got))
	}
	b := got.Body
	isMessage := len(b) >= grpcPrefix && b[0] == 0 && uint64(binary.BigEndian.Uint32(b[1:grpcPrefix])) == uint64(len(b)-grpcPrefix)
	if !isMessage {
		return got // reported as a body that is not JSON
	}
	got.Body = b[grpcPrefix:]
	return decodeMessage(q, got, typeGRPC)
}

// decodeConnect converts protocol buffers to the canonical form. Error responses are JSON already.
func decodeConnect(q server.Request, got server.Response) server.Response {
	if got.Status != http.StatusOK {
		return got
	}
	return decodeMessage(q, got, typeProto)
}

func decodeConnectJSON(q server.Request, got server.Response) server.Response {
	c, ok := callOf(q)
	if ok && got.Status == http.StatusOK && c.Op == opCreate {
		got.Status = http.StatusCreated
	}
	return got
}

// decodeMessage converts protocol buffers to JSON. wantType is the expected content type. An invalid message
// stays.
func decodeMessage(q server.Request, got server.Response, wantType string) server.Response {
	c, ok := callOf(q)
	if !ok {
		return got
	}
	var value any
	var err error
	switch c.Op {
	case opDelete:
		value, err = struct{}{}, protowire.Walk(got.Body, func(protowire.Field) error { return nil })
	case opList:
		value, err = newDecoder().Page(got.Body)
	default:
		value, err = newDecoder().User(got.Body)
	}
	if err != nil {
		return got
	}
	body, err := json.Marshal(value)
	if err != nil {
		return got
	}
	status := http.StatusOK
	if c.Op == opCreate {
		status = http.StatusCreated
	}
	header := map[string]string{}
	switch contentType := got.Header[server.ContentType]; {
	case contentType == wantType, contentType == wantType+"+proto":
		header[server.ContentType] = server.TypeJSON
	case contentType != "":
		header[server.ContentType] = contentType
	}
	return server.Response{Status: status, Header: header, Body: body}
}

// codeOf returns the error code for the grpc-status of a response, or else for its HTTP status.
func codeOf(got server.Response) users.Code {
	status := got.Header[server.GRPCStatus]
	for _, code := range users.Codes() {
		isHTTPStatus := status == "" && code.HTTP() == got.Status
		if isHTTPStatus || status == strconv.Itoa(code.GRPC()) {
			return code
		}
	}
	return users.Code("grpc-status " + status)
}

// errorResponse returns an error response in the canonical form. Its message is not compared.
func errorResponse(status int, code users.Code) server.Response {
	body, _ := json.Marshal(users.Error{Code: code, Message: "-"}) // marshaling strings cannot fail
	return server.Response{Status: status, Header: map[string]string{server.ContentType: server.TypeJSON}, Body: body}
}
