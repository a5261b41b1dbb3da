package nethttp

import (
	"bytes"
	"errors"
	"net/http"
	"os"
	"sync"

	"github.com/tarebench/tare/apps/homelab"
	"github.com/tarebench/tare/apps/homelab/serving"
	"github.com/tarebench/tare/contender/server"
)

// JSON has the functions of the JSON package under test.
type JSON struct {
	Unmarshal func([]byte, any) error
	Marshal   func(any) ([]byte, error)
}

// Homelab returns a function that serves the app homelab, an API for the devices of a house.
func Homelab(j JSON) serving.Serve {
	return func(o server.Options, house *homelab.House) (server.Server, error) { return newHome(o, house, j), nil }
}

func newHome(o server.Options, house *homelab.House, j JSON) server.Server {
	h := &home{o: o, house: house, json: j}
	mux := http.NewServeMux()
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) { h.writeError(w, homelab.NotFound()) })
	h.addPage(mux, "/health", typeText, func() []byte { return []byte("ok\n") })
	h.addPage(mux, "/metrics", typeMetrics, h.house.Metrics)
	h.addPage(mux, "/openapi.json", typeJSON, homelab.OpenAPI)
	h.addGet(mux, "/api/v1/{$}", func(*http.Request) (any, error) { return h.house.Info(), nil })
	h.addGet(mux, "/api/v1/services", func(*http.Request) (any, error) { return units{h.house.Services("")}, nil })
	h.addGet(mux, "/api/v1/cluster/services", func(r *http.Request) (any, error) {
		return units{h.house.Services(r.URL.Query().Get("name"))}, nil
	})
	h.addGet(mux, "/api/v1/devices", func(*http.Request) (any, error) { return devices{h.house.Devices()}, nil })
	h.addGet(mux, "/api/v1/devices/{id}", func(r *http.Request) (any, error) { return h.house.Device(r.PathValue("id")) })
	const command = "/api/v1/homeassistant/devices/{id}/command"
	mux.HandleFunc("POST "+command, h.serveCommand)
	mux.HandleFunc(command, h.notAllowed(allowPost))
	return server.HTTPBodies(h.addLayers(mux))
}

// units and devices are answers with a list.
type units struct {
	Services []homelab.Unit `json:"services"`
}

type devices struct {
	Devices []homelab.Device `json:"devices"`
}

// home translates between HTTP and house, which decides what to answer.
type home struct {
	o       server.Options // its Receipts count requests, which tare compares with those it sent
	house   *homelab.House
	json    JSON
	buffers sync.Pool // elements are *bytes.Buffer
}

// addPage adds a path whose answer is body(). It does not use the JSON package under test.
func (h *home) addPage(mux *http.ServeMux, path, contentType string, body func() []byte) {
	mux.HandleFunc("GET "+path, func(w http.ResponseWriter, _ *http.Request) {
		h.o.Receipts.Request()
		h.writeAnswer(w, http.StatusOK, contentType, body())
	})
	mux.HandleFunc(path, h.notAllowed(allowRead))
}

// addGet adds a path whose answer is value(r), encoded by the JSON package under test.
func (h *home) addGet(mux *http.ServeMux, path string, value func(r *http.Request) (any, error)) {
	mux.HandleFunc("GET "+path, func(w http.ResponseWriter, r *http.Request) {
		h.o.Receipts.Request()
		v, err := value(r)
		h.writeResult(w, v, err)
	})
	mux.HandleFunc(path, h.notAllowed(allowRead))
}

func (h *home) serveCommand(w http.ResponseWriter, r *http.Request) {
	h.o.Receipts.Request()
	outcome, err := h.runCommand(w, r)
	h.writeResult(w, outcome, err)
}

func (h *home) runCommand(w http.ResponseWriter, r *http.Request) (homelab.Outcome, error) {
	if err := h.house.Admit(r.Header.Get("Content-Type"), r.Header.Get("Origin"), r.Host); err != nil {
		return homelab.Outcome{}, err
	}
	b, _ := h.buffers.Get().(*bytes.Buffer)
	if b == nil {
		b = &bytes.Buffer{}
	}
	defer func() {
		b.Reset()
		h.buffers.Put(b)
	}()
	n, err := b.ReadFrom(http.MaxBytesReader(w, r.Body, homelab.MaxCommand))
	h.o.Receipts.Body(n)
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		return homelab.Outcome{}, homelab.TooLarge()
	case errors.Is(err, os.ErrDeadlineExceeded):
		return homelab.Outcome{}, homelab.TooSlow()
	case err != nil:
		return homelab.Outcome{}, homelab.Malformed(err)
	}
	var c homelab.Command
	if err := h.json.Unmarshal(b.Bytes(), &c); err != nil {
		return homelab.Outcome{}, homelab.Malformed(err)
	}
	return h.house.Command(r.PathValue("id"), c)
}

func (h *home) writeResult(w http.ResponseWriter, v any, err error) {
	var body []byte
	if err == nil {
		body, err = h.json.Marshal(v)
	}
	if err != nil {
		h.writeError(w, err)
		return
	}
	h.writeAnswer(w, http.StatusOK, typeJSON, body)
}

// writeError answers with the status and body of err. 405, of a device without commands, allows GET.
func (h *home) writeError(w http.ResponseWriter, err error) {
	refusal := h.house.RefusalOf(err)
	if refusal.Status == http.StatusMethodNotAllowed && w.Header().Get("Allow") == "" {
		w.Header().Set("Allow", "GET")
	}
	body, err := h.json.Marshal(refusal)
	if err != nil {
		body = nil // a broken encoder: send no body
	}
	h.writeAnswer(w, refusal.Status, typeJSON, body)
}

func (h *home) writeAnswer(w http.ResponseWriter, status int, contentType string, body []byte) {
	h.house.Served(status)
	writeAnswer(w, status, contentType, body)
}

// notAllowed returns a handler for methods that a path does not have; allow lists those that it has.
func (h *home) notAllowed(allow string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Allow", allow)
		h.writeError(w, homelab.NotAllowed())
	}
}
