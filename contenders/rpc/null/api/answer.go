package api

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

const collectionPath = "/v1/users"

type httpResponse struct {
	out    []byte // earlier responses, then this one
	id     string // request id
	extra  string // more header lines, each with its line end; "" for none
	status int
}

// respondHTTP appends the response to a request to dst. It does the work of the middleware of other
// contenders itself. It counts each part as a call of middleware (receipts.Layer), because the program that
// measures expects these calls.
func (f *nullServer) respondHTTP(dst []byte, q *server.Request, extra string) []byte {
	f.receipts.Body(int64(len(q.Body)))
	f.receipts.Layer() // the request id
	r := httpResponse{out: dst, id: f.users.RequestID(string(q.ID)), extra: extra}
	path, query, _ := bytes.Cut(q.Target, []byte("?"))
	method := methodName(q.Method)
	start := time.Time{}
	if f.logLine != nil {
		f.receipts.Layer()
		start = time.Now()
	}
	f.receipts.Layer() // the recovery
	f.respondLimited(&r, method, path, string(query), q)
	if f.logLine != nil {
		f.logLine(method, string(path), r.status, time.Since(start))
	}
	return r.out
}

// respondLimited responds to a request within the rate limit. It responds with an error if the handler
// panics.
func (f *nullServer) respondLimited(r *httpResponse, method string, path []byte, query string, q *server.Request) {
	start := len(r.out)
	defer func() {
		if v := recover(); v != nil {
			r.out = r.out[:start]
			r.putError(fmt.Errorf("panic: %v", v))
		}
	}()
	if f.users.Limited() {
		f.receipts.Layer()
		if !f.users.Allow() {
			r.putError(users.Limited())
			return
		}
	}
	f.routeRequest(r, method, path, query, q)
}

// methodName returns method as a string without allocating. An unknown method is "other".
func methodName(method []byte) string {
	for _, m := range [...]string{"GET", "POST", "PUT", "DELETE"} {
		if string(method) == m {
			return m
		}
	}
	return "other"
}

func (f *nullServer) routeRequest(r *httpResponse, method string, path []byte, query string, q *server.Request) {
	isGet := method == http.MethodGet
	id, hasPrefix := bytes.CutPrefix(path, []byte(collectionPath+"/"))
	isUser := hasPrefix && len(id) > 0 && bytes.IndexByte(id, '/') < 0
	isCollection := string(path) == collectionPath
	isHealth := string(path) == "/health"
	canServeUser := isUser && (isGet || method == http.MethodPut || method == http.MethodDelete)
	canServeAll := isCollection && (isGet || method == http.MethodPost)
	switch {
	case isHealth && isGet:
		f.receipts.Request()
		r.putBody(http.StatusOK, "text/plain; charset=utf-8", []byte("ok\n"))
	case canServeUser, canServeAll:
		f.receipts.Request()
		switch {
		case q.TooLong:
			r.putError(users.TooLarge())
		case isUser:
			f.serveUser(r, method, string(id), q.Body)
		case method == http.MethodPost:
			f.createUser(r, q.Body)
		default:
			f.listUsers(r, query)
		}
	case isUser, isCollection, isHealth: // with another method
		r.extra += "Allow: " + users.Methods(string(path)) + "\r\n"
		r.putError(users.NotAllowed())
	default:
		r.putError(users.NoPath())
	}
}

func (f *nullServer) createUser(r *httpResponse, body []byte) {
	d, err := parseDraft(body)
	if err == nil {
		var u users.User
		if u, err = f.users.Create(f.ctx, d); err == nil {
			r.putUser(http.StatusCreated, u)
			return
		}
	}
	r.putError(err)
}

// serveUser gets, updates or deletes the user with an id.
func (f *nullServer) serveUser(r *httpResponse, method, id string, body []byte) {
	var d users.Draft
	var err error
	if method == http.MethodPut {
		if d, err = parseDraft(body); err != nil {
			r.putError(err)
			return
		}
	}
	n, err := users.ParseID(id)
	if err != nil {
		r.putError(err)
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
			r.putBody(http.StatusOK, typeJSON, []byte("{}"))
			return
		}
	}
	if err != nil {
		r.putError(err)
		return
	}
	r.putUser(http.StatusOK, u)
}

func (f *nullServer) listUsers(r *httpResponse, query string) {
	values, _ := url.ParseQuery(query) // ignores invalid parts
	q, err := users.ParseQuery(values.Get("query"), values.Get("page"), values.Get("limit"))
	if err != nil {
		r.putError(err)
		return
	}
	p, err := f.users.List(f.ctx, q)
	if err != nil {
		r.putError(err)
		return
	}
	const pageSize, userSize = 64, 256 // estimated bytes, for the capacity
	b := append(make([]byte, 0, pageSize+userSize*len(p.Users)), `{"users":[`...)
	for i, u := range p.Users {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendUser(b, u)
	}
	b = strconv.AppendInt(append(b, `],"total":`...), p.Total, 10)
	b = strconv.AppendInt(append(b, `,"page":`...), int64(p.Page), 10)
	b = strconv.AppendInt(append(b, `,"limit":`...), int64(p.Limit), 10)
	r.putBody(http.StatusOK, typeJSON, append(b, '}'))
}

func parseDraft(body []byte) (d users.Draft, err error) {
	if err := json.Unmarshal(body, &d); err != nil {
		return d, users.Malformed(err)
	}
	return d, nil
}

const typeJSON = "application/json"

func (r *httpResponse) putBody(status int, contentType string, body []byte) {
	r.status = status
	b := strconv.AppendInt(append(r.out, "HTTP/1.1 "...), int64(status), 10)
	b = append(append(b, ' '), http.StatusText(status)...)
	b = append(append(b, "\r\nContent-Type: "...), contentType...)
	b = strconv.AppendInt(append(b, "\r\nContent-Length: "...), int64(len(body)), 10)
	b = append(append(b, "\r\nX-Request-Id: "...), r.id...)
	b = append(append(append(b, "\r\n"...), r.extra...), "\r\n"...)
	r.out = append(b, body...)
}

func (r *httpResponse) putError(err error) {
	e := users.RefusalOf(err)
	b := appendText(append([]byte(`{"code":`), strconv.Quote(string(e.Code))...), `,"message":`, e.Message)
	r.putBody(e.HTTP(), typeJSON, append(b, '}'))
}

func (r *httpResponse) putUser(status int, u users.User) {
	var buf [512]byte // enough for most users
	r.putBody(status, typeJSON, appendUser(buf[:0], u))
}

func appendUser(b []byte, u users.User) []byte {
	b = strconv.AppendInt(append(b, `{"id":`...), u.ID, 10)
	b = appendText(b, `,"name":`, u.Name)
	b = appendText(b, `,"email":`, u.Email)
	b = append(u.CreatedAt.AppendFormat(append(b, `,"created_at":"`...), time.RFC3339Nano), '"')
	b = append(u.UpdatedAt.AppendFormat(append(b, `,"updated_at":"`...), time.RFC3339Nano), '"')
	return append(b, '}')
}

// appendText appends a key and a string as JSON. Only strings with escapes or non-ASCII need encoding/json.
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
