package face

import (
	"encoding/binary"
	"errors"
	"time"

	"github.com/tarebench/tare/apps/users"
)

// The messages of apps/users/proto by hand (protobuf.dev/programming-guides/encoding).

// errMessage is that a message is none of the contract's.
var errMessage = errors.New("not a message of protocol buffers")

// eachField calls take with each field of a message: n of numbers, text of what has
// a length. Others are passed over.
func eachField(m []byte, take func(field int, n int64, text []byte) error) error {
	for len(m) > 0 {
		key, k := binary.Uvarint(m)
		if k <= 0 || key>>3 == 0 {
			return errMessage
		}
		m = m[k:]
		var n uint64
		var text []byte
		size := 0
		switch key & 7 {
		case 0:
			if n, size = binary.Uvarint(m); size <= 0 {
				return errMessage
			}
		case 1:
			size = 8
		case 2:
			length, k := binary.Uvarint(m)
			if k <= 0 || length > uint64(len(m)-k) {
				return errMessage
			}
			size = k + int(length)
			text = m[k:size]
		case 5:
			size = 4
		default:
			return errMessage
		}
		if size > len(m) {
			return errMessage
		}
		m = m[size:]
		if err := take(int(key>>3), int64(n), text); err != nil {
			return err
		}
	}
	return nil
}

// identified is what is asked of one user: an id, and of an update a draft.
func identified(m []byte) (id int64, d users.Draft, err error) {
	err = eachField(m, func(field int, n int64, text []byte) error {
		switch field {
		case 1:
			id = n
		case 2:
			d.Name = string(text)
		case 3:
			d.Email = string(text)
		}
		return nil
	})
	return id, d, err
}

func drafted(m []byte) (d users.Draft, err error) {
	err = eachField(m, func(field int, _ int64, text []byte) error {
		switch field {
		case 1:
			d.Name = string(text)
		case 2:
			d.Email = string(text)
		}
		return nil
	})
	return d, err
}

func queried(m []byte) (q users.Query, err error) {
	err = eachField(m, func(field int, n int64, text []byte) error {
		switch field {
		case 1:
			q.Text = string(text)
		case 2:
			q.Page = int(int32(n))
		case 3:
			q.Limit = int(int32(n))
		}
		return nil
	})
	return q, err
}

// appendNumber appends a field unless it is zero, appendString one unless it is
// empty, appendMessage one in any case.
func appendNumber(b []byte, field int, n int64) []byte {
	if n == 0 {
		return b
	}
	return binary.AppendUvarint(append(b, byte(field<<3)), uint64(n))
}

func appendString(b []byte, field int, s string) []byte {
	if s == "" {
		return b
	}
	return append(binary.AppendUvarint(append(b, byte(field<<3|2)), uint64(len(s))), s...)
}

func appendMessage(b []byte, field int, m []byte) []byte {
	return append(binary.AppendUvarint(append(b, byte(field<<3|2)), uint64(len(m))), m...)
}

func appendTime(b []byte, field int, t time.Time) []byte {
	var room [24]byte
	return appendMessage(b, field, appendNumber(appendNumber(room[:0], 1, t.Unix()), 2, int64(t.Nanosecond())))
}

func appendProto(b []byte, u users.User) []byte {
	b = appendString(appendString(appendNumber(b, 1, u.ID), 2, u.Name), 3, u.Email)
	return appendTime(appendTime(b, 4, u.CreatedAt), 5, u.UpdatedAt)
}

func appendPage(b []byte, p users.Page) []byte {
	var room [512]byte
	for _, u := range p.Users {
		b = appendMessage(b, 1, appendProto(room[:0], u))
	}
	return appendNumber(appendNumber(appendNumber(b, 2, p.Total), 3, int64(p.Page)), 4, int64(p.Limit))
}
