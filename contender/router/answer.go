package router

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/tarebench/tare/contender/wire"
)

// Answer is a router's response to one request. [Spec.Answer] computes the correct one, and [Answer.Differs]
// compares them.
type Answer struct {
	wire.HTTPResponse
	LayerCalls int64 `json:"layer_calls"` // middleware calls
}

func answerHeaders() []string {
	return []string{headerRequestID, headerAllowOrigin, headerNoSniff, "Location"}
}

func pickHeaders(get func(name string) string) map[string]string {
	picked := map[string]string{}
	for _, name := range answerHeaders() {
		if value := get(name); value != "" {
			picked[name] = value
		}
	}
	return picked
}

// Answer returns the correct response to q. If ok is false, no route matches and a router must reject q. A
// literal precedes a parameter, and a parameter a catch-all. A catch-all's value starts after the slash and
// may be empty.
//
// Calls must not overlap: the first builds a tree.
func (s Spec) Answer(q wire.HTTPRequest) (Answer, bool) {
	s.buildTree()
	path, _, _ := strings.Cut(q.Path, "?")
	r, values, ok := s.tree.findRoute(q.Method, path)
	if !ok {
		return Answer{}, false
	}
	return s.Answered(q, r.formatReply(values)), true
}

func (s Spec) buildTree() {
	if s.tree.next != nil {
		return
	}
	for i := range s.Routes {
		s.tree.addRoute(&s.Routes[i])
	}
}

// formatReply returns text such as "3 id=7 name=x".
func (r *Route) formatReply(values []string) string {
	body := string(r.reply)
	for i, v := range values {
		body += r.labels[i] + v
	}
	return body
}

// Answered returns the correct response to q for a handler that writes body. It has status 200 and the headers
// of middleware.
func (s Spec) Answered(q wire.HTTPRequest, body string) Answer {
	a := Answer{
		HTTPResponse: wire.HTTPResponse{Status: http.StatusOK, Header: map[string]string{}, Body: []byte(body)},
		LayerCalls:   int64(len(s.Layers)), // each layer is called once per request
	}
	for _, l := range s.Layers {
		switch l.Name {
		case LayerRequestID:
			a.Header[headerRequestID] = q.Header[headerRequestID]
		case LayerCORS:
			if origin := q.Header["Origin"]; origin != "" {
				a.Header[headerAllowOrigin] = origin
			}
		case LayerSecurity:
			a.Header[headerNoSniff] = noSniff
		}
	}
	return a
}

// Differs returns the first difference between a and the correct response in one line, or "". A router
// generates the request id if right has "". Then only its length counts.
func (a Answer) Differs(right Answer) string {
	switch {
	case a.Status != right.Status:
		return fmt.Sprintf("status %d, want %d", a.Status, right.Status)
	case string(a.Body) != string(right.Body):
		return fmt.Sprintf("body %q, want %q", truncateText(a.Body), truncateText(right.Body))
	case a.LayerCalls != right.LayerCalls:
		return fmt.Sprintf("%d calls of middleware, want %d", a.LayerCalls, right.LayerCalls)
	}
	for _, name := range answerHeaders() {
		want, wantHeader := right.Header[name]
		got, hasHeader := a.Header[name]
		isGenerated := wantHeader && want == "" // true for some request ids
		if isGenerated && len(got) == requestIDLength {
			continue
		}
		if hasHeader != wantHeader || got != want {
			return fmt.Sprintf("header %s: %q, want %q", name, truncateText([]byte(got)), want)
		}
	}
	return ""
}

func truncateText(b []byte) string {
	const maxBytes = 100
	if len(b) > maxBytes {
		return string(b[:maxBytes]) + "…"
	}
	return string(b)
}
