// Package workload defines the requests for app ingest under a lab, and the correct responses:
// those of the service itself.
package workload

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/apps/ingest"
	"github.com/tarebench/tare/apps/ingest/profiles"
	"github.com/tarebench/tare/apps/ingest/serving"
	"github.com/tarebench/tare/contender/fixture"
	"github.com/tarebench/tare/contender/wire"
	"github.com/tarebench/tare/kinds/server"
)

// Ops of ingest.
const (
	opEvents  = "events"         // n records each
	opUniform = "events-uniform" // 1 to n, evenly
	opPretty  = "events-pretty"  // n, indented for readers
)

// App returns the service of package apps/ingest.
func App() server.App {
	return server.App{
		Name:      ingest.Name,
		Ops:       allOps(),
		N:         ingest.DefaultLimit,
		Counts:    func(op string) tare.Counts { return tare.Counts{One: "event", Most: op == opUniform} },
		Requests:  newRequests,
		Probes:    newProbes,
		Questions: newQuestions,
		Answers:   referenceResponses,
		Same:      server.SameJSON,
		Refuses:   server.NamesError,
		Settings:  applySettings,
		Words:     []string{setBody},
		Dialect:   newDialect,
		Delivers:  true,
	}
}

func allOps() []string { return []string{opEvents, opUniform, opPretty} }

// newRequests returns batches of events, each of other events.
func newRequests(w tare.Workload) ([]server.Request, error) {
	if w.Op == opUniform && w.Pool == 0 && w.N > 0 { // complete turns of all sizes
		w.Pool = (fixture.DefaultPool + w.N - 1) / w.N * w.N
	}
	bodies, err := profiles.Bodies(w.N, w.Pool)
	if err != nil {
		return nil, err
	}
	sizes := make([]int, len(bodies))
	for i := range sizes {
		if sizes[i] = w.N; w.Op == opUniform {
			sizes[i] = 1 + i%w.N
		}
	}
	server.Shuffle(fixture.NewRandom("tare/ingest/v1 "+w.Op), sizes)
	list := make([]server.Request, len(bodies))
	for i, body := range bodies {
		if w.Op == opUniform {
			if body, err = firstOf(body, sizes[i]); err != nil {
				return nil, err
			}
		}
		if w.Op == opPretty {
			var b bytes.Buffer
			if err := json.Indent(&b, body, "", "  "); err != nil {
				return nil, err
			}
			body = b.Bytes()
		}
		list[i] = postBody(body)
		list[i].Items = sizes[i]
	}
	return list, nil
}

// firstOf returns an array's first n elements.
func firstOf(array []byte, n int) ([]byte, error) {
	var list []json.RawMessage
	if err := json.Unmarshal(array, &list); err != nil {
		return nil, err
	}
	return json.Marshal(list[:n])
}

func postBody(body []byte) server.Request {
	return server.Request{Method: http.MethodPost, Path: "/", Header: map[string]string{server.ContentType: server.TypeJSON}, Body: body}
}

// neededLimits returns the bounds of a service that accepts all of list, and no more than its
// defaults if some must be rejected.
func neededLimits(w wire.Workload, list []server.Request) (records int, body int64) {
	records, body = ingest.DefaultLimit, ingest.DefaultMaxBody
	if w.Op == server.OpProbes || w.Op == server.OpExam {
		return records, body
	}
	for _, q := range list {
		body = max(body, int64(len(q.Body)))
	}
	return max(records, w.N), body
}

// applySettings lets the service accept the batches of list, unless the study sets that itself.
// Probes are made for a service with its default bounds that decodes metadata.
func applySettings(w wire.Workload, list []server.Request, set map[string]string, _ string) error {
	records, body := neededLimits(w, list)
	if w.Op == server.OpProbes || w.Op == server.OpExam {
		delete(set, serving.SetLimit)
		delete(set, serving.SetMaxBody)
		delete(set, serving.SetMetadata)
	}
	if set[serving.SetMetadata] == "" {
		set[serving.SetMetadata] = serving.MetadataTyped
	}
	if set[serving.SetLimit] == "" {
		set[serving.SetLimit] = strconv.Itoa(records)
	}
	if set[serving.SetMaxBody] == "" && body > ingest.DefaultMaxBody {
		set[serving.SetMaxBody] = strconv.FormatInt(body, 10)
	}
	return nil
}

// referenceResponses returns the responses of the service itself, with the plainest decoder.
func referenceResponses(w wire.Workload, list []server.Request) ([]server.Response, error) {
	c := ingest.Config{Typed: true}
	c.Limit, c.MaxBody = neededLimits(w, list)
	s, err := ingest.New(c)
	if err != nil {
		return nil, err
	}
	answers := make([]server.Response, len(list))
	for i, q := range list {
		answers[i] = serveRequest(s, q)
	}
	return answers, s.Close()
}

func serveRequest(s *ingest.Service, q server.Request) server.Response {
	path, _, _ := strings.Cut(q.Path, "?")
	method := http.MethodGet
	switch path {
	case "/":
		method = http.MethodPost
	case "/health", "/openapi.json":
	default:
		return server.Refused(http.StatusNotFound)
	}
	switch {
	case q.Method != method:
		return server.Refused(http.StatusMethodNotAllowed)
	case path == "/health":
		return server.Answered(server.TypeText, []byte("ok\n"))
	case path == "/openapi.json":
		return server.Answered(server.TypeJSON, ingest.OpenAPI())
	}
	receipt, err := acceptBatch(s, q)
	if err != nil {
		return server.Refused(s.RefusalOf(err).Status)
	}
	return server.Answered(server.TypeJSON, fmt.Appendf(nil, `{"accepted":%d,"bytes":%d}`, receipt.Accepted, receipt.Bytes))
}

// acceptBatch processes a batch as a stack does.
func acceptBatch(s *ingest.Service, q server.Request) (ingest.Receipt, error) {
	head := ingest.Head{
		Authorization: q.Header["Authorization"], ContentType: q.Header[server.ContentType],
		ContentEncoding: q.Header["Content-Encoding"], Length: int64(len(q.Body)),
	}
	if _, err := s.Admit(head); err != nil {
		return ingest.Receipt{}, err
	}
	body, err := s.Unpack(head, q.Body)
	if err != nil {
		return ingest.Receipt{}, err
	}
	batch := s.Batch(json.Marshal)
	if err := json.Unmarshal(body, batch.Target()); err != nil {
		return ingest.Receipt{}, s.Malformed(head, body, err)
	}
	return s.Accept(context.Background(), head, batch)
}
