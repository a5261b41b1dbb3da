package workload

import (
	"net/http"
	"slices"
	"strings"

	"github.com/tarebench/tare/apps/users"
	"github.com/tarebench/tare/contender/rpc"
	"github.com/tarebench/tare/kinds/server"
)

// Users of a store of any size, and ids that are nobody's.
const (
	someone = users.FirstID
	another = users.FirstID + 1
	nobody  = unknownFrom
)

// said are calls as requests, in any protocol.
func said(list ...rpc.Call) []server.Request {
	var out []server.Request
	for _, c := range list {
		q, _ := canonical(c) // it is one of the five
		q.Status = 0
		out = append(out, q)
	}
	return out
}

// raw is a request over HTTP that is no call.
func raw(method, path, body string) server.Request {
	q := server.Request{Method: method, Path: path, Body: []byte(body)}
	if body != "" {
		q.Header = map[string]string{server.ContentType: server.TypeJSON}
	}
	return q
}

func posting(body string) server.Request { return raw(http.MethodPost, pathUsers, body) }

func adding(name, email string) rpc.Call { return rpc.Call{Op: opCreate, Name: name, Email: email} }

func changing(id int64, name, email string) rpc.Call {
	return rpc.Call{Op: opUpdate, ID: id, Name: name, Email: email}
}

func getting(id int64) rpc.Call { return rpc.Call{Op: opGet, ID: id} }

func listing(query string, page, limit int) rpc.Call {
	return rpc.Call{Op: opList, Query: query, Page: page, Limit: limit}
}

// probes are the contract's refusals, and answers that look a little like one.
// They are asked one after the other, of one store.
func probes() []server.Probe {
	const good, mail = "Grete Hermann", "grete@example.com"
	long := strings.Repeat("x", users.MaxName)
	seeded := users.Seeded(0).Email
	about := func(what string, list ...rpc.Call) []server.Probe { return server.Probing(what, said(list...)...) }
	return slices.Concat(
		about("a name of two characters", adding("Jo", mail), changing(someone, "Jo", mail)),
		about("a name of 101 characters", adding(long+"x", mail)),
		about("a name that is short without its spaces", adding("  Jo  ", mail)),
		about("no name", adding("", mail)),
		about("an e-mail without an at sign", adding(good, "grete.example.com"), changing(someone, good, "grete")),
		about("an e-mail with a name", adding(good, "Grete <grete@example.com>")),
		about("no e-mail", adding(good, "")),
		about("somebody else's e-mail", adding(good, seeded), changing(another, good, seeded)),
		about("somebody else's e-mail in capitals", adding(good, strings.ToUpper(seeded))),
		about("an id that is nobody's", getting(nobody), changing(nobody, good, mail), rpc.Call{Op: opDelete, ID: nobody}),
		about("the id 0", getting(0)),
		about("an id below 0", getting(-1)),
		about("page -1", listing("", -1, 10)),
		about("limit -5", listing("", 1, -5)),

		about("a name of 100 characters", adding(long, "long@example.com")),
		about("letters that take two bytes", adding(strings.Repeat("é", users.MaxName), "accent@example.com")),
		about("spaces around name and e-mail", adding("  "+good+" ", " Grete.Hermann@Example.com ")),
		about("their own e-mail", changing(someone, "Ada King", seeded)),
		about("another e-mail", changing(someone, "Ada King", "ada.king@example.com")),
		about("an e-mail that was given up", changing(another, "Ada Byron", seeded)),
		about("an id", getting(someone), getting(another)),
		about("the id of one who was just deleted", rpc.Call{Op: opDelete, ID: someone}, getting(someone), rpc.Call{Op: opDelete, ID: someone}),
		about("the e-mail of one who was deleted", adding(good, "ada.king@example.com")),
		about("neither page nor limit", listing("", 0, 0)),
		about("a limit over 100", listing("", 1, 1000)),
		about("a page in the middle", listing("", 3, 7)),
		about("a page beyond the last", listing("", 100_000, 100)),
		about("a part of a name", listing("KING", 1, 10)),
		about("a part of an e-mail, with spaces around it", listing(" u30000000", 1, 10)),
		about("a text that nobody has", listing("nobody is called so", 1, 10)),

		server.Probing("", // over HTTP alone
			raw(http.MethodGet, pathHealth, ""),
			raw(http.MethodPost, pathHealth, "{}"),
			raw(http.MethodGet, "/nothing/here", ""),
			raw(http.MethodGet, "/v2/users", ""),
			raw(http.MethodGet, pathUsers+"/300000001/name", ""),
			raw(http.MethodDelete, pathUsers, ""),
			raw(http.MethodPost, pathUsers+"/300000001", "{}"),
			raw(http.MethodPatch, pathUsers+"/300000001", "{}"),
		),
		server.Probing("an id that is no number", raw(http.MethodGet, pathUsers+"/first", ""), raw(http.MethodDelete, pathUsers+"/first", "")),
		server.Probing("a page that is no number", raw(http.MethodGet, pathUsers+"?page=two", "")),
		server.Probing("a limit that is no whole number", raw(http.MethodGet, pathUsers+"?limit=1.5", "")),
		server.Probing("JSON that breaks off", posting(`{"name":"Grete Hermann","email":`), raw(http.MethodPut, pathUsers+"/300000001", `{"name":`)),
		server.Probing("a number for the name", posting(`{"name":1234,"email":"number@example.com"}`)),
		server.Probing("an array for a user", posting(`["Grete Hermann","array@example.com"]`)),
		server.Probing("a body over 64 KiB", posting(`{"name":"Grete Hermann","email":"big@example.com","note":"`+strings.Repeat("x", users.MaxBody)+`"}`)),
		server.Probing("a field that is not known", posting(`{"name":"Grete Hermann","email":"note@example.com","note":"x"}`)),
	)
}
