// Package homelab_test asks what a JSON library is worth inside a real request,
// with nothing but the testing package:
//
//	cd bench/homelab && GOWORK=off go test -bench . -benchtime 3s
//
// A published research on the API of a house with 50 devices encoded the list
// of devices by itself, found jsoniter's fastest configuration twice as fast as
// encoding/json, and named the whole answer as the next step. That is what
// these benchmarks do: a request for the list, for one device, or a command for
// one, through a router to the bytes of the answer. It also says that Gin uses
// jsoniter once gin.DefaultWriter is set to it. DefaultWriter is where Gin
// writes its log, and a jsoniter configuration is no io.Writer, so that does
// not compile. Gin encodes by what its package codec/json holds, which is
// chosen by a build tag or, as here, set.
//
// Nothing is between the benchmark and the handler; what connections cost is
// not in it. Each answer's status and length are compared with the first one's,
// which TestAnswers holds against encoding/json's. The differences between two
// lines of one run are not yet findings: contenders run one after another in
// one process, and nothing says how far apart two runs of the same code are.
// That is what tare run homelab is for.
package homelab_test

import (
	"encoding/json"
	"io"
	"net/http"
	"testing"

	"github.com/gin-gonic/gin"
	ginjson "github.com/gin-gonic/gin/codec/json"
	gojson "github.com/goccy/go-json"
	jsoniter "github.com/json-iterator/go"

	"github.com/tarebench/tare/contender/fixture"
)

func BenchmarkNetHTTPEncodingJSON(b *testing.B) { benchmark(b, "NetHTTPEncodingJSON") }
func BenchmarkNetHTTPJsoniter(b *testing.B)     { benchmark(b, "NetHTTPJsoniter") }
func BenchmarkNetHTTPGoJSON(b *testing.B)       { benchmark(b, "NetHTTPGoJSON") }
func BenchmarkGin(b *testing.B)                 { benchmark(b, "Gin") }
func BenchmarkGinJsoniter(b *testing.B)         { benchmark(b, "GinJsoniter") }
func BenchmarkGinGoJSON(b *testing.B)           { benchmark(b, "GinGoJSON") }

// service is a handler, and how Gin's JSON is to be set for it.
type service struct {
	handler http.Handler
	codec   ginjson.Core // nil: it does not matter
}

// services are what the benchmarks run, by name.
func services(tb testing.TB) map[string]service {
	house := newHouse(tb)
	engine := ginEngine(house)
	return map[string]service{
		"NetHTTPEncodingJSON": {handler: netHTTP(house, json.Unmarshal, json.Marshal)},
		"NetHTTPJsoniter":     {handler: netHTTP(house, jsoniter.ConfigFastest.Unmarshal, jsoniter.ConfigFastest.Marshal)},
		"NetHTTPGoJSON":       {handler: netHTTP(house, gojson.Unmarshal, gojson.Marshal)},
		"Gin":                 {engine, ginjson.API}, // what it is built with: encoding/json
		"GinJsoniter":         {engine, jsoniterCore{jsoniter.ConfigFastest}},
		"GinGoJSON":           {engine, goCore{}},
	}
}

// devices is the published list; it may not be changed.
type devices struct {
	Devices []fixture.Device `json:"devices"`
}

// house is the list and where each device is in it.
type house struct {
	devices
	places map[string]int
}

func newHouse(tb testing.TB) house {
	tb.Helper()
	pool, err := fixture.Pool("devices", 50, 1)
	if err != nil {
		tb.Fatal(err)
	}
	v, err := fixture.Decode("devices", pool[0])
	if err != nil {
		tb.Fatal(err)
	}
	h := house{devices{v.([]fixture.Device)}, map[string]int{}}
	for i, d := range h.Devices {
		h.places[d.ID] = i
	}
	return h
}

type command struct {
	Action     string         `json:"action"`
	Parameters map[string]any `json:"parameters"`
}

