package server

import (
	"bytes"
	"net/http"
	"strconv"
)

// [Null] is a minimal server that shows the cost of measuring. This file parses its requests.

const chunkedLength = -1

// Request has the parts of a request that can affect the answer of a [Null] server.
type Request struct {
	Method, Target []byte
	ID             []byte // X-Request-Id
	Body           []byte // set if Null.MaxBody is set
	TooLong        bool   // the body was longer than Null.MaxBody

	length  int64 // or chunkedLength
	http10  bool
	close   bool
	expects bool // the client waits for 100 Continue
}

// Head reports whether the answer has no body.
func (q *Request) Head() bool { return string(q.Method) == http.MethodHead }

// parseHead parses the lines of a head, each with its end \r\n. It is strict: otherwise two programs could read
// different requests from the same bytes. An error is a rejectedError.
func parseHead(block []byte) (Request, error) {
	var q Request
	line, rest, ok := cutLine(block)
	if !ok {
		return Request{}, rejectedError(http.StatusBadRequest)
	}
	if err := q.readRequestLine(line); err != nil {
		return Request{}, err
	}
	var n fieldCounts
	for len(rest) > 0 {
		if line, rest, ok = cutLine(rest); !ok {
			return Request{}, rejectedError(http.StatusBadRequest)
		}
		if err := q.readField(line, &n); err != nil {
			return Request{}, err
		}
	}
	isHostInvalid := n.hosts > 1 || n.hosts == 0 && !q.http10
	isLengthUnclear := n.codings > 1 || n.codings > 0 && (n.lengths > 0 || q.http10)
	if isHostInvalid || isLengthUnclear {
		return Request{}, rejectedError(http.StatusBadRequest)
	}
	if n.codings > 0 {
		q.length = chunkedLength
	}
	return q, nil
}

// readRequestLine parses GET /users/7 HTTP/1.1, for example.
func (q *Request) readRequestLine(line []byte) error {
	firstSpace := bytes.IndexByte(line, ' ')
	lastSpace := bytes.LastIndexByte(line, ' ')
	hasMethod, hasTarget := firstSpace >= 1, lastSpace-firstSpace >= 2
	if !hasMethod || !hasTarget {
		return rejectedError(http.StatusBadRequest)
	}
	q.Method, q.Target = line[:firstSpace], line[firstSpace+1:lastSpace]
	if !isToken(q.Method) || !isVisible(q.Target) { // isVisible rejects further spaces, too
		return rejectedError(http.StatusBadRequest)
	}
	switch string(line[lastSpace+1:]) {
	case "HTTP/1.1": // the default
	case "HTTP/1.0":
		q.http10, q.close = true, true
	default:
		return rejectedError(http.StatusHTTPVersionNotSupported)
	}
	return nil
}

type fieldCounts struct{ hosts, lengths, codings int }

// readField parses a header field, for example Content-Length: 7, and counts it in n.
func (q *Request) readField(line []byte, n *fieldCounts) error {
	colon := bytes.IndexByte(line, ':')
	if colon < 1 || !isToken(line[:colon]) {
		return rejectedError(http.StatusBadRequest)
	}
	value := bytes.Trim(line[colon+1:], " \t")
	switch name := line[:colon]; {
	case equalFold(name, "host"):
		n.hosts++
	case equalFold(name, "connection"):
		q.readConnection(value)
	case equalFold(name, "content-length"):
		length, err := strconv.ParseUint(string(value), 10, 62)
		if err != nil || n.lengths > 0 {
			return rejectedError(http.StatusBadRequest)
		}
		q.length = int64(length)
		n.lengths++
	case equalFold(name, "transfer-encoding"):
		if !equalFold(value, "chunked") {
			return rejectedError(http.StatusNotImplemented)
		}
		n.codings++
	case equalFold(name, "expect"):
		q.expects = equalFold(value, "100-continue")
	case equalFold(name, "x-request-id"):
		q.ID = value
	}
	return nil
}

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

// cutLine cuts the first line off block. ok is false unless the line ends with \r\n and has no other carriage
// return and no zero byte.
func cutLine(block []byte) (line, rest []byte, ok bool) {
	i := bytes.IndexByte(block, '\n')
	if i < 1 || block[i-1] != '\r' {
		return nil, nil, false
	}
	line, rest = block[:i-1], block[i+1:]
	return line, rest, bytes.IndexByte(line, '\r') < 0 && bytes.IndexByte(line, 0) < 0
}

// equalFold reports whether name equals word, ignoring case. word must be in lower case.
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

// isVisible reports whether target is printable ASCII without spaces.
func isVisible(target []byte) bool {
	for _, c := range target {
		if c <= ' ' || c > '~' {
			return false
		}
	}
	return true
}
