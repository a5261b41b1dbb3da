package workload

import (
	"encoding/binary"
	"errors"
	"time"

	"github.com/tarebench/tare/apps/users"
	"github.com/tarebench/tare/contender/rpc"
	"github.com/tarebench/tare/load"
)

// The messages of proto/users.proto in apps/users, as far as they are needed here
// (protobuf.dev/programming-guides/encoding): fields are numbered there.

// Types of fields on the wire.
const (
	typeVarint = 0
	type64     = 1
	typeBytes  = 2
	type32     = 5
)

// message is a request of protocol buffers as it grows.
type message struct {
	bytes []byte
	fill  []load.Fill
}

// number appends a field, unless it is zero.
func (m *message) number(field int, n int64) {
	if n != 0 {
		m.bytes = append(m.bytes, byte(field<<3|typeVarint))
		m.bytes = binary.AppendUvarint(m.bytes, uint64(n))
	}
}

// text appends a field, unless it is empty.
func (m *message) text(field int, s string) {
	if s != "" {
		m.bytes = append(m.bytes, byte(field<<3|typeBytes))
		m.bytes = binary.AppendUvarint(m.bytes, uint64(len(s)))
		m.bytes = append(m.bytes, s...)
	}
}

// id appends the call's id, which may have to be filled in: ids of a store take
// as many bytes each.
func (m *message) id(c rpc.Call) {
	m.number(1, c.ID)
	if c.IDCounter != "" {
		f := idFill(c, true, len(m.bytes)-varint)
		f.Width, f.Varint = varint, true
		m.fill = append(m.fill, f)
	}
}

// encode is the request message of a call.
func encode(c rpc.Call) message {
	var m message
	switch c.Op {
	case opCreate:
		m.text(1, c.Name)
		m.text(2, unnumbered(c.Email))
	case opUpdate:
		m.id(c)
		m.text(2, c.Name)
		m.text(3, unnumbered(c.Email))
	case opGet, opDelete:
		m.id(c)
	case opList:
		m.text(1, c.Query)
		m.number(2, int64(c.Page))
		m.number(3, int64(c.Limit))
	}
	if f, ok := emailFill(c, m.bytes); ok {
		m.fill = append(m.fill, f)
	}
	return m
}

var errMessage = errors.New("not the message of protocol buffers that it should be")

// field is one field of a message: a number, or bytes.
type field struct {
	at     int
	number int64
	bytes  []byte
}

// fields calls take with each field of a message.
func fields(b []byte, take func(f field) error) error {
	for len(b) > 0 {
		key, n := binary.Uvarint(b)
		if n <= 0 || key>>3 == 0 || key>>3 > 1<<29-1 {
			return errMessage
		}
		b = b[n:]
		f := field{at: int(key >> 3)}
		size := 0
		switch key & 7 {
		case typeVarint:
			x, n := binary.Uvarint(b)
			if n <= 0 {
				return errMessage
			}
			f.number, size = int64(x), n
		case typeBytes:
			x, n := binary.Uvarint(b)
			if n <= 0 || x > uint64(len(b)-n) {
				return errMessage
			}
			size = n + int(x)
			f.bytes = b[n:size]
		case type64:
			size = 8
		case type32:
			size = 4
		default:
			return errMessage
		}
		if size > len(b) {
			return errMessage
		}
		b = b[size:]
		if err := take(f); err != nil {
			return err
		}
	}
	return nil
}

func decodeUser(b []byte) (u users.User, err error) {
	u.CreatedAt, u.UpdatedAt = time.Unix(0, 0).UTC(), time.Unix(0, 0).UTC()
	err = fields(b, func(f field) (err error) {
		switch f.at {
		case 1:
			u.ID = f.number
		case 2:
			u.Name = string(f.bytes)
		case 3:
			u.Email = string(f.bytes)
		case 4:
			u.CreatedAt, err = decodeTime(f.bytes)
		case 5:
			u.UpdatedAt, err = decodeTime(f.bytes)
		}
		return err
	})
	return u, err
}

func decodeTime(b []byte) (time.Time, error) {
	var seconds, nanos int64
	err := fields(b, func(f field) error {
		switch f.at {
		case 1:
			seconds = f.number
		case 2:
			nanos = f.number
		}
		return nil
	})
	return time.Unix(seconds, nanos).UTC(), err
}

func decodePage(b []byte) (users.Page, error) {
	p := users.Page{Users: []users.User{}}
	err := fields(b, func(f field) error {
		switch f.at {
		case 1:
			u, err := decodeUser(f.bytes)
			p.Users = append(p.Users, u)
			return err
		case 2:
			p.Total = f.number
		case 3:
			p.Page = int(int32(f.number))
		case 4:
			p.Limit = int(int32(f.number))
		}
		return nil
	})
	return p, err
}
