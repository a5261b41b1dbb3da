package face

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/tarebench/tare/apps/users"
	"github.com/tarebench/tare/contender/server"
)

// collectionPath is the path of the users.
const collectionPath = "/v1/users"

// httpReply is an answer under construction.
type httpReply struct {
	out       []byte
	id, extra string // the request id, and further header lines
	status    int
}

// answerHTTP appends the answer to a request. It does the work of other contenders' layers itself, and counts
// them the same.
func (f *nullServer) answerHTTP(dst []byte, q *server.Request, extra string) []byte {
	f.receipts.Body(int64(len(q.Body)))
	f.receipts.Layer()
	t := httpReply{out: dst, id: f.users.RequestID(string(q.ID)), extra: extra}
	path, query, _ := bytes.Cut(q.Target, []byte("?"))
	method := methodName(q.Method)
	start := time.Time{}
	if f.line != nil {
		f.receipts.Layer()
		start = time.Now()
	}
	f.receipts.Layer()
	f.answerLimited(&t, method, path, string(query), q)
	if f.line != nil {
		f.line(method, string(path), t.status, time.Since(start))
	}
	return t.out
}

// answerLimited answers a request within the rate limit.
func (f *nullServer) answerLimited(t *httpReply, method string, path []byte, query string, q *server.Request) {
	start := len(t.out)
	defer func() {
		if v := recover(); v != nil {
			t.out = t.out[:start]
			t.putError(fmt.Errorf("panic: %v", v))
		}
	}()
	if f.users.Limited() {
		f.receipts.Layer()
		if !f.users.Allow() {
			t.putError(users.Limited())
			return
		}
	}
	f.routeRequest(t, method, path, query, q)
}

// methodName returns method as a string if the service has it, and else "other".
func methodName(method []byte) string {
	for _, m := range [...]string{"GET", "POST", "PUT", "DELETE"} {
		if string(method) == m {
			return m
		}
	}
	return "other"
}

// routeRequest calls the function for a request.
func (f *nullServer) routeRequest(t *httpReply, method string, path []byte, query string, q *server.Request) {
	id, one := bytes.CutPrefix(path, []byte(collectionPath+"/"))
	one = one && len(id) > 0 && bytes.IndexByte(id, '/') < 0
	all, health := string(path) == collectionPath, string(path) == "/health"
	switch {
	case health && method == http.MethodGet:
		f.receipts.Request()
		t.putBody(http.StatusOK, "text/plain; charset=utf-8", []byte("ok\n"))
	case all && (method == http.MethodPost || method == http.MethodGet), one && (method == http.MethodGet || method == http.MethodPut || method == http.MethodDelete):
		f.receipts.Request()
		switch {
		case q.TooLong:
			t.putError(users.TooLarge())
		case one:
			f.serveOne(t, method, string(id), q.Body)
		case method == http.MethodPost:
			f.createUser(t, q.Body)
		default:
			f.listUsers(t, query)
		}
	case one, all, health:
		t.extra += "Allow: " + users.Methods(string(path)) + "\r\n"
		t.putError(users.NotAllowed())
	default:
		t.putError(users.NoPath())
	}
}

func (f *nullServer) createUser(t *httpReply, body []byte) {
	d, err := parseDraft(body)
	if err == nil {
		var u users.User
		if u, err = f.users.Create(f.ctx, d); err == nil {
			t.putUser(http.StatusCreated, u)
			return
		}
	}
	t.putError(err)
}

// serveOne answers a request about one user.
func (f *nullServer) serveOne(t *httpReply, method, id string, body []byte) {
	var d users.Draft
	var err error
	if method == http.MethodPut {
		if d, err = parseDraft(body); err != nil {
			t.putError(err)
			return
		}
	}
	n, err := users.ParseID(id)
	if err != nil {
		t.putError(err)
		return
	}
	var u users.User
	switch method {
	case http.MethodGet:
		u, err = f.users.Get(f.ctx, n)
	case http.MethodPut:
		u, err = f.users.Update(f.ctx, n, d)
	default:
		if err = f.users.Delete(f.ctx, n); err == nil {
			t.putBody(http.StatusOK, typeJSON, []byte("{}"))
			return
		}
	}
	if err != nil {
		t.putError(err)
		return
	}
	t.putUser(http.StatusOK, u)
}

func (f *nullServer) listUsers(t *httpReply, query string) {
	asked, _ := url.ParseQuery(query) // ignores invalid parts
	q, err := users.ParseQuery(asked.Get("query"), asked.Get("page"), asked.Get("limit"))
	if err != nil {
		t.putError(err)
		return
	}
	p, err := f.users.List(f.ctx, q)
	if err != nil {
		t.putError(err)
		return
	}
	b := append(make([]byte, 0, 64+256*len(p.Users)), `{"users":[`...)
	for i, u := range p.Users {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendUser(b, u)
	}
	b = strconv.AppendInt(append(b, `],"total":`...), p.Total, 10)
	b = strconv.AppendInt(append(b, `,"page":`...), int64(p.Page), 10)
	b = strconv.AppendInt(append(b, `,"limit":`...), int64(p.Limit), 10)
	t.putBody(http.StatusOK, typeJSON, append(b, '}'))
}

func parseDraft(body []byte) (d users.Draft, err error) {
	if err := json.Unmarshal(body, &d); err != nil {
		return d, users.Malformed(err)
	}
	return d, nil
}

const typeJSON = "application/json"

// putBody appends an answer with a body.
func (t *httpReply) putBody(status int, kind string, body []byte) {
	t.status = status
	b := strconv.AppendInt(append(t.out, "HTTP/1.1 "...), int64(status), 10)
	b = append(append(b, ' '), http.StatusText(status)...)
	b = append(append(b, "\r\nContent-Type: "...), kind...)
	b = strconv.AppendInt(append(b, "\r\nContent-Length: "...), int64(len(body)), 10)
	b = append(append(b, "\r\nX-Request-Id: "...), t.id...)
	b = append(append(append(b, "\r\n"...), t.extra...), "\r\n"...)
	t.out = append(b, body...)
}

func (t *httpReply) putError(err error) {
	e := users.RefusalOf(err)
	b := appendText(append([]byte(`{"code":`), strconv.Quote(string(e.Code))...), `,"message":`, e.Message)
	t.putBody(e.HTTP(), typeJSON, append(b, '}'))
}

func (t *httpReply) putUser(status int, u users.User) {
	var room [512]byte
	t.putBody(status, typeJSON, appendUser(room[:0], u))
}

func appendUser(b []byte, u users.User) []byte {
	b = strconv.AppendInt(append(b, `{"id":`...), u.ID, 10)
	b = appendText(b, `,"name":`, u.Name)
	b = appendText(b, `,"email":`, u.Email)
	b = append(u.CreatedAt.AppendFormat(append(b, `,"created_at":"`...), time.RFC3339Nano), '"')
	b = append(u.UpdatedAt.AppendFormat(append(b, `,"updated_at":"`...), time.RFC3339Nano), '"')
	return append(b, '}')
}

// appendText appends a key and a string. A string without escapes is copied.
func appendText(b []byte, key, s string) []byte {
	b = append(b, key...)
	for i := range len(s) {
		if c := s[i]; c < ' ' || c == '"' || c == '\\' || c > '~' {
			quoted, err := json.Marshal(s)
			if err != nil {
				panic(err) // a string always encodes
			}
			return append(b, quoted...)
		}
	}
	return append(append(append(b, '"'), s...), '"')
}
