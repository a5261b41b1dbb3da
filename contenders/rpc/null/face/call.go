package face

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/tarebench/tare/apps/users"
	"github.com/tarebench/tare/internal/protowire"
)

// Paths of gRPC.
const (
	methods = "/tare.users.v1.UserService/"
	checks  = "/grpc.health.v1.Health/Check"
)

// Codes of gRPC that package users does not have.
const (
	codeOK            = 0
	codeUnimplemented = 12
)

// errNoMethod is the error of a call with an unknown path.
var errNoMethod = errors.New("no such method")

// grpcCall is one call of gRPC.
type grpcCall struct {
	stream      uint32
	path, given string // its path, and the id from the client
	grpc        bool   // its content type is that of gRPC
	body        []byte // received bytes, with the prefix of the message
	unread      int64  // bytes of DATA without a window update yet
	room        int64  // window of its stream, in bytes
	id          string
	answer      []byte // with the prefix of the message
	sent        int    // bytes of it
	code        int
	why         string // message of an error
}

// prefixLen is the number of bytes before a message: whether it is compressed, and its length.
const prefixLen = 5

// readMessage returns the message in the body of c; false if the body is not one message.
func (c *grpcCall) readMessage() ([]byte, bool) {
	b := c.body
	if len(b) < prefixLen || b[0] != 0 {
		return nil, false
	}
	length := uint64(b[1])<<24 | uint64(b[2])<<16 | uint64(b[3])<<8 | uint64(b[4])
	return b[prefixLen:], length == uint64(len(b)-prefixLen)
}

// answerCall answers c.
func (f *nullServer) answerCall(c *grpcCall) {
	c.answer = append(c.answer[:0], 0, 0, 0, 0, 0)
	c.code, c.why = codeOK, ""
	err := f.runLayers(c)
	switch {
	case errors.Is(err, errNoMethod):
		c.code, c.why = codeUnimplemented, err.Error()
	case err != nil:
		e := users.RefusalOf(err)
		c.code, c.why = e.Code.GRPC(), e.Message
	}
	n := len(c.answer) - prefixLen
	c.answer[1], c.answer[2], c.answer[3], c.answer[4] = byte(n>>24), byte(n>>16), byte(n>>8), byte(n)
}

// runLayers runs a call with its layers, as answerHTTP does for a request.
func (f *nullServer) runLayers(c *grpcCall) (err error) {
	f.receipts.Layer()
	c.id = f.users.RequestID(c.given)
	if f.line != nil {
		f.receipts.Layer()
		defer func(from time.Time) {
			status := 200
			if err != nil {
				status = users.RefusalOf(err).HTTP()
			}
			f.line("POST", c.path, status, time.Since(from))
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

// runMethod runs the method of a call.
func (f *nullServer) runMethod(c *grpcCall) error {
	name, ours := strings.CutPrefix(c.path, methods)
	if !ours && c.path != checks {
		return errNoMethod
	}
	m, ok := c.readMessage()
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
		c.answer = appendProto(c.answer, u)
	}
	return err
}

// runOther runs the methods whose answer is not a user.
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
			c.answer = appendPage(c.answer, p)
		}
		return err
	case checks:
		c.answer = append(c.answer, 1<<3, 1) // status: SERVING
		return nil
	}
	return errNoMethod
}
