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
	chunked            bool       // the request does not declare the length of the body
	message            string     // part of the message of the error response; "" accepts any
}

// pathCases returns requests over HTTP that no client of the app sends. They are sent one after the
// other, and depend on this order.
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
	// add adds requests with one method, which have a valid body if the method takes one.
	add := func(status int, code users.Code, method string, paths ...string) {
		for _, path := range paths {
			body := ""
			if method != "GET" && method != "DELETE" {
				body = `{"name":"Ada","email":"ada.two@example.com"}`
			}
			list = append(list, httpCase{method: method, path: path, body: body, status: status, code: code})
		}
	}
	add(200, "", "GET", all, all+"?limit=1000&page=1&query=%40", all+"?limit=0&page=0")
	add(400, users.InvalidArgument, "GET", all+"/abc", all+"/1.5", all+"/99999999999999999999",
		all+"?page=x", all+"?page=1.5", all+"?page=-1", all+"?page=99999999999", all+"?limit=many", all+"?limit=1e2", all+"?limit=-5")
	add(400, users.InvalidArgument, "PUT", all+"/abc", all+"/1e3")
	add(400, users.InvalidArgument, "DELETE", all+"/abc", all+"/99999999999999999999")
	add(404, users.NotFound, "GET", two, all+"/0", all+"/-7", one+"/name", all+"/1/2", "/", "/nothing", "/v1", "/v1/user", "/v2/users")
	add(404, users.NotFound, "POST", "/nothing")
	add(405, users.InvalidArgument, "PATCH", all, one)
	add(405, users.InvalidArgument, "POST", one, "/health")
	add(405, users.InvalidArgument, "PUT", all)
	add(405, users.InvalidArgument, "DELETE", all)
	for _, target := range []struct{ method, path string }{{"POST", all}, {"PUT", one}} {
		badBody := func(status int, body string) httpCase {
			return httpCase{method: target.method, path: target.path, body: body, status: status, code: users.InvalidArgument}
		}
		for _, body := range []string{
			"", "{", "no JSON", `"x"`, "[]", `{"name":7,"email":"x@example.com"}`, `{"name":"Somebody","email":{}}`,
			`{"name":["Ada"]}`, `{"name":"Ada"`, `{"name":"Ada",}`,
		} {
			list = append(list, badBody(400, body))
		}
		tooLong := badBody(413, `{"name":"`+strings.Repeat("x", users.MaxBody)+`"}`)
		tooLongChunked := tooLong
		tooLongChunked.chunked = true
		// A body of exactly the largest size must be read: the service then rejects the name.
		longest := badBody(400, `{"name":"`+strings.Repeat("x", users.MaxBody-len(`{"name":"","email":""}`))+`","email":""}`)
		longest.message = "name: 3 to 100"
		list = append(list, tooLong, tooLongChunked, longest)
	}
	return list
}

// countUserCalls returns the number of creates and updates in list that may reach the service: those
// with a valid body, and those with an empty body, which a transport may read as a user without a name.
func countUserCalls(list []httpCase) (n int64) {
	for _, c := range list {
		isWrite := c.method == "POST" || c.method == "PUT"
		isValidBody := c.status < 400 || c.status == 409 || c.message != ""
		if isWrite && (isValidBody || c.body == "") {
			n++
		}
	}
	return n
}

func (c httpCase) checkResponse(response *http.Response, body []byte) error {
	if response.StatusCode != c.status {
		return fmt.Errorf("status %d, want %d: %.100q", response.StatusCode, c.status, body)
	}
	if c.status == http.StatusMethodNotAllowed {
		if err := conformance.CheckAllow(response.Header.Get("Allow"), users.Methods(c.path)); err != nil {
			return fmt.Errorf("status %d: %w", response.StatusCode, err)
		}
	}
	if c.code == "" {
		if !json.Valid(body) {
			return fmt.Errorf("status %d without JSON: %.100q", response.StatusCode, body)
		}
		return checkKind(response, "application/json")
	}
	e, err := parseRefusal(response, body)
	switch {
	case err != nil:
		return err
	case e.Code != c.code:
		return fmt.Errorf("status %d with code %s, want %s", response.StatusCode, e.Code, c.code)
	case strings.ContainsAny(e.Message, "\r\n") || !strings.Contains(e.Message, c.message):
		return fmt.Errorf("status %d with message %q, want one line with %q", response.StatusCode, e.Message, c.message)
	}
	return nil
}
