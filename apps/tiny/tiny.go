// Package tiny is the smallest service worth a name: it reads one parameter
// from a path and writes it back.
//
//	GET /v1/id/{id}   200  application/json  {"id":"<id>"} and a line end
//	GET /health       200  text/plain        ok and a line end
//
// The id is one segment of the path, not empty, percent-decoded, and escaped
// as JSON wants it; for 7 the body has 11 bytes. Any other path is 404, and so
// are /v1/id/ and /v1/id/a/b. Any other method on one of the two paths is 405;
// of HEAD nothing is asked. A path that cannot be decoded is 400. What the
// bodies of refusals say is everybody's own.
//
// Each framework serves this in its own idiomatic way. The functions here are
// what their answers are compared with, in the plainest Go.
package tiny

import (
	"encoding/json"
	"net/url"
	"slices"
	"strings"
)

// Name is that of the app, in studies and on command lines.
const Name = "tiny"

// Content types of answers. A charset may follow.
const (
	JSON = "application/json"
	Text = "text/plain"
)

// Prefix is what the path of an id begins with, and Health the other path.
const (
	Prefix = "/v1/id/"
	Health = "/health"
)

// Statuses, by number: not every server that is measured links net/http.
const (
	ok               = 200
	badRequest       = 400
	notFound         = 404
	methodNotAllowed = 405
)

// Answer is what the service answers to a request. escapedPath is as in the
// request line; a query counts for nothing. Refusals have neither type nor
// body.
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
	return ok, JSON, encode(segments[last])
}

// answer is the body of an id.
type answer struct {
	ID string `json:"id"`
}

// encode never fails: any string can be written.
func encode(id string) []byte {
	body, err := json.Marshal(answer{id})
	if err != nil {
		panic(err)
	}
	return append(body, '\n')
}
