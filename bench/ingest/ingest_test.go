// Package ingest_test re-asks a published comparison of services that take
// batches of events, with nothing but the testing package:
//
//	cd bench/ingest && GOWORK=off go test -bench . -benchtime 3s
//
// The write-up asked fasthttp, net/http with two JSON libraries, Iris and Gin
// from two hosts over the internet with wrk, 50 connections at a time, and
// found 907, 836, 803, 795 and 790 requests a second. In nearly all rows
// connections times round trips is what wrk had open: the way there was
// measured, not the service. It imported ffjson without generating any code,
// so that row is encoding/json behind a longer path; and it ignored errors of
// decoding, having checked the service with a body that was no JSON.
//
// Here nothing is between the benchmark and the handler, each request carries
// another batch of 10 records, and an answer that is not 200 with the number of
// records and the bytes of their metadata fails the benchmark. What reading a
// request off a connection costs, where fasthttp differs most, is therefore not
// in it. The lines below Gin tell the cause apart: the same service that throws
// the body away, only reads it, only parses it, or is sent gob.
//
// The differences between two lines of one run are not yet findings:
// contenders run one after another in one process, and nothing says how far
// apart two runs of the same code are. That is what tare run ingest is for,
// where connections, code that ffjson did generate, protobuf, other JSON
// libraries, Fluentd and Fluent Bit are measured as well.
package ingest_test

import (
	"bytes"
	"encoding/gob"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/gin-gonic/gin"
	"github.com/kataras/iris/v12"
	"github.com/pquerna/ffjson/ffjson"
	"github.com/valyala/fasthttp"

	"github.com/tarebench/tare/contender/fixture"
)

const (
	limit   = 10 // records in a batch, as published
	maxBody = 1 << 20
	asJSON  = "application/json"
)

func BenchmarkFasthttp(b *testing.B)            { benchmark(b, "Fasthttp") }
func BenchmarkNetHTTPEncodingJSON(b *testing.B) { benchmark(b, "NetHTTPEncodingJSON") }
func BenchmarkNetHTTPFfjson(b *testing.B)       { benchmark(b, "NetHTTPFfjson") } // as published: no code was generated
func BenchmarkIris(b *testing.B)                { benchmark(b, "Iris") }
func BenchmarkGin(b *testing.B)                 { benchmark(b, "Gin") }
func BenchmarkNetHTTPDiscard(b *testing.B)      { benchmark(b, "NetHTTPDiscard") } // the body is thrown away
func BenchmarkNetHTTPRead(b *testing.B)         { benchmark(b, "NetHTTPRead") }    // it is read
func BenchmarkNetHTTPParse(b *testing.B)        { benchmark(b, "NetHTTPParse") }   // and parsed, but nothing is encoded
func BenchmarkNetHTTPGob(b *testing.B)          { benchmark(b, "NetHTTPGob") }     // NetHTTPEncodingJSON, sent gob

// service answers requests. It is used by one goroutine.
type service struct {
	send   func(method, contentType string, body []byte) (status int, answer []byte)
	encode func([]fixture.Event) ([]byte, error) // how it wants its batches; nil: as JSON
	lazy   bool                                  // it does not do the work: its answer is 0 records
}

// services are what the benchmarks run, by name.
func services(tb testing.TB) map[string]service {
	parse := func(body []byte) ([]fixture.Event, error) {
		var list []fixture.Event
		return list, json.Unmarshal(body, &list)
	}
	return map[string]service{
		"Fasthttp":            {send: overFasthttp(fast)},
		"NetHTTPEncodingJSON": {send: overHTTP(netHTTP(parse, json.Marshal))},
		"NetHTTPFfjson": {send: overHTTP(netHTTP(func(body []byte) ([]fixture.Event, error) {
			var list []fixture.Event
			return list, ffjson.Unmarshal(body, &list)
		}, ffjson.Marshal))},
		"Iris": {send: overHTTP(irisApp(tb))},
		"Gin":  {send: overHTTP(ginEngine())},
		"NetHTTPDiscard": {lazy: true, send: overHTTP(accepting(asJSON, func(r *http.Request) error {
			_, err := io.Copy(io.Discard, r.Body)
			return err
		}))},
		"NetHTTPRead": {lazy: true, send: overHTTP(accepting(asJSON, func(r *http.Request) error {
			_, err := io.ReadAll(r.Body)
			return err
		}))},
		"NetHTTPParse": {lazy: true, send: overHTTP(accepting(asJSON, func(r *http.Request) error {
			body, err := io.ReadAll(r.Body)
			if err == nil {
				_, err = parse(body)
			}
			return err
		}))},
		"NetHTTPGob": {send: overHTTP(gobbed()), encode: func(list []fixture.Event) ([]byte, error) {
			var b bytes.Buffer
			err := gob.NewEncoder(&b).Encode(list)
			return b.Bytes(), err
		}},
	}
}

