package web

import (
	"net/http"
	"net/url"
	"slices"

	"github.com/tarebench/tare/cmd/tare/internal/sink"
)

// Kinds returns the sinks over HTTP: each API over plain text and over TLS. Help shows one of the two.
func Kinds() (list sink.Kinds) {
	const content = "400, 413 or 422: the batch is halved until the event is found"
	fixed := func(api eventAPI) func(sink.Target) (eventAPI, error) {
		return func(sink.Target) (eventAPI, error) { return api, nil }
	}
	apis := []struct {
		helpScheme   string // shown by help
		form         string // sink.Kind.Form without the scheme
		help, poison string // see sink.Kind
		newAPI       func(sink.Target) (eventAPI, error)
		options      []string // options that other APIs do not have
	}{
		{
			helpScheme: "http", form: "+ndjson://HOST/PATH", help: "one event per line; https+ndjson:// and so on for TLS",
			poison: content, newAPI: fixed(lines{}),
		},
		{helpScheme: "http", form: "+json://HOST/PATH", help: "a JSON array", poison: content, newAPI: fixed(array{})},
		{
			helpScheme: "http", form: "+bulk://HOST/INDEX", help: "Elasticsearch and OpenSearch",
			poison: "an item with 413, or with 400 or 422 for its document; 401, 403, 404 and 400 for the index are retried, 5xx for a quarter of an hour",
			newAPI: fixed(bulk{}),
		},
		{
			helpScheme: "http", form: "+clickhouse://HOST/TABLE", help: "ClickHouse; columns id, timestamp and one for each member of metadata",
			poison: "an exception about the format or a type", newAPI: newClickHouse, options: []string{"dedup=on"},
		},
		{
			helpScheme: "https", form: "+bigquery://HOST/PATH", help: "BigQuery's insertAll; PATH names the table",
			poison: "a row with an error such as invalid", newAPI: fixed(bigQuery{}),
		},
	}
	for _, scheme := range []string{"http", "https"} {
		for _, a := range apis {
			k := sink.Kind{Form: scheme + a.form, Poison: a.poison}
			if scheme == a.helpScheme {
				k.Help = a.help
			}
			k.Options = slices.Concat([]string{"gzip=on", "timeout", sink.OptionToken}, a.options, []string{"hold=on"})
			k.Open = func(t sink.Target, s sink.Settings) (sink.Sink, error) {
				api, err := a.newAPI(t)
				return newWeb(t, api, s), err
			}
			list = append(list, k)
		}
	}
	return list
}

// plainAPI has the usual meaning of HTTP statuses. Other APIs embed it.
type plainAPI struct{}

func (plainAPI) requestURL(base url.URL, _ sink.Batch) url.URL { return base }

func (plainAPI) readResponse([]byte, http.Header, sink.Batch) (sink.Result, error) {
	return sink.Result{}, nil
}

// isRejection reports whether the content is wrong. After other errors the same batch may be accepted later.
func (plainAPI) isRejection(status int, _ http.Header, _ []byte) bool {
	return status == http.StatusBadRequest || status == http.StatusUnprocessableEntity
}

func (plainAPI) guarantee() sink.Promise {
	return sink.Promise{Sent: "answered with 2xx; the header Idempotency-Key is the same when a batch is sent again"}
}

// lines sends one event per line.
type lines struct{ plainAPI }

func (lines) mediaType() string { return "application/x-ndjson" }

func (lines) appendBody(body []byte, b sink.Batch) ([]byte, []sink.Dead) {
	for _, e := range b.Events {
		body = append(append(body, e.Line...), '\n')
	}
	return body, nil
}

// array sends one JSON array.
type array struct{ plainAPI }

func (array) mediaType() string { return "application/json" }

func (array) appendBody(body []byte, b sink.Batch) ([]byte, []sink.Dead) {
	for i, e := range b.Events {
		c := byte(',')
		if i == 0 {
			c = '['
		}
		body = append(append(body, c), e.Line...)
	}
	return append(body, ']'), nil
}
