// Package protowire reads and writes the fields of protocol buffer messages
// (protobuf.dev/programming-guides/encoding). The packages that import it know the numbers of
// the fields, and avoid the module that generated code would require.
package protowire

import (
	"encoding/binary"
	"errors"
)

// Wire types: the encoding of a field's value.
const (
	typeVarint  = 0
	typeFixed64 = 1
	typeBytes   = 2
	typeFixed32 = 5
)

const maxNumber = 1<<29 - 1 // the largest number of a field

// ErrMessage is the error for bytes that are not a message.
var ErrMessage = errors.New("not a message of protocol buffers")

// Field is one field of a message. N is set if its wire type is varint, Data if it has a length.
// Neither is set for numbers of fixed 32 or 64 bits.
type Field struct {
	Number int
	N      uint64 // value of a varint
	Data   []byte // value of a field with a length: text, a message or a packed list; shares the memory of the message
	Packed bool   // Data is set; it may be empty
	Raw    []byte // the encoded field with its tag
}

// Numbers appends N to to or, if the field has Data, the varints of the packed list in Data.
func (f Field) Numbers(to []uint64) ([]uint64, error) {
	if !f.Packed {
		return append(to, f.N), nil
	}
	rest := f.Data
	for len(rest) > 0 {
		n, size := binary.Uvarint(rest)
		if size <= 0 {
			return nil, ErrMessage
		}
		to, rest = append(to, n), rest[size:]
	}
	return to, nil
}

// Walk calls visit for each field of a message. It stops at the first error and returns it.
func Walk(message []byte, visit func(Field) error) error {
	for len(message) > 0 {
		tag, tagSize := binary.Uvarint(message)
		number := tag >> 3
		if tagSize <= 0 || number == 0 || number > maxNumber {
			return ErrMessage
		}
		f := Field{Number: int(number)}
		rest := message[tagSize:]
		size := 0 // bytes of the value, at the start of rest
		switch tag & 7 {
		case typeVarint:
			if f.N, size = binary.Uvarint(rest); size <= 0 {
				return ErrMessage
			}
		case typeBytes:
			length, lengthSize := binary.Uvarint(rest)
			if lengthSize <= 0 || length > uint64(len(rest)-lengthSize) {
				return ErrMessage
			}
			size = lengthSize + int(length)
			f.Data, f.Packed = rest[lengthSize:size], true
		case typeFixed64:
			size = 8
		case typeFixed32:
			size = 4
		default:
			return ErrMessage
		}
		if size > len(rest) {
			return ErrMessage
		}
		f.Raw, message = message[:tagSize+size], rest[size:]
		if err := visit(f); err != nil {
			return err
		}
	}
	return nil
}

// AppendNumber appends a varint field, unless n is 0, the default.
func AppendNumber(to []byte, number int, n int64) []byte {
	if n == 0 {
		return to
	}
	return binary.AppendUvarint(binary.AppendUvarint(to, uint64(number)<<3|typeVarint), uint64(n))
}

// AppendString appends a text field, unless s is empty, the default.
func AppendString(to []byte, number int, s string) []byte {
	if s == "" {
		return to
	}
	return append(binary.AppendUvarint(binary.AppendUvarint(to, uint64(number)<<3|typeBytes), uint64(len(s))), s...)
}

// AppendBytes appends a field that contains a message or a packed list, even if data is empty.
func AppendBytes(to []byte, number int, data []byte) []byte {
	return append(binary.AppendUvarint(binary.AppendUvarint(to, uint64(number)<<3|typeBytes), uint64(len(data))), data...)
}
