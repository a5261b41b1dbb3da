// Package ingest_test repeats a published comparison of services that receive
// batches of events, with only the testing package:
//
//	cd bench/ingest && GOWORK=off go test -bench . -benchtime 3s
//
// The write-up sent requests to fasthttp, net/http with two JSON libraries, Iris and
// Gin, from two hosts over the internet, with wrk and 50 concurrent connections. It
// found 907, 836, 803, 795 and 790 requests per second. It has these mistakes:
//
//   - In ten of 14 rows, the rate times the round-trip time is the number of
//     connections of wrk: the rate follows from the round trip, network included.
//   - It imported ffjson without generating code, so that the row of ffjson is
//     encoding/json after a detour.
//   - It ignored decoding errors, and checked the services with a body that is not
//     JSON.
//
// These benchmarks call the handlers directly. Each request has another batch of 10
// records, and the response must be 200 with the number of records and the bytes of
// their metadata. The cost of reading requests from connections, in which fasthttp
// differs most, is therefore not included. The lines after Gin separate causes: the
// same service discards the body, only reads it, only parses it, or receives gob.
//
// Differences between two lines of one run are not findings yet: contenders run one
// after another in one process, and the variation between runs of the same code is
// unknown. tare run ingest measures it, and also measures connections, code that
// ffjson generated, protobuf, other JSON libraries, Fluentd and Fluent Bit.
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
	limit   = 10      // maximum number of records in a batch, as published
	maxBody = 1 << 20 // bytes
	asJSON  = "application/json"
)

func BenchmarkFasthttp(b *testing.B)            { benchmark(b, "Fasthttp") }
func BenchmarkNetHTTPEncodingJSON(b *testing.B) { benchmark(b, "NetHTTPEncodingJSON") }
func BenchmarkNetHTTPFfjson(b *testing.B)       { benchmark(b, "NetHTTPFfjson") } // as published: without generated code
func BenchmarkIris(b *testing.B)                { benchmark(b, "Iris") }
func BenchmarkGin(b *testing.B)                 { benchmark(b, "Gin") }
func BenchmarkNetHTTPDiscard(b *testing.B)      { benchmark(b, "NetHTTPDiscard") } // discards the body
func BenchmarkNetHTTPRead(b *testing.B)         { benchmark(b, "NetHTTPRead") }    // only reads the body
func BenchmarkNetHTTPParse(b *testing.B)        { benchmark(b, "NetHTTPParse") }   // reads and parses the body, but does not encode metadata
func BenchmarkNetHTTPGob(b *testing.B)          { benchmark(b, "NetHTTPGob") }     // NetHTTPEncodingJSON with gob in requests

// service is a service under test. Only one goroutine may use it.
type service struct {
	send   func(method, contentType string, body []byte) (status int, answer []byte)
	encode func([]fixture.Event) ([]byte, error) // encodes a batch for the service; nil means JSON
	lazy   bool                                  // the service does only a part of the work, and always reports 0 records
}

// services returns the services by the names of their benchmarks.
func services(tb testing.TB) map[string]service {
	parse := func(body []byte) ([]fixture.Event, error) {
		var list []fixture.Event
		return list, json.Unmarshal(body, &list)
	}
	return map[string]service{
		"Fasthttp":            {send: overFasthttp(handleFast)},
		"NetHTTPEncodingJSON": {send: overHTTP(netHTTP(parse, json.Marshal))},
		"NetHTTPFfjson": {send: overHTTP(netHTTP(func(body []byte) ([]fixture.Event, error) {
			var list []fixture.Event
			return list, ffjson.Unmarshal(body, &list)
		}, ffjson.Marshal))},
		"Iris": {send: overHTTP(irisApp(tb))},
		"Gin":  {send: overHTTP(ginEngine())},
		"NetHTTPDiscard": {lazy: true, send: overHTTP(lazyHandler(asJSON, func(r *http.Request) error {
			_, err := io.Copy(io.Discard, r.Body)
			return err
		}))},
		"NetHTTPRead": {lazy: true, send: overHTTP(lazyHandler(asJSON, func(r *http.Request) error {
			_, err := io.ReadAll(r.Body)
			return err
		}))},
		"NetHTTPParse": {lazy: true, send: overHTTP(lazyHandler(asJSON, func(r *http.Request) error {
			body, err := io.ReadAll(r.Body)
			if err == nil {
				_, err = parse(body)
			}
			return err
		}))},
		"NetHTTPGob": {send: overHTTP(gobHandler()), encode: func(list []fixture.Event) ([]byte, error) {
			var b bytes.Buffer
			err := gob.NewEncoder(&b).Encode(list)
			return b.Bytes(), err
		}},
	}
}

