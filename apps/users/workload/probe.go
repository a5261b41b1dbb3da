package workload

import (
	"net/http"
	"slices"
	"strings"

	"github.com/tarebench/tare/apps/users"
	"github.com/tarebench/tare/contender/rpc"
	"github.com/tarebench/tare/kinds/server"
)

// This file makes the probes of app users: requests with a known response. Most get an error, and the others
// are similar valid requests.

// Ids of two users in every store, and an unknown id.
const (
	firstUser   = users.FirstID
	secondUser  = users.FirstID + 1
	unknownUser = firstUnknown
)

// toRequests returns the canonical requests of calls. Any status is expected.
func toRequests(list ...rpc.Call) []server.Request {
	var requests []server.Request
	for _, c := range list {
		q, _ := canonicalRequest(c) // fails only for an unknown op
		q.Status = 0
		requests = append(requests, q)
	}
	return requests
}

// rawRequest returns a request over HTTP that is no call. A body has the content type of JSON.
func rawRequest(method, path, body string) server.Request {
	q := server.Request{Method: method, Path: path, Body: []byte(body)}
	if body != "" {
		q.Header = map[string]string{server.ContentType: server.TypeJSON}
	}
	return q
}

func postBody(body string) server.Request { return rawRequest(http.MethodPost, pathUsers, body) }

func createUser(name, email string) rpc.Call { return rpc.Call{Op: opCreate, Name: name, Email: email} }

func updateUser(id int64, name, email string) rpc.Call {
	return rpc.Call{Op: opUpdate, ID: id, Name: name, Email: email}
}

func getUser(id int64) rpc.Call { return rpc.Call{Op: opGet, ID: id} }

func listUsers(query string, page, limit int) rpc.Call {
	return rpc.Call{Op: opList, Query: query, Page: page, Limit: limit}
}

// newProbes returns requests for all error responses. They go to one store and depend on their order.
func newProbes() []server.Probe {
	const validName, validEmail = "Grete Hermann", "grete@example.com"
	longName := strings.Repeat("x", users.MaxName)
	takenEmail := users.Seeded(0).Email
	probe := func(description string, list ...rpc.Call) []server.Probe {
		return server.Probing(description, toRequests(list...)...)
	}
	return slices.Concat(
		probe("a name of two characters", createUser("Jo", validEmail), updateUser(firstUser, "Jo", validEmail)),
		probe("a name of 101 characters", createUser(longName+"x", validEmail)),
		probe("a name that is short without its spaces", createUser("  Jo  ", validEmail)),
		probe("no name", createUser("", validEmail)),
		probe("an e-mail without an at sign", createUser(validName, "grete.example.com"), updateUser(firstUser, validName, "grete")),
		probe("an e-mail with a name", createUser(validName, "Grete <grete@example.com>")),
		probe("no e-mail", createUser(validName, "")),
		probe("somebody else's e-mail", createUser(validName, takenEmail), updateUser(secondUser, validName, takenEmail)),
		probe("somebody else's e-mail in capitals", createUser(validName, strings.ToUpper(takenEmail))),
		probe("an id that is nobody's", getUser(unknownUser), updateUser(unknownUser, validName, validEmail), rpc.Call{Op: opDelete, ID: unknownUser}),
		probe("the id 0", getUser(0)),
		probe("an id below 0", getUser(-1)),
		probe("page -1", listUsers("", -1, 10)),
		probe("limit -5", listUsers("", 1, -5)),

		probe("a name of 100 characters", createUser(longName, "long@example.com")),
		probe("letters that take two bytes", createUser(strings.Repeat("é", users.MaxName), "accent@example.com")),
		probe("spaces around name and e-mail", createUser("  "+validName+" ", " Grete.Hermann@Example.com ")),
		probe("their own e-mail", updateUser(firstUser, "Ada King", takenEmail)),
		probe("another e-mail", updateUser(firstUser, "Ada King", "ada.king@example.com")),
		probe("an e-mail that was given up", updateUser(secondUser, "Ada Byron", takenEmail)),
		probe("an id", getUser(firstUser), getUser(secondUser)),
		probe("the id of one who was just deleted", rpc.Call{Op: opDelete, ID: firstUser}, getUser(firstUser), rpc.Call{Op: opDelete, ID: firstUser}),
		probe("the e-mail of one who was deleted", createUser(validName, "ada.king@example.com")),
		probe("neither page nor limit", listUsers("", 0, 0)),
		probe("a limit over 100", listUsers("", 1, 1000)),
		probe("a page in the middle", listUsers("", 3, 7)),
		probe("a page beyond the last", listUsers("", 100_000, 100)),
		probe("a part of a name", listUsers("KING", 1, 10)),
		probe("a part of an e-mail, with spaces around it", listUsers(" u30000000", 1, 10)),
		probe("a text that nobody has", listUsers("nobody is called so", 1, 10)),

		server.Probing("", // over HTTP only
			rawRequest(http.MethodGet, pathHealth, ""),
			rawRequest(http.MethodPost, pathHealth, "{}"),
			rawRequest(http.MethodGet, "/nothing/here", ""),
			rawRequest(http.MethodGet, "/v2/users", ""),
			rawRequest(http.MethodGet, pathUsers+"/300000001/name", ""),
			rawRequest(http.MethodDelete, pathUsers, ""),
			rawRequest(http.MethodPost, pathUsers+"/300000001", "{}"),
			rawRequest(http.MethodPatch, pathUsers+"/300000001", "{}"),
		),
		server.Probing("an id that is no number", rawRequest(http.MethodGet, pathUsers+"/first", ""), rawRequest(http.MethodDelete, pathUsers+"/first", "")),
		server.Probing("a page that is no number", rawRequest(http.MethodGet, pathUsers+"?page=two", "")),
		server.Probing("a limit that is no integer", rawRequest(http.MethodGet, pathUsers+"?limit=1.5", "")),
		server.Probing("JSON that breaks off", postBody(`{"name":"Grete Hermann","email":`), rawRequest(http.MethodPut, pathUsers+"/300000001", `{"name":`)),
		server.Probing("a number for the name", postBody(`{"name":1234,"email":"number@example.com"}`)),
		server.Probing("an array for a user", postBody(`["Grete Hermann","array@example.com"]`)),
		server.Probing("a body over 64 KiB", postBody(`{"name":"Grete Hermann","email":"big@example.com","note":"`+strings.Repeat("x", users.MaxBody)+`"}`)),
		server.Probing("a field that is not known", postBody(`{"name":"Grete Hermann","email":"note@example.com","note":"x"}`)),
	)
}
