package server

import (
	"bytes"
	"strconv"
)

// counters are what requests are filled in from, as the load generator has them
// for a session: from zero.
type counters map[string]int64

// fill is q with its numbers written in, and takes the steps that go with it.
func (c counters) fill(q Request) Request {
	if len(q.Fill) == 0 {
		return q
	}
	path, body := []byte(q.Path), bytes.Clone(q.Body)
	for _, f := range q.Fill {
		into := path
		if f.Body {
			into = body
		}
		write(into[f.At:f.At+f.Width], c[f.Counter]+f.Add, f.Varint)
	}
	for _, f := range q.Fill {
		if f.Step {
			c[f.Counter]++
		}
	}
	q.Path, q.Body, q.Fill = string(path), body, nil
	return q
}

// write fills a field with n: decimal digits with zeros before them, or a
// varint whose last group is as far back as the field goes.
func write(field []byte, n int64, varint bool) {
	if varint {
		for i := range field {
			field[i] = byte(n) | 0x80
			n >>= 7
		}
		field[len(field)-1] &^= 0x80
		return
	}
	digits := strconv.AppendInt(nil, n, 10)
	for i := range field {
		field[i] = '0'
	}
	if from := len(field) - len(digits); from >= 0 {
		copy(field[from:], digits)
	}
}
