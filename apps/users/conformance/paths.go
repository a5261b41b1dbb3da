package conformance

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/tarebench/tare/apps/users"
	"github.com/tarebench/tare/internal/conformance"
)

// httpCase is a request over HTTP and its correct response.
type httpCase struct {
	method, path, body string
	status             int
	code               users.Code // of an error response; "" for a correct request
	chunked            bool       // its length is not declared
	says               string     // part of the message of its error response
}

// pathCases returns requests over HTTP, one after the other, that no client of the app sends.
func pathCases() []httpCase {
	const one, two, all = "/v1/users/300000000", "/v1/users/300000001", "/v1/users"
	list := []httpCase{
		{method: "POST", path: all, body: `{"name":"Somebody","email":"a@example.com","more":[{"x":null}]}`, status: 201},
		{method: "POST", path: all, body: `{"name":"Somebody","email":"a@example.com"}`, status: 409, code: users.AlreadyExists},
		{method: "GET", path: two, status: 200},
		{method: "PUT", path: two, body: `{"name":"Somebody","email":"b@example.com"}`, status: 200},
		{method: "DELETE", path: two, status: 200},
		{method: "DELETE", path: two, status: 404, code: users.NotFound},
		{method: "POST", path: all, body: `{"name":"Ada","email":"ada@example.com","colour":"red","list":[1,{}]}`, status: 201},
		{method: "PUT", path: one, body: `{"name":"Bea","email":"bea@example.com","id":7}`, status: 200},
	}
	refused := func(status int, code users.Code, method string, paths ...string) {
		for _, path := range paths {
			body := ""
			if method != "GET" && method != "DELETE" {
				body = `{"name":"Ada","email":"ada.two@example.com"}`
			}
			list = append(list, httpCase{method: method, path: path, body: body, status: status, code: code})
		}
	}
	refused(200, "", "GET", all, all+"?limit=1000&page=1&query=%40", all+"?limit=0&page=0")
	refused(400, users.InvalidArgument, "GET", all+"/abc", all+"/1.5", all+"/99999999999999999999",
		all+"?page=x", all+"?page=1.5", all+"?page=-1", all+"?page=99999999999", all+"?limit=many", all+"?limit=1e2", all+"?limit=-5")
	refused(400, users.InvalidArgument, "PUT", all+"/abc", all+"/1e3")
	refused(400, users.InvalidArgument, "DELETE", all+"/abc", all+"/99999999999999999999")
	refused(404, users.NotFound, "GET", two, all+"/0", all+"/-7", one+"/name", all+"/1/2", "/", "/nothing", "/v1", "/v1/user", "/v2/users")
	refused(404, users.NotFound, "POST", "/nothing")
	refused(405, users.InvalidArgument, "PATCH", all, one)
	refused(405, users.InvalidArgument, "POST", one, "/health")
	refused(405, users.InvalidArgument, "PUT", all)
	refused(405, users.InvalidArgument, "DELETE", all)
	for _, to := range [][2]string{{"POST", all}, {"PUT", one}} {
		bad := func(status int, body string) httpCase {
			return httpCase{method: to[0], path: to[1], body: body, status: status, code: users.InvalidArgument}
		}
		for _, body := range []string{"", "{", "no JSON", `"x"`, "[]", `{"name":7,"email":"x@example.com"}`, `{"name":"Somebody","email":{}}`, `{"name":["Ada"]}`, `{"name":"Ada"`, `{"name":"Ada",}`} {
			list = append(list, bad(400, body))
		}
		long, longest := bad(413, `{"name":"`+strings.Repeat("x", users.MaxBody)+`"}`), bad(400, "")
		list = append(list, long)
		long.chunked = true
		longest.body = `{"name":"` + strings.Repeat("x", users.MaxBody-len(`{"name":"","email":""}`)) + `","email":""}`
		longest.says = "name: 3 to 100"
		list = append(list, long, longest)
	}
	return list
}

// countUserCalls returns how many of these creates and updates may reach the service. No body can
// be read as a user without a name.
func countUserCalls(list []httpCase) (n int64) {
	for _, q := range list {
		if (q.method == "POST" || q.method == "PUT") && (q.status < 400 || q.status == 409 || q.says != "" || q.body == "") {
			n++
		}
	}
	return n
}

// checkResponse returns an error if a response is wrong.
func (q httpCase) checkResponse(a *http.Response, body []byte) error {
	if a.StatusCode != q.status {
		return fmt.Errorf("status %d, want %d: %.100q", a.StatusCode, q.status, body)
	}
	if q.status == http.StatusMethodNotAllowed {
		if err := conformance.CheckAllow(a.Header.Get("Allow"), users.Methods(q.path)); err != nil {
			return fmt.Errorf("status %d: %w", a.StatusCode, err)
		}
	}
	if q.code == "" {
		if !json.Valid(body) {
			return fmt.Errorf("status %d without JSON: %.100q", a.StatusCode, body)
		}
		return isKind(a, "application/json")
	}
	e, err := parseRefusal(a, body)
	switch {
	case err != nil:
		return err
	case e.Code != q.code:
		return fmt.Errorf("status %d with code %s, want %s", a.StatusCode, e.Code, q.code)
	case strings.ContainsAny(e.Message, "\r\n") || !strings.Contains(e.Message, q.says):
		return fmt.Errorf("status %d with message %q, want one line with %q", a.StatusCode, e.Message, q.says)
	}
	return nil
}
