// Package serving provides the leanest server of app tiny.
package serving

import (
	"bytes"
	"encoding/json"
	"net/url"
	"strconv"

	"github.com/tarebench/tare/apps/tiny"
	"github.com/tarebench/tare/contender/server"
)

// Null returns app tiny by [server.Null], error responses included.
func Null() server.App { return server.Plain(tiny.Name, server.Null{Answer: appendResponse}.Serve) }

// appendResponse appends the response to a request.
func appendResponse(dst []byte, q *server.Request, extra string) []byte {
	path := targetPath(q.Target)
	id, isID := bytes.CutPrefix(path, []byte(tiny.Prefix))
	switch {
	case isID && len(id) > 0 && bytes.IndexByte(id, '/') < 0:
		if !isRead(q) {
			return notAllowed(dst, q, extra)
		}
		return appendID(dst, q, extra, id)
	case string(path) == tiny.Health:
		if !isRead(q) {
			return notAllowed(dst, q, extra)
		}
		return server.Anything(dst, q, extra)
	}
	return server.Reply(dst, q, "HTTP/1.1 404 Not Found\r\nContent-Type: text/plain\r\nContent-Length: 10\r\n", extra, "not found\n")
}

// appendID appends the response with an id, as it came in the path.
func appendID(dst []byte, q *server.Request, extra string, id []byte) []byte {
	if !isPlain(id) {
		decoded, err := url.PathUnescape(string(id))
		if err != nil {
			return server.Reply(dst, q, "HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain\r\nContent-Length: 7\r\n", extra, "bad id\n")
		}
		quoted, _ := json.Marshal(decoded) // a string always can be
		id = quoted[1 : len(quoted)-1]
	}
	dst = append(dst, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: "...)
	dst = strconv.AppendInt(dst, int64(len(id)+len(`{"id":""}`+"\n")), 10)
	dst = append(dst, "\r\n"...)
	dst = append(dst, extra...)
	dst = append(dst, "\r\n"...)
	if q.Head() {
		return dst
	}
	dst = append(dst, `{"id":"`...)
	dst = append(dst, id...)
	return append(dst, "\"}\n"...)
}

func notAllowed(dst []byte, q *server.Request, extra string) []byte {
	return server.Reply(dst, q, "HTTP/1.1 405 Method Not Allowed\r\nAllow: GET, HEAD\r\nContent-Type: text/plain\r\nContent-Length: 19\r\n", extra, "method not allowed\n")
}

// isRead reports whether the request only reads.
func isRead(q *server.Request) bool { return string(q.Method) == "GET" || q.Head() }

// targetPath returns the path of a request's target.
func targetPath(t []byte) []byte {
	if rest, absolute := bytes.CutPrefix(t, []byte("http://")); absolute {
		t = rest[max(0, bytes.IndexByte(rest, '/')):]
	}
	if i := bytes.IndexByte(t, '?'); i >= 0 {
		t = t[:i]
	}
	return t
}

// isPlain reports whether an id means the same in a path and in JSON, byte by byte.
func isPlain(id []byte) bool {
	for _, c := range id {
		letter := c|0x20 >= 'a' && c|0x20 <= 'z'
		if !letter && (c < '0' || c > '9') && c != '-' && c != '_' && c != '.' && c != '~' {
			return false
		}
	}
	return true
}
