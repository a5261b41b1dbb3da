package web

import (
	"net/http"
	"net/url"
	"slices"

	"github.com/tarebench/tare/cmd/tare/internal/sink"
)

// Kinds returns the kinds of sinks over HTTP: each API over plain text, then each over TLS. Help
// shows one of the two.
func Kinds() (list sink.Kinds) {
	const content = "400, 413 or 422: the batch is halved until the event is found"
	same := func(d eventAPI) func(sink.Target) (eventAPI, error) {
		return func(sink.Target) (eventAPI, error) { return d, nil }
	}
	apis := []struct {
		shown, form, help, poison string
		dialect                   func(sink.Target) (eventAPI, error)
		options                   []string
	}{
		{"http", "+ndjson://HOST/PATH", "one event per line; https+ndjson:// and so on for TLS", content, same(lines{}), nil},
		{"http", "+json://HOST/PATH", "a JSON array", content, same(array{}), nil},
		{"http", "+bulk://HOST/INDEX", "Elasticsearch and OpenSearch",
			"an item with 413, or with 400 or 422 for its document; 401, 403, 404 and 400 for the index are retried, 5xx for a quarter of an hour", same(bulk{}), nil},
		{"http", "+clickhouse://HOST/TABLE", "ClickHouse; columns id, timestamp and one for each member of metadata",
			"an exception about the format or a type", newClickHouse, []string{"dedup=on"}},
		{"https", "+bigquery://HOST/PATH", "BigQuery's insertAll; PATH names the table", "a row with an error such as invalid", same(bigQuery{}), nil},
	}
	for _, scheme := range []string{"http", "https"} {
		for _, a := range apis {
			k := sink.Kind{Form: scheme + a.form, Poison: a.poison}
			if scheme == a.shown {
				k.Help = a.help
			}
			k.Options = slices.Concat([]string{"gzip=on", "timeout", sink.OptionToken}, a.options, []string{"hold=on"})
			k.Open = func(t sink.Target, s sink.Settings) (sink.Sink, error) {
				d, err := a.dialect(t)
				return newWeb(t, d, s), err
			}
			list = append(list, k)
		}
	}
	return list
}

// plainAPI interprets responses as most HTTP servers mean them.
type plainAPI struct{}

func (plainAPI) requestURL(base url.URL, _ sink.Batch) url.URL { return base }

func (plainAPI) readResponse([]byte, http.Header, sink.Batch) (sink.Result, error) {
	return sink.Result{}, nil
}

// isRejection is true for errors of the content: other statuses are of the path, the token or the
// server, and may change while the batch stays the same.
func (plainAPI) isRejection(status int, _ http.Header, _ []byte) bool {
	return status == http.StatusBadRequest || status == http.StatusUnprocessableEntity
}

func (plainAPI) guarantee() sink.Promise {
	return sink.Promise{Sent: "answered with 2xx; the header Idempotency-Key is the same when a batch is sent again"}
}

// lines is one event a line.
type lines struct{ plainAPI }

func (lines) mediaType() string { return "application/x-ndjson" }

func (lines) appendBody(to []byte, b sink.Batch) ([]byte, []sink.Dead) {
	for _, e := range b.Events {
		to = append(append(to, e.Line...), '\n')
	}
	return to, nil
}

// array is all events as one array.
type array struct{ plainAPI }

func (array) mediaType() string { return "application/json" }

func (array) appendBody(to []byte, b sink.Batch) ([]byte, []sink.Dead) {
	for i, e := range b.Events {
		c := byte(',')
		if i == 0 {
			c = '['
		}
		to = append(append(to, c), e.Line...)
	}
	return append(to, ']'), nil
}
