package server

import (
	"bytes"
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

// maxFields limits the header fields of a request.
const maxFields = 200

// requestHead is the request line and header of an HTTP/1 request. A head with more than one interpretation is
// rejected. Frameworks accept some that RFC 9112 forbids, and a proxy may interpret them differently.
type requestHead struct {
	method, target, version string   // e.g. GET, /users/7, HTTP/1.1
	fields                  []field  // same order as in the request
	question                Question // input of Ops, which may answer
	length                  int64    // bytes of the body; -1 if chunked
	expects                 bool     // the client waits for 100 Continue
	closes                  bool     // the connection closes after the answer
}

type field struct{ name, value string }

type badRequest struct {
	status  int
	message string
}

func (e *badRequest) Error() string { return e.message }

func newMalformed(message string) *badRequest { return &badRequest{http.StatusBadRequest, message} }

// endOfHead returns the length of the head, or 0 if it has not ended. A bare line feed is an error
// immediately.
func endOfHead(text []byte) (int, *badRequest) {
	for lineStart := 0; ; {
		i := bytes.IndexByte(text[lineStart:], '\n')
		if i < 0 {
			return 0, nil
		}
		i += lineStart
		switch {
		case i == 0 || text[i-1] != '\r':
			return 0, newMalformed("a line of the head ends without a carriage return")
		case i == lineStart+1: // an empty line
			if lineStart == 0 {
				return 0, newMalformed("the head begins with an empty line")
			}
			return i + 1, nil
		}
		lineStart = i + 1
	}
}

func parseRequestHead(text []byte) (*requestHead, *badRequest) {
	lines := strings.Split(strings.TrimSuffix(string(text), "\r\n\r\n"), "\r\n")
	h := &requestHead{}
	if err := h.parseLine(lines[0]); err != nil {
		return nil, err
	}
	if len(lines)-1 > maxFields {
		return nil, &badRequest{http.StatusRequestHeaderFieldsTooLarge, "there are more than " + strconv.Itoa(maxFields) + " header fields"}
	}
	for _, line := range lines[1:] {
		f, err := parseField(line)
		if err != nil {
			return nil, err
		}
		h.fields = append(h.fields, f)
	}
	if err := h.parseHost(); err != nil {
		return nil, err
	}
	if err := h.parseFraming(); err != nil {
		return nil, err
	}
	h.question.Method, h.question.Path = h.method, pathOf(h.target)
	for _, name := range []string{"Authorization", "Content-Type", "Content-Encoding", "Origin"} {
		if _, isSingle := h.singleField(name); !isSingle {
			return nil, newMalformed("there are several " + name + " fields")
		}
	}
	h.question.Authorization, _ = h.singleField("Authorization")
	h.question.ContentType, _ = h.singleField("Content-Type")
	h.question.Accept, _ = h.singleField("Accept") // the first of several is enough
	connection, _ := h.singleField("Connection")
	closesByDefault := h.version == "HTTP/1.0" && !hasToken(connection, "keep-alive")
	h.closes = closesByDefault || hasToken(connection, "close")
	return h, nil
}

// parseLine parses GET /users/7 HTTP/1.1, for example.
func (h *requestHead) parseLine(line string) *badRequest {
	parts := strings.Split(line, " ")
	if len(parts) != 3 || !isToken(parts[0]) || parts[1] == "" {
		return newMalformed("the request line is not: method, space, target, space, version")
	}
	h.method, h.target, h.version = parts[0], parts[1], parts[2]
	if h.version != "HTTP/1.1" && h.version != "HTTP/1.0" {
		if strings.HasPrefix(h.version, "HTTP/") {
			return &badRequest{http.StatusHTTPVersionNotSupported, "this is for HTTP/1.0 and HTTP/1.1"}
		}
		return newMalformed("the request line does not end with a version of HTTP")
	}
	for i := range len(h.target) {
		if c := h.target[i]; c <= ' ' || c >= 0x7f || c == '#' {
			return newMalformed("the target has a byte that must be escaped")
		}
	}
	if path, _, _ := strings.Cut(h.target, "?"); strings.Contains(path, "%") {
		if _, err := url.PathUnescape(path); err != nil {
			return newMalformed("the path has a % without two hexadecimal digits")
		}
	}
	return nil
}

// parseField parses a line of the head. It rejects white space at the start, which some parsers take for a
// continuation.
func parseField(line string) (field, *badRequest) {
	name, value, ok := strings.Cut(line, ":")
	if !ok || !isToken(name) {
		return field{}, newMalformed("a header field is not: name, colon, value")
	}
	value = strings.Trim(value, " \t")
	for i := range len(value) {
		if c := value[i]; c < ' ' && c != '\t' || c == 0x7f {
			return field{}, newMalformed("the value of a header field has a control byte")
		}
	}
	return field{name, value}, nil
}

// singleField returns the value of the first field of that name, or "". ok is false if there are several.
func (h *requestHead) singleField(name string) (value string, ok bool) {
	n := 0
	for _, f := range h.fields {
		if strings.EqualFold(f.name, name) {
			if n++; n == 1 {
				value = f.value
			}
		}
	}
	return value, n <= 1
}

// parseHost reads the host from the target or the Host field.
func (h *requestHead) parseHost() *badRequest {
	host, isSingle := h.singleField("Host")
	if !isSingle {
		return newMalformed("there are several Host fields")
	}
	if authority, path, isAbsolute := splitTarget(h.target); isAbsolute {
		if host != "" && !strings.EqualFold(host, authority) {
			return newMalformed("the target and Host name different hosts")
		}
		host, h.target = authority, path
	}
	isOptionsStar := h.target == "*" && h.method == http.MethodOptions
	switch {
	case host == "" && h.version == "HTTP/1.1":
		return newMalformed("there is no Host")
	case !isHost(host):
		return newMalformed("Host is not a host name or address with an optional port")
	case h.target[0] != '/' && !isOptionsStar:
		return newMalformed("the target is not a path")
	}
	h.question.Host = host
	return nil
}

// splitTarget splits http://localhost?a=b, for example, into localhost and /?a=b.
func splitTarget(target string) (authority, path string, isAbsolute bool) {
	scheme, rest, hasScheme := strings.Cut(target, "://")
	isHTTP := strings.EqualFold(scheme, "http") || strings.EqualFold(scheme, "https")
	if !hasScheme || !isHTTP {
		return "", "", false
	}
	i := strings.IndexAny(rest, "/?")
	if i < 0 {
		return rest, "/", true
	}
	authority, path = rest[:i], rest[i:]
	if path[0] == '?' {
		path = "/" + path
	}
	return authority, path, true
}

// parseFraming reads the length of the body. It rejects every ambiguous form: RFC 9112, section 6.
func (h *requestHead) parseFraming() *badRequest {
	length, isSingleLength := h.singleField("Content-Length")
	coding, isSingleCoding := h.singleField("Transfer-Encoding")
	hasLength, hasCoding := h.hasField("Content-Length"), h.hasField("Transfer-Encoding")
	switch {
	case hasLength && hasCoding:
		return newMalformed("there are Content-Length and Transfer-Encoding")
	case !isSingleLength || !isSingleCoding:
		return newMalformed("there are several Content-Length or Transfer-Encoding fields")
	case hasCoding && h.version == "HTTP/1.0":
		return newMalformed("HTTP/1.0 has no Transfer-Encoding")
	case hasCoding && !strings.EqualFold(coding, "chunked"):
		return &badRequest{http.StatusNotImplemented, "the only transfer coding is chunked"}
	case hasCoding:
		h.length = -1
	case hasLength:
		n, err := strconv.ParseUint(length, 10, 63)
		if err != nil || strings.Trim(length, "0123456789") != "" {
			return newMalformed("Content-Length is not a number of bytes")
		}
		h.length = int64(n)
	}
	expect, isSingle := h.singleField("Expect")
	switch {
	case !isSingle || expect != "" && !strings.EqualFold(expect, "100-continue"):
		return &badRequest{http.StatusExpectationFailed, "the only expectation is 100-continue"}
	case expect != "":
		h.expects = h.version == "HTTP/1.1" // HTTP/1.0 has no 100 Continue
	}
	return nil
}

func (h *requestHead) hasField(name string) bool {
	for _, f := range h.fields {
		if strings.EqualFold(f.name, name) {
			return true
		}
	}
	return false
}

// formatHead returns the head for the framework's server (the stack), with a body of n bytes. It has no other
// field about lengths or trailers.
func (h *requestHead) formatHead(n int) []byte {
	var b bytes.Buffer
	b.WriteString(h.method + " " + h.target + " " + h.version + "\r\n")
	for _, f := range h.fields {
		switch strings.ToLower(f.name) {
		case "content-length", "transfer-encoding", "expect", "trailer", "te", "host":
			continue
		}
		b.WriteString(f.name + ": " + f.value + "\r\n")
	}
	if h.question.Host != "" {
		b.WriteString("Host: " + h.question.Host + "\r\n")
	}
	if h.length != 0 || h.hasField("Content-Length") {
		b.WriteString("Content-Length: " + strconv.Itoa(n) + "\r\n")
	}
	b.WriteString("\r\n")
	return b.Bytes()
}

func pathOf(target string) string {
	path, _, _ := strings.Cut(target, "?")
	plain, _ := url.PathUnescape(path) // parseLine has checked the path
	return plain
}

// isToken reports whether s is a token, such as a method: RFC 9110, section 5.6.2.
func isToken[T string | []byte](s T) bool {
	return len(s) > 0 && hasOnlyASCII(s, "!#$%&'*+-.^_`|~")
}

// isHost reports whether s has only bytes of a host with an optional port. "" is a host.
func isHost(s string) bool { return hasOnlyASCII(s, "-._~%!$&'()*+;=:[]") }

func hasOnlyASCII[T string | []byte](s T, marks string) bool {
	for i := range len(s) {
		c := s[i]
		isLetter := c|0x20 >= 'a' && c|0x20 <= 'z' // c|0x20 is in lower case
		isDigit := c >= '0' && c <= '9'
		if !isLetter && !isDigit && strings.IndexByte(marks, c) < 0 {
			return false
		}
	}
	return true
}

// hasToken reports whether a list with commas contains token, ignoring case.
func hasToken(list, token string) bool {
	for part := range strings.SplitSeq(list, ",") {
		if strings.EqualFold(strings.Trim(part, " \t"), token) {
			return true
		}
	}
	return false
}
