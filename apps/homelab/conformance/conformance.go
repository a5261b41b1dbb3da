// Package conformance describes to internal/conformance how servers of app homelab must behave: an HTTP API
// for the devices of a house.
//
// Good requests must succeed, in any order and any number of times. Probes are single requests with the
// status that a server must return; most must be rejected. For example, a command with a body that is no JSON
// must get status 400. A probe can also require an error code (with "" any code is accepted) and headers (with
// "" a header must be there, with any text).
//
// Some servers are wrong on purpose (Env.WrongOnPurpose): they repeat a mistake of a published benchmark, so
// that tare can show its effect. Their responses need not be correct.
package conformance

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/tarebench/tare/apps/homelab"
	"github.com/tarebench/tare/apps/homelab/serving"
	"github.com/tarebench/tare/contender/server"
	"github.com/tarebench/tare/internal/conformance"
)

const (
	api     = "/api/v1"
	lamp    = "light.device_0000" // a device that is on
	sensor  = "sensor.device_0001"
	unknown = "light.device_9999" // no device has this id
)

func commandPath(id string) string { return api + "/homeassistant/devices/" + id + "/command" }

// App returns the description of app homelab, with the devices of a measured server.
func App() (conformance.App, error) {
	description, err := conformance.ParseDescription(homelab.OpenAPI())
	if err != nil {
		return conformance.App{}, err
	}
	devices, err := serving.Devices(50)
	if err != nil {
		return conformance.App{}, err
	}
	house, err := homelab.New(homelab.Config{}, devices) // computes the expected responses
	if err != nil {
		return conformance.App{}, err
	}
	good := goodRequests(house, devices)
	// Each response must also match the OpenAPI document and have a request id.
	for i, g := range good {
		request, checkBody := g.Request, g.CheckResponse
		good[i].CheckResponse = func(got conformance.Response) error {
			return errors.Join(checkBody(got), description.CheckResponse(request, got), checkRequestID(got))
		}
	}
	limited := map[string]string{serving.SetRateLimit: "3"}
	withOrigins := map[string]string{serving.SetOrigins: "https://a.example,https://b.example:8443"}
	return conformance.App{
		Name:         homelab.Name,
		Settings:     serving.App(nil).New().Settings(), // settings that a server must accept
		Layers:       2,                                 // middlewares (layers) that the app always has: the request's id, and recovery from panics
		StalledPath:  commandPath(lamp),                 // requests to this path stop before their end, as a test
		GoodRequests: good,
		Checks: []conformance.Check{
			conformance.ProbeCheck("refusals", description, nil, errorProbes()),
			conformance.ProbeCheck("origins", description, withOrigins, originProbes()),
			conformance.ProbeCheck("rate limit", description, limited, limitProbes()),
			{Name: "commands", Run: checkCommands},
			{Name: "layers", Run: func(e conformance.Env) error { return checkLayers(e, limited, withOrigins) }},
		},
		StandaloneSettings: func(string) map[string]string { // the parameter is a directory for apps that store files
			return map[string]string{serving.SetDevices: "50", serving.SetRateLimit: "off", serving.SetOrigins: "*"}
		},
	}, nil
}

// goodRequests returns requests that must succeed, each with a check of its response. conformance.HasJSON
// compares meaning, conformance.HasBody text.
func goodRequests(house *homelab.House, devices []homelab.Device) []conformance.GoodRequest {
	services := func(namePart string) any { return map[string]any{"services": house.Services(namePart)} }
	allDevices := map[string]any{"devices": devices}
	responses := map[string]any{
		api + "/":                                 house.Info(),
		api + "/services":                         services(""),
		api + "/cluster/services":                 services(""),
		api + "/cluster/services?name=":           services(""),
		api + "/cluster/services?name=a":          services("a"),
		api + "/cluster/services?x=1&name=%61":    services("a"),
		api + "/cluster/services?name=none+there": map[string]any{"services": []homelab.Unit{}},
		api + "/devices":                          allDevices,
		api + "/devices?limit=1":                  allDevices,
		api + "/devices/" + lamp:                  devices[0],
		api + "/devices/" + sensor:                devices[1],
		api + "/devices/light%2Edevice_0000":      devices[0],
		"/openapi.json":                           json.RawMessage(homelab.OpenAPI()),
	}
	good := []conformance.GoodRequest{}
	for _, path := range slices.Sorted(maps.Keys(responses)) {
		good = append(good, conformance.GoodRequest{Request: conformance.Get(path), CheckResponse: conformance.HasJSON(responses[path])})
	}
	good = append(good, conformance.GoodRequest{Request: conformance.Get("/health"), CheckResponse: conformance.HasBody("text/plain", "ok\n")})
	// Good requests are repeated in any order, so these commands leave the device on.
	for _, c := range []struct{ id, body, action string }{
		{lamp, `{"action":"turn_on"}`, "turn_on"},
		{lamp, `{"action":"set","parameters":{"brightness":128}}`, "set"},
		{"switch.device_0002", `{"action":"turn_on","parameters":null}`, "turn_on"},
	} {
		outcome := homelab.Outcome{ID: c.id, Action: c.action, State: "on"}
		good = append(good, conformance.GoodRequest{Request: commandRequest(c.id, c.body), CheckResponse: conformance.HasJSON(outcome)})
	}
	return good
}

