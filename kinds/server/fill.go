package server

import "bytes"

// fillCounters are the values of counters by name. A request can have fields (Fill) with the value
// of a counter. For example, each request then creates another user. These counters are for
// requests that the load generator does not send.
type fillCounters map[string]int64

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
