package router

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/tarebench/tare/contender/wire"
)

// Answer is the response of a router to one request, as the contender sends it to the measuring process.
// [Spec.Answer] computes the correct response, and [Answer.Differs] compares the two.
type Answer struct {
	wire.HTTPResponse
	LayerCalls int64 `json:"layer_calls"` // number of middleware calls for this request
}

// answerHeaders returns the names of the headers that an Answer contains if the response has them.
func answerHeaders() []string {
	return []string{headerRequestID, headerAllowOrigin, headerNoSniff, "Location"}
}

// pickHeaders returns the response headers that answers contain.
func pickHeaders(get func(name string) string) map[string]string {
	picked := map[string]string{}
	for _, name := range answerHeaders() {
		if value := get(name); value != "" {
			picked[name] = value
		}
	}
	return picked
}

// Answer returns the correct response to q. It returns false if no route matches q: a router must reject q
// then. At each segment of the path, a literal has precedence over a parameter, and a parameter over a
// catch-all. The value of a catch-all starts after the slash and may be empty.
//
// The first call builds the tree of the routes, which all copies of s share. So calls must not overlap.
func (s Spec) Answer(q wire.HTTPRequest) (Answer, bool) {
	s.buildTree()
	path, _, _ := strings.Cut(q.Path, "?")
	r, values, ok := s.tree.findRoute(q.Method, path)
	if !ok {
		return Answer{}, false
	}
	return s.Answered(q, r.formatReply(values)), true
}

// buildTree fills the tree of the routes at its first call.
func (s Spec) buildTree() {
	if s.tree.next != nil {
		return
	}
	for i := range s.Routes {
		s.tree.addRoute(&s.Routes[i])
	}
}

// formatReply returns the body of the correct response: the index of the route, and for each parameter its
// name and value, as in "3 id=7 name=x".
func (r *Route) formatReply(values []string) string {
	body := string(r.reply)
	for i, v := range values {
		body += r.labels[i] + v
	}
	return body
}

// Answered returns the correct response to q if the handler of its route writes body: status 200, body,
// and the headers that the layers (the middleware of s) add.
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

// Differs compares a with right, the correct response, and returns the first difference in one line, or "" if
// they are equal. If the request id in right is "", the router generates the id: any id of that length is
// correct.
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
		isGenerated := wantHeader && want == "" // true for request ids only: the value is unknown
		if isGenerated && len(got) == requestIDLength {
			continue
		}
		if hasHeader != wantHeader || got != want {
			return fmt.Sprintf("header %s: %q, want %q", name, truncateText([]byte(got)), want)
		}
	}
	return ""
}

// truncateText limits b to 100 bytes, so that an error fits on one line.
func truncateText(b []byte) string {
	const maxBytes = 100
	if len(b) > maxBytes {
		return string(b[:maxBytes]) + "…"
	}
	return string(b)
}
