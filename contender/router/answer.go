package router

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/tarebench/tare/contender/wire"
)

// Answer is the response to a request, in the form of responses on the wire.
type Answer struct {
	wire.HTTPResponse
	LayerCalls int64 `json:"layer_calls"` // of middleware, for this request
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

// Answer returns the correct response to q, from a walk of the table segment by segment: a literal before a
// parameter in the same place, and a catch-all last, whose value starts after the slash and may be empty. ok
// is false if no route matches q, which a router must reject. It is for one caller at a time.
func (s Spec) Answer(q wire.HTTPRequest) (Answer, bool) {
	path, _, _ := strings.Cut(q.Path, "?")
	if s.places.next == nil && s.places.routes == nil {
		for i := range s.Routes {
			s.places.addRoute(&s.Routes[i])
		}
	}
	r, values, ok := s.places.findRoute(q.Method, path)
	if !ok {
		return Answer{}, false
	}
	body := string(r.reply)
	for i, v := range values {
		body += r.labels[i] + v
	}
	return s.Answered(q, body), true
}

// Answered returns the response with body and the headers of the layers.
func (s Spec) Answered(q wire.HTTPRequest, body string) Answer {
	a := Answer{wire.HTTPResponse{Status: http.StatusOK, Header: map[string]string{}, Body: []byte(body)}, int64(len(s.Layers))}
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

// Differs compares a response with the correct one and returns the first difference in one line, "" if there
// is none. Every generated request id is correct.
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
		want, wanted := right.Header[name]
		got, there := a.Header[name]
		if want == "" && wanted && len(got) == requestIDLength {
			continue
		}
		if there != wanted || got != want {
			return fmt.Sprintf("header %s: %q, want %q", name, truncateText([]byte(got)), want)
		}
	}
	return ""
}

// truncateText limits b to 100 bytes, so that an error fits on one line.
func truncateText(b []byte) string {
	const most = 100
	if len(b) > most {
		return string(b[:most]) + "…"
	}
	return string(b)
}
