package api

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/tarebench/tare/apps/users"
	"github.com/tarebench/tare/internal/protowire"
)

// Paths of calls: the service, followed by the name of a method, and the health check.
const (
	servicePath = "/tare.users.v1.UserService/"
	healthPath  = "/grpc.health.v1.Health/Check"
)

// Codes of gRPC that package users does not have.
const (
	codeOK            = 0
	codeUnimplemented = 12
)

// errNoMethod is the error of a call with an unknown path.
var errNoMethod = errors.New("no such method")

type grpcCall struct {
	stream   uint32
	path     string
	clientID string // request id that the client sent; "" for none
	isGRPC   bool   // the content type of the request is gRPC
	body     []byte // the prefix and the message
	unacked  int64  // received bytes that no window update has acknowledged
	window   int64  // bytes that the client accepts on the stream

	requestID string
	response  []byte // prefix and message; only the prefix after an error
	sent      int    // sent bytes of response
	code      int    // grpc-status
	message   string // grpc-message of an error
}

// prefixLen is the length of the prefix of a message: 1 if it is compressed, otherwise 0, then its length
// in four bytes.
const prefixLen = 5

// parseMessage returns the message in a body. It returns false unless the body is one uncompressed message.
func parseMessage(b []byte) ([]byte, bool) {
	if len(b) < prefixLen || b[0] != 0 {
		return nil, false
	}
	length := uint64(b[1])<<24 | uint64(b[2])<<16 | uint64(b[3])<<8 | uint64(b[4])
	return b[prefixLen:], length == uint64(len(b)-prefixLen)
}

// respondCall sets the response to c, or its code and message of an error.
func (f *nullServer) respondCall(c *grpcCall) {
	c.response = append(c.response[:0], 0, 0, 0, 0, 0) // the prefix
	c.code, c.message = codeOK, ""
	err := f.runLayers(c)
	switch {
	case errors.Is(err, errNoMethod):
		c.code, c.message = codeUnimplemented, err.Error()
	case err != nil:
		e := users.RefusalOf(err)
		c.code, c.message = e.Code.GRPC(), e.Message
	}
	n := len(c.response) - prefixLen
	c.response[1], c.response[2], c.response[3], c.response[4] = byte(n>>24), byte(n>>16), byte(n>>8), byte(n)
}

// runLayers runs a call. Like respondHTTP it does the work of middleware, and counts it.
func (f *nullServer) runLayers(c *grpcCall) (err error) {
	f.receipts.Layer()
	c.requestID = f.users.RequestID(c.clientID)
	if f.logLine != nil {
		f.receipts.Layer()
		defer func(start time.Time) {
			status := 200
			if err != nil {
				status = users.RefusalOf(err).HTTP()
			}
			f.logLine("POST", c.path, status, time.Since(start))
		}(time.Now())
	}
	f.receipts.Layer()
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("panic: %v", v)
		}
	}()
	if f.users.Limited() {
		f.receipts.Layer()
		if !f.users.Allow() {
			return users.Limited()
		}
	}
	return f.runMethod(c)
}

// runMethod runs the method of a call, and appends its message to the response.
func (f *nullServer) runMethod(c *grpcCall) error {
	name, isMethod := strings.CutPrefix(c.path, servicePath)
	if !isMethod && c.path != healthPath {
		return errNoMethod
	}
	m, ok := parseMessage(c.body)
	if !ok {
		return users.Malformed(protowire.ErrMessage)
	}
	f.receipts.Request()
	f.receipts.Body(int64(len(m)))
	var u users.User
	var err error
	switch name {
	case "CreateUser":
		var d users.Draft
		if d, err = parseDraftMessage(m); err == nil {
			u, err = f.users.Create(f.ctx, d)
		}
	case "GetUser":
		var id int64
		if id, _, err = parseUserRequest(m); err == nil {
			u, err = f.users.Get(f.ctx, id)
		}
	case "UpdateUser":
		var id int64
		var d users.Draft
		if id, d, err = parseUserRequest(m); err == nil {
			u, err = f.users.Update(f.ctx, id, d)
		}
	default:
		return f.runOther(c, name, m)
	}
	if errors.Is(err, protowire.ErrMessage) {
		return users.Malformed(err)
	}
	if err == nil {
		c.response = appendUserMessage(c.response, u)
	}
	return err
}

// runOther runs the methods whose response is not a user, and the health check.
func (f *nullServer) runOther(c *grpcCall, name string, m []byte) error {
	switch name {
	case "DeleteUser":
		id, _, err := parseUserRequest(m)
		if err != nil {
			return users.Malformed(err)
		}
		return f.users.Delete(f.ctx, id)
	case "ListUsers":
		q, err := parseQueryMessage(m)
		if err != nil {
			return users.Malformed(err)
		}
		p, err := f.users.List(f.ctx, q)
		if err == nil {
			c.response = appendPage(c.response, p)
		}
		return err
	case healthPath:
		c.response = append(c.response, 1<<3, 1) // field 1, status: SERVING
		return nil
	}
	return errNoMethod
}
