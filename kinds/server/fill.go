package server

import "bytes"

// fillCounters are the counters whose values are filled into requests, by name. They start at zero, as
// the load generator's do in each session.
type fillCounters map[string]int64

// fillRequest returns q with the values of its counters filled in, and then increments the counters.
func (c fillCounters) fillRequest(q Request) Request {
	if len(q.Fill) == 0 {
		return q
	}
	path, body := []byte(q.Path), bytes.Clone(q.Body)
	for _, f := range q.Fill {
		target := path
		if f.Body {
			target = body
		}
		f.Write(target[f.At:f.At+f.Width], c[f.Counter]) // the load generator fails if a number does not fit
	}
	for _, f := range q.Fill {
		if f.Step {
			c[f.Counter]++
		}
	}
	q.Path, q.Body, q.Fill = string(path), body, nil
	return q
}
