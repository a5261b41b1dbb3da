package workload

import (
	"net/http"
	"slices"
	"strings"

	"github.com/tarebench/tare/apps/users"
	"github.com/tarebench/tare/contender/rpc"
	"github.com/tarebench/tare/kinds/server"
)

// Users of a store of any size, and an unknown id.
const (
	firstUser   = users.FirstID
	secondUser  = users.FirstID + 1
	unknownUser = firstUnknown
)

// toRequests returns calls as requests, in any protocol.
func toRequests(list ...rpc.Call) []server.Request {
	var out []server.Request
	for _, c := range list {
		q, _ := canonicalRequest(c) // it is one of the five
		q.Status = 0
		out = append(out, q)
	}
	return out
}

// rawRequest returns a request over HTTP that is not a call.
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

// newProbes returns requests for the contract's error responses, and for responses that look a
// little like one. They are sent one after the other, to one store.
func newProbes() []server.Probe {
	const good, mail = "Grete Hermann", "grete@example.com"
	long := strings.Repeat("x", users.MaxName)
	seeded := users.Seeded(0).Email
	about := func(what string, list ...rpc.Call) []server.Probe {
		return server.Probing(what, toRequests(list...)...)
	}
	return slices.Concat(
		about("a name of two characters", createUser("Jo", mail), updateUser(firstUser, "Jo", mail)),
		about("a name of 101 characters", createUser(long+"x", mail)),
		about("a name that is short without its spaces", createUser("  Jo  ", mail)),
		about("no name", createUser("", mail)),
		about("an e-mail without an at sign", createUser(good, "grete.example.com"), updateUser(firstUser, good, "grete")),
		about("an e-mail with a name", createUser(good, "Grete <grete@example.com>")),
		about("no e-mail", createUser(good, "")),
		about("somebody else's e-mail", createUser(good, seeded), updateUser(secondUser, good, seeded)),
		about("somebody else's e-mail in capitals", createUser(good, strings.ToUpper(seeded))),
		about("an id that is nobody's", getUser(unknownUser), updateUser(unknownUser, good, mail), rpc.Call{Op: opDelete, ID: unknownUser}),
		about("the id 0", getUser(0)),
		about("an id below 0", getUser(-1)),
		about("page -1", listUsers("", -1, 10)),
		about("limit -5", listUsers("", 1, -5)),

		about("a name of 100 characters", createUser(long, "long@example.com")),
		about("letters that take two bytes", createUser(strings.Repeat("é", users.MaxName), "accent@example.com")),
		about("spaces around name and e-mail", createUser("  "+good+" ", " Grete.Hermann@Example.com ")),
		about("their own e-mail", updateUser(firstUser, "Ada King", seeded)),
		about("another e-mail", updateUser(firstUser, "Ada King", "ada.king@example.com")),
		about("an e-mail that was given up", updateUser(secondUser, "Ada Byron", seeded)),
		about("an id", getUser(firstUser), getUser(secondUser)),
		about("the id of one who was just deleted", rpc.Call{Op: opDelete, ID: firstUser}, getUser(firstUser), rpc.Call{Op: opDelete, ID: firstUser}),
		about("the e-mail of one who was deleted", createUser(good, "ada.king@example.com")),
		about("neither page nor limit", listUsers("", 0, 0)),
		about("a limit over 100", listUsers("", 1, 1000)),
		about("a page in the middle", listUsers("", 3, 7)),
		about("a page beyond the last", listUsers("", 100_000, 100)),
		about("a part of a name", listUsers("KING", 1, 10)),
		about("a part of an e-mail, with spaces around it", listUsers(" u30000000", 1, 10)),
		about("a text that nobody has", listUsers("nobody is called so", 1, 10)),

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
		server.Probing("a limit that is no whole number", rawRequest(http.MethodGet, pathUsers+"?limit=1.5", "")),
		server.Probing("JSON that breaks off", postBody(`{"name":"Grete Hermann","email":`), rawRequest(http.MethodPut, pathUsers+"/300000001", `{"name":`)),
		server.Probing("a number for the name", postBody(`{"name":1234,"email":"number@example.com"}`)),
		server.Probing("an array for a user", postBody(`["Grete Hermann","array@example.com"]`)),
		server.Probing("a body over 64 KiB", postBody(`{"name":"Grete Hermann","email":"big@example.com","note":"`+strings.Repeat("x", users.MaxBody)+`"}`)),
		server.Probing("a field that is not known", postBody(`{"name":"Grete Hermann","email":"note@example.com","note":"x"}`)),
	)
}
