package workload

import (
	"time"

	"github.com/tarebench/tare/contender/rpc"
	"github.com/tarebench/tare/internal/protowire"
	"github.com/tarebench/tare/internal/userswire"
	"github.com/tarebench/tare/load"
)

// Requests of apps/users/proto/users.proto are encoded without generated code. For the encoding see
// https://protobuf.dev/programming-guides/encoding.

// message is an encoded request. Methods append fields.
type message struct {
	bytes []byte
	fill  []load.Fill // numbers that the load generator fills in
}

// addNumber appends a field with a number, unless it is zero.
func (m *message) addNumber(field int, n int64) {
	m.bytes = protowire.AppendNumber(m.bytes, field, n)
}

// addText appends a field with text, unless it is empty.
func (m *message) addText(field int, s string) {
	m.bytes = protowire.AppendString(m.bytes, field, s)
}

// addID appends a call's id. All have the same number of bytes, so the load generator can replace it.
func (m *message) addID(c rpc.Call) {
	m.addNumber(1, c.ID)
	if c.IDCounter != "" {
		f := idFill(c, true, len(m.bytes)-varint)
		f.Width, f.Varint = varint, true
		m.fill = append(m.fill, f)
	}
}

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

// newDecoder returns the decoder of responses. A user without a time gets the zero of Unix time.
func newDecoder() userswire.Decoder { return userswire.Decoder{NoTime: time.Unix(0, 0).UTC()} }
