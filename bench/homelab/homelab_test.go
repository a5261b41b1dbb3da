// Package homelab_test measures the effect of a JSON library on complete requests,
// with only the testing package:
//
//	cd bench/homelab && GOWORK=off go test -bench . -benchtime 3s
//
// A published study of the API of a house with 50 devices encoded only the list of
// devices. It found jsoniter's fastest configuration twice as fast as encoding/json,
// and named the complete response as the next step. These benchmarks take that step:
// a request for the list or for one device, or a command to a device, goes through a
// router and becomes the bytes of the response.
//
// The study also says that Gin uses jsoniter if gin.DefaultWriter is set to it. That
// does not compile: Gin writes its log to DefaultWriter, and a jsoniter configuration
// is no io.Writer. Gin uses the JSON library in its package codec/json, which a build
// tag selects or, as here, an assignment.
//
// The benchmarks call the handlers directly, so that connections cost nothing. They
// compare the status and the length of each response with those of the first, whose
// content TestAnswers checks.
//
// Differences between two lines of one run are not findings yet: contenders run one
// after another in one process, and the variation between runs of the same code is
// unknown. tare run homelab measures it.
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

// service is a handler, and the JSON library that Gin must use for it.
type service struct {
	handler http.Handler
	codec   ginjson.Core // nil if the handler does not use Gin
}

// services returns the services by the names of their benchmarks.
func services(tb testing.TB) map[string]service {
	house := newHouse(tb)
	engine := ginEngine(house)
	return map[string]service{
		"NetHTTPEncodingJSON": {handler: netHTTP(house, json.Unmarshal, json.Marshal)},
		"NetHTTPJsoniter":     {handler: netHTTP(house, jsoniter.ConfigFastest.Unmarshal, jsoniter.ConfigFastest.Marshal)},
		"NetHTTPGoJSON":       {handler: netHTTP(house, gojson.Unmarshal, gojson.Marshal)},
		"Gin":                 {engine, ginjson.API}, // the library that the build tags select: encoding/json
		"GinJsoniter":         {engine, jsoniterCore{jsoniter.ConfigFastest}},
		"GinGoJSON":           {engine, goCore{}},
	}
}

// devices is the published list. It must not be changed.
type devices struct {
	Devices []fixture.Device `json:"devices"`
}

// house is the list of devices with an index.
type house struct {
	devices
	indices map[string]int // index of a device in the list, by id
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
		h.indices[d.ID] = i
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

// device returns the status and the body of the response to a request for a device.
func (h house) device(id string) (int, any) {
	i, ok := h.indices[id]
	if !ok {
		return http.StatusNotFound, refusal{"unknown_device"}
	}
	return http.StatusOK, h.Devices[i]
}

// command returns the status and the body of the response to a command. err is the error of parsing it.
// A command may only request the state that the device has, so that all requests find the same state.
func (h house) command(id string, c command, err error) (int, any) {
	i, ok := h.indices[id]
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

const maxCommand = 64 << 10 // bytes of a body

// netHTTP returns the service on net/http with a JSON library.
func netHTTP(h house, unmarshal func([]byte, any) error, marshal func(any) ([]byte, error)) http.Handler {
	writeJSON := func(w http.ResponseWriter, status int, v any) {
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
		writeJSON(w, http.StatusOK, h.devices)
	})
	mux.HandleFunc("GET /api/v1/devices/{id}", func(w http.ResponseWriter, r *http.Request) {
		status, v := h.device(r.PathValue("id"))
		writeJSON(w, status, v)
	})
	mux.HandleFunc("POST /api/v1/homeassistant/devices/{id}/command", func(w http.ResponseWriter, r *http.Request) {
		var c command
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxCommand))
		if err == nil {
			err = unmarshal(body, &c)
		}
		status, v := h.command(r.PathValue("id"), c, err)
		writeJSON(w, status, v)
	})
	return mux
}

// ginEngine returns the service on Gin.
func ginEngine(h house) http.Handler {
	gin.SetMode(gin.ReleaseMode)
	e := gin.New()
	e.HandleMethodNotAllowed = true
	e.GET("/health", func(c *gin.Context) { c.String(http.StatusOK, "ok\n") })
	e.GET("/api/v1/devices", func(c *gin.Context) { c.JSON(http.StatusOK, h.devices) })
	e.GET("/api/v1/devices/:id", func(c *gin.Context) { c.JSON(h.device(c.Param("id"))) })
	e.POST("/api/v1/homeassistant/devices/:id/command", func(c *gin.Context) {
		c.Request.Body = http.MaxBytesReader(c.Writer, c.Request.Body, maxCommand)
		var body command
		err := c.ShouldBindJSON(&body)
		c.JSON(h.command(c.Param("id"), body, err))
	})
	return e
}

// jsoniterCore and goCore are the JSON libraries that Gin's build tags jsoniter and go_json select.
// jsoniterCore can have any configuration.
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
