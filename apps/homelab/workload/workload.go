// Package workload makes the requests that a study sends to app homelab, and the
// expected answers, which a homelab.House with the same devices gives.
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

// Ops of homelab.
const (
	opMix     = "mix" // of all kinds, as in a house
	opHealth  = "health"
	opDevices = "devices" // all of them
	opDevice  = "device"  // one after the other
)

// Paths of homelab.
const (
	pathHealth   = "/health"
	pathInfo     = "/api/v1/"
	pathServices = "/api/v1/services"
	pathDevices  = "/api/v1/devices"
	pathCommands = "/api/v1/homeassistant/devices/"
)

// App returns the service of package apps/homelab.
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

// defaultDevices is the number of devices if the workload sets no n.
const defaultDevices = 50

// countDevices returns the number of devices for a workload's n; 0 means the default.
func countDevices(n int) int {
	if n == 0 {
		return defaultDevices
	}
	return n
}

// applySettings sets the number of devices to the workload's n. A study cannot set
// another number, because the requests depend on it.
func applySettings(w wire.Workload, _ []server.Request, set map[string]string, _ string) error {
	devices := strconv.Itoa(countDevices(w.N))
	if setting := set[serving.SetDevices]; setting != "" && setting != devices && w.N != 0 {
		return fmt.Errorf("%s: %s; it must equal the workload's n, which is %s, or be left out", serving.SetDevices, setting, devices)
	}
	set[serving.SetDevices] = devices
	return nil
}

// referenceResponses sends all of list to a house with the same devices, one after the other. Equal
// requests get the same response: no request changes the house.
func referenceResponses(w wire.Workload, list []server.Request) ([]server.Response, error) {
	devices, err := serving.Devices(countDevices(w.N))
	if err != nil {
		return nil, err
	}
	house, err := homelab.New(homelab.Config{}, devices)
	if err != nil {
		return nil, err
	}
	known := map[string]server.Response{}
	answers := make([]server.Response, len(list))
	for i, q := range list {
		key := q.Method + " " + q.Path + "\n" + string(q.Body)
		r, ok := known[key]
		if !ok {
			r = serveRequest(house, q)
			known[key] = r
		}
		answers[i] = r
	}
	return answers, nil
}

// serveRequest returns the house's response to one request.
func serveRequest(house *homelab.House, q server.Request) server.Response {
	value, err := routeRequest(house, q)
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

// routeRequest returns the value of a request, to be written as JSON, or text.
func routeRequest(house *homelab.House, q server.Request) (any, error) {
	escaped, query, _ := strings.Cut(q.Path, "?")
	path, err := url.PathUnescape(escaped)
	if err != nil {
		return nil, homelab.NotFound()
	}
	if id, ok := strings.CutPrefix(path, pathCommands); ok {
		if id, ok = strings.CutSuffix(id, "/command"); ok && isSegment(id) {
			return serveCommand(house, id, q)
		}
		return nil, homelab.NotFound()
	}
	var value func() (any, error)
	returning := func(v any) func() (any, error) { return func() (any, error) { return v, nil } }
	switch id, ok := strings.CutPrefix(path, pathDevices+"/"); {
	case ok && isSegment(id):
		value = func() (any, error) { return house.Device(id) }
	case path == pathHealth:
		value = returning("ok\n")
	case path == "/openapi.json":
		value = returning(json.RawMessage(homelab.OpenAPI()))
	case path == pathInfo:
		value = returning(house.Info())
	case path == pathServices:
		value = returning(map[string]any{"services": house.Services("")})
	case path == "/api/v1/cluster/services":
		values, err := url.ParseQuery(query)
		if err != nil {
			return nil, homelab.NotFound()
		}
		value = returning(map[string]any{"services": house.Services(values.Get("name"))})
	case path == pathDevices:
		value = returning(map[string]any{"devices": house.Devices()})
	default:
		return nil, homelab.NotFound()
	}
	if q.Method != http.MethodGet {
		return nil, homelab.NotAllowed()
	}
	return value()
}

// isSegment reports whether s can be one segment of a path.
func isSegment(s string) bool { return s != "" && !strings.Contains(s, "/") }

func serveCommand(house *homelab.House, id string, q server.Request) (any, error) {
	if q.Method != http.MethodPost {
		return nil, homelab.NotAllowed()
	}
	if err := house.Admit(q.Header[server.ContentType], "", ""); err != nil {
		return nil, err
	}
	if len(q.Body) > homelab.MaxCommand {
		return nil, homelab.TooLarge()
	}
	var c homelab.Command
	if err := json.Unmarshal(q.Body, &c); err != nil {
		return nil, homelab.Malformed(err)
	}
	return house.Command(id, c)
}
