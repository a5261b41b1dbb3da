package server

import (
	"bytes"
	"compress/gzip"
	"net/http"
	"slices"
	"strings"

	"github.com/tarebench/tare/apps/ingest"
)

// event is a record as probes and questions change it.
const event = `{"id":"e-1","timestamp":"2026-03-01T12:00:00Z","metadata":{` +
	`"user_id":"user-1","session_id":"session-1","page_url":"https://shop.example.com/lamps","referrer":"https://www.example.org/",` +
	`"user_agent":"Browser/1.0","ip_address":"192.0.2.1","country":"SE","city":"Lund","language":"sv-SE",` +
	`"screen_width":1920,"screen_height":1080,"campaign":"spring","medium":"newsletter","duration_ms":15000,` +
	`"scroll_depth":0.75,"logged_in":true,"app_version":"2.10.4"}}`

// changed is a batch of one event in which a part is another.
func changed(part, by string) Request { return text("[" + strings.Replace(event, part, by, 1) + "]") }

func text(body string) Request { return post([]byte(body)) }

// headed is q with another header; an empty value is none.
func headed(q Request, name, value string) Request {
	header := map[string]string{}
	for k, v := range q.Header {
		header[k] = v
	}
	if header[name] = value; value == "" {
		delete(header, name)
	}
	q.Header = header
	return q
}

// events is a batch of n events.
func events(n int) Request {
	q := text("[" + strings.TrimSuffix(strings.Repeat(event+",", n), ",") + "]")
	q.Items = n
	return q
}

// packed is q with its body compressed.
func packed(q Request) Request {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, _ = z.Write(q.Body) // into memory, which takes all
	_ = z.Close()
	q.Body = b.Bytes()
	return headed(q, "Content-Encoding", "gzip")
}

// ingestProbes are the contract's refusals, and what is taken although it looks
// a little like one.
func ingestProbes() []Probe {
	one := events(1)
	path := func(method, path string) Request {
		q := one
		if q.Method, q.Path = method, path; method == http.MethodGet {
			q.Body, q.Header, q.Items = nil, nil, 0
		}
		return q
	}
	broken := packed(one)
	broken.Body = append(bytes.Clone(broken.Body[:12]), "this was never compressed"...)
	cut := text("[" + event)
	cut.Items = 1
	tooLong := strings.Repeat("x", ingest.DefaultMaxBody)
	return slices.Concat(
		Probing("",
			path(http.MethodGet, "/"),
			path(http.MethodPut, "/"),
			path(http.MethodGet, "/nothing/here"),
			path(http.MethodPost, "/nothing/here"),
			path(http.MethodPost, "/health"),
		),
		Probing("no content type", headed(one, contentType, "")),
		Probing("another content type", headed(one, contentType, "text/plain")),
		Probing("an unknown content encoding", headed(one, "Content-Encoding", "br")),
		Probing("broken gzip", broken),
		Probing("JSON that breaks off", text(`[{"id":"e-1",`), cut),
		Probing("an empty body", text("")),
		Probing("an event that is in no batch", text(event)),
		Probing("a number for a text", changed(`"user_id":"user-1"`, `"user_id":7`)),
		Probing("a text for a number", changed(`"screen_width":1920`, `"screen_width":"wide"`)),
		Probing("an empty batch", text("[]")),
		Probing("one event more than the limit", events(ingest.DefaultLimit+1)),
		Probing("an event without an id", changed(`"id":"e-1",`, ""), changed(`"id":"e-1"`, `"id":""`)),
		Probing("an event without a timestamp", changed(`"timestamp":"2026-03-01T12:00:00Z",`, "")),
		Probing("an event whose timestamp is none", changed(`"timestamp":"2026-03-01T12:00:00Z"`, `"timestamp":"yesterday"`)),
		Probing("a body beyond the limit", changed("https://www.example.org/", tooLong)),
		Probing("a body beyond the limit in gzip", packed(changed("https://www.example.org/", tooLong))),

		Probing("as many events as there may be", events(ingest.DefaultLimit)),
		Probing("a charset in its content type", headed(one, contentType, "application/json; charset=utf-8")),
		Probing("a body in gzip", packed(events(2))),
		Probing("", get("/health"), get("/openapi.json")),
	)
}
