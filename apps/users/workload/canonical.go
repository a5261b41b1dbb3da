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

const (
	pathUsers  = "/v1/users"
	pathHealth = "/health"
)

// Numbers that are filled into requests.
const (
	serial = "%09d" // in place of an e-mail's number
	digits = 9      // of it, and of every id of a store
	varint = 5      // bytes of such an id in protocol buffers
)

// canonicalRequest returns a call over HTTP with JSON.
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

// queryText returns the query of a list, with its question mark.
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

// idFill writes the call's id into digits at that offset.
func idFill(c rpc.Call, body bool, at int) load.Fill {
	return load.Fill{Body: body, At: at, Width: digits, Counter: c.IDCounter, Step: c.IDStep, Add: c.ID}
}

// emailFill writes the number of the call's e-mail into a body that contains it with zeros. It
// returns false if the e-mail has none.
func emailFill(c rpc.Call, body []byte) (load.Fill, bool) {
	before, _, ok := strings.Cut(c.Email, serial)
	if !ok || c.EmailCounter == "" {
		return load.Fill{}, false
	}
	at := bytes.LastIndex(body, []byte(zeroNumber(c.Email))) + len(before)
	return load.Fill{Body: true, At: at, Width: digits, Counter: c.EmailCounter, Step: c.EmailStep}, true
}

// zeroNumber returns an e-mail with zeros for its number.
func zeroNumber(email string) string {
	return strings.Replace(email, serial, strings.Repeat("0", digits), 1)
}

// callOf returns the call of q; false if it has none.
func callOf(q server.Request) (rpc.Call, bool) {
	c, ok := q.Call.(rpc.Call)
	return c, ok
}
