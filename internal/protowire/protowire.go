// Package protowire reads and writes the fields of protocol buffers
// (protobuf.dev/programming-guides/encoding), for messages whose numbers are
// known and for which generated code would be a requirement.
package protowire

import (
	"encoding/binary"
	"errors"
)

// Types of fields on the wire.
const (
	typeNumber  = 0
	typeFixed64 = 1
	typeBytes   = 2
	typeFixed32 = 5
)

// ErrMessage says that bytes are no message of protocol buffers.
var ErrMessage = errors.New("not a message of protocol buffers")

// Field is one field of a message: a number, or bytes. Of fixed numbers only Raw
// is set.
type Field struct {
	Number int
	N      uint64
	Data   []byte // shares the message's memory
	Packed bool   // it has Data, which may be a list of numbers
	Raw    []byte // with its tag
}

// Numbers appends the field's numbers, be it one or a packed list.
func (f Field) Numbers(to []uint64) ([]uint64, error) {
	if !f.Packed {
		return append(to, f.N), nil
	}
	for rest := f.Data; len(rest) > 0; {
		n, k := binary.Uvarint(rest)
		if k <= 0 {
			return nil, ErrMessage
		}
		to, rest = append(to, n), rest[k:]
	}
	return to, nil
}

// Walk calls visit for each field of a message, and ends with its first error.
func Walk(message []byte, visit func(Field) error) error {
	for len(message) > 0 {
		tag, k := binary.Uvarint(message)
		if k <= 0 || tag>>3 == 0 || tag>>3 > 1<<29-1 {
			return ErrMessage
		}
		f := Field{Number: int(tag >> 3)}
		size := 0
		switch tag & 7 {
		case typeNumber:
			if f.N, size = binary.Uvarint(message[k:]); size <= 0 {
				return ErrMessage
			}
		case typeBytes:
			length, l := binary.Uvarint(message[k:])
			if l <= 0 || length > uint64(len(message)-k-l) {
				return ErrMessage
			}
			size = l + int(length)
			f.Data, f.Packed = message[k+l:k+size], true
		case typeFixed64:
			size = 8
		case typeFixed32:
			size = 4
		default:
			return ErrMessage
		}
		if size > len(message)-k {
			return ErrMessage
		}
		f.Raw, message = message[:k+size], message[k+size:]
		if err := visit(f); err != nil {
			return err
		}
	}
	return nil
}

// AppendNumber appends a field, unless it is zero.
func AppendNumber(to []byte, number int, n int64) []byte {
	if n == 0 {
		return to
	}
	return binary.AppendUvarint(binary.AppendUvarint(to, uint64(number)<<3|typeNumber), uint64(n))
}

// AppendString appends a field, unless it is empty.
func AppendString(to []byte, number int, s string) []byte {
	if s == "" {
		return to
	}
	return append(binary.AppendUvarint(binary.AppendUvarint(to, uint64(number)<<3|typeBytes), uint64(len(s))), s...)
}

// AppendBytes appends a field, be it empty or not: a message, or a packed list.
func AppendBytes(to []byte, number int, data []byte) []byte {
	return append(binary.AppendUvarint(binary.AppendUvarint(to, uint64(number)<<3|typeBytes), uint64(len(data))), data...)
}