func commandRequest(id, body string) conformance.Request {
	return conformance.Request{Method: "POST", Path: commandPath(id), Header: conformance.JSONType(""), Body: []byte(body)}
}

func checkRequestID(got conformance.Response) error {
	if id := got.Header.Get("X-Request-Id"); id == "" || len(id) > 64 {
		return fmt.Errorf("header X-Request-Id is %q", id)
	}
	return nil
}

// errorProbes returns the probes of a server that lets no other web site (origin) read responses. Every
// response must have a request id and no CORS header.
func errorProbes() []conformance.Probe {
	list := slices.Concat(headerProbes(), commandProbes(), pathProbes())
	for i, p := range list {
		list[i].CheckResponse = func(got conformance.Response) error {
			if p.CheckResponse != nil {
				if err := p.CheckResponse(got); err != nil {
					return err
				}
			}
			if got.Header.Get("Access-Control-Allow-Origin") != "" {
				return errors.New("header Access-Control-Allow-Origin is set, and no origins are configured")
			}
			return checkRequestID(got)
		}
	}
	return list
}

func expectError(status int, code string, request conformance.Request) conformance.Probe {
	return conformance.Probe{Request: request, Status: status, Code: code}
}

// headerProbes returns requests that a server accepts or rejects because of a header, such as Content-Type.
func headerProbes() []conformance.Probe {
	turnOn := func(contentType string, header ...[2]string) conformance.Request {
		request := commandRequest(lamp, `{"action":"turn_on"}`)
		request.Header = header
		if contentType != "" {
			request.Header = append(request.Header, [2]string{"Content-Type", contentType})
		}
		return request
	}
	return []conformance.Probe{
		{Request: conformance.Get(api+"/services", [2]string{"Origin", "https://a.example"}), Status: 200},
		{Request: turnOn(""), Status: 200},
		{Request: turnOn("application/json; charset=utf-8"), Status: 200},
		{Request: conformance.Get("/metrics"), Status: 200, Header: map[string]string{"Content-Type": "text/plain"}},

		// A server returns a valid request id, and replaces an invalid one.
		probeID("mine-1", true),
		probeID(strings.Repeat("x", 64), true),
		probeID(strings.Repeat("x", 65), false),
		probeID("a b", false),

		// Browsers send such requests for pages of other sites.
		expectError(415, "unsupported_media_type", turnOn("application/x-www-form-urlencoded")),
		expectError(415, "unsupported_media_type", turnOn("text/plain;charset=UTF-8")),
		expectError(415, "unsupported_media_type", turnOn("multipart/form-data; boundary=x")),
		expectError(403, "cross_site", turnOn("application/json", [2]string{"Origin", "https://a.example"})),
		expectError(403, "cross_site", turnOn("", [2]string{"Origin", "null"})),
	}
}

