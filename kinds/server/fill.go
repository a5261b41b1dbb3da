package server

import "bytes"

// fillCounters are the values of counters by name. A request can have fields (Fill) in which the load
// generator writes the value of a counter, so that for example each request creates another user.
// fillCounters does the same for requests that the load generator does not send. Its counters start at
// zero, as those of the load generator do in each session.
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
