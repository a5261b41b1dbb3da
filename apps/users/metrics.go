package users

import (
	"fmt"
	"slices"
	"strings"
)

func (s *Service) countRefusal(c Code) {
	if i := slices.Index(Codes(), c); i >= 0 {
		s.refused[i].Add(1)
	}
}

// Metrics returns counters in the text format of Prometheus. Not every transport has a path for them. Reset
// sets calls to zero.
func (s *Service) Metrics() []byte {
	var b strings.Builder
	writeHead := func(name, help string) {
		fmt.Fprintf(&b, "# HELP %s %s\n# TYPE %s counter\n", name, help, name)
	}
	writeHead("users_calls_total", "Calls, by method.")
	for m, name := range methodNames() {
		fmt.Fprintf(&b, "users_calls_total{method=%q} %d\n", name, s.recorder.counts[m].Load())
	}
	writeHead("users_refusals_total", "Requests that the service rejected, by code.")
	for i, code := range Codes() {
		fmt.Fprintf(&b, "users_refusals_total{code=%q} %d\n", code, s.refused[i].Load())
	}
	return []byte(b.String())
}