// receipt is the response to a batch.
type receipt struct {
	Accepted int `json:"accepted"` // number of records
	Bytes    int `json:"bytes"`    // size of the records' metadata as JSON
}

// processBatch does the work of a service after it has decoded a batch: it encodes the metadata of each
// record.
func processBatch(list []fixture.Event, marshal func(any) ([]byte, error)) (receipt, error) {
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

// checkRequest returns the status of the response to a request with a wrong method or content type, or 0
// if the request is acceptable.
func checkRequest(method, contentType, want string) int {
	mediaType, _, _ := strings.Cut(contentType, ";")
	switch {
	case method != http.MethodPost:
		return http.StatusMethodNotAllowed
	case mediaType != want:
		return http.StatusUnsupportedMediaType
	}
	return 0
}

// handler returns a handler that checks requests and sends the result of serve as JSON.
func handler(contentType string, serve func(*http.Request) (receipt, error)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if status := checkRequest(r.Method, r.Header.Get("Content-Type"), contentType); status != 0 {
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

// lazyHandler returns a handler that only calls serve for a request, and sends an empty receipt.
func lazyHandler(contentType string, serve func(*http.Request) error) http.Handler {
	return handler(contentType, func(r *http.Request) (receipt, error) { return receipt{}, serve(r) })
}

// netHTTP returns the service on net/http with a JSON library.
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
		return processBatch(list, marshal)
	})
}

// gobHandler returns the service on net/http that receives gob.
func gobHandler() http.Handler {
	return handler("application/x-gob", func(r *http.Request) (receipt, error) {
		var list []fixture.Event
		if err := gob.NewDecoder(r.Body).Decode(&list); err != nil {
			return receipt{}, err
		}
		return processBatch(list, json.Marshal)
	})
}

// ginEngine returns the service on Gin.
func ginEngine() http.Handler {
	gin.SetMode(gin.ReleaseMode)
	e := gin.New()
	e.HandleMethodNotAllowed = true
	e.POST("/", func(c *gin.Context) {
		if status := checkRequest(c.Request.Method, c.ContentType(), asJSON); status != 0 {
			c.Status(status)
			return
		}
		c.Request.Body = http.MaxBytesReader(c.Writer, c.Request.Body, maxBody)
		var list []fixture.Event
		err := c.ShouldBindJSON(&list)
		var answer receipt
		if err == nil {
			answer, err = processBatch(list, json.Marshal)
		}
		if err != nil {
			c.JSON(http.StatusBadRequest, gin.H{"error": err.Error()})
			return
		}
		c.JSON(http.StatusOK, answer)
	})
	return e
}

// irisApp returns the service on Iris.
func irisApp(tb testing.TB) http.Handler {
	app := iris.New()
	app.Configure(iris.WithoutBanner, iris.WithFireMethodNotAllowed)
	app.Post("/", iris.LimitRequestBodySize(maxBody), func(c iris.Context) {
		if status := checkRequest(c.Method(), c.GetContentTypeRequested(), asJSON); status != 0 {
			c.StatusCode(status)
			return
		}
		var list []fixture.Event
		err := c.ReadJSON(&list)
		var answer receipt
		if err == nil {
			answer, err = processBatch(list, json.Marshal)
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

// handleFast is the service on fasthttp.
func handleFast(c *fasthttp.RequestCtx) {
	if status := checkRequest(string(c.Method()), string(c.Request.Header.ContentType()), asJSON); status != 0 {
		c.SetStatusCode(status)
		return
	}
	var list []fixture.Event
	err := json.Unmarshal(c.PostBody(), &list)
	var answer receipt
	if err == nil {
		answer, err = processBatch(list, json.Marshal)
	}
	if err != nil {
		c.Error(err.Error(), http.StatusBadRequest)
		return
	}
	c.SetContentType(asJSON)
	_ = json.NewEncoder(c).Encode(answer)
}
