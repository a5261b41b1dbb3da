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

// This file converts the requests of a workload to the protocol in which a contender, a server under test, is
// called. The canonical form of a request is HTTP with JSON, e.g. GET /v1/users/300000000; in gRPC it is a message
// for the method GetUser. The responses are converted back.

// Settings of an entry that select how a contender is called.
const (
	setProtocol = rpc.SetProtocol // a protocol of the contender; default: its first one
	setHTTP2    = rpc.SetHTTP2    // on or off; default: on for gRPC, else off
	setPolicy   = rpc.SetPolicy   // policy of connections; default: one if driver is client and http2 is on, else pool
	setDriver   = "driver"        // program that sends requests; default: engine
	setReset    = server.SetReset

	driverEngine = "engine" // the load generator
	driverClient = "client" // the contender's own client
)

func settingNames() []string { return []string{setProtocol, setHTTP2, setPolicy, setDriver, setReset} }

// selectValue returns the value of a setting, or defaultValue if it is not set. It returns an error if
// the value is not one of known.
func selectValue(set map[string]string, key, defaultValue string, known ...string) (string, error) {
	value := cmp.Or(set[key], defaultValue)
	if !slices.Contains(known, value) {
		return "", fmt.Errorf("%s: %q is none of %s", key, value, strings.Join(known, ", "))
	}
	return value, nil
}

// newDialect returns the encoding of requests (called dialect in package server) for a contender with the settings
// in set.
func newDialect(c tare.Contender, set map[string]string) (d server.Dialect, err error) {
	protocols := c.Protocols
	if len(protocols) == 0 {
		protocols = []string{rpc.HTTP}
	}
	if c.Role == tare.RoleNull { // the null contender, a server that only costs what measuring costs, gets the defaults
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

// methodPath returns the path of the method of a call in gRPC and Connect.
func methodPath(c rpc.Call) string {
	return "/tare.users.v1.UserService/" + map[string]string{
		opCreate: "CreateUser", opGet: "GetUser", opUpdate: "UpdateUser", opDelete: "DeleteUser", opList: "ListUsers",
	}[c.Op]
}

// encodeCall returns the canonical request q as a request of gRPC or Connect, or false if q is not a call.
// encode makes the message. header alternates names and values. The expected status is the status of q,
// but 200 instead of 201.
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

// grpcPrefix is the number of bytes before a message in gRPC: a flag and the length of the message. The
// load generator adds them to requests.
const grpcPrefix = 5

// encodeGRPC returns the canonical request q in gRPC, or false if q is not a call.
func encodeGRPC(q server.Request) (server.Request, bool, error) {
	return encodeCall(q, encodeMessage, server.ContentType, typeGRPC, "Te", "trailers")
}

// encodeConnect returns the canonical request q in Connect with protocol buffers, or false if q is not a
// call.
func encodeConnect(q server.Request) (server.Request, bool, error) {
	return encodeCall(q, encodeMessage, server.ContentType, typeProto, "Connect-Protocol-Version", "1")
}

// encodeConnectJSON returns the canonical request q in Connect with JSON, or false if q is not a call.
func encodeConnectJSON(q server.Request) (server.Request, bool, error) {
	return encodeCall(q, encodeJSON, server.ContentType, server.TypeJSON, "Connect-Protocol-Version", "1")
}

// encodeJSON returns the request message of a call in the JSON form of protocol buffers, in which numbers
// of 64 bits are strings. See https://protobuf.dev/programming-guides/json.
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
			m.fill = append(m.fill, idFill(c, true, len(m.bytes)-digits-1)) // the digits before the quote at the end
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

// decodeGRPC converts a response in gRPC to the canonical form. The load generator has set its status
// from the trailers.
func decodeGRPC(q server.Request, got server.Response) server.Response {
	if got.Status != http.StatusOK {
		return errorResponse(got.Status, codeOf(got))
	}
	b := got.Body
	isMessage := len(b) >= grpcPrefix && b[0] == 0 && uint64(binary.BigEndian.Uint32(b[1:grpcPrefix])) == uint64(len(b)-grpcPrefix)
	if !isMessage {
		return got // it will be reported as a body that is not JSON
	}
	got.Body = b[grpcPrefix:]
	return decodeMessage(q, got, typeGRPC)
}

// decodeConnect converts a response in Connect with protocol buffers to the canonical form. Error
// responses are JSON already.
func decodeConnect(q server.Request, got server.Response) server.Response {
	if got.Status != http.StatusOK {
		return got
	}
	return decodeMessage(q, got, typeProto)
}

// decodeConnectJSON converts a response in Connect with JSON to the canonical form.
func decodeConnectJSON(q server.Request, got server.Response) server.Response {
	c, ok := callOf(q)
	if ok && got.Status == http.StatusOK && c.Op == opCreate {
		got.Status = http.StatusCreated
	}
	return got
}

// decodeMessage converts a response with a message of protocol buffers to JSON. wantType is the
// expected content type of got. A response with an invalid message is returned unchanged.
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

// codeOf returns the error code for the grpc-status of a response in gRPC, or for its HTTP status if the
// response has no grpc-status.
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
