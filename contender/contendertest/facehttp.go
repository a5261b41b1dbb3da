package contendertest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/tarebench/tare/apps/users"
)

// question is one request over HTTP and what it has to be answered with.
type question struct {
	method, path, body string
	status             int
	code               users.Code // empty: it is not refused
}

// client is of package net/http, for requests that a face's own does not send.
func (s *served) client() *http.Client {
	tr := &http.Transport{Protocols: &http.Protocols{}}
	tr.Protocols.SetHTTP1(!s.http2)
	tr.Protocols.SetUnencryptedHTTP2(s.http2)
	s.t.Cleanup(tr.CloseIdleConnections)
	return &http.Client{Transport: tr}
}

// send sends a request and reads its answer.
func (s *served) send(c *http.Client, method, path string, body io.Reader, header http.Header) (*http.Response, string, error) {
	q, err := http.NewRequestWithContext(s.t.Context(), method, "http://"+s.addr+path, body)
	if err != nil {
		return nil, "", err
	}
	q.Header.Set("Content-Type", "application/json")
	for name, values := range header {
		q.Header[name] = values
	}
	a, err := c.Do(q)
	if err != nil {
		return nil, "", err
	}
	defer a.Body.Close()
	text, err := io.ReadAll(a.Body)
	return a, string(text), err
}

// answers: statuses, types and refusals are those of the app.
func (e facing) answers(t *testing.T) {
	s := e.serve(t, users.Config{})
	c := s.client()
	const one = "/v1/users/300000001"
	for _, q := range []question{
		{"POST", "/v1/users", `{"name":"Somebody","email":"a@example.com","more":[{"x":null}]}`, 201, ""},
		{"POST", "/v1/users", `{"name":"Somebody","email":"a@example.com"}`, 409, users.AlreadyExists},
		{"GET", one, "", 200, ""},
		{"PUT", one, `{"name":"Somebody","email":"b@example.com"}`, 200, ""},
		{"DELETE", one, "", 200, ""},
		{"DELETE", one, "", 404, users.NotFound},
		{"GET", one, "", 404, users.NotFound},
		{"GET", "/v1/users", "", 200, ""},
		{"GET", "/v1/users?limit=1000&page=1&query=%40", "", 200, ""},
		{"GET", "/v1/users?limit=0&page=0", "", 200, ""},
		{"GET", "/v1/users?limit=-5", "", 400, users.InvalidArgument},
		{"GET", "/v1/users?limit=many", "", 400, users.InvalidArgument},
		{"GET", "/v1/users?page=1.5", "", 400, users.InvalidArgument},
		{"GET", "/v1/users?page=99999999999", "", 400, users.InvalidArgument},
		{"GET", "/v1/users/abc", "", 400, users.InvalidArgument},
		{"PUT", "/v1/users/1e3", `{"name":"Somebody","email":"b@example.com"}`, 400, users.InvalidArgument},
		{"DELETE", "/v1/users/99999999999999999999", "", 400, users.InvalidArgument},
		{"GET", "/v1/users/0", "", 404, users.NotFound},
		{"GET", "/v1/users/-7", "", 404, users.NotFound},
		{"GET", "/", "", 404, users.NotFound},
		{"GET", "/v1", "", 404, users.NotFound},
		{"GET", "/v2/users", "", 404, users.NotFound},
		{"GET", one + "/name", "", 404, users.NotFound},
		{"PUT", "/v1/users", "{}", 405, users.InvalidArgument},
		{"POST", one, "{}", 405, users.InvalidArgument},
		{"PATCH", one, "{}", 405, users.InvalidArgument},
		{"POST", "/health", "", 405, users.InvalidArgument},
	} {
		a, body, err := s.send(c, q.method, q.path, strings.NewReader(q.body), nil)
		if err != nil {
			t.Errorf("%s %s: %v", q.method, q.path, err)
			continue
		}
		s.check(q, a, body)
	}
	a, body, err := s.send(c, "GET", "/health", nil, nil)
	if err != nil || a.StatusCode != 200 || body != "ok\n" || !strings.HasPrefix(a.Header.Get("Content-Type"), "text/plain") {
		t.Errorf("health: %v %q, %v", a, body, err)
	}
	for _, id := range []string{"", "mine", strings.Repeat("x", users.MaxRequestID), "a b", strings.Repeat("x", users.MaxRequestID+1)} {
		a, _, err := s.send(c, "GET", "/v1/users/1", nil, http.Header{"X-Request-Id": {id}})
		if slices.Contains(s.lacks, NoLayers) {
			break
		}
		sound := id != "" && len(id) <= users.MaxRequestID && !strings.Contains(id, " ")
		if err != nil || a.Header.Get("X-Request-Id") == "" || (a.Header.Get("X-Request-Id") == id) != sound {
			t.Errorf("request id %q: %v, %v", id, a, err)
		}
	}
}

func (s *served) check(q question, a *http.Response, body string) {
	s.t.Helper()
	proto := 1
	if s.http2 {
		proto = 2
	}
	var refusal users.Error
	switch err := json.Unmarshal([]byte(body), &refusal); {
	case a.StatusCode != q.status:
	case a.ProtoMajor != proto:
	case !strings.HasPrefix(a.Header.Get("Content-Type"), "application/json"):
	case q.status < 400 && err != nil && q.code == "" || strings.HasSuffix(body, "\n"):
	case refusal.Code != q.code || (refusal.Message == "") != (q.code == "") || strings.ContainsAny(refusal.Message, "\r\n"):
	default:
		return
	}
	s.t.Errorf("%s %s %.80q: %s %d %s %s; want %d %s", q.method, q.path, q.body, a.Proto, a.StatusCode, a.Header.Get("Content-Type"), body, q.status, q.code)
}

// bodies: what is no user, and what is too long, is refused.
func (e facing) bodies(t *testing.T) {
	s := e.serve(t, users.Config{})
	c := s.client()
	for _, method := range []string{"POST", "PUT"} {
		path := "/v1/users"
		if method == "PUT" {
			path += fmt.Sprintf("/%d", users.FirstID)
		}
		for _, body := range []string{"", "{", "no", `"x"`, "[]", `{"name":1,"email":"a@example.com"}`, `{"name":"Somebody","email":{}}`, `{"name":"Somebody",}`} {
			a, text, err := s.send(c, method, path, strings.NewReader(body), nil)
			if err != nil {
				t.Errorf("%s %q: %v", method, body, err)
				continue
			}
			s.check(question{method, path, body, 400, users.InvalidArgument}, a, text)
		}
		long := `{"name":"` + strings.Repeat("x", users.MaxBody) + `"}`
		for _, body := range []io.Reader{strings.NewReader(long), struct{ io.Reader }{strings.NewReader(long)}} { // with and without a length
			a, text, err := s.send(c, method, path, body, nil)
			if err != nil {
				t.Errorf("%s, a long body: %v", method, err)
				continue
			}
			s.check(question{method, path, "long", 413, users.InvalidArgument}, a, text)
		}
		name := strings.Repeat("x", users.MaxBody-len(`{"name":"","email":""}`))
		a, text, err := s.send(c, method, path, strings.NewReader(`{"name":"`+name+`","email":""}`), nil)
		if err != nil || a.StatusCode != 400 || !strings.Contains(text, "name: 3 to 100") {
			t.Errorf("%s, the longest body: %v %s", method, err, text)
		}
	}
	if calls := s.service.Calls(); calls.Create > 2 || calls.Update > 2 {
		t.Errorf("bodies that are none were calls: %+v", calls)
	}
}
