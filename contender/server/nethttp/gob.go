package nethttp

import (
	"bytes"
	"encoding/binary"
	"encoding/gob"
	"encoding/json"
	"errors"

	"github.com/tarebench/tare/app/ingest"
	"github.com/tarebench/tare/contender/server"
)

// Gob decodes a slice of records that a fresh encoder of encoding/gob has
// written: the types first, then the value. That package says itself that it is
// not made for input from just anybody; what is looked at here beforehand is
// how many records there are to be room for.
func Gob(o server.Options) Decoder {
	most := o.Ingest.Limit()
	return func(body []byte) (ingest.Batch, error) {
		n, err := gobLen(body)
		if err != nil {
			return nil, err
		}
		if n > uint64(most) {
			return crowd(most + 1), nil
		}
		var list []ingest.Record
		if err := gob.NewDecoder(bytes.NewReader(body)).Decode(&list); err != nil {
			return nil, err
		}
		return ingest.Records(list, json.Marshal), nil
	}
}

var errGob = errors.New("not a slice in gob")

// gobLen finds the length of the slice that is the first value of a stream. A
// stream is messages with their length before them. A message is the number of
// a type, negative where it is about to be defined, and then its definition or
// a value; one that is no struct has a zero byte before it.
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
