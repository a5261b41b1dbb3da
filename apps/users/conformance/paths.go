package conformance

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/tarebench/tare/apps/users"
	"github.com/tarebench/tare/internal/conformance"
)

type httpCase struct {
	method, path, body string
	status             int
	code               users.Code // "" for a correct request
	chunked            bool       // the request does not declare the length of the body
	message            string     // part of the error's message; "" accepts any
}

// pathCases are HTTP requests that no client of the users app sends. They depend on their order and begin with
// one user.
func pathCases() []httpCase {
	const firstUser, secondUser, allUsers = "/v1/users/300000000", "/v1/users/300000001", "/v1/users"
	list := []httpCase{
		{method: "POST", path: allUsers, body: `{"name":"Somebody","email":"a@example.com","more":[{"x":null}]}`, status: 201},
		{method: "POST", path: allUsers, body: `{"name":"Somebody","email":"a@example.com"}`, status: 409, code: users.AlreadyExists},
		{method: "GET", path: secondUser, status: 200},
		{method: "PUT", path: secondUser, body: `{"name":"Somebody","email":"b@example.com"}`, status: 200},
		{method: "DELETE", path: secondUser, status: 200},
		{method: "DELETE", path: secondUser, status: 404, code: users.NotFound},
		{method: "POST", path: allUsers, body: `{"name":"Ada","email":"ada@example.com","colour":"red","list":[1,{}]}`, status: 201},
		{method: "PUT", path: firstUser, body: `{"name":"Bea","email":"bea@example.com","id":7}`, status: 200},
	}
	// add adds requests, with a valid body if the method takes one.
	add := func(status int, code users.Code, method string, paths ...string) {
		for _, path := range paths {
			body := ""
			if method != "GET" && method != "DELETE" {
				body = `{"name":"Ada","email":"ada.two@example.com"}`
			}
			list = append(list, httpCase{method: method, path: path, body: body, status: status, code: code})
		}
	}
	add(200, "", "GET", allUsers, allUsers+"?limit=1000&page=1&query=%40", allUsers+"?limit=0&page=0")
	add(400, users.InvalidArgument, "GET", allUsers+"/abc", allUsers+"/1.5", allUsers+"/99999999999999999999",
		allUsers+"?page=x", allUsers+"?page=1.5", allUsers+"?page=-1", allUsers+"?page=99999999999", allUsers+"?limit=many", allUsers+"?limit=1e2", allUsers+"?limit=-5")
	add(400, users.InvalidArgument, "PUT", allUsers+"/abc", allUsers+"/1e3")
	add(400, users.InvalidArgument, "DELETE", allUsers+"/abc", allUsers+"/99999999999999999999")
	add(404, users.NotFound, "GET", secondUser, allUsers+"/0", allUsers+"/-7", firstUser+"/name", allUsers+"/1/2", "/", "/nothing", "/v1", "/v1/user", "/v2/users")
	add(404, users.NotFound, "POST", "/nothing")
	add(405, users.InvalidArgument, "PATCH", allUsers, firstUser)
	add(405, users.InvalidArgument, "POST", firstUser, "/health")
	add(405, users.InvalidArgument, "PUT", allUsers)
	add(405, users.InvalidArgument, "DELETE", allUsers)
	for _, target := range []struct{ method, path string }{{"POST", allUsers}, {"PUT", firstUser}} {
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
		// The largest body must be read. The service then rejects the name.
		longest := badBody(400, `{"name":"`+strings.Repeat("x", users.MaxBody-len(`{"name":"","email":""}`))+`","email":""}`)
		longest.message = "name: 3 to 100"
		list = append(list, tooLong, tooLongChunked, longest)
	}
	return list
}

// countUserCalls counts creates and updates in list that may reach the service. An empty body may be a user
// without a name.
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
