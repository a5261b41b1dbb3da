// Package workload makes the requests that a study sends to app tiny, and the expected responses.
package workload

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/apps/tiny"
	"github.com/tarebench/tare/contender/wire"
	"github.com/tarebench/tare/kinds/server"
)

const defaultPool = 64

// maxPool is the largest number of requests. Each has a different random number of eight digits.
const maxPool = 100_000

// App returns the description of app tiny for studies.
func App() server.App {
	return server.App{
		Name:      tiny.Name,
		Ops:       []string{"get-7", "get-random", "get-escaped", "get-long", "health"},
		Requests:  func(w tare.Workload) ([]server.Request, error) { return newRequests(w.Op, w.Pool) },
		Probes:    newProbes,
		Questions: newQuestions,
		Answers: func(_ wire.Workload, list []server.Request) ([]server.Response, error) {
			return referenceResponses(list), nil
		},
		Null: true,
	}
}

func referenceResponses(list []server.Request) []server.Response {
	responses := make([]server.Response, len(list))
	for i, q := range list {
		status, kind, body := tiny.Answer(q.Method, q.Path)
		responses[i] = server.Response{Status: status, Body: body}
		if kind != "" {
			responses[i].Header = map[string]string{server.ContentType: kind}
		}
	}
	return responses
}

// newRequests returns the requests of an op. get-7 and health have one request, other ops one for each of
// pool ids.
func newRequests(op string, pool int) ([]server.Request, error) {
	if pool == 0 {
		pool = defaultPool
	}
	if pool > maxPool {
		return nil, fmt.Errorf("a pool of %d requests; at most %d", pool, maxPool)
	}
	// Functions that return the id for a random number n. Its eight digits are unique.
	newID := map[string]func(n uint32, digits string) string{
		"get-random": func(_ uint32, digits string) string { return digits },
		// A space, a percent sign, a letter that is not ASCII, and a quote, in an order that changes.
		"get-escaped": func(n uint32, digits string) string {
			parts := []string{" ", "%", "é", `"`}
			turn := int(n) % len(parts)
			parts = append(parts[turn:], parts[:turn]...)
			return digits[:2] + parts[0] + digits[2:4] + parts[1] + digits[4:6] + parts[2] + digits[6:7] + parts[3] + digits[7:]
		},
		"get-long": func(_ uint32, digits string) string {
			sum := sha256.Sum256([]byte("tare/tiny/v1 long " + digits))
			return hex.EncodeToString(sum[:]) // 64 characters
		},
	}[op]
	if newID == nil { // an op with a single request
		path := map[string]string{"get-7": tiny.Prefix + "7", "health": tiny.Health}[op]
		return []server.Request{server.Get(path)}, nil
	}
	list := make([]server.Request, 0, pool)
	seen := map[string]bool{}
	for i := 0; len(list) < pool; i++ {
		n := drawNumber(op, i)
		digits := strconv.Itoa(10_000_000 + int(n%90_000_000))
		if seen[digits] {
			continue
		}
		seen[digits] = true
		list = append(list, server.Get(tiny.Prefix+url.PathEscape(newID(n, digits))))
	}
	return list, nil
}

// drawNumber returns random number i of an op. It is the same on every machine and in every version.
func drawNumber(op string, i int) uint32 {
	sum := sha256.Sum256([]byte("tare/tiny/v1 " + op + " " + strconv.Itoa(i)))
	return binary.BigEndian.Uint32(sum[:])
}

// newProbes returns requests that must be rejected.
func newProbes() []server.Probe {
	return server.Probing("",
		server.Request{Method: "POST", Path: "/v1/id/7"},
		server.Request{Method: "PUT", Path: "/v1/id/7"},
		server.Request{Method: "PATCH", Path: "/v1/id/7"},
		server.Request{Method: "DELETE", Path: "/v1/id/7"},
		server.Get("/v1/id/"),
		server.Get("/v1/id/a/b"),
		server.Get("/"),
		server.Get("/nothing/here"),
		server.Get("/v2/id/7"),
		server.Get("/v1/other/7"),
		server.Get("/healthier"),
	)
}

// newQuestions returns requests that frameworks treat differently. The report lists the responses that
// differ from tiny.Answer.
func newQuestions() []server.Question {
	idOps := []string{"get-7", "get-random", "get-escaped", "get-long"}
	question := func(name, property, description, path string, ops ...string) server.Question {
		if len(ops) == 0 {
			ops = idOps
		}
		return server.Question{Request: server.Get(path), Name: name, Property: property, What: description, BearsOn: ops}
	}
	withMethod := func(method string, q server.Question) server.Question {
		q.Method = method
		return q
	}
	return []server.Question{
		question("escaped slash", "escaped slash", "an id with an escaped slash", "/v1/id/a%2Fb", "get-escaped"),
		question("escaped letter", "escaped path", "a path with an escaped letter", "/v1/%69d/7", "get-escaped"),
		question("escaped twice", "escaped twice", "an id with an escaped percent sign before two digits", "/v1/id/%2525", "get-escaped"),
		question("broken escape", "broken escape", "an id with a broken escape", "/v1/id/%zz", "get-escaped"),
		question("plus", "plus", "an id with a plus sign", "/v1/id/a+b", "get-escaped"),
		question("semicolon", "semicolon", "an id with a semicolon", "/v1/id/a;b", "get-escaped"),
		question("markup", "HTML", "an id with <, > and &", "/v1/id/%3Cb%3E%26", "get-escaped"),
		question("not UTF-8", "invalid UTF-8", "an id that is not UTF-8", "/v1/id/%FF", "get-escaped"),
		question("control", "control characters", "an id with a control character", "/v1/id/a%01b", "get-escaped"),
		question("long id", "long path", "an id of 6000 characters", tiny.Prefix+strings.Repeat("x", 6000), "get-long"),
		question("query", "query", "an id with a query behind it", "/v1/id/7?x=/y"),
		question("last slash more", "last slash", "an id with a slash behind it", "/v1/id/7/"),
		question("last slash less", "last slash", "the path without an id and its slash", "/v1/id"),
		question("doubled slash", "doubled slash", "a path with a doubled slash", "/v1//id/7"),
		question("dots", "dot segments", "a path with a parent segment", "/v1/id/x/../7"),
		question("capitals", "letter case", "a path in capitals", "/V1/ID/7"),
		withMethod("OPTIONS", question("OPTIONS", "OPTIONS", "OPTIONS", "/v1/id/7")),
		withMethod("BREW", question("unknown method", "unknown method", "a method nobody knows", "/v1/id/7")),
	}
}
