package server

import "bytes"

// fillCounters are the counters that requests are filled in from, as the load generator has them
// for a session: from zero.
type fillCounters map[string]int64

// fillRequest returns q with its numbers written in, and advances their counters.
func (c fillCounters) fillRequest(q Request) Request {
	if len(q.Fill) == 0 {
		return q
	}
	path, body := []byte(q.Path), bytes.Clone(q.Body)
	for _, f := range q.Fill {
		into := path
		if f.Body {
			into = body
		}
		f.Write(into[f.At:f.At+f.Width], c[f.Counter]) // the load generator rejects what does not fit
	}
	for _, f := range q.Fill {
		if f.Step {
			c[f.Counter]++
		}
	}
	q.Path, q.Body, q.Fill = string(path), body, nil
	return q
}
