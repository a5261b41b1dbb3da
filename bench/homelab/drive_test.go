package homelab_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"reflect"
	"testing"

	ginjson "github.com/gin-gonic/gin/codec/json"
)

// request is a request to a service, and the status of the correct response.
type request struct {
	name, method, path, body string
	status                   int
}

const (
	api         = "/api/v1/"
	commandPath = api + "homeassistant/devices/light.device_0008/command"
)

// requests returns the requests of the benchmarks. Each is a sub-benchmark.
func requests() []request {
	return []request{
		{"Health", "GET", "/health", "", 200},
		{"Devices", "GET", api + "devices", "", 200},
		{"Device", "GET", api + "devices/switch.device_0022", "", 200},
		{"Unknown", "GET", api + "devices/switch.device_9999", "", 404},
		{"Command", "POST", commandPath, `{"action":"turn_on","parameters":{"transition":2}}`, 200},
	}
}

// benchmark sends each request repeatedly, and checks the status and the length of each response.
func benchmark(b *testing.B, name string) {
	s := services(b)[name]
	s.setCodec(b)
	for _, r := range requests() {
		b.Run(r.name, func(b *testing.B) {
			c := newCaller(s.handler, r)
			status, first := c.call()
			length := len(first)
			if status != r.status {
				b.Fatalf("%d %s, want %d", status, first, r.status)
			}
			b.ReportAllocs()
			for b.Loop() {
				if status, answer := c.call(); status != r.status || len(answer) != length {
					b.Fatalf("%d, %d bytes; want %d, %d bytes", status, len(answer), r.status, length)
				}
			}
		})
	}
}

// setCodec sets the JSON library of Gin until the test ends. The setting is global to the process.
func (s service) setCodec(tb testing.TB) {
	if s.codec == nil {
		return
	}
	former := ginjson.API
	tb.Cleanup(func() { ginjson.API = former })
	ginjson.API = s.codec
}

// caller sends the same request to a handler repeatedly. It reuses the parts of the request and the
// response, so that they cost little.
type caller struct {
	handler http.Handler
	request request
	url     url.URL
	header  http.Header
	source  bytes.Reader
	answer  recorder
}

func newCaller(h http.Handler, r request) *caller {
	return &caller{
		handler: h,
		request: r,
		url:     url.URL{Path: r.path},
		header:  http.Header{"Content-Type": {"application/json"}},
		answer:  recorder{header: http.Header{}},
	}
}

// call sends the request. The body of the response is valid until the next call.
func (c *caller) call() (status int, answer []byte) {
	c.source.Reset([]byte(c.request.body))
	clear(c.answer.header)
	c.answer.status = 0
	c.answer.body.Reset()
	c.handler.ServeHTTP(&c.answer, &http.Request{
		Method:        c.request.method,
		URL:           &c.url,
		RequestURI:    c.request.path,
		Host:          "home.example",
		Proto:         "HTTP/1.1",
		ProtoMajor:    1,
		ProtoMinor:    1,
		Header:        c.header,
		Body:          io.NopCloser(&c.source),
		ContentLength: int64(len(c.request.body)),
		RemoteAddr:    "192.0.2.1:1",
	})
	return c.answer.status, c.answer.body.Bytes()
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

// TestAnswers checks that all services give the same correct responses. The names of requests without a
// value in want only check the status.
func TestAnswers(t *testing.T) {
	house := newHouse(t)
	want := map[string]any{
		"Devices": house.devices,
		"Device":  house.Devices[22],
		"Unknown": refusal{"unknown_device"},
		"Command": outcome{"light.device_0008", "turn_on", "on"},
	}
	more := []request{
		{"Malformed", "POST", commandPath, `{"action":`, 400},
		{"UnknownAction", "POST", commandPath, `{"action":"burn"}`, 400},
		{"Change", "POST", commandPath, `{"action":"turn_off"}`, 409},
		{"Method", "DELETE", "/api/v1/devices", "", 405},
		{"Path", "GET", "/api/v2/devices", "", 404},
	}
	for name, s := range services(t) {
		t.Run(name, func(t *testing.T) {
			s.setCodec(t)
			for _, r := range append(requests(), more...) {
				c := newCaller(s.handler, r)
				for range 2 { // the second time with reused parts
					status, body := c.call()
					if status != r.status {
						t.Errorf("%s: %d %s, want %d", r.name, status, body, r.status)
					}
					if r.name == "Health" && string(body) != "ok\n" {
						t.Errorf("%s: %q", r.name, body)
					}
					v, ok := want[r.name]
					if !ok {
						continue
					}
					text, err := json.Marshal(v)
					if err != nil {
						t.Fatal(err)
					}
					var have, reference any
					if err := json.Unmarshal(body, &have); err != nil {
						t.Errorf("%s: %v: %.200s", r.name, err, body)
					}
					if err := json.Unmarshal(text, &reference); err != nil || !reflect.DeepEqual(have, reference) {
						t.Errorf("%s: %.200s, want %.200s", r.name, body, text)
					}
				}
			}
		})
	}
}

// TestGinIsSet checks that Gin uses the JSON library that setCodec sets, so that the lines of Gin differ
// in it.
func TestGinIsSet(t *testing.T) {
	s := services(t)["GinJsoniter"]
	counted := &countingCore{Core: s.codec}
	s.codec = counted
	s.setCodec(t)
	for _, r := range requests() {
		newCaller(s.handler, r).call()
	}
	if counted.marshals == 0 || counted.decoders == 0 {
		t.Errorf("%d encoded and %d decoded by it", counted.marshals, counted.decoders)
	}
}

// countingCore counts the uses of a JSON library by Gin.
type countingCore struct {
	ginjson.Core
	marshals, decoders int
}

func (c *countingCore) Marshal(v any) ([]byte, error) {
	c.marshals++
	return c.Core.Marshal(v)
}

func (c *countingCore) NewDecoder(r io.Reader) ginjson.Decoder {
	c.decoders++
	return c.Core.NewDecoder(r)
}
