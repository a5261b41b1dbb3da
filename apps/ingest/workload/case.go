package workload

import (
	"bytes"
	"compress/gzip"
	"net/http"
	"slices"
	"strings"

	"github.com/tarebench/tare/apps/ingest"
	"github.com/tarebench/tare/kinds/server"
)

// event is changed by probes and questions.
const event = `{"id":"e-1","timestamp":"2026-03-01T12:00:00Z","metadata":{` +
	`"index":3,"guid":"0d5b4c0e-93a6-4a33-8a5c-6d1f2a7b9e10","isActive":true,"balance":"$1,906.25","picture":"https://pictures.example.org/64x64",` +
	`"age":41,"eyeColor":"grey","name":"Ines Holm","gender":"female","company":"Nordlys","email":"ines.holm@example.org","phone":"+46 (800) 555-2671",` +
	`"address":"12 Quay Street, Lund, Scania, 22100","about":"She keeps bees.\r\n","registered":"2015-07-02T09:13:27 -02:00",` +
	`"latitude":55.75,"longitude":13.25}}`

// withChange replaces part in a batch of one event.
func withChange(part, replacement string) server.Request {
	return textBatch("[" + strings.Replace(event, part, replacement, 1) + "]")
}

func textBatch(body string) server.Request { return postBody([]byte(body)) }

// newBatch returns n equal events.
func newBatch(n int) server.Request {
	request := textBatch("[" + strings.TrimSuffix(strings.Repeat(event+",", n), ",") + "]")
	request.Items = n
	return request
}

func compressBody(request server.Request) server.Request {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = w.Write(request.Body) // writing to memory cannot fail
	_ = w.Close()
	request.Body = b.Bytes()
	return server.WithHeader(request, "Content-Encoding", "gzip")
}

// newProbes has requests for all error responses, and similar valid ones.
func newProbes() []server.Probe {
	valid := newBatch(1)
	newRequest := func(method, path string) server.Request {
		request := valid
		request.Method, request.Path = method, path
		if method == http.MethodGet {
			request.Body, request.Header, request.Items = nil, nil, 0
		}
		return request
	}
	broken := compressBody(valid)
	broken.Body = append(bytes.Clone(broken.Body[:12]), "this was never compressed"...)
	truncated := textBatch("[" + event)
	truncated.Items = 1 // encodes it in other formats, too
	tooLong := strings.Repeat("x", ingest.DefaultMaxBody)
	return slices.Concat(
		server.Probing("",
			newRequest(http.MethodGet, "/"),
			newRequest(http.MethodPut, "/"),
			newRequest(http.MethodGet, "/nothing/here"),
			newRequest(http.MethodPost, "/nothing/here"),
			newRequest(http.MethodPost, "/health"),
		),
		server.Probing("no content type", server.WithHeader(valid, server.ContentType, "")),
		server.Probing("another content type", server.WithHeader(valid, server.ContentType, "text/plain")),
		server.Probing("an unknown content encoding", server.WithHeader(valid, "Content-Encoding", "br")),
		server.Probing("broken gzip", broken),
		server.Probing("JSON that breaks off", textBatch(`[{"id":"e-1",`), truncated),
		server.Probing("an empty body", textBatch("")),
		server.Probing("an event that is in no batch", textBatch(event)),
		server.Probing("a number for a text", withChange(`"name":"Ines Holm"`, `"name":7`)),
		server.Probing("a text for a number", withChange(`"age":41`, `"age":"old"`)),
		server.Probing("an empty batch", textBatch("[]")),
		server.Probing("one event more than the limit", newBatch(ingest.DefaultLimit+1)),
		server.Probing("an event without an id", withChange(`"id":"e-1",`, ""), withChange(`"id":"e-1"`, `"id":""`)),
		server.Probing("an event without a timestamp", withChange(`"timestamp":"2026-03-01T12:00:00Z",`, "")),
		server.Probing("an event whose timestamp is none", withChange(`"timestamp":"2026-03-01T12:00:00Z"`, `"timestamp":"yesterday"`)),
		server.Probing("a body beyond the limit", withChange("https://pictures.example.org/64x64", tooLong)),
		server.Probing("a body beyond the limit in gzip", compressBody(withChange("https://pictures.example.org/64x64", tooLong))),

		server.Probing("as many events as there may be", newBatch(ingest.DefaultLimit)),
		server.Probing("a charset in its content type", server.WithHeader(valid, server.ContentType, "application/json; charset=utf-8")),
		server.Probing("a body in gzip", compressBody(newBatch(2))),
		server.Probing("", server.Get("/health"), server.Get("/openapi.json")),
	)
}
