package load

const codeCount = 17

// message parses the messages of a gRPC response from DATA frames, in parts of any size. A prefix precedes
// each message: a compression flag and the length.
type message struct {
	many   bool // a stream: any number of messages
	prefix [prefixLen]byte
	got    int   // bytes of the prefix so far
	left   int64 // bytes of the current message still to arrive
	body   int64 // bytes of all messages so far, without prefixes
}

func (m *message) takeData(b []byte) error {
	for len(b) > 0 {
		if m.many && m.got == prefixLen && m.left == 0 {
			m.got = 0
		}
		n := copy(m.prefix[m.got:], b)
		if m.got += n; n > 0 && m.got == prefixLen {
			switch p := &m.prefix; { // p[0] is the compression flag
			case p[0] == 1:
				return frameError("a compressed message, which was not requested")
			case p[0] != 0:
				return frameError("a message without a prefix")
			default:
				m.left = int64(p[1])<<24 | int64(p[2])<<16 | int64(p[3])<<8 | int64(p[4])
			}
		}
		if b = b[n:]; len(b) == 0 {
			return nil
		}
		k := min(m.left, int64(len(b)))
		if k == 0 && !m.many {
			return frameError("more than one message, or one longer than its prefix says")
		}
		m.body, m.left, b = m.body+k, m.left-k, b[k:]
	}
	return nil
}

// finish checks the messages at the end of the response, and returns the HTTP status for the gRPC code. A
// successful response has a message unless it is a stream.
func (m *message) finish(code int) (status int, err error) {
	switch {
	case code == noCode:
		return 0, frameError("no grpc-status at the end of the answer")
	case code == badCode:
		return 0, frameError("a grpc-status that is no number, or more than one")
	case m.got > 0 && m.got < prefixLen || m.left > 0:
		return 0, frameError("a message shorter than its prefix says")
	case code == 0 && m.got == 0 && !m.many:
		return 0, frameError("grpc-status 0 without a message")
	}
	return httpStatus(code), nil
}

// httpStatus returns the HTTP status that google.rpc.Code documents for a gRPC code.
func httpStatus(code int) int {
	statuses := [...]int{200, 499, 500, 400, 504, 404, 409, 403, 429, 400, 409, 400, 501, 500, 503, 500, 401}
	if code < len(statuses) {
		return statuses[code]
	}
	return 500
}

// knownCode returns code, or 2 (UNKNOWN) if gRPC does not define it.
func knownCode(code int) int {
	if code < codeCount {
		return code
	}
	return 2
}

// CodeName returns the name of a gRPC code.
func CodeName(code int) string {
	return [codeCount]string{
		"OK", "CANCELLED", "UNKNOWN", "INVALID_ARGUMENT", "DEADLINE_EXCEEDED", "NOT_FOUND", "ALREADY_EXISTS", "PERMISSION_DENIED", "RESOURCE_EXHAUSTED",
		"FAILED_PRECONDITION", "ABORTED", "OUT_OF_RANGE", "UNIMPLEMENTED", "INTERNAL", "UNAVAILABLE", "DATA_LOSS", "UNAUTHENTICATED",
	}[knownCode(code)]
}
