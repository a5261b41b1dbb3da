package nethttp

import (
	"encoding/json"
	"maps"
	"net/http"
	"slices"

	"github.com/tarebench/tare/apps/ingest"
	"github.com/tarebench/tare/apps/ingest/serving"
	"github.com/tarebench/tare/contender/server"
)

// Decoder decodes a body into a batch of events. body is valid until the batch is accepted. An
// [ingest.Refusal] is the error response; another error means a malformed body.
type Decoder func(s *ingest.Service, body []byte) (ingest.Batch, error)

// Ingest returns a function that serves the app ingest, which accepts batches of events. It accepts bodies in
// the formats that have decoders.
func Ingest(decoders map[ingest.Format]Decoder) serving.Serve {
	return func(o server.Options, s *ingest.Service) (server.Server, error) {
		return newEvents(o, s, decoders), nil
	}
}

func newEvents(o server.Options, s *ingest.Service, decoders map[ingest.Format]Decoder) server.Server {
	e := &events{o: o, service: s, decoders: decoders, formats: slices.Sorted(maps.Keys(decoders))}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /{$}", e.serveBatch)
	mux.HandleFunc("/{$}", e.notAllowed(allowPost))
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) { e.writeError(w, ingest.NotFound()) })
	for path, page := range map[string]struct {
		contentType string
		body        func() []byte
	}{
		"/health":       {typeText, func() []byte { return []byte("ok\n") }},
		"/metrics":      {typeMetrics, e.service.Metrics},
		"/openapi.json": {typeJSON, ingest.OpenAPI},
	} {
		mux.HandleFunc("GET "+path, func(w http.ResponseWriter, _ *http.Request) {
			o.Receipts.Request()
			writeAnswer(w, http.StatusOK, page.contentType, page.body())
		})
		mux.HandleFunc(path, e.notAllowed(allowRead))
	}
	return server.HTTPBodies(server.AccessLog(mux, o))
}

// events translates between HTTP and service, which decides what to answer.
type events struct {
	o        server.Options  // its Receipts count requests, which tare compares with those it sent
	service  *ingest.Service // checks and stores the batches
	decoders map[ingest.Format]Decoder
	formats  []ingest.Format
}

// serveBatch answers a batch with the service's receipt.
func (e *events) serveBatch(w http.ResponseWriter, r *http.Request) {
	e.o.Receipts.Request()
	receipt, err := e.acceptBatch(r)
	if err != nil {
		e.writeError(w, err)
		return
	}
	body, err := json.Marshal(receipt)
	if err != nil {
		e.writeError(w, err)
		return
	}
	writeAnswer(w, http.StatusOK, typeJSON, body)
}

func (e *events) acceptBatch(r *http.Request) (ingest.Receipt, error) {
	head := ingest.Head{
		Authorization:   r.Header.Get("Authorization"),
		ContentType:     r.Header.Get("Content-Type"),
		ContentEncoding: r.Header.Get("Content-Encoding"),
		Length:          r.ContentLength,
		Traceparent:     r.Header.Get("traceparent"),
	}
	format, err := e.service.Admit(head, e.formats...)
	if err != nil {
		return ingest.Receipt{}, err
	}
	sent := countingReader{r: r.Body}
	body := e.service.Body(head, &sent)
	defer body.Close()
	text, err := body.Bytes()
	e.o.Receipts.Body(sent.n)
	if err != nil {
		return ingest.Receipt{}, body.Refusal(err)
	}
	batch, err := e.decoders[format](e.service, text)
	if err != nil {
		return ingest.Receipt{}, body.Refusal(err)
	}
	return e.service.Accept(r.Context(), head, batch)
}

func (e *events) writeError(w http.ResponseWriter, err error) {
	refusal := e.service.RefusalOf(err)
	switch refusal.Status {
	case http.StatusUnauthorized:
		w.Header().Set("WWW-Authenticate", "Bearer")
	case http.StatusServiceUnavailable:
		w.Header().Set("Retry-After", "1")
	}
	body, _ := json.Marshal(refusal) // two strings always encode
	writeAnswer(w, refusal.Status, typeJSON, body)
}

// notAllowed returns a handler for methods that a path does not have; allow lists those that it has.
func (e *events) notAllowed(allow string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Allow", allow)
		e.writeError(w, ingest.NotAllowed())
	}
}
