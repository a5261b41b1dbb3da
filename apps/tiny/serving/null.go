// Package serving provides a server of app tiny that does as little work as possible. Its measured
// cost is the cost of the measurement itself.
package serving

import (
	"bytes"
	"encoding/json"
	"net/url"
	"strconv"

	"github.com/tarebench/tare/apps/tiny"
	"github.com/tarebench/tare/contender/server"
)

// Null returns app tiny served by [server.Null], with correct error responses.
func Null() server.App { return server.Plain(tiny.Name, server.Null{Answer: appendResponse}.Serve) }

// appendResponse appends the response to q to dst. extra contains required header lines.
func appendResponse(dst []byte, q *server.Request, extra string) []byte {
	path := targetPath(q.Target)
	id, isID := bytes.CutPrefix(path, []byte(tiny.Prefix))
	switch {
	case isID && len(id) > 0 && bytes.IndexByte(id, '/') < 0:
		if !isGetOrHead(q) {
			return appendNotAllowed(dst, q, extra)
		}
		return appendID(dst, q, extra, id)
	case string(path) == tiny.Health:
		if !isGetOrHead(q) {
			return appendNotAllowed(dst, q, extra)
		}
		return server.Anything(dst, q, extra)
	}
	return server.Reply(dst, q, "HTTP/1.1 404 Not Found\r\nContent-Type: text/plain\r\nContent-Length: 10\r\n", extra, "not found\n")
}

// appendID appends a response with an id, escaped as in the path.
func appendID(dst []byte, q *server.Request, extra string, id []byte) []byte {
	if !isPlain(id) {
		decoded, err := url.PathUnescape(string(id))
		if err != nil {
			return server.Reply(dst, q, "HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain\r\nContent-Length: 7\r\n", extra, "bad id\n")
		}
		quoted, _ := json.Marshal(decoded) // marshaling a string cannot fail
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

func appendNotAllowed(dst []byte, q *server.Request, extra string) []byte {
	return server.Reply(dst, q, "HTTP/1.1 405 Method Not Allowed\r\nAllow: GET, HEAD\r\nContent-Type: text/plain\r\nContent-Length: 19\r\n", extra, "method not allowed\n")
}

func isGetOrHead(q *server.Request) bool { return string(q.Method) == "GET" || q.Head() }

// targetPath returns the path in the target of a request line, a path or an absolute URL.
func targetPath(target []byte) []byte {
	if rest, isURL := bytes.CutPrefix(target, []byte("http://")); isURL {
		target = rest[max(0, bytes.IndexByte(rest, '/')):] // all of rest if it has no slash
	}
	if i := bytes.IndexByte(target, '?'); i >= 0 {
		target = target[:i]
	}
	return target
}

// isPlain reports whether an id needs no escapes in a path, nor in JSON. It has only unreserved characters
// of RFC 3986.
func isPlain(id []byte) bool {
	for _, c := range id {
		isLetter := c|0x20 >= 'a' && c|0x20 <= 'z' // 0x20 makes a letter lower case
		isDigit := '0' <= c && c <= '9'
		isMark := c == '-' || c == '_' || c == '.' || c == '~'
		if !isLetter && !isDigit && !isMark {
			return false
		}
	}
	return true
}
