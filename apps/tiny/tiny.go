// Package tiny is the smallest service worth a name: it reads one parameter
// from a path and writes it back.
//
//	GET /v1/id/{id}   200  application/json  {"id":"<id>"} and a line end
//	GET /health       200  text/plain        ok and a line end
//
// The id is one segment of the path, not empty, percent-decoded, and escaped
// as JSON wants it; for 7 the body has 11 bytes. Any other path is 404, and so
// are /v1/id/ and /v1/id/a/b. Any other method on one of the two paths is 405;
// HEAD may have any response. A path that cannot be decoded is 400. The bodies
// of error responses are not specified.
//
// Each framework serves this in its own idiomatic way. Their responses are
// compared with those of the functions of this package.
package tiny

import (
	"encoding/json"
	"net/url"
	"slices"
	"strings"
)

// Name is the name of the app, in studies and on command lines.
const Name = "tiny"

// Content types of responses. A charset may follow.
const (
	JSON = "application/json"
	Text = "text/plain"
)

// Prefix begins the path of an id; Health is the other path.
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

// Answer returns the service's response to a request. escapedPath is as in the request line; a
// query is ignored. Error responses have neither type nor body.
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

// idBody is the body of an id.
type idBody struct {
	ID string `json:"id"`
}

// encodeID encodes the body of an id. It cannot fail: any string can be encoded.
func encodeID(id string) []byte {
	body, err := json.Marshal(idBody{id})
	if err != nil {
		panic(err)
	}
	return append(body, '\n')
}
