package server

import (
	"bytes"
	"net/http"
	"strconv"
)

// chunked is the length of a body that does not say it.
const chunked = -1

// Request is a request, as far as an answer depends on it.
type Request struct {
	Method, Target []byte
	ID             []byte // X-Request-Id
	Body           []byte // where bodies are kept
	TooLong        bool   // there was more of it than is kept

	length  int64 // of the body; chunked: in chunks
	old     bool  // HTTP/1.0
	close   bool  // no other request follows on the connection
	expects bool  // the client waits for 100 Continue
}

// Head reports whether the answer has no body.
func (q *Request) Head() bool { return string(q.Method) == http.MethodHead }

// parseHead reads a head, whole lines without the empty one. It is strict, as
// lenience in what ends a line or how long a body is lets two programs read two
// different requests.
func parseHead(block []byte) (Request, error) {
	bad := func(status int) (Request, error) { return Request{}, refused(status) }
	line, rest, ok := cutLine(block)
	first := bytes.IndexByte(line, ' ')
	last := bytes.LastIndexByte(line, ' ')
	if !ok || first < 1 || last-first < 2 || bytes.IndexByte(line[first+1:last], ' ') >= 0 || !token(line[:first]) || !visible(line[first+1:last]) {
		return bad(http.StatusBadRequest)
	}
	q := Request{Method: line[:first], Target: line[first+1 : last]}
	switch string(line[last+1:]) {
	case "HTTP/1.1":
	case "HTTP/1.0":
		q.old, q.close = true, true
	default:
		return bad(http.StatusHTTPVersionNotSupported)
	}
	hosts, lengths, codings := 0, 0, 0
	for len(rest) > 0 {
		if line, rest, ok = cutLine(rest); !ok {
			return bad(http.StatusBadRequest)
		}
		colon := bytes.IndexByte(line, ':')
		if colon < 1 || !token(line[:colon]) {
			return bad(http.StatusBadRequest)
		}
		value := bytes.Trim(line[colon+1:], " \t")
		switch name := line[:colon]; {
		case is(name, "host"):
			hosts++
		case is(name, "connection"):
			q.connection(value)
		case is(name, "content-length"):
			n, err := strconv.ParseUint(string(value), 10, 62)
			if err != nil || lengths > 0 {
				return bad(http.StatusBadRequest)
			}
			q.length = int64(n)
			lengths++
		case is(name, "transfer-encoding"):
			if !is(value, "chunked") {
				return bad(http.StatusNotImplemented)
			}
			codings++
		case is(name, "expect"):
			q.expects = is(value, "100-continue")
		case is(name, "x-request-id"):
			q.ID = value
		}
	}
	switch {
	case hosts > 1 || hosts == 0 && !q.old || codings > 1 || codings > 0 && (lengths > 0 || q.old):
		return bad(http.StatusBadRequest)
	case codings > 0:
		q.length = chunked
	}
	return q, nil
}

// connection reads the value of a Connection header.
func (q *Request) connection(value []byte) {
	for len(value) > 0 {
		option, rest, _ := bytes.Cut(value, []byte(","))
		switch option = bytes.Trim(option, " \t"); {
		case is(option, "close"):
			q.close = true
			return
		case is(option, "keep-alive"):
			q.close = false
		}
		value = rest
	}
}

// cutLine cuts the first line off. A line feed or carriage return that does not
// end a line is not ok.
func cutLine(block []byte) (line, rest []byte, ok bool) {
	i := bytes.IndexByte(block, '\n')
	if i < 1 || block[i-1] != '\r' {
		return nil, nil, false
	}
	line, rest = block[:i-1], block[i+1:]
	return line, rest, bytes.IndexByte(line, '\r') < 0 && bytes.IndexByte(line, 0) < 0
}

// is compares with a word in lower case.
func is(name []byte, word string) bool {
	if len(name) != len(word) {
		return false
	}
	for i, c := range name {
		if c >= 'A' && c <= 'Z' {
			c += 'a' - 'A'
		}
		if c != word[i] {
			return false
		}
	}
	return true
}

// token reports whether name is a method or the name of a header.
func token(name []byte) bool {
	for _, c := range name {
		letter := c|0x20 >= 'a' && c|0x20 <= 'z'
		if !letter && c != '-' && (c < '0' || c > '9') && bytes.IndexByte([]byte("!#$%&'*+.^_`|~"), c) < 0 {
			return false
		}
	}
	return true
}

// visible reports whether a target has none but printing characters of ASCII.
func visible(target []byte) bool {
	for _, c := range target {
		if c <= ' ' || c > '~' {
			return false
		}
	}
	return true
}
