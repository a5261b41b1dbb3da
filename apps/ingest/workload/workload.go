// Package workload makes requests to servers of app ingest, which accept batches of events, for a comparison.
// It computes the expected responses with an ingest.Service.
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

const (
	opEvents  = "events"         // batches of n records
	opUniform = "events-uniform" // 1 to n records, each size equally often
	opPretty  = "events-pretty"  // n records, indented
)

// App returns the description of app ingest for studies.
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

// newRequests returns a pool of batches. No event is in two batches.
func newRequests(w tare.Workload) ([]server.Request, error) {
	if w.Op == opUniform && w.Pool == 0 && w.N > 0 {
		w.Pool = (fixture.DefaultPool + w.N - 1) / w.N * w.N // a multiple of n, so that each size is equally often
	}
	bodies, err := profiles.Bodies(w.N, w.Pool)
	if err != nil {
		return nil, err
	}
	sizes := make([]int, len(bodies))
	for i := range sizes {
		sizes[i] = w.N
		if w.Op == opUniform {
			sizes[i] = 1 + i%w.N
		}
	}
	server.Shuffle(fixture.NewRandom("tare/ingest/v1 "+w.Op), sizes)
	list := make([]server.Request, len(bodies))
	for i, body := range bodies {
		if w.Op == opUniform {
			if body, err = cutArray(body, sizes[i]); err != nil {
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

func cutArray(array []byte, n int) ([]byte, error) {
	var list []json.RawMessage
	if err := json.Unmarshal(array, &list); err != nil {
		return nil, err
	}
	return json.Marshal(list[:n])
}

func postBody(body []byte) server.Request {
	return server.Request{Method: http.MethodPost, Path: "/", Header: map[string]string{server.ContentType: server.TypeJSON}, Body: body}
}

// neededLimits returns limits with which a service accepts all requests of list. Probes and questions need the
// defaults, because some must be rejected.
func neededLimits(w wire.Workload, list []server.Request) (limit int, maxBody int64) {
	limit, maxBody = ingest.DefaultLimit, ingest.DefaultMaxBody
	if w.Op == server.OpProbes || w.Op == server.OpExam {
		return limit, maxBody
	}
	for _, request := range list {
		maxBody = max(maxBody, int64(len(request.Body)))
	}
	return max(limit, w.N), maxBody
}

// applySettings adds settings with which the service accepts and decodes list, unless the study sets them.
// Probes and questions need the defaults, so for them it removes the study's settings.
func applySettings(w wire.Workload, list []server.Request, set map[string]string, _ string) error {
	limit, maxBody := neededLimits(w, list)
	if w.Op == server.OpProbes || w.Op == server.OpExam {
		delete(set, serving.SetLimit)
		delete(set, serving.SetMaxBody)
		delete(set, serving.SetMetadata)
	}
	if set[serving.SetMetadata] == "" {
		set[serving.SetMetadata] = serving.MetadataTyped
	}
	if set[serving.SetLimit] == "" {
		set[serving.SetLimit] = strconv.Itoa(limit)
	}
	if set[serving.SetMaxBody] == "" && maxBody > ingest.DefaultMaxBody {
		set[serving.SetMaxBody] = strconv.FormatInt(maxBody, 10)
	}
	return nil
}

// referenceResponses returns the responses of an ingest.Service with encoding/json.
func referenceResponses(w wire.Workload, list []server.Request) ([]server.Response, error) {
	c := ingest.Config{Typed: true}
	c.Limit, c.MaxBody = neededLimits(w, list)
	s, err := ingest.New(c)
	if err != nil {
		return nil, err
	}
	responses := make([]server.Response, len(list))
	for i, request := range list {
		responses[i] = serveRequest(s, request)
	}
	return responses, s.Close()
}

func serveRequest(s *ingest.Service, request server.Request) server.Response {
	path, _, _ := strings.Cut(request.Path, "?")
	var method string // the path's method
	switch path {
	case "/":
		method = http.MethodPost
	case "/health", "/openapi.json":
		method = http.MethodGet
	default:
		return server.Refused(http.StatusNotFound)
	}
	switch {
	case request.Method != method:
		return server.Refused(http.StatusMethodNotAllowed)
	case path == "/health":
		return server.Answered(server.TypeText, []byte("ok\n"))
	case path == "/openapi.json":
		return server.Answered(server.TypeJSON, ingest.OpenAPI())
	}
	receipt, err := acceptBatch(s, request)
	if err != nil {
		return server.Refused(s.RefusalOf(err).Status)
	}
	return server.Answered(server.TypeJSON, fmt.Appendf(nil, `{"accepted":%d,"bytes":%d}`, receipt.Accepted, receipt.Bytes))
}

// acceptBatch does the same steps as a measured server.
func acceptBatch(s *ingest.Service, request server.Request) (ingest.Receipt, error) {
	head := ingest.Head{
		Authorization:   request.Header["Authorization"],
		ContentType:     request.Header[server.ContentType],
		ContentEncoding: request.Header["Content-Encoding"],
		Length:          int64(len(request.Body)),
	}
	if _, err := s.Admit(head); err != nil {
		return ingest.Receipt{}, err
	}
	body, err := s.Unpack(head, request.Body)
	if err != nil {
		return ingest.Receipt{}, err
	}
	batch := s.Batch(json.Marshal)
	if err := json.Unmarshal(body, batch.Target()); err != nil {
		return ingest.Receipt{}, s.Malformed(head, body, err)
	}
	return s.Accept(context.Background(), head, batch)
}
