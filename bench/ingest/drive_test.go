package ingest_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"testing"

	"github.com/valyala/fasthttp"

	"github.com/tarebench/tare/contender/fixture"
)

// benchmark sends batches to a service, and checks each response.
func benchmark(b *testing.B, name string) {
	s := services(b)[name]
	bodies, contentType, want := batches(b, s, limit)
	b.ReportAllocs()
	b.SetBytes(int64(len(bodies[0])))
	i := 0
	for b.Loop() {
		status, answer := s.send(http.MethodPost, contentType, bodies[i%len(bodies)])
		if status != http.StatusOK || !bytes.Equal(bytes.TrimSuffix(answer, []byte("\n")), want) {
			b.Fatalf("%d %s, want 200 %s", status, answer, want)
		}
		i++
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*limit), "ns/event")
}

// batches returns 64 different batches of n records in the encoding of a service, their
// content type, and the correct response, which is the same for each.
func batches(tb testing.TB, s service, n int) (bodies [][]byte, contentType string, want []byte) {
	tb.Helper()
	const batchCount = 64
	pool, err := fixture.Pool("events", n, batchCount)
	if err != nil {
		tb.Fatal(err)
	}
	var answer receipt
	bodies, contentType = pool, asJSON
	for i, body := range pool {
		v, err := fixture.Decode("events", body)
		if err != nil {
			tb.Fatal(err)
		}
		list := v.([]fixture.Event)
		expected := receipt{Accepted: n}
		for _, e := range list {
			text, err := json.Marshal(e.Metadata)
			if err != nil {
				tb.Fatal(err)
			}
			expected.Bytes += len(text)
		}
		if i > 0 && expected != answer {
			tb.Fatalf("the answers to two batches differ: %+v, %+v", expected, answer)
		}
		if answer = expected; s.encode != nil {
			contentType = "application/x-gob"
			if bodies[i], err = s.encode(list); err != nil {
				tb.Fatal(err)
			}
		}
	}
	if s.lazy {
		answer = receipt{}
	}
	if want, err = json.Marshal(answer); err != nil {
		tb.Fatal(err)
	}
	return bodies, contentType, want
}

// overHTTP returns a function that calls a handler of net/http. The parts of the request
// and the response are reused, so that they cost little.
func overHTTP(h http.Handler) func(method, contentType string, body []byte) (int, []byte) {
	var (
		header = http.Header{}
		source bytes.Reader
		answer = recorder{header: http.Header{}}
	)
	return func(method, contentType string, body []byte) (int, []byte) {
		source.Reset(body)
		header["Content-Type"] = []string{contentType}
		clear(answer.header)
		answer.status = 0
		answer.body.Reset()
		h.ServeHTTP(&answer, &http.Request{
			Method:        method,
			URL:           &url.URL{Path: "/"},
			RequestURI:    "/",
			Host:          "ingest.example",
			Proto:         "HTTP/1.1",
			ProtoMajor:    1,
			ProtoMinor:    1,
			Header:        header,
			Body:          io.NopCloser(&source),
			ContentLength: int64(len(body)),
			RemoteAddr:    "192.0.2.1:1",
		})
		if answer.status == 0 {
			answer.status = http.StatusOK
		}
		return answer.status, answer.body.Bytes()
	}
}

// recorder is a ResponseWriter that stores one response. status is 0 until it is written.
type recorder struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (r *recorder) Header() http.Header { return r.header }

func (r *recorder) WriteHeader(status int) {
	if r.status == 0 {
		r.status = status
	}
}

func (r *recorder) Write(b []byte) (int, error) {
	r.WriteHeader(http.StatusOK)
	return r.body.Write(b)
}

// overFasthttp returns a function that calls a handler of fasthttp, with one context for all calls.
func overFasthttp(h fasthttp.RequestHandler) func(method, contentType string, body []byte) (int, []byte) {
	var c fasthttp.RequestCtx
	return func(method, contentType string, body []byte) (int, []byte) {
		c.Request.Reset()
		c.Response.Reset()
		c.Request.Header.SetMethod(method)
		c.Request.Header.SetContentType(contentType)
		c.Request.SetRequestURI("/")
		c.Request.SetBody(body)
		h(&c)
		return c.Response.StatusCode(), c.Response.Body()
	}
}

// TestAnswers checks that every service gives the correct response to batches of the smallest
// and the largest size, and rejects bad requests.
func TestAnswers(t *testing.T) {
	for name, s := range services(t) {
		for _, n := range []int{1, limit} {
			bodies, contentType, want := batches(t, s, n)
			for _, body := range bodies[:2] {
				status, answer := s.send(http.MethodPost, contentType, body)
				if status != http.StatusOK || string(bytes.TrimSuffix(answer, []byte("\n"))) != string(want) {
					t.Errorf("%s, %d records: %d %s, want %s", name, n, status, answer, want)
				}
			}
			if status, _ := s.send(http.MethodPost, contentType+"; charset=utf-8", bodies[0]); status != http.StatusOK {
				t.Errorf("%s: with a charset: %d", name, status)
			}
			if status, _ := s.send(http.MethodGet, contentType, nil); status != http.StatusMethodNotAllowed {
				t.Errorf("%s: GET: %d", name, status)
			}
			if status, _ := s.send(http.MethodPost, "text/plain", bodies[0]); status != http.StatusUnsupportedMediaType {
				t.Errorf("%s: text: %d", name, status)
			}
		}
		if s.lazy && name != "NetHTTPParse" { // it does not look into the body
			continue
		}
		tooLong, contentType, _ := batches(t, s, limit+1)
		for fault, body := range map[string][]byte{
			"cut off":          tooLong[0][:len(tooLong[0])/2],
			"nothing":          {},
			"a name of a file": []byte("post.json"), // the body with which the write-up checked its services
			"records":          tooLong[0],
		} {
			if s.lazy && fault == "records" { // it does not count records
				continue
			}
			if status, answer := s.send(http.MethodPost, contentType, body); status != http.StatusBadRequest {
				t.Errorf("%s: %s: %d %s", name, fault, status, answer)
			}
		}
	}
}
