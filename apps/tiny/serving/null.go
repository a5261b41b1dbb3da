package server

import (
	"bytes"
	"encoding/json"
	"net/url"
	"strconv"
)

// anything answers whatever it is asked.
func anything(dst []byte, q *head, extra string) []byte {
	return reply(dst, q, "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 3\r\n", extra, "ok\n")
}

const idPath = "/v1/id/"

// tinyAnswer answers for the app of that name.
func tinyAnswer(dst []byte, q *head, extra string) []byte {
	path := target(q.target)
	id, isID := bytes.CutPrefix(path, []byte(idPath))
	switch {
	case isID && len(id) > 0 && bytes.IndexByte(id, '/') < 0:
		if !reads(q) {
			return notAllowed(dst, q, extra)
		}
		return identified(dst, q, extra, id)
	case string(path) == "/health":
		if !reads(q) {
			return notAllowed(dst, q, extra)
		}
		return anything(dst, q, extra)
	}
	return reply(dst, q, "HTTP/1.1 404 Not Found\r\nContent-Type: text/plain\r\nContent-Length: 10\r\n", extra, "not found\n")
}

// identified answers with an id, given as it came in the path.
func identified(dst []byte, q *head, extra string, id []byte) []byte {
	if !plain(id) {
		decoded, err := url.PathUnescape(string(id))
		if err != nil {
			return reply(dst, q, "HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain\r\nContent-Length: 7\r\n", extra, "bad id\n")
		}
		quoted, _ := json.Marshal(decoded) // a string always can be
		id = quoted[1 : len(quoted)-1]
	}
	dst = append(dst, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: "...)
	dst = strconv.AppendInt(dst, int64(len(id)+len(`{"id":""}`+"\n")), 10)
	dst = append(dst, "\r\n"...)
	dst = append(dst, extra...)
	dst = append(dst, "\r\n"...)
	if isHead(q) {
		return dst
	}
	dst = append(dst, `{"id":"`...)
	dst = append(dst, id...)
	return append(dst, "\"}\n"...)
}

func notAllowed(dst []byte, q *head, extra string) []byte {
	return reply(dst, q, "HTTP/1.1 405 Method Not Allowed\r\nAllow: GET, HEAD\r\nContent-Type: text/plain\r\nContent-Length: 19\r\n", extra, "method not allowed\n")
}

func reply(dst []byte, q *head, lines, extra, body string) []byte {
	dst = append(dst, lines...)
	dst = append(dst, extra...)
	dst = append(dst, "\r\n"...)
	if isHead(q) {
		return dst
	}
	return append(dst, body...)
}

func isHead(q *head) bool { return string(q.method) == "HEAD" }

// reads reports whether the request wants to see something and no more.
func reads(q *head) bool { return string(q.method) == "GET" || isHead(q) }

// target is the path of a request's target.
func target(t []byte) []byte {
	if rest, absolute := bytes.CutPrefix(t, []byte("http://")); absolute {
		t = rest[max(0, bytes.IndexByte(rest, '/')):]
	}
	if i := bytes.IndexByte(t, '?'); i >= 0 {
		t = t[:i]
	}
	return t
}

// plain reports whether an id means the same in a path and in JSON, byte by
// byte.
func plain(id []byte) bool {
	for _, c := range id {
		letter := c|0x20 >= 'a' && c|0x20 <= 'z'
		if !letter && (c < '0' || c > '9') && c != '-' && c != '_' && c != '.' && c != '~' {
			return false
		}
	}
	return true
}
