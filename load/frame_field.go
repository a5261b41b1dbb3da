package load

import "bytes"

// readField parses one line of a header or of trailers, such as Content-Length: 12. Only three fields
// matter: they determine the end of a response and of its connection. In trailers they mean nothing (RFC
// 9110, section 6.5.1).
func (f *http1Parser) readField(line []byte) error {
	if line[0] == ' ' || line[0] == '\t' {
		return frameError("a folded field")
	}
	colon := bytes.IndexByte(line, ':')
	if colon <= 0 {
		return frameError("a field without a name")
	}
	name := line[:colon]
	for _, c := range name {
		if !isToken(c) {
			return frameError("a field name with a character that cannot be in one")
		}
	}
	if f.at == atTrailer {
		return nil
	}
	switch len(name) { // cheaper than comparing names
	case len("connection"):
		if equalFold(name, "connection") {
			f.readConnection(line[colon+1:])
		}
	case len("content-length"):
		if equalFold(name, "content-length") {
			return setContentLength(&f.length, trimSpace(line[colon+1:]))
		}
	case len("transfer-encoding"):
		if equalFold(name, "transfer-encoding") {
			if f.chunked || !equalFold(trimSpace(line[colon+1:]), "chunked") {
				return frameError("a transfer coding other than chunked")
			}
			f.chunked = true
		}
	}
	return nil
}

func (f *http1Parser) readConnection(list []byte) {
	for len(list) > 0 {
		option := list
		if i := bytes.IndexByte(list, ','); i >= 0 {
			option, list = list[:i], list[i+1:]
		} else {
			list = nil
		}
		switch option = trimSpace(option); {
		case equalFold(option, "close"):
			f.closes = true
		case equalFold(option, "keep-alive"):
			f.stays = true
		}
	}
}

// setContentLength parses a Content-Length and sets length to it plus 1; 0 means no such field. A second
// field is an error.
func setContentLength(length *int64, value []byte) error {
	if *length > 0 {
		return frameError("Content-Length more than once")
	}
	n, ok := readLength(value)
	if !ok {
		return frameError("a Content-Length that is no length")
	}
	*length = n + 1
	return nil
}

func readLength(value []byte) (n int64, ok bool) {
	for _, c := range value {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = n*10 + int64(c-'0')
	}
	return n, len(value) > 0 && len(value) <= 18
}

// equalFold reports whether b equals lower, which is in lower case, whatever the case of b.
func equalFold(b []byte, lower string) bool {
	if len(b) != len(lower) {
		return false
	}
	for i, c := range b {
		if c >= 'A' && c <= 'Z' {
			c |= 0x20
		}
		if c != lower[i] {
			return false
		}
	}
	return true
}

func trimSpace(b []byte) []byte {
	for len(b) > 0 && (b[0] == ' ' || b[0] == '\t') {
		b = b[1:]
	}
	for len(b) > 0 && (b[len(b)-1] == ' ' || b[len(b)-1] == '\t') {
		b = b[:len(b)-1]
	}
	return b
}

// isToken reports whether c can be in a method or a field name: letters, digits and !#$%&'*+-.^_`|~ (RFC
// 9110, section 5.6.2).
func isToken(c byte) bool {
	// Bits of the allowed characters: lo has those below 64, hi the next 64.
	const lo, hi uint64 = 0x03ff6cfa00000000, 0x57ffffffc7fffffe
	if c < 64 {
		return lo>>c&1 != 0
	}
	return c < 128 && hi>>(c-64)&1 != 0
}