type outcome struct {
	ID     string `json:"id"`
	Action string `json:"action"`
	State  string `json:"state"`
}

type refusal struct {
	Error string `json:"error"`
}

// device is the answer for a device.
func (h house) device(id string) (int, any) {
	i, ok := h.places[id]
	if !ok {
		return http.StatusNotFound, refusal{"unknown_device"}
	}
	return http.StatusOK, h.Devices[i]
}

// command is the answer to a command, which may ask for nothing but the state
// that a device has, so that all requests are alike.
func (h house) command(id string, c command, err error) (int, any) {
	i, ok := h.places[id]
	switch {
	case err != nil || c.Action != "turn_on" && c.Action != "turn_off":
		return http.StatusBadRequest, refusal{"malformed"}
	case !ok:
		return http.StatusNotFound, refusal{"unknown_device"}
	case "turn_"+h.Devices[i].State != c.Action:
		return http.StatusConflict, refusal{"would_change"}
	}
	return http.StatusOK, outcome{id, c.Action, h.Devices[i].State}
}

const maxCommand = 64 << 10

func netHTTP(h house, unmarshal func([]byte, any) error, marshal func(any) ([]byte, error)) http.Handler {
	answer := func(w http.ResponseWriter, status int, v any) {
		text, err := marshal(v)
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_, _ = w.Write(text)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /health", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain")
		_, _ = io.WriteString(w, "ok\n")
	})
	mux.HandleFunc("GET /api/v1/devices", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, http.StatusOK, h.devices)
	})
	mux.HandleFunc("GET /api/v1/devices/{id}", func(w http.ResponseWriter, r *http.Request) {
		status, v := h.device(r.PathValue("id"))
		answer(w, status, v)
	})
	mux.HandleFunc("POST /api/v1/homeassistant/devices/{id}/command", func(w http.ResponseWriter, r *http.Request) {
		var c command
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxCommand))
		if err == nil {
			err = unmarshal(body, &c)
		}
		status, v := h.command(r.PathValue("id"), c, err)
		answer(w, status, v)
	})
	return mux
}

func ginEngine(h house) http.Handler {
	gin.SetMode(gin.ReleaseMode)
	e := gin.New()
	e.HandleMethodNotAllowed = true
	e.GET("/health", func(c *gin.Context) { c.String(http.StatusOK, "ok\n") })
	e.GET("/api/v1/devices", func(c *gin.Context) { c.JSON(http.StatusOK, h.devices) })
	e.GET("/api/v1/devices/:id", func(c *gin.Context) { c.JSON(h.device(c.Param("id"))) })
	e.POST("/api/v1/homeassistant/devices/:id/command", func(c *gin.Context) {
		c.Request.Body = http.MaxBytesReader(c.Writer, c.Request.Body, maxCommand)
		var told command
		err := c.ShouldBindJSON(&told)
		c.JSON(h.command(c.Param("id"), told, err))
	})
	return e
}

// jsoniterCore and goCore are what Gin's build tags jsoniter and go_json would
// make of it, but for the configuration of the former.
type jsoniterCore struct{ jsoniter.API }

func (j jsoniterCore) NewEncoder(w io.Writer) ginjson.Encoder { return j.API.NewEncoder(w) }
func (j jsoniterCore) NewDecoder(r io.Reader) ginjson.Decoder { return j.API.NewDecoder(r) }

type goCore struct{}

func (goCore) Marshal(v any) ([]byte, error)      { return gojson.Marshal(v) }
func (goCore) Unmarshal(data []byte, v any) error { return gojson.Unmarshal(data, v) }
func (goCore) MarshalIndent(v any, prefix, indent string) ([]byte, error) {
	return gojson.MarshalIndent(v, prefix, indent)
}
func (goCore) NewEncoder(w io.Writer) ginjson.Encoder { return gojson.NewEncoder(w) }
func (goCore) NewDecoder(r io.Reader) ginjson.Decoder { return gojson.NewDecoder(r) }
