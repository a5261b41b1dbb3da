// Package tiny is a minimal service: it reads one parameter from a path and writes it back.
//
//	GET /v1/id/{id}   200  application/json  {"id":"<id>"} and a line end
//	GET /health       200  text/plain        ok and a line end
//
// The id is one segment of the path and is not empty. The service decodes its percent escapes and encodes
// it as a JSON string. Any other path gets 404, also /v1/id/ and /v1/id/a/b. A path that cannot be decoded
// gets 400. Other methods get 405, but HEAD may get any response. The bodies of error responses are not
// specified.
//
// Each framework serves this in its own idiomatic way. Tests compare the responses with those of [Answer].
package tiny

import (
	"encoding/json"
	"net/url"
	"slices"
	"strings"
)

// Name is the name of the app, in studies and on command lines.
const Name = "tiny"

// Content types of responses. The header may have a charset, too.
const (
	JSON = "application/json"
	Text = "text/plain"
)

// Paths: Prefix is followed by an id.
const (
	Prefix = "/v1/id/"
	Health = "/health"
)

// HTTP statuses. Some measured servers do not link net/http.
const (
	ok               = 200
	badRequest       = 400
	notFound         = 404
	methodNotAllowed = 405
)

// Answer returns the correct response to a request. escapedPath is the path of the request line; a query is
// ignored. For error responses contentType is "" and body is nil.
func Answer(method, escapedPath string) (status int, contentType string, body []byte) {
	path, _, _ := strings.Cut(escapedPath, "?")
	segments := strings.Split(path, "/")
	for i, s := range segments {
		var err error
		if segments[i], err = url.PathUnescape(s); err != nil {
			return badRequest, "", nil
		}
	}
	last := len(segments) - 1
	isID := segments[last] != "" && slices.Equal(segments[:last], []string{"", "v1", "id"})
	isHealth := slices.Equal(segments, []string{"", "health"})
	switch {
	case !isID && !isHealth:
		return notFound, "", nil
	case method != "GET" && method != "HEAD":
		return methodNotAllowed, "", nil
	case isHealth:
		return ok, Text, []byte("ok\n")
	}
	return ok, JSON, encodeID(segments[last])
}

type idBody struct {
	ID string `json:"id"`
}

func encodeID(id string) []byte {
	body, err := json.Marshal(idBody{id})
	if err != nil {
		panic(err)
	}
	return append(body, '\n')
}
