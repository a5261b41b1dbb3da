// Package protowire reads and writes the fields of protocol buffer messages
// (protobuf.dev/programming-guides/encoding). Its users know the numbers of the fields, and
// generated code would make them require a module.
package protowire

import (
	"encoding/binary"
	"errors"
)

const (
	typeNumber  = 0
	typeFixed64 = 1
	typeBytes   = 2
	typeFixed32 = 5
)

const maxNumber = 1<<29 - 1 // the largest number of a field

// ErrMessage is the error for bytes that are not a message.
var ErrMessage = errors.New("not a message of protocol buffers")

// Field is one field of a message. Its wire type decides which of N and Data is set. Neither is set for
// numbers of fixed 32 or 64 bits.
type Field struct {
	Number int
	N      uint64 // value of a varint
	Data   []byte // value of a field with a length: text, a message or a packed list; shares the memory of the message
	Packed bool   // the field has Data
	Raw    []byte // the encoded field with its tag
}

// Numbers appends the field's number, or the numbers of its packed list, to to.
func (f Field) Numbers(to []uint64) ([]uint64, error) {
	if !f.Packed {
		return append(to, f.N), nil
	}
	rest := f.Data
	for len(rest) > 0 {
		n, k := binary.Uvarint(rest)
		if k <= 0 {
			return nil, ErrMessage
		}
		to, rest = append(to, n), rest[k:]
	}
	return to, nil
}

// Walk calls visit for each field of a message. It stops at the first error and returns it.
func Walk(message []byte, visit func(Field) error) error {
	for len(message) > 0 {
		tag, k := binary.Uvarint(message)
		number := tag >> 3
		if k <= 0 || number == 0 || number > maxNumber {
			return ErrMessage
		}
		f := Field{Number: int(number)}
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

// AppendNumber appends a varint field, unless n is 0, the default.
func AppendNumber(to []byte, number int, n int64) []byte {
	if n == 0 {
		return to
	}
	return binary.AppendUvarint(binary.AppendUvarint(to, uint64(number)<<3|typeNumber), uint64(n))
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
