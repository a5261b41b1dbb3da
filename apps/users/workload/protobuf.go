package workload

import (
	"time"

	"github.com/tarebench/tare/apps/users"
	"github.com/tarebench/tare/contender/rpc"
	"github.com/tarebench/tare/internal/protowire"
	"github.com/tarebench/tare/load"
)

// This file encodes and decodes the messages of apps/users/proto/users.proto without generated code.
// The numbers of fields are those of users.proto. For the encoding see
// https://protobuf.dev/programming-guides/encoding.

// message is an encoded request, to which the methods append fields.
type message struct {
	bytes []byte
	fill  []load.Fill // numbers that the load generator fills into bytes
}

// addNumber appends a field with a number, unless it is zero.
func (m *message) addNumber(field int, n int64) {
	m.bytes = protowire.AppendNumber(m.bytes, field, n)
}

// addText appends a field with text, unless it is empty.
func (m *message) addText(field int, s string) {
	m.bytes = protowire.AppendString(m.bytes, field, s)
}

// addID appends the id of a call. The load generator may have to replace the id, which is possible
// because all ids of a store have the same number of bytes.
func (m *message) addID(c rpc.Call) {
	m.addNumber(1, c.ID)
	if c.IDCounter != "" {
		f := idFill(c, true, len(m.bytes)-varint)
		f.Width, f.Varint = varint, true
		m.fill = append(m.fill, f)
	}
}

// encodeMessage returns the request message of a call.
func encodeMessage(c rpc.Call) message {
	var m message
	switch c.Op {
	case opCreate:
		m.addText(1, c.Name)
		m.addText(2, zeroNumber(c.Email))
	case opUpdate:
		m.addID(c)
		m.addText(2, c.Name)
		m.addText(3, zeroNumber(c.Email))
	case opGet, opDelete:
		m.addID(c)
	case opList:
		m.addText(1, c.Query)
		m.addNumber(2, int64(c.Page))
		m.addNumber(3, int64(c.Limit))
	}
	if f, ok := emailFill(c, m.bytes); ok {
		m.fill = append(m.fill, f)
	}
	return m
}

// decodeUser parses the message User. It ignores unknown fields.
func decodeUser(b []byte) (u users.User, err error) {
	u.CreatedAt, u.UpdatedAt = time.Unix(0, 0).UTC(), time.Unix(0, 0).UTC()
	err = protowire.Walk(b, func(f protowire.Field) (err error) {
		switch f.Number {
		case 1:
			u.ID = int64(f.N)
		case 2:
			u.Name = string(f.Data)
		case 3:
			u.Email = string(f.Data)
		case 4:
			u.CreatedAt, err = decodeTime(f.Data)
		case 5:
			u.UpdatedAt, err = decodeTime(f.Data)
		}
		return err
	})
	return u, err
}

// decodeTime parses the message google.protobuf.Timestamp.
func decodeTime(b []byte) (time.Time, error) {
	var seconds, nanos int64
	err := protowire.Walk(b, func(f protowire.Field) error {
		switch f.Number {
		case 1:
			seconds = int64(f.N)
		case 2:
			nanos = int64(f.N)
		}
		return nil
	})
	return time.Unix(seconds, nanos).UTC(), err
}

// decodePage parses the message ListUsersResponse. It ignores unknown fields.
func decodePage(b []byte) (users.Page, error) {
	p := users.Page{Users: []users.User{}}
	err := protowire.Walk(b, func(f protowire.Field) error {
		switch f.Number {
		case 1:
			u, err := decodeUser(f.Data)
			p.Users = append(p.Users, u)
			return err
		case 2:
			p.Total = int64(f.N)
		case 3:
			p.Page = int(int32(f.N))
		case 4:
			p.Limit = int(int32(f.N))
		}
		return nil
	})
	return p, err
}
