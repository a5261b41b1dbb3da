// Package sinktest tests sinks, which send events to a destination. It has a suite for every sink, and an HTTP
// destination with all kinds of faults.
package sinktest

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"
)

// Fault is an error of a destination on one request.
type Fault int

// Faults. A fault after events were accepted causes duplicates, unless the destination recognises them.
const (
	None        Fault = iota
	Latency           // responds late
	Busy              // 429
	Broken            // 500
	Reset             // resets the connection before it reads the request
	SlowRead          // reads the body slowly
	Partly            // every other event, if the API can report that
	TakenReset        // accepts the events, and resets the connection
	TakenBroken       // accepts the events, and responds with 502
	TakenShort        // accepts the events, and sends fewer bytes than its Content-Length
	Garbled           // accepts the events, and sends an invalid response
	faultCount        // number of faults, None included
)

// Faults lists all faults.
func Faults() []Fault {
	var list []Fault
	for f := Latency; f < faultCount; f++ {
		list = append(list, f)
	}
	return list
}

// Server is a destination over HTTP with one of the APIs.
type Server struct {
	t   testing.TB
	api string

	mu       sync.Mutex
	arrived  []string                // accepted events, in order
	known    map[string]bool         // ids or tokens of accepted events and batches
	requests int                     // number since Fail
	largest  int                     // events in a request
	fault    func(request int) Fault // fault of the n-th request
	poison   string                  // events with this text are rejected; "" means none

	listen net.Listener
	server *httptest.Server // nil if stopped
}

// NewServer starts a destination with an API: ndjson, json, bulk, clickhouse or bigquery.
func NewServer(t testing.TB, api string) *Server {
	s := &Server{t: t, api: api, known: map[string]bool{}, fault: func(int) Fault { return None }}
	s.Start()
	t.Cleanup(s.Stop)
	return s
}

// Start starts the destination, again at the same address.
func (s *Server) Start() {
	addr := "127.0.0.1:0"
	if s.listen != nil {
		addr = s.listen.Addr().String()
	}
	var err error
	for range 500 { // a client may use the port for a moment
		if s.listen, err = net.Listen("tcp", addr); err == nil {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	if err != nil {
		s.t.Fatal(err)
	}
	s.server = &httptest.Server{Listener: s.listen, Config: &http.Server{Handler: s}}
	s.server.Start()
}

// Stop cuts all connections, in the middle of requests.
func (s *Server) Stop() {
	if s.server != nil {
		_ = s.listen.Close()
		s.server.CloseClientConnections()
		_ = s.server.Config.Close()
		s.server = nil
	}
}

// Addr returns host:port, even while the destination is stopped.
func (s *Server) Addr() string { return s.listen.Addr().String() }

// URL returns the URL of the sink.
func (s *Server) URL() string {
	path := map[string]string{"bulk": "/events", "clickhouse": "/events", "bigquery": "/bigquery/v2/projects/p/datasets/d/tables/t"}[s.api]
	return "http+" + s.api + "://" + s.listen.Addr().String() + path
}

// Fail sets the function that returns the fault of each request, counted from 0.
func (s *Server) Fail(fault func(request int) Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fault, s.requests = fault, 0
}

// Refuse makes the destination reject each event that contains poison.
func (s *Server) Refuse(poison string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.poison = poison
}

// Arrived returns the accepted events.
func (s *Server) Arrived() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.arrived...)
}

// Count returns the number of accepted events.
func (s *Server) Count() int { return len(s.Arrived()) }

// Requests returns the number of requests since Fail, and the most events in one.
func (s *Server) Requests() (n, largest int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.requests, s.largest
}

// ServeHTTP receives the events of one request, with its fault.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	fault := s.fault(s.requests)
	s.requests++
	s.mu.Unlock()
	var body io.Reader = r.Body
	switch fault {
	case Latency:
		time.Sleep(20 * time.Millisecond)
	case Busy:
		w.Header().Set("Retry-After", "0")
		w.WriteHeader(http.StatusTooManyRequests)
		return
	case Broken:
		w.WriteHeader(http.StatusInternalServerError)
		return
	case Reset:
		resetConnection(w)
		return
	case SlowRead:
		body = slowReader{body}
	}
	if r.Header.Get("Content-Encoding") == "gzip" {
		z, err := gzip.NewReader(body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusTeapot)
			return
		}
		body = z
	}
	text, err := io.ReadAll(body)
	if err != nil {
		return // the client has gone
	}
	status, answer := s.takeEvents(r, text, fault == Partly)
	switch fault {
	case TakenReset:
		resetConnection(w)
		return
	case TakenBroken:
		status, answer = http.StatusBadGateway, ""
	case TakenShort:
		w.Header().Set("Content-Length", fmt.Sprint(len(answer)+10))
	case Garbled:
		if s.api == "bulk" || s.api == "bigquery" {
			answer = "<html>"
		}
	}
	w.WriteHeader(status)
	_, _ = io.WriteString(w, answer)
}