// commandProbes returns commands with an invalid body, or for a device that is unknown or takes no commands.
func commandProbes() []conformance.Probe {
	tooLong := `{"action":"turn_on","parameters":{"x":"` + strings.Repeat("x", homelab.MaxCommand) + `"}}`
	tooLongChunked := commandRequest(lamp, tooLong)
	tooLongChunked.Chunked = true
	readOnly := expectError(405, "read_only", commandRequest(sensor, `{"action":"turn_on"}`))
	readOnly.Header = map[string]string{"Allow": "GET"}
	return []conformance.Probe{
		expectError(400, "malformed", commandRequest(lamp, "")),
		expectError(400, "malformed", commandRequest(lamp, "{")),
		expectError(400, "malformed", commandRequest(lamp, `[]`)),
		expectError(400, "malformed", commandRequest(lamp, `{"action":7}`)),
		expectError(400, "malformed", commandRequest(lamp, `{"action":"set","parameters":[1]}`)),
		expectError(400, "malformed", commandRequest(unknown, "no JSON")),
		expectError(400, "", commandRequest(lamp, `{}`)),
		expectError(400, "", commandRequest(lamp, `{"action":"explode"}`)),
		expectError(413, "", commandRequest(lamp, tooLong)),
		expectError(413, "", tooLongChunked),
		expectError(404, "", commandRequest(unknown, `{"action":"turn_on"}`)),
		expectError(404, "", conformance.Get(api+"/devices/"+unknown)),
		readOnly,
		expectError(405, "read_only", commandRequest("binary_sensor.device_0003", `{"action":"set","parameters":{"x":1}}`)),
	}
}

// pathProbes returns requests with an unknown path or a wrong method.
func pathProbes() []conformance.Probe {
	return []conformance.Probe{
		expectError(404, "", conformance.Get("/nothing")),
		expectError(404, "", conformance.Get("/")),
		expectError(404, "", conformance.Get(api+"/nothing")),
		expectError(404, "", conformance.Get(api+"/devices/a/b")),
		expectError(404, "", conformance.Request{Method: "POST", Path: "/nothing", Body: []byte("{}")}),

		conformance.WrongMethod("POST", api+"/", "GET"),
		conformance.WrongMethod("DELETE", api+"/services", "GET"),
		conformance.WrongMethod("POST", api+"/cluster/services", "GET"),
		conformance.WrongMethod("PUT", api+"/devices", "GET"),
		conformance.WrongMethod("DELETE", api+"/devices/"+lamp, "GET"),
		conformance.WrongMethod("GET", commandPath(lamp), "POST"),
		conformance.WrongMethod("POST", "/health", "GET"),
		conformance.WrongMethod("POST", "/metrics", "GET"),
		conformance.WrongMethod("POST", "/openapi.json", "GET"),
		conformance.WrongMethod("OPTIONS", api+"/devices", "GET"),
	}
}

// probeID returns a probe with the request id id. The response must have the same id if it is valid, else
// another one.
func probeID(id string, isValid bool) conformance.Probe {
	check := func(got conformance.Response) error {
		have := got.Header.Get("X-Request-Id")
		if isReturned := have == id; isReturned != isValid {
			return fmt.Errorf("header X-Request-Id is %q, the request's was %q", have, id)
		}
		return nil
	}
	return conformance.Probe{Request: conformance.Get("/health", [2]string{"X-Request-Id", id}), Status: 200, CheckResponse: check}
}

// originProbes returns the probes of a server that lets pages of two web sites (origins) read responses:
// https://a.example and https://b.example:8443.
func originProbes() []conformance.Probe {
	// probeOrigin sends request like a page of origin. The response must permit permittedOrigin to read it;
	// "" means that no origin may.
	probeOrigin := func(origin, permittedOrigin string, request conformance.Request, status int) conformance.Probe {
		const header = "Access-Control-Allow-Origin"
		request.Header = append(request.Header, [2]string{"Origin", origin})
		return conformance.Probe{Request: request, Status: status, CheckResponse: func(got conformance.Response) error {
			if have := got.Header.Get(header); have != permittedOrigin {
				return fmt.Errorf("header %s is %q, want %q", header, have, permittedOrigin)
			}
			return checkRequestID(got)
		}}
	}
	preflight := probeOrigin("https://a.example", "https://a.example", conformance.Request{
		Method: "OPTIONS",
		Path:   commandPath(lamp),
		Header: [][2]string{{"Access-Control-Request-Method", "POST"}, {"Access-Control-Request-Headers", "content-type"}},
	}, 204)
	preflight.Header = map[string]string{"Access-Control-Allow-Methods": "POST", "Access-Control-Allow-Headers": ""}
	return []conformance.Probe{
		probeOrigin("https://a.example", "https://a.example", conformance.Get(api+"/devices"), 200),
		probeOrigin("https://b.example:8443", "https://b.example:8443", conformance.Get(api+"/devices/"+unknown), 404),
		probeOrigin("https://a.example", "https://a.example", conformance.Get("/nothing"), 404),
		probeOrigin("https://b.example", "", conformance.Get(api+"/devices"), 200),
		probeOrigin("null", "", conformance.Get(api+"/devices"), 200),
		probeOrigin("https://a.example", "https://a.example", commandRequest(lamp, `{"action":"turn_on"}`), 200),
		probeOrigin("https://c.example", "", commandRequest(lamp, `{"action":"turn_on"}`), 403),
		preflight,
		{Request: conformance.Get(api + "/devices"), Status: 200},
	}
}

