package users

import (
	"fmt"
	"slices"
	"strings"
)

// countRefusal counts an error response.
func (s *Service) countRefusal(c Code) {
	if i := slices.Index(Codes(), c); i >= 0 {
		s.refused[i].Add(1)
	}
}

// Metrics returns the service's counters, as text that Prometheus reads, for a transport that has a
// path for them. Reset sets calls back to zero, as a restart would.
func (s *Service) Metrics() []byte {
	var b strings.Builder
	head := func(name, help string) {
		fmt.Fprintf(&b, "# HELP %s %s\n# TYPE %s counter\n", name, help, name)
	}
	head("users_calls_total", "Calls, by method.")
	for m, name := range methodNames() {
		fmt.Fprintf(&b, "users_calls_total{method=%q} %d\n", name, s.recorder.counts[m].Load())
	}
	head("users_refusals_total", "Requests that the service refused, by code.")
	for i, code := range Codes() {
		fmt.Fprintf(&b, "users_refusals_total{code=%q} %d\n", code, s.refused[i].Load())
	}
	return []byte(b.String())
}
