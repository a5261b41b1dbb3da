package ingest

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
)

// countRecords rejects a body that has more records than a batch may have. The check costs next to
// nothing: an ordinary body has few enough commas to skip the closer check.
func (s *Service) countRecords(h Head, body []byte) error {
	format, _ := mediaType(h.ContentType)
	crowded := false
	switch format {
	case Protobuf:
		crowded = isCrowdedProtobuf(body, s.limit)
	case Gob:
		n, err := gobLen(body)
		if err != nil {
			return s.Malformed(h, body, err)
		}
		crowded = n > uint64(s.limit)
	default:
		var broken bool
		if crowded, broken = isCrowdedJSON(body, s.limit); broken {
			return s.Malformed(h, body, errBrackets)
		}
	}
	if crowded {
		return newRefusal(nil, badRequest, "batch", fmt.Sprintf("a batch has at most %d records, this one has more", s.limit))
	}
	return nil
}

const (
	// maxCommas is the number of commas per record of the limit up to which the closer check is
	// skipped. A record of the app has about 20.
	maxCommas = 64
	// maxDepth is the deepest nesting of brackets in the closer check, as in encoding/json.
	maxDepth = 10_000
)

var errBrackets = fmt.Errorf("brackets do not match, or are more than %d deep", maxDepth)

// isCrowdedJSON reports whether body, which need not be JSON, is an array of more than most
// elements, and whether its brackets cannot be those of JSON: decoders disagree on where such an
// array ends.
func isCrowdedJSON(body []byte, most int) (crowded, broken bool) {
	if bytes.Count(body, []byte(",")) <= maxCommas*most {
		return false, false
	}
	elements := 1
	var open []byte // brackets that are to be closed
	for i := 0; i < len(body); i++ {
		switch c := body[i]; c {
		case '"':
			if i = stringEnd(body, i+1); i < 0 {
				return false, true
			}
		case '[', '{':
			if open = append(open, c); len(open) > maxDepth {
				return false, true
			}
		case ']', '}':
			last := len(open) - 1
			if last < 0 || open[last]+2 != c { // in ASCII each closes what is two before it
				return false, true
			}
			open = open[:last]
		case ',':
			if len(open) == 1 {
				if elements++; elements > most && open[0] == '[' {
					return true, false
				}
			}
		}
	}
	return false, len(open) > 0
}

// stringEnd returns the index of the quote that ends the string whose first character is at i; -1
// if it does not end.
func stringEnd(body []byte, i int) int {
	for {
		n := bytes.IndexByte(body[i:], '"')
		if n < 0 {
			return -1
		}
		escapes := 0
		for k := i + n - 1; k >= i && body[k] == '\\'; k-- {
			escapes++
		}
		if i += n; escapes%2 == 0 {
			return i
		}
		i++
	}
}

// isCrowdedProtobuf reports whether body is a message with more than most fields numbered 1, which
// are records, as far as it can be read.
func isCrowdedProtobuf(body []byte, most int) bool {
	const groupStart, groupEnd, fixed32 = 3, 4, 5
	records, depth := 0, 0
	for len(body) > 0 {
		tag, n := binary.Uvarint(body)
		if n <= 0 {
			return false
		}
		body = body[n:]
		if tag>>3 == 1 && depth == 0 {
			if records++; records > most {
				return true
			}
		}
		size := uint64(0)
		switch tag & 7 {
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

// gobLen finds the length of the slice that is the first value of a stream. A stream is messages
// with their length before them. A message is the number of a type, negative if it is about to be
// defined, and then its definition or a value; one that is no struct has a zero byte before it.
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
		case id&1 == 1: // the sign
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

// gobUint reads a number: a byte below 128, or else minus the count of the
// bytes that follow, highest first.
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
