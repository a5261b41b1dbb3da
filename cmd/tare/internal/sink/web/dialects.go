package web

import (
	"net/http"
	"net/url"

	"github.com/tarebench/tare/cmd/tare/internal/sink"
)

// ordinary is what most HTTP servers mean by their answers.
type ordinary struct{}

func (ordinary) address(base url.URL, _ sink.Batch) url.URL { return base }

func (ordinary) read([]byte, http.Header, sink.Batch) (sink.Result, error) { return sink.Result{}, nil }

// refuses is about the content: other statuses are of the path, the token or
// the server, and may change while the batch stays what it is.
func (ordinary) refuses(status int, _ http.Header, _ []byte) bool {
	return status == http.StatusBadRequest || status == http.StatusUnprocessableEntity
}

func (ordinary) promise() sink.Promise {
	return sink.Promise{Sent: "answered with 2xx; the header Idempotency-Key is the same when a batch is sent again"}
}

// lines is one event a line.
type lines struct{ ordinary }

func (lines) media() string { return "application/x-ndjson" }

func (lines) body(to []byte, b sink.Batch) ([]byte, []sink.Dead) {
	for _, e := range b.Events {
		to = append(append(to, e.Line...), '\n')
	}
	return to, nil
}

// array is all events as one array.
type array struct{ ordinary }

func (array) media() string { return "application/json" }

func (array) body(to []byte, b sink.Batch) ([]byte, []sink.Dead) {
	for i, e := range b.Events {
		c := byte(',')
		if i == 0 {
			c = '['
		}
		to = append(append(to, c), e.Line...)
	}
	return append(to, ']'), nil
}
