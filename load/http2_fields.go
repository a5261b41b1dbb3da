package load

// headerFields contains the header fields that determine the end and the status of a response, in HTTP/2 or
// HTTP/3.
type headerFields struct {
	trailers bool
	regular  bool  // a field other than a pseudo-field
	status   int   // 0 without a status
	length   int64 // Content-Length plus 1; 0 without the field
	code     int   // grpc-status, noCode or badCode
}

// Special values of headerFields.code.
const (
	noCode  = -1 // there is no grpc-status
	badCode = -2 // grpc-status is invalid or repeated
)

// addField parses one field (RFC 9113, sections 8.2 and 8.3).
func (k *headerFields) addField(name, value []byte) error {
	for _, c := range value {
		if c == '\r' || c == '\n' || c == 0 {
			return frameError("CR, LF or NUL within a field")
		}
	}
	if isPseudo := len(name) > 0 && name[0] == ':'; isPseudo {
		switch {
		case k.trailers:
			return frameError("a field of the head among trailers")
		case k.regular:
			return frameError("a status behind other fields")
		case string(name) != ":status" || k.status != 0:
			return frameError("not one status, but others of its kind")
		}
		return k.readStatus(value)
	}
	k.regular = true
	if len(name) == 0 {
		return frameError("a field without a name")
	}
	for _, c := range name {
		if !isToken(c) || c >= 'A' && c <= 'Z' {
			return frameError("a field name with a character that cannot be in one")
		}
	}
	switch {
	case isConnectionField(name):
		return frameError("a field about the connection, which HTTP/2 does not have")
	case string(name) == "grpc-status":
		k.code = readCode(k.code, value)
	case string(name) == "content-length" && !k.trailers:
		return setContentLength(&k.length, value)
	}
	return nil
}

// isConnectionField reports whether a field is only for HTTP/1.1 (RFC 9113, section 8.2.2). name is in
// lower case.
func isConnectionField(name []byte) bool {
	switch string(name) {
	case "connection", "keep-alive", "proxy-connection", "transfer-encoding", "upgrade":
		return true
	}
	return false
}

func (k *headerFields) readStatus(value []byte) error {
	if len(value) != 3 || value[0] < '1' {
		return frameError("a status that is no number of three digits")
	}
	for _, c := range value {
		if c < '0' || c > '9' {
			return frameError("a status that is no number of three digits")
		}
		k.status = k.status*10 + int(c-'0')
	}
	return nil
}

// readCode parses a grpc-status. before is the code of an earlier one, or noCode.
func readCode(before int, value []byte) int {
	const maxDigits = 9 // fits into an int of 32 bits
	n, ok := readLength(value)
	if !ok || len(value) > maxDigits || before != noCode {
		return badCode
	}
	return int(n)
}
