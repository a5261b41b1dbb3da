package web

import (
	"net/http"
	"net/url"
	"slices"

	"github.com/tarebench/tare/cmd/tare/internal/sink"
)

// Kinds returns the kinds of sinks behind HTTP: each API over plain text, then each
// over TLS. Help shows one of the two.
func Kinds() (list sink.Kinds) {
	const content = "400, 413 or 422: the batch is halved until the event is found"
	same := func(d dialect) func(sink.Target) (dialect, error) {
		return func(sink.Target) (dialect, error) { return d, nil }
	}
	apis := []struct {
		shown, form, help, poison string
		dialect                   func(sink.Target) (dialect, error)
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
