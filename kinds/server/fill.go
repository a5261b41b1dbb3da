package server

import "bytes"

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
		f.Write(into[f.At:f.At+f.Width], c[f.Counter]) // the load generator refuses what does not fit
	}
	for _, f := range q.Fill {
		if f.Step {
			c[f.Counter]++
		}
	}
	q.Path, q.Body, q.Fill = string(path), body, nil
	return q
}