// limitProbes returns the probes of a server that allows three requests per minute and client. The first
// request of the minute is a test that the server's program sends when it starts, so two are left.
func limitProbes() []conformance.Probe {
	accepted := conformance.Probe{
		Request:       conformance.Get(api + "/services"),
		Status:        200,
		Header:        map[string]string{"X-RateLimit-Limit": "3", "X-RateLimit-Remaining": "", "X-RateLimit-Reset": ""},
		CheckResponse: checkRequestID,
	}
	rejected := conformance.Probe{
		Request:       conformance.Get(api + "/devices"),
		Status:        429,
		Header:        map[string]string{"Retry-After": "", "X-RateLimit-Limit": "3", "X-RateLimit-Remaining": "0", "X-RateLimit-Reset": ""},
		CheckResponse: checkRequestID,
	}
	return []conformance.Probe{accepted, accepted, rejected, rejected}
}

// checkCommands checks the device's state after each command.
func checkCommands(e conformance.Env) error {
	addr, err := e.StartServer(nil)
	if err != nil {
		return err
	}
	c, err := conformance.Dial(addr, nil, e.Limit)
	if err != nil {
		return err
	}
	defer c.Close()
	const id = "switch.device_0002"
	steps := []struct {
		body           string
		state, battery string // values after the command
		hasNote        bool   // note and list are set
	}{
		{body: `{"action":"turn_off"}`, state: "off", battery: "95"},
		{body: `{"action":"toggle"}`, state: "on", battery: "95"},
		{body: `{"action":"toggle","parameters":{"battery":1}}`, state: "off", battery: "95"},
		{body: `{"action":"set","parameters":{"battery":7,"note":"é\"\\<&>","list":[1,null,{"a":true}]}}`, state: "off", battery: "7", hasNote: true},
		{body: `{"action":"turn_on"}`, state: "on", battery: "7", hasNote: true},
	}
	for _, step := range steps {
		if _, err := c.Send(commandRequest(id, step.body)); err != nil {
			return err
		}
		got, err := c.Send(conformance.Get(api + "/devices/" + id))
		if e.WrongOnPurpose { // its response need not be correct
			continue
		}
		var device struct {
			State      string
			Attributes map[string]json.RawMessage
		}
		if err == nil {
			err = json.Unmarshal(got.Body, &device)
		}
		if err != nil || device.State != step.state || string(device.Attributes["battery"]) != step.battery {
			return errors.Join(err, fmt.Errorf("after %s the device is %s", step.body, got.Body))
		}
		if !step.hasNote {
			continue
		}
		err = errors.Join(
			conformance.SameJSON([]byte(`"é\"\\<&>"`), device.Attributes["note"]),
			conformance.SameJSON([]byte(`[1,null,{"a":true}]`), device.Attributes["list"]),
		)
		if err != nil {
			return fmt.Errorf("after %s: %w: %s", step.body, err, got.Body)
		}
	}
	return nil
}

// checkLayers checks that each of the settings, and an access log, adds a middleware (layer). The server
// counts how often a request runs a layer.
func checkLayers(e conformance.Env, settings ...map[string]string) error {
	settings = append(settings, map[string]string{server.SetLog: server.LogDiscard})
	for i, set := range settings {
		addr, err := e.StartServer(set)
		if err != nil {
			return err
		}
		if _, err := e.SendOnce(addr, conformance.Get("/health")); err != nil {
			return err
		}
		stats, err := e.ReadCounts()
		minCalls := e.Layers + 1
		if err != nil || stats.LayerCalls < minCalls && !e.WrongOnPurpose {
			return errors.Join(err, fmt.Errorf("%v, case %d: %d layer_calls of a request, want %d at least", set, i, stats.LayerCalls, minCalls))
		}
	}
	return nil
}
