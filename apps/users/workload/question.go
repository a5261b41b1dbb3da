package workload

import (
	"net/http"
	"slices"
	"strings"

	"github.com/tarebench/tare/kinds/server"
)

// newQuestions has edge cases that transports write or read differently, each with a new store.
func newQuestions() []server.Question {
	// partQuestion returns a question about a part of the body, which readPart returns.
	partQuestion := func(name, property, description, shown string, q server.Request, readPart func(body []byte) string, ops ...string) server.Question {
		return server.Question{Request: q, Name: name, Property: property, What: description, Asked: shown, BearsOn: ops, Look: readPart}
	}
	bodyQuestion := func(name, property, description, body string) server.Question {
		return server.Question{Request: postBody(body), Name: name, Property: property, What: description, Asked: body, BearsOn: []string{opCreate}}
	}
	pathQuestion := func(name, property, description, method, path string, ops ...string) server.Question {
		return server.Question{Request: rawRequest(method, path, ""), Name: name, Property: property, What: description, BearsOn: ops}
	}
	oneUser := toRequests(getUser(firstUser))[0]
	twoUsers := toRequests(listUsers("", 1, 2))[0]
	noUsers := toRequests(listUsers("nobody is called so", 1, 10))[0]
	const user = `{"name":"Grete Hermann","email":"grete@example.com"`
	return []server.Question{
		partQuestion("id", "64-bit numbers", "an id", "an id", oneUser, memberReader("id"), opGet),
		partQuestion("total", "64-bit numbers", "how many users match", "the total of a page", twoUsers, memberReader("total"), opList),
		partQuestion("names", "names", "the names of a user's members", "names of members", oneUser, memberNames, opGet),
		partQuestion("time", "times", "a time on the second", "created_at", oneUser, memberReader("created_at", "createdAt"), opGet),
		partQuestion("nobody", "empty list", "a list of nobody", "users of an empty page", noUsers, memberReader("users"), opList),
		partQuestion("zero", "zero", "a total of 0", "total of an empty page", noUsers, memberReader("total"), opList),

		bodyQuestion("key twice", "duplicate keys", "a user with two names", `{"name":"Grete Hermann","name":"Emmy Noether","email":"grete@example.com"}`),
		bodyQuestion("text behind", "trailing data", "a user with something behind it", user+`}x`),
		bodyQuestion("user behind", "trailing data", "a user with another one behind it", user+`}{}`),
		bodyQuestion("comma behind", "trailing comma", "a user with a comma behind the last field", user+`,}`),
		bodyQuestion("other case", "letter case", "a user with a key in other letters", `{"NAME":"Grete Hermann","email":"grete@example.com"}`),
		bodyQuestion("null name", "null", "a user with null for a name", `{"name":null,"email":"grete@example.com"}`),
		bodyQuestion("null user", "null", "null for a user", `null`),
		bodyQuestion("mark", "byte order mark", "a user with a byte order mark before it", "\ufeff"+user+`}`),
		bodyQuestion("not UTF-8", "invalid UTF-8", "a name that is not UTF-8", "{\"name\":\"Grete\xff\",\"email\":\"grete@example.com\"}"),
		bodyQuestion("nothing", "empty body", "an empty body", ""),
		bodyQuestion("id in body", "unknown fields", "a user with an id of their own", user+`,"id":"7"}`),
		bodyQuestion("deep", "depth", "an unknown field nested 20000 deep", user+`,"more":`+strings.Repeat("[", 20_000)+strings.Repeat("]", 20_000)+`}`),
		{
			Request:  server.WithHeader(postBody(user+"}"), server.ContentType, server.TypeText),
			Name:     "text type",
			Property: "content types",
			What:     "a user of another content type",
			Asked:    "Content-Type: " + server.TypeText,
			BearsOn:  []string{opCreate},
		},

		pathQuestion("last slash", "last slash", "a user with a slash behind the id", http.MethodGet, pathUsers+"/300000000/", opGet),
		pathQuestion("list with slash", "last slash", "the list with a slash behind it", http.MethodGet, pathUsers+"/", opList),
		pathQuestion("doubled slash", "doubled slash", "a path with a doubled slash", http.MethodGet, "/v1//users", opList),
		pathQuestion("capitals", "letter case", "a path in capitals", http.MethodGet, "/V1/USERS", opList),
		pathQuestion("escaped letter", "escaped path", "a path with an escaped letter", http.MethodGet, "/v1/%75sers/300000000", opGet),
		pathQuestion("plus sign", "numbers", "an id with a plus sign", http.MethodGet, pathUsers+"/+300000000", opGet),
		pathQuestion("zeros", "numbers", "an id with zeros before it", http.MethodGet, pathUsers+"/000300000000", opGet),
		pathQuestion("hexadecimal", "numbers", "an id in hexadecimal", http.MethodGet, pathUsers+"/0x11e1a300", opGet),
		pathQuestion("long id", "numbers", "an id of more than 64 bits", http.MethodGet, pathUsers+"/99999999999999999999", opGet),
		pathQuestion("long page", "numbers", "a page of more than 32 bits", http.MethodGet, pathUsers+"?page=4294967297", opList),
		pathQuestion("empty page", "query", "a page without a number", http.MethodGet, pathUsers+"?page=", opList),
		pathQuestion("page twice", "query", "two pages", http.MethodGet, pathUsers+"?page=1&page=2", opList),
		pathQuestion("unknown key", "query", "a query nobody knows", http.MethodGet, pathUsers+"?sort=name", opList),
		pathQuestion("semicolon", "query", "a query with a semicolon", http.MethodGet, pathUsers+"?page=1;limit=2", opList),
		pathQuestion("OPTIONS", "OPTIONS", "OPTIONS", http.MethodOptions, pathUsers, opList),
	}
}

// memberReader returns a function that returns the member of a body with one of names.
func memberReader(names ...string) func(body []byte) string {
	return func(body []byte) string {
		o, ok := readObject(body)
		if !ok {
			return "no object"
		}
		if v := o.takeMember(names...); v != nil {
			return string(v)
		}
		return "left out"
	}
}

// memberNames returns the sorted names of a body's members.
func memberNames(body []byte) string {
	o, _ := readObject(body)
	var names []string
	for name := range o {
		names = append(names, name)
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}
