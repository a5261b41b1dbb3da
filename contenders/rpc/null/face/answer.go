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

// collection is where the users are.
const collection = "/v1/users"

// reply is an answer that is being made.
type reply struct {
	out       []byte
	id, extra string // what its head has besides
	status    int
}

// answer appends the answer to a request. What others have layers for is done in
// here, and counted as if it were some.
func (f *face) answer(dst []byte, q *server.Request, extra string) []byte {
	f.receipts.Body(int64(len(q.Body)))
	f.receipts.Layer()
	t := reply{out: dst, id: f.users.RequestID(string(q.ID)), extra: extra}
	path, query, _ := bytes.Cut(q.Target, []byte("?"))
	method := known(q.Method)
	start := time.Time{}
	if f.line != nil {
		f.receipts.Layer()
		start = time.Now()
	}
	f.receipts.Layer()
	f.allowed(&t, method, path, string(query), q)
	if f.line != nil {
		f.line(method, string(path), t.status, time.Since(start))
	}
	return t.out
}

// allowed answers a request unless there are too many.
func (f *face) allowed(t *reply, method string, path []byte, query string, q *server.Request) {
	start := len(t.out)
	defer func() {
		if v := recover(); v != nil {
			t.out = t.out[:start]
			t.refuse(fmt.Errorf("panic: %v", v))
		}
	}()
	if f.users.Limited() {
		f.receipts.Layer()
		if !f.users.Allow() {
			t.refuse(users.Limited())
			return
		}
	}
	f.route(t, method, path, query, q)
}

// known returns method as a string if it is one of those of the service, and else "other".
func known(method []byte) string {
	for _, m := range [...]string{"GET", "POST", "PUT", "DELETE"} {
		if string(method) == m {
			return m
		}
	}
	return "other"
}

// route finds what a request is for.
func (f *face) route(t *reply, method string, path []byte, query string, q *server.Request) {
	id, one := bytes.CutPrefix(path, []byte(collection+"/"))
	one = one && len(id) > 0 && bytes.IndexByte(id, '/') < 0
	all, health := string(path) == collection, string(path) == "/health"
	switch {
	case health && method == http.MethodGet:
		f.receipts.Request()
		t.put(http.StatusOK, "text/plain; charset=utf-8", []byte("ok\n"))
	case all && (method == http.MethodPost || method == http.MethodGet), one && (method == http.MethodGet || method == http.MethodPut || method == http.MethodDelete):
		f.receipts.Request()
		switch {
		case q.TooLong:
			t.refuse(users.TooLarge())
		case one:
			f.one(t, method, string(id), q.Body)
		case method == http.MethodPost:
			f.create(t, q.Body)
		default:
			f.list(t, query)
		}
	case one, all, health:
		t.extra += "Allow: " + users.Methods(string(path)) + "\r\n"
		t.refuse(users.NotAllowed())
	default:
		t.refuse(users.NoPath())
	}
}

func (f *face) create(t *reply, body []byte) {
	d, err := draft(body)
	if err == nil {
		var u users.User
		if u, err = f.users.Create(f.ctx, d); err == nil {
			t.user(http.StatusCreated, u)
			return
		}
	}
	t.refuse(err)
}

// one does what is asked about one user.
func (f *face) one(t *reply, method, id string, body []byte) {
	var d users.Draft
	var err error
	if method == http.MethodPut {
		if d, err = draft(body); err != nil {
			t.refuse(err)
			return
		}
	}
	n, err := users.ParseID(id)
	if err != nil {
		t.refuse(err)
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
			t.put(http.StatusOK, typeJSON, []byte("{}"))
			return
		}
	}
	if err != nil {
		t.refuse(err)
		return
	}
	t.user(http.StatusOK, u)
}

func (f *face) list(t *reply, query string) {
	asked, _ := url.ParseQuery(query) // what can be read of it
	q, err := users.ParseQuery(asked.Get("query"), asked.Get("page"), asked.Get("limit"))
	if err != nil {
		t.refuse(err)
		return
	}
	p, err := f.users.List(f.ctx, q)
	if err != nil {
		t.refuse(err)
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
	t.put(http.StatusOK, typeJSON, append(b, '}'))
}

func draft(body []byte) (d users.Draft, err error) {
	if err := json.Unmarshal(body, &d); err != nil {
		return d, users.Malformed(err)
	}
	return d, nil
}

const typeJSON = "application/json"

// put appends an answer.
func (t *reply) put(status int, kind string, body []byte) {
	t.status = status
	b := strconv.AppendInt(append(t.out, "HTTP/1.1 "...), int64(status), 10)
	b = append(append(b, ' '), http.StatusText(status)...)
	b = append(append(b, "\r\nContent-Type: "...), kind...)
	b = strconv.AppendInt(append(b, "\r\nContent-Length: "...), int64(len(body)), 10)
	b = append(append(b, "\r\nX-Request-Id: "...), t.id...)
	b = append(append(append(b, "\r\n"...), t.extra...), "\r\n"...)
	t.out = append(b, body...)
}

func (t *reply) refuse(err error) {
	e := users.RefusalOf(err)
	b := appendText(append([]byte(`{"code":`), strconv.Quote(string(e.Code))...), `,"message":`, e.Message)
	t.put(e.HTTP(), typeJSON, append(b, '}'))
}

func (t *reply) user(status int, u users.User) {
	var room [512]byte
	t.put(status, typeJSON, appendUser(room[:0], u))
}

func appendUser(b []byte, u users.User) []byte {
	b = strconv.AppendInt(append(b, `{"id":`...), u.ID, 10)
	b = appendText(b, `,"name":`, u.Name)
	b = appendText(b, `,"email":`, u.Email)
	b = append(u.CreatedAt.AppendFormat(append(b, `,"created_at":"`...), time.RFC3339Nano), '"')
	b = append(u.UpdatedAt.AppendFormat(append(b, `,"updated_at":"`...), time.RFC3339Nano), '"')
	return append(b, '}')
}

// appendText appends a key and a string. What needs no escapes is copied.
func appendText(b []byte, key, s string) []byte {
	b = append(b, key...)
	for i := range len(s) {
		if c := s[i]; c < ' ' || c == '"' || c == '\\' || c > '~' {
			quoted, err := json.Marshal(s)
			if err != nil {
				panic(err) // a string always can be
			}
			return append(b, quoted...)
		}
	}
	return append(append(append(b, '"'), s...), '"')
}
