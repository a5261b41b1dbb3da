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

// Settings of an entry that select how a contender is called.
const (
	setProtocol = rpc.SetProtocol // of those it speaks; default: its usual one
	setHTTP2    = rpc.SetHTTP2    // on or off; default: off, but on for gRPC
	setPolicy   = rpc.SetPolicy   // of connections; default: pool, and one if a client uses HTTP/2
	setDriver   = "driver"        // sender: engine, the load generator, or client, the contender's own; default: engine
	setReset    = server.SetReset

	driverEngine = "engine"
	driverClient = "client"
)

func settingNames() []string { return []string{setProtocol, setHTTP2, setPolicy, setDriver, setReset} }

// selectValue returns the value of a setting, which must be one of known.
func selectValue(set map[string]string, key, usual string, known ...string) (string, error) {
	v := cmp.Or(set[key], usual)
	if !slices.Contains(known, v) {
		return "", fmt.Errorf("%s: %q is none of %s", key, v, strings.Join(known, ", "))
	}
	return v, nil
}

// newDialect returns the request encoding of a contender with these settings.
func newDialect(c tare.Contender, set map[string]string) (d server.Dialect, err error) {
	speaks := c.Protocols
	if len(speaks) == 0 {
		speaks = []string{rpc.HTTP}
	}
	if c.Role == tare.RoleNull { // the load generator calls it by its only protocol
		set = nil
	}
	if d.Name, err = selectValue(set, setProtocol, speaks[0], rpc.HTTP, rpc.GRPC, rpc.Connect, rpc.ConnectJSON); err != nil {
		return d, err
	}
	if !slices.Contains(speaks, d.Name) {
		return d, fmt.Errorf("%s: %s; this contender speaks %s", setProtocol, d.Name, strings.Join(speaks, ", "))
	}
	usual := "off"
	if d.Name == rpc.GRPC {
		usual = "on"
	}
	over, err := selectValue(set, setHTTP2, usual, "on", "off")
	if err != nil {
		return d, err
	}
	driver, err := selectValue(set, setDriver, driverEngine, driverEngine, driverClient)
	if err != nil {
		return d, err
	}
	usual = rpc.Pool
	if driver == driverClient && over == "on" { // as clients are used
		usual = rpc.One
	}
	policy, err := selectValue(set, setPolicy, usual, rpc.Pool, rpc.One, rpc.Fresh)
	switch {
	case err != nil:
		return d, err
	case d.Name == rpc.GRPC && over == "off":
		return d, fmt.Errorf("%s: off; gRPC takes HTTP/2", setHTTP2)
	case policy == rpc.One && driver == driverEngine:
		return d, fmt.Errorf("%s: %s; the load generator has one request under way on each connection, %s: %s has not", setPolicy, policy, setDriver, driverClient)
	case policy == rpc.One && over == "off":
		return d, fmt.Errorf("%s: %s; one connection for all takes HTTP/2", setPolicy, policy)
	}
	if over == "on" {
		d.Protocol = load.H2C
	}
	if policy == rpc.Fresh {
		d.PerConn = 1
	}
	if driver == driverClient {
		d.Client = map[string]string{rpc.SetProtocol: d.Name, rpc.SetHTTP2: over, rpc.SetPolicy: policy}
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

// methodPath returns the path of a call's method.
func methodPath(c rpc.Call) string {
	return "/tare.users.v1.UserService/" + map[string]string{
		opCreate: "CreateUser", opGet: "GetUser", opUpdate: "UpdateUser", opDelete: "DeleteUser", opList: "ListUsers",
	}[c.Op]
}

// postRequest returns a call as the request of a method. These have status 200 where HTTP has 201.
func postRequest(q server.Request, c rpc.Call, m message, header ...string) server.Request {
	out := server.Request{Method: http.MethodPost, Path: methodPath(c), Header: map[string]string{}, Body: m.bytes, Fill: m.fill, Status: q.Status}
	if out.Status == http.StatusCreated {
		out.Status = http.StatusOK
	}
	for i := 0; i < len(header); i += 2 {
		out.Header[header[i]] = header[i+1]
	}
	return out
}

// Content types.
const (
	typeGRPC  = "application/grpc"
	typeProto = "application/proto"
)

// grpcPrefix is the length of the prefix of a message in gRPC: a flag and four bytes of its own
// length. The sender of a request adds it.
const grpcPrefix = 5

func encodeGRPC(q server.Request) (server.Request, bool, error) {
	c, ok := callOf(q)
	if !ok {
		return q, false, nil
	}
	return postRequest(q, c, encodeMessage(c), server.ContentType, typeGRPC, "Te", "trailers"), true, nil
}

func encodeConnect(q server.Request) (server.Request, bool, error) {
	c, ok := callOf(q)
	if !ok {
		return q, false, nil
	}
	return postRequest(q, c, encodeMessage(c), server.ContentType, typeProto, "Connect-Protocol-Version", "1"), true, nil
}

func encodeConnectJSON(q server.Request) (server.Request, bool, error) {
	c, ok := callOf(q)
	if !ok {
		return q, false, nil
	}
	m, err := protoJSON(c)
	return postRequest(q, c, m, server.ContentType, server.TypeJSON, "Connect-Protocol-Version", "1"), true, err
}

// protoJSON returns the request message of a call as JSON of protocol buffers: numbers of 64 bits
// are texts (protobuf.dev/programming-guides/json).
func protoJSON(c rpc.Call) (m message, err error) {
	m.bytes = append(m.bytes, '{')
	add := func(name string, value any) {
		text, failed := json.Marshal(value)
		if err == nil {
			err = failed
		}
		if len(m.bytes) > 1 {
			m.bytes = append(m.bytes, ',')
		}
		m.bytes = append(append(strconv.AppendQuote(m.bytes, name), ':'), text...)
	}
	if c.ID != 0 {
		add("id", strconv.FormatInt(c.ID, 10))
		if c.IDCounter != "" {
			m.fill = append(m.fill, idFill(c, true, len(m.bytes)-digits-1))
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
	return m, err
}

// decodeGRPC converts a response whose status is that of its trailers.
func decodeGRPC(q server.Request, got server.Response) server.Response {
	if got.Status != http.StatusOK {
		return errorResponse(got.Status, codeOf(got))
	}
	b := got.Body
	if len(b) < grpcPrefix || b[0] != 0 || uint64(binary.BigEndian.Uint32(b[1:grpcPrefix])) != uint64(len(b)-grpcPrefix) {
		return got // which is not JSON, and will be found so
	}
	got.Body = b[grpcPrefix:]
	return decodeMessage(q, got, typeGRPC)
}

// decodeConnect converts a response whose body is a message; error responses are JSON already.
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

// decodeMessage returns the message of a response as JSON.
func decodeMessage(q server.Request, got server.Response, kind string) server.Response {
	c, ok := callOf(q)
	if !ok {
		return got
	}
	var value any
	var err error
	status := http.StatusOK
	switch c.Op {
	case opDelete:
		value, err = struct{}{}, protowire.Walk(got.Body, func(protowire.Field) error { return nil })
	case opList:
		value, err = decodePage(got.Body)
	case opCreate:
		status = http.StatusCreated
		fallthrough
	default:
		value, err = decodeUser(got.Body)
	}
	if err != nil {
		return got
	}
	body, err := json.Marshal(value)
	if err != nil {
		return got
	}
	header := map[string]string{}
	switch contentType := got.Header[server.ContentType]; {
	case contentType == kind, contentType == kind+"+proto":
		header[server.ContentType] = server.TypeJSON
	case contentType != "":
		header[server.ContentType] = contentType
	}
	return server.Response{Status: status, Header: header, Body: body}
}

// codeOf returns the error code of a gRPC response.
func codeOf(got server.Response) users.Code {
	status := got.Header[server.GRPCStatus]
	for _, code := range users.Codes() {
		if status == strconv.Itoa(code.GRPC()) || status == "" && code.HTTP() == got.Status {
			return code
		}
	}
	return users.Code("grpc-status " + status)
}

// errorResponse returns an error response of the reference.
func errorResponse(status int, code users.Code) server.Response {
	body, err := json.Marshal(users.Error{Code: code, Message: "-"})
	if err != nil {
		body = nil // two texts cannot fail
	}
	return server.Response{Status: status, Header: map[string]string{server.ContentType: server.TypeJSON}, Body: body}
}
