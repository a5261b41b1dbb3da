package ingest

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
)

// countRecords returns an error if a body has more records than a batch may have. It does not decode the body.
// For ordinary JSON it only counts commas, which is fast.
func (s *Service) countRecords(h Head, body []byte) error {
	format, _ := mediaType(h.ContentType)
	tooMany := false
	switch format {
	case Protobuf:
		tooMany = exceedsLimitProtobuf(body, s.limit)
	case Gob:
		n, err := gobLen(body)
		if err != nil {
			return s.Malformed(h, body, err)
		}
		tooMany = n > uint64(s.limit)
	default:
		var broken bool
		if tooMany, broken = exceedsLimitJSON(body, s.limit); broken {
			return s.Malformed(h, body, errBrackets)
		}
	}
	if tooMany {
		return newRefusal(nil, badRequest, "batch", fmt.Sprintf("a batch has at most %d records, this one has more", s.limit))
	}
	return nil
}

const (
	// maxCommas times the limit: up to this number of commas a body is not parsed. A record has about 20.
	maxCommas = 64
	// maxDepth of brackets is that of encoding/json.
	maxDepth = 10_000
)

// errBrackets is for JSON in which decoders may disagree on the array's end.
var errBrackets = fmt.Errorf("brackets do not match, or are more than %d deep", maxDepth)

// exceedsLimitJSON reports whether an array has more than limit elements. broken means that brackets or quotes
// do not match: decoders disagree on the end.
func exceedsLimitJSON(body []byte, limit int) (exceeds, broken bool) {
	if bytes.Count(body, []byte(",")) <= maxCommas*limit {
		return false, false
	}
	elements := 1
	var open []byte
	for i := 0; i < len(body); i++ {
		switch c := body[i]; c {
		case '"':
			if i = stringEnd(body, i+1); i < 0 {
				return false, true
			}
		case '[', '{':
			open = append(open, c)
			if len(open) > maxDepth {
				return false, true
			}
		case ']', '}':
			last := len(open) - 1
			if last < 0 || open[last]+2 != c { // in ASCII ']' is '['+2, and '}' is '{'+2
				return false, true
			}
			open = open[:last]
		case ',':
			if len(open) == 1 { // comma between elements of the outermost array
				elements++
				if elements > limit && open[0] == '[' {
					return true, false
				}
			}
		}
	}
	return false, len(open) > 0
}

// stringEnd returns the index of the quote that ends a string, or -1. i is the index after the first quote.
func stringEnd(body []byte, i int) int {
	for {
		n := bytes.IndexByte(body[i:], '"')
		if n < 0 {
			return -1
		}
		quote := i + n
		backslashes := 0
		for k := quote - 1; k >= i && body[k] == '\\'; k-- {
			backslashes++
		}
		isEscaped := backslashes%2 == 1
		if !isEscaped {
			return quote
		}
		i = quote + 1
	}
}

// exceedsLimitProtobuf reports whether a message has more than limit records, which are fields with number 1.
// It returns false if it cannot parse the body, which decoders then reject.
func exceedsLimitProtobuf(body []byte, limit int) bool {
	const groupStart, groupEnd, fixed32 = 3, 4, 5 // wire types that the app does not use
	records, depth := 0, 0
	for len(body) > 0 {
		tag, n := binary.Uvarint(body)
		if n <= 0 {
			return false
		}
		body = body[n:]
		fieldNumber, wireType := tag>>3, tag&7
		if fieldNumber == 1 && depth == 0 {
			records++
			if records > limit {
				return true
			}
		}
		size := uint64(0) // bytes of the value
		switch wireType {
		case wireVarint:
			_, n = binary.Uvarint(body)
			size = uint64(max(n, 0))
		case wireBytes:
			if size, n = binary.Uvarint(body); n > 0 {
				body = body[n:]
			}
		case wireDouble:
			size = 8
		case fixed32:
			size = 4
		case groupStart:
			depth++
		case groupEnd:
			depth--
		}
		if n <= 0 || size > uint64(len(body)) {
			return false
		}
		body = body[size:]
	}
	return false
}

var errGob = errors.New("not a slice in gob")

// gobLen returns the length of the slice at the start of a gob stream, or errGob.
//
// Each message begins with its size and a type's id. A negative id precedes a type definition. A slice begins
// with a zero byte and its length. See the documentation of encoding/gob.
func gobLen(stream []byte) (uint64, error) {
	for {
		size, message, ok := gobUint(stream)
		if !ok || size == 0 || size > uint64(len(message)) {
			return 0, errGob
		}
		stream = message[size:]
		id, value, ok := gobUint(message[:size])
		switch {
		case !ok:
			return 0, errGob
		case id&1 == 1: // the lowest bit is the sign: a type definition
			continue
		case len(value) == 0 || value[0] != 0:
			return 0, errGob
		}
		n, _, ok := gobUint(value[1:])
		if !ok {
			return 0, errGob
		}
		return n, nil
	}
}

// gobUint parses gob's unsigned integer and returns the rest. A number below 128 is one byte. Otherwise the
// first byte is the negative count of bytes, most significant first.
func gobUint(b []byte) (n uint64, rest []byte, ok bool) {
	if len(b) == 0 {
		return 0, nil, false
	}
	if b[0] < 128 {
		return uint64(b[0]), b[1:], true
	}
	count := -int(int8(b[0]))
	if count > 8 || count >= len(b) {
		return 0, nil, false
	}
	var word [8]byte
	copy(word[8-count:], b[1:1+count])
	return binary.BigEndian.Uint64(word[:]), b[1+count:], true
}
