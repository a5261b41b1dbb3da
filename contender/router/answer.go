package router

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/tarebench/tare/contender/wire"
)

// Answer is what a request came to, as answers on the wire have it.
type Answer struct {
	wire.HTTPResponse
	LayerCalls int64 `json:"layer_calls"` // of middleware, for this request
}

// answerHeaders are those that an Answer holds, where they are there.
func answerHeaders() []string {
	return []string{headerRequestID, headerAllowOrigin, headerNoSniff, "Location"}
}

// shown picks the headers that answers hold.
func shown(get func(name string) string) map[string]string {
	picked := map[string]string{}
	for _, name := range answerHeaders() {
		if value := get(name); value != "" {
			picked[name] = value
		}
	}
	return picked
}

// Answer is what a right router answers to q: worked out from the table
// segment by segment, a literal before a parameter in the same place, and a
// catch-all last, whose value begins behind the slash and may be empty. It is
// false for what no route is for, which a router must refuse. It is for one
// caller at a time.
func (s Spec) Answer(q wire.HTTPRequest) (Answer, bool) {
	path, _, _ := strings.Cut(q.Path, "?")
	if s.places.next == nil && s.places.routes == nil {
		for i := range s.Routes {
			s.places.add(&s.Routes[i])
		}
	}
	r, values, ok := s.places.find(q.Method, path)
	if !ok {
		return Answer{}, false
	}
	body := string(r.reply)
	for i, v := range values {
		body += r.labels[i] + v
	}
	return s.Answered(q, body), true
}

// Answered is the answer that carries body, and what the layers add.
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

// Differs holds an answer against the right one and says in one line what is
// different; empty: nothing. A request id that was made up is as good as any.
func (a Answer) Differs(right Answer) string {
	switch {
	case a.Status != right.Status:
		return fmt.Sprintf("status %d, want %d", a.Status, right.Status)
	case string(a.Body) != string(right.Body):
		return fmt.Sprintf("body %q, want %q", clip(a.Body), clip(right.Body))
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
			return fmt.Sprintf("header %s: %q, want %q", name, clip([]byte(got)), want)
		}
	}
	return ""
}

// clip keeps an error on one line that can be read.
func clip(b []byte) string {
	const most = 100
	if len(b) > most {
		return string(b[:most]) + "…"
	}
	return string(b)
}
