// Package workload makes requests to servers of app homelab, an API for the devices of a house, for a
// comparison. A homelab.House with the same devices computes the expected responses.
package workload

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/apps/homelab"
	"github.com/tarebench/tare/apps/homelab/serving"
	"github.com/tarebench/tare/contender/wire"
	"github.com/tarebench/tare/kinds/server"
)

const (
	opMix     = "mix"     // all kinds, as in a house in use
	opHealth  = "health"  // GET /health
	opDevices = "devices" // the list of all devices
	opDevice  = "device"  // single devices, one after the other
)

const (
	pathHealth   = "/health"
	pathInfo     = "/api/v1/"
	pathServices = "/api/v1/services"
	pathDevices  = "/api/v1/devices"
	pathCommands = "/api/v1/homeassistant/devices/"
)

// App returns the description of app homelab for studies.
func App() server.App {
	return server.App{
		Name:      homelab.Name,
		Ops:       []string{opMix, opHealth, opDevices, opDevice, tare.OpStop},
		N:         defaultDevices,
		Counts:    func(string) tare.Counts { return tare.Counts{One: "device", In: "the house"} },
		Requests:  newRequests,
		Repeats:   []string{opMix, tare.OpStop},
		Probes:    newProbes,
		Questions: newQuestions,
		Answers:   referenceResponses,
		Same:      server.SameJSON,
		Refuses:   server.NamesError,
		Settings:  applySettings,
	}
}

// defaultDevices replaces a workload's n of 0.
const defaultDevices = 50

func countDevices(n int) int {
	if n == 0 {
		return defaultDevices
	}
	return n
}

// applySettings sets the devices to the workload's n. The study must not set another number, because requests
// depend on n.
func applySettings(w wire.Workload, _ []server.Request, set map[string]string, _ string) error {
	devices := strconv.Itoa(countDevices(w.N))
	setting := set[serving.SetDevices]
	isSet := setting != "" && w.N != 0 // without n the default replaces the setting
	if isSet && setting != devices {
		return fmt.Errorf("%s: %s; it must equal the workload's n, which is %s, or be left out", serving.SetDevices, setting, devices)
	}
	set[serving.SetDevices] = devices
	return nil
}

// referenceResponses has a house's responses. No request changes it, so equal requests share one.
func referenceResponses(w wire.Workload, list []server.Request) ([]server.Response, error) {
	devices, err := serving.Devices(countDevices(w.N))
	if err != nil {
		return nil, err
	}
	house, err := homelab.New(homelab.Config{}, devices)
	if err != nil {
		return nil, err
	}
	known := map[string]server.Response{} // by method, path and body
	responses := make([]server.Response, len(list))
	for i, request := range list {
		key := request.Method + " " + request.Path + "\n" + string(request.Body)
		r, ok := known[key]
		if !ok {
			r = serveRequest(house, request)
			known[key] = r
		}
		responses[i] = r
	}
	return responses, nil
}

func serveRequest(house *homelab.House, request server.Request) server.Response {
	value, err := routeRequest(house, request)
	if err != nil {
		return server.Refused(house.RefusalOf(err).Status)
	}
	if text, ok := value.(string); ok {
		return server.Answered(server.TypeText, []byte(text))
	}
	body, err := json.Marshal(value)
	if err != nil {
		return server.Refused(house.RefusalOf(err).Status)
	}
	return server.Answered(server.TypeJSON, body)
}

// routeRequest returns the value of the response: a string, for plain text, or a value for JSON.
func routeRequest(house *homelab.House, request server.Request) (any, error) {
	escaped, query, _ := strings.Cut(request.Path, "?")
	path, err := url.PathUnescape(escaped)
	if err != nil {
		return nil, homelab.NotFound()
	}
	if id, ok := strings.CutPrefix(path, pathCommands); ok {
		if id, ok = strings.CutSuffix(id, "/command"); ok && isSegment(id) {
			return serveCommand(house, id, request)
		}
		return nil, homelab.NotFound()
	}
	// handler is called after the check of the method: a wrong method is reported before an unknown device.
	var handler func() (any, error)
	constant := func(v any) func() (any, error) { return func() (any, error) { return v, nil } }
	switch id, ok := strings.CutPrefix(path, pathDevices+"/"); {
	case ok && isSegment(id):
		handler = func() (any, error) { return house.Device(id) }
	case path == pathHealth:
		handler = constant("ok\n")
	case path == "/openapi.json":
		handler = constant(json.RawMessage(homelab.OpenAPI()))
	case path == pathInfo:
		handler = constant(house.Info())
	case path == pathServices:
		handler = constant(map[string]any{"services": house.Services("")})
	case path == "/api/v1/cluster/services":
		values, err := url.ParseQuery(query)
		if err != nil {
			return nil, homelab.NotFound()
		}
		handler = constant(map[string]any{"services": house.Services(values.Get("name"))})
	case path == pathDevices:
		handler = constant(map[string]any{"devices": house.Devices()})
	default:
		return nil, homelab.NotFound()
	}
	if request.Method != http.MethodGet {
		return nil, homelab.NotAllowed()
	}
	return handler()
}

func isSegment(s string) bool { return s != "" && !strings.Contains(s, "/") }

func serveCommand(house *homelab.House, id string, request server.Request) (any, error) {
	if request.Method != http.MethodPost {
		return nil, homelab.NotAllowed()
	}
	if err := house.Admit(request.Header[server.ContentType], "", ""); err != nil {
		return nil, err
	}
	if len(request.Body) > homelab.MaxCommand {
		return nil, homelab.TooLarge()
	}
	var c homelab.Command
	if err := json.Unmarshal(request.Body, &c); err != nil {
		return nil, homelab.Malformed(err)
	}
	return house.Command(id, c)
}
