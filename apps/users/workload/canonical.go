package workload

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/tarebench/tare/apps/users"
	"github.com/tarebench/tare/contender/rpc"
	"github.com/tarebench/tare/kinds/server"
	"github.com/tarebench/tare/load"
)

// Calls have a canonical form over HTTP with JSON: get 300000007 becomes GET /v1/users/300000007.

const (
	pathUsers  = "/v1/users"
	pathHealth = "/health"
)

// Widths of numbers that the load generator fills in.
const (
	serial = "%09d" // placeholder in an e-mail
	digits = 9      // every id and every number in an e-mail
	varint = 5      // bytes of an id in protocol buffers
)

// canonicalRequest returns a call over HTTP with JSON. Other protocols are encoded from it. For example, a
// create of Ada is POST /v1/users with {"name":"Ada","email":…}.
func canonicalRequest(c rpc.Call) (server.Request, error) {
	q := server.Request{Path: pathUsers, Status: http.StatusOK, Call: c}
	switch c.Op {
	case opCreate:
		q.Method, q.Status = http.MethodPost, http.StatusCreated
	case opGet:
		q.Method = http.MethodGet
	case opUpdate:
		q.Method = http.MethodPut
	case opDelete:
		q.Method = http.MethodDelete
	case opList:
		q.Method, q.Path = http.MethodGet, pathUsers+queryText(c)
	default:
		return q, fmt.Errorf("unknown call %q", c.Op)
	}
	if c.Status != 0 {
		q.Status = c.Status
	}
	if c.Op == opGet || c.Op == opUpdate || c.Op == opDelete {
		q.Path += "/"
		if c.IDCounter != "" {
			q.Fill = append(q.Fill, idFill(c, false, len(q.Path)))
		}
		q.Path += strconv.FormatInt(c.ID, 10)
	}
	if c.Op == opCreate || c.Op == opUpdate {
		body, err := json.Marshal(users.Draft{Name: c.Name, Email: zeroNumber(c.Email)})
		if err != nil {
			return q, err
		}
		q.Header, q.Body = map[string]string{server.ContentType: server.TypeJSON}, body
		if fill, ok := emailFill(c, body); ok {
			q.Fill = append(q.Fill, fill)
		}
	}
	return q, nil
}

// queryText returns the query of a list after a question mark, or "".
func queryText(c rpc.Call) string {
	var parts []string
	if c.Query != "" {
		parts = append(parts, "query="+url.QueryEscape(c.Query))
	}
	if c.Page != 0 {
		parts = append(parts, "page="+strconv.Itoa(c.Page))
	}
	if c.Limit != 0 {
		parts = append(parts, "limit="+strconv.Itoa(c.Limit))
	}
	if len(parts) == 0 {
		return ""
	}
	return "?" + strings.Join(parts, "&")
}

// idFill returns a fill, with which the load generator writes a call's id at offset: in the body, or else in
// the path.
func idFill(c rpc.Call, body bool, offset int) load.Fill {
	return load.Fill{Body: body, At: offset, Width: digits, Counter: c.IDCounter, Step: c.IDStep, Add: c.ID}
}

// emailFill returns a fill that writes a number into the e-mail of a body, over zeros. ok is false if the
// e-mail has no number.
func emailFill(c rpc.Call, body []byte) (load.Fill, bool) {
	before, _, ok := strings.Cut(c.Email, serial)
	if !ok || c.EmailCounter == "" {
		return load.Fill{}, false
	}
	offset := bytes.LastIndex(body, []byte(zeroNumber(c.Email))) + len(before)
	return load.Fill{Body: true, At: offset, Width: digits, Counter: c.EmailCounter, Step: c.EmailStep}, true
}

func zeroNumber(email string) string {
	return strings.Replace(email, serial, strings.Repeat("0", digits), 1)
}

// callOf returns the call that q was made from. It returns false if q is no call.
func callOf(q server.Request) (rpc.Call, bool) {
	c, ok := q.Call.(rpc.Call)
	return c, ok
}