// resetConnection sends a TCP reset and no response.
func resetConnection(w http.ResponseWriter) {
	if c, _, err := http.NewResponseController(w).Hijack(); err == nil {
		if tcp, ok := c.(*net.TCPConn); ok {
			_ = tcp.SetLinger(0)
		}
		_ = c.Close()
	}
}

// slowReader reads slowly, in small parts.
type slowReader struct{ io.Reader }

func (s slowReader) Read(p []byte) (int, error) {
	time.Sleep(time.Millisecond)
	return s.Reader.Read(p[:min(len(p), 1000)])
}

// takeEvents accepts or rejects events like a server with the API. If partly is true, it accepts only every
// other one. Status 418 is for an invalid body, a mistake of the sink.
func (s *Server) takeEvents(r *http.Request, body []byte, partly bool) (status int, answer string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	events, ids := s.decodeEvents(r, body)
	if events == nil {
		return http.StatusTeapot, "this is not " + s.api
	}
	s.largest = max(s.largest, len(events))
	isPoison := func(event string) bool { return s.poison != "" && strings.Contains(event, s.poison) }
	switch s.api {
	case "bulk", "bigquery":
		return http.StatusOK, s.takeEach(events, ids, partly, isPoison)
	}
	for _, event := range events {
		if isPoison(event) {
			if s.api == "clickhouse" {
				return http.StatusInternalServerError, "Code: 27, e.displayText() = DB::Exception: Cannot parse input"
			}
			return http.StatusBadRequest, "poison"
		}
	}
	if token := r.URL.Query().Get("insert_deduplication_token"); token != "" {
		if s.known[token] {
			return http.StatusOK, ""
		}
		s.known[token] = true
	}
	s.arrived = append(s.arrived, events...)
	return http.StatusOK, ""
}

// takeEach decides on each event and returns the body of the response. Of bulk it has all events, of bigquery
// only failures. Status 409 of bulk means that the event is known, which is no failure.
func (s *Server) takeEach(events, ids []string, partly bool, isPoison func(string) bool) string {
	var items, failures []string
	for i, event := range events {
		item := `{"create":{"status":201}}`
		switch {
		case isPoison(event):
			item = `{"create":{"status":400,"error":{"type":"mapper_parsing_exception","reason":"poison"}}}`
			failures = append(failures, fmt.Sprintf(`{"index":%d,"errors":[{"reason":"invalid","message":"poison"}]}`, i))
		case partly && i%2 == 1:
			item = `{"create":{"status":429,"error":{"type":"es_rejected_execution_exception","reason":"busy"}}}`
			failures = append(failures, fmt.Sprintf(`{"index":%d,"errors":[{"reason":"backendError","message":"busy"}]}`, i))
		case s.known[ids[i]]:
			item = `{"create":{"status":409,"error":{"type":"version_conflict_engine_exception","reason":"exists"}}}`
		default:
			s.known[ids[i]] = true
			s.arrived = append(s.arrived, event)
		}
		items = append(items, item)
	}
	if s.api == "bulk" {
		return fmt.Sprintf(`{"took":1,"errors":%v,"items":[%s]}`, len(failures) > 0, strings.Join(items, ","))
	}
	return `{"kind":"bigquery#tableDataInsertAllResponse","insertErrors":[` + strings.Join(failures, ",") + `]}`
}

// decodeEvents returns the events of a body. bulk and bigquery send ids, too. An invalid body or path gives
// nil.
func (s *Server) decodeEvents(r *http.Request, body []byte) (events, ids []string) {
	switch s.api {
	case "json":
		var list []json.RawMessage
		if json.Unmarshal(body, &list) != nil {
			return nil, nil
		}
		for _, e := range list {
			events = append(events, string(e))
		}
	case "bigquery":
		var insert struct {
			Rows []struct {
				InsertID string          `json:"insertId"`
				JSON     json.RawMessage `json:"json"`
			} `json:"rows"`
		}
		if json.Unmarshal(body, &insert) != nil || !strings.HasSuffix(r.URL.Path, "/t/insertAll") {
			return nil, nil
		}
		for _, row := range insert.Rows {
			events, ids = append(events, string(row.JSON)), append(ids, row.InsertID)
		}
	default:
		if len(body) == 0 || body[len(body)-1] != '\n' {
			return nil, nil
		}
		for i, line := range bytes.Split(bytes.TrimSuffix(body, []byte("\n")), []byte("\n")) {
			if s.api == "bulk" && i%2 == 0 {
				var action struct {
					Create struct {
						ID string `json:"_id"`
					} `json:"create"`
				}
				if json.Unmarshal(line, &action) != nil || action.Create.ID == "" || r.URL.Path != "/events/_bulk" {
					return nil, nil
				}
				ids = append(ids, action.Create.ID)
				continue
			}
			if !json.Valid(line) {
				return nil, nil
			}
			events = append(events, string(line))
		}
	}
	return events, ids
}
