package server

import (
	"bytes"
	"net/http"
	"strconv"
)

// chunkedLength marks a body without a known length.
const chunkedLength = -1

// Request is the part of a request that can affect an answer.
type Request struct {
	Method, Target []byte
	ID             []byte // X-Request-Id
	Body           []byte // if bodies are stored
	TooLong        bool   // the body was longer than the limit

	length  int64 // bytes of the body, or chunkedLength
	http10  bool  // the version is HTTP/1.0
	close   bool  // no other request follows on the connection
	expects bool  // the client waits for 100 Continue
}

// Head reports whether the answer has no body.
func (q *Request) Head() bool { return string(q.Method) == http.MethodHead }

// parseHead parses a head of complete lines without its empty line. It is strict, because
// tolerance in the ends of lines or the length of a body lets two programs read two
// different requests. An error is a rejectedError.
func parseHead(block []byte) (Request, error) {
	bad := func(status int) (Request, error) { return Request{}, rejectedError(status) }
	line, rest, ok := cutLine(block)
	first := bytes.IndexByte(line, ' ')
	last := bytes.LastIndexByte(line, ' ')
	if !ok || first < 1 || last-first < 2 {
		return bad(http.StatusBadRequest)
	}
	q := Request{Method: line[:first], Target: line[first+1 : last]}
	if !isTokenText(q.Method) || !isVisible(q.Target) { // a space, too, is not visible
		return bad(http.StatusBadRequest)
	}
	switch string(line[last+1:]) {
	case "HTTP/1.1": // the default
	case "HTTP/1.0":
		q.http10, q.close = true, true
	default:
		return bad(http.StatusHTTPVersionNotSupported)
	}
	hosts, lengths, codings := 0, 0, 0
	for len(rest) > 0 {
		if line, rest, ok = cutLine(rest); !ok {
			return bad(http.StatusBadRequest)
		}
		colon := bytes.IndexByte(line, ':')
		if colon < 1 || !isTokenText(line[:colon]) {
			return bad(http.StatusBadRequest)
		}
		value := bytes.Trim(line[colon+1:], " \t")
		switch name := line[:colon]; {
		case equalFold(name, "host"):
			hosts++
		case equalFold(name, "connection"):
			q.readConnection(value)
		case equalFold(name, "content-length"):
			n, err := strconv.ParseUint(string(value), 10, 62)
			if err != nil || lengths > 0 {
				return bad(http.StatusBadRequest)
			}
			q.length = int64(n)
			lengths++
		case equalFold(name, "transfer-encoding"):
			if !equalFold(value, "chunked") {
				return bad(http.StatusNotImplemented)
			}
			codings++
		case equalFold(name, "expect"):
			q.expects = equalFold(value, "100-continue")
		case equalFold(name, "x-request-id"):
			q.ID = value
		}
	}
	switch {
	case hosts > 1 || hosts == 0 && !q.http10:
		return bad(http.StatusBadRequest)
	case codings > 1 || codings > 0 && (lengths > 0 || q.http10):
		return bad(http.StatusBadRequest)
	case codings > 0:
		q.length = chunkedLength
	}
	return q, nil
}

// readConnection reads the value of a Connection header.
func (q *Request) readConnection(value []byte) {
	for len(value) > 0 {
		option, rest, _ := bytes.Cut(value, []byte(","))
		switch option = bytes.Trim(option, " \t"); {
		case equalFold(option, "close"):
			q.close = true
			return
		case equalFold(option, "keep-alive"):
			q.close = false
		}
		value = rest
	}
}

// cutLine splits off the first line. It returns false if the line does not end with \r\n, or has another carriage
// return or a zero byte.
func cutLine(block []byte) (line, rest []byte, ok bool) {
	i := bytes.IndexByte(block, '\n')
	if i < 1 || block[i-1] != '\r' {
		return nil, nil, false
	}
	line, rest = block[:i-1], block[i+1:]
	return line, rest, bytes.IndexByte(line, '\r') < 0 && bytes.IndexByte(line, 0) < 0
}

// equalFold reports whether name equals a word in lower case.
func equalFold(name []byte, word string) bool {
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

// isTokenText reports whether name consists of bytes that a method or the name of a header may have.
func isTokenText(name []byte) bool {
	for _, c := range name {
		letter := c|0x20 >= 'a' && c|0x20 <= 'z'
		if !letter && c != '-' && (c < '0' || c > '9') && bytes.IndexByte([]byte("!#$%&'*+.^_`|~"), c) < 0 {
			return false
		}
	}
	return true
}

// isVisible reports whether a target consists of printable ASCII characters.
func isVisible(target []byte) bool {
	for _, c := range target {
		if c <= ' ' || c > '~' {
			return false
		}
	}
	return true
}