// receipt is the answer to a batch.
type receipt struct {
	Accepted int `json:"accepted"`
	Bytes    int `json:"bytes"` // of the records' metadata, encoded
}

// take does what the service is for, once a batch is decoded.
func take(list []fixture.Event, marshal func(any) ([]byte, error)) (receipt, error) {
	if len(list) < 1 || len(list) > limit {
		return receipt{}, fmt.Errorf("a batch has 1 to %d records", limit)
	}
	r := receipt{Accepted: len(list)}
	for i := range list {
		text, err := marshal(&list[i].Metadata)
		if err != nil {
			return receipt{}, err
		}
		r.Bytes += len(text)
	}
	return r, nil
}

// refused is the status of a request that is not to be served at all.
func refused(method, contentType, want string) int {
	kind, _, _ := strings.Cut(contentType, ";")
	switch {
	case method != http.MethodPost:
		return http.StatusMethodNotAllowed
	case kind != want:
		return http.StatusUnsupportedMediaType
	}
	return 0
}

// handler answers what serve makes of a request as JSON.
func handler(contentType string, serve func(*http.Request) (receipt, error)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if status := refused(r.Method, r.Header.Get("Content-Type"), contentType); status != 0 {
			w.WriteHeader(status)
			return
		}
		r.Body = http.MaxBytesReader(w, r.Body, maxBody)
		answer, err := serve(r)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		w.Header().Set("Content-Type", asJSON)
		_ = json.NewEncoder(w).Encode(answer)
	})
}

// accepting is a service that does no more with a request than look does.
func accepting(contentType string, look func(*http.Request) error) http.Handler {
	return handler(contentType, func(r *http.Request) (receipt, error) { return receipt{}, look(r) })
}

func netHTTP(parse func([]byte) ([]fixture.Event, error), marshal func(any) ([]byte, error)) http.Handler {
	return handler(asJSON, func(r *http.Request) (receipt, error) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return receipt{}, err
		}
		list, err := parse(body)
		if err != nil {
			return receipt{}, err
		}
		return take(list, marshal)
	})
}

func gobbed() http.Handler {
	return handler("application/x-gob", func(r *http.Request) (receipt, error) {
		var list []fixture.Event
		if err := gob.NewDecoder(r.Body).Decode(&list); err != nil {
			return receipt{}, err
		}
		return take(list, json.Marshal)
	})
}

func ginEngine() http.Handler {
	gin.SetMode(gin.ReleaseMode)
	e := gin.New()
	e.HandleMethodNotAllowed = true
	e.POST("/", func(c *gin.Context) {
		if status := refused(c.Request.Method, c.ContentType(), asJSON); status != 0 {
			c.Status(status)
			return
		}
		c.Request.Body = http.MaxBytesReader(c.Writer, c.Request.Body, maxBody)
		var list []fixture.Event
		err := c.ShouldBindJSON(&list)
		var answer receipt
		if err == nil {
			answer, err = take(list, json.Marshal)
		}
		if err != nil {
			c.JSON(http.StatusBadRequest, gin.H{"error": err.Error()})
			return
		}
		c.JSON(http.StatusOK, answer)
	})
	return e
}

func irisApp(tb testing.TB) http.Handler {
	app := iris.New()
	app.Configure(iris.WithoutBanner, iris.WithFireMethodNotAllowed)
	app.Post("/", iris.LimitRequestBodySize(maxBody), func(c iris.Context) {
		if status := refused(c.Method(), c.GetContentTypeRequested(), asJSON); status != 0 {
			c.StatusCode(status)
			return
		}
		var list []fixture.Event
		err := c.ReadJSON(&list)
		var answer receipt
		if err == nil {
			answer, err = take(list, json.Marshal)
		}
		if err != nil {
			c.StopWithJSON(http.StatusBadRequest, iris.Map{"error": err.Error()})
			return
		}
		_ = c.JSON(answer)
	})
	if err := app.Build(); err != nil {
		tb.Fatal(err)
	}
	return app
}

func fast(c *fasthttp.RequestCtx) {
	if status := refused(string(c.Method()), string(c.Request.Header.ContentType()), asJSON); status != 0 {
		c.SetStatusCode(status)
		return
	}
	var list []fixture.Event
	err := json.Unmarshal(c.PostBody(), &list)
	var answer receipt
	if err == nil {
		answer, err = take(list, json.Marshal)
	}
	if err != nil {
		c.Error(err.Error(), http.StatusBadRequest)
		return
	}
	c.SetContentType(asJSON)
	_ = json.NewEncoder(c).Encode(answer)
}
