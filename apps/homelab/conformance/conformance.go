// Package conformance is the suite of app homelab: the required behaviour of each server of it.
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
	lamp    = "light.device_0000"
	sensor  = "sensor.device_0001"
	unknown = "light.device_9999"
)

func commandPath(id string) string { return api + "/homeassistant/devices/" + id + "/command" }

// App returns the app homelab, with the devices that a server starts with under a lab.
func App() (conformance.App, error) {
	d, err := conformance.ParseDescription(homelab.OpenAPI())
	if err != nil {
		return conformance.App{}, err
	}
	devices, err := serving.Devices(50)
	if err != nil {
		return conformance.App{}, err
	}
	house, err := homelab.New(homelab.Config{}, devices)
	if err != nil {
		return conformance.App{}, err
	}
	list := func(name string, v any) map[string]any { return map[string]any{name: v} }
	a := conformance.App{Name: homelab.Name, Settings: serving.App(nil).New().Settings(), Layers: 2, Slow: commandPath(lamp)}
	answers := map[string]any{
		api + "/":                                 house.Info(),
		api + "/services":                         list("services", house.Services("")),
		api + "/cluster/services":                 list("services", house.Services("")),
		api + "/cluster/services?name=":           list("services", house.Services("")),
		api + "/cluster/services?name=a":          list("services", house.Services("a")),
		api + "/cluster/services?x=1&name=%61":    list("services", house.Services("a")),
		api + "/cluster/services?name=none+there": list("services", []homelab.Unit{}),
		api + "/devices":                          list("devices", devices),
		api + "/devices?limit=1":                  list("devices", devices),
		api + "/devices/" + lamp:                  devices[0],
		api + "/devices/" + sensor:                devices[1],
		api + "/devices/light%2Edevice_0000":      devices[0],
		"/openapi.json":                           json.RawMessage(homelab.OpenAPI()),
	}
	for _, path := range slices.Sorted(maps.Keys(answers)) {
		a.Good = append(a.Good, conformance.Good{Request: conformance.Get(path), Wrong: conformance.Means(answers[path])})
	}
	a.Good = append(a.Good, conformance.Good{Request: conformance.Get("/health"), Wrong: conformance.Is("text/plain", "ok\n")})
	for _, c := range []struct{ id, body, action string }{
		{lamp, `{"action":"turn_on"}`, "turn_on"}, // it is on
		{lamp, `{"action":"set","parameters":{"brightness":128}}`, "set"},
		{"switch.device_0002", `{"action":"turn_on","parameters":null}`, "turn_on"},
	} {
		a.Good = append(a.Good, conformance.Good{Request: commandRequest(c.id, c.body), Wrong: conformance.Means(homelab.Outcome{ID: c.id, Action: c.action, State: "on"})})
	}
	for i, g := range a.Good {
		of, right := g.Request, g.Wrong
		a.Good[i].Wrong = func(got conformance.Answer) error {
			return errors.Join(right(got), d.Wrong(of, got), checkRequestID(got))
		}
	}
	limited := map[string]string{serving.SetRateLimit: "3"}
	shared := map[string]string{serving.SetOrigins: "https://a.example,https://b.example:8443"}
	a.Checks = []conformance.Check{
		conformance.Probes("refusals", d, nil, homelabRefusals()),
		conformance.Probes("origins", d, shared, homelabOrigins()),
		conformance.Probes("rate limit", d, limited, homelabLimits()),
		{Name: "commands", Ask: checkCommands},
		{Name: "layers", Ask: func(e conformance.Exam) error { return checkLayers(e, limited, shared) }},
	}
	a.Set = func(string) map[string]string {
		return map[string]string{serving.SetDevices: "50", serving.SetRateLimit: "off", serving.SetOrigins: "*"}
	}
	return a, nil
}

// commandRequest returns the request of a command.
func commandRequest(id, body string) conformance.Request {
	return conformance.Request{Method: "POST", Path: commandPath(id), Header: conformance.JSONType(""), Body: []byte(body)}
}

// checkRequestID wants an id of the request in its response.
func checkRequestID(got conformance.Answer) error {
	if id := got.Header.Get("X-Request-Id"); id == "" || len(id) > 64 {
		return fmt.Errorf("header X-Request-Id is %q", id)
	}
	return nil
}

func homelabRefusals() []conformance.Probe {
	bad := func(status int, code string, q conformance.Request) conformance.Probe {
		return conformance.Probe{Request: q, Status: status, Code: code}
	}
	method := func(method, path, allow string) conformance.Probe {
		return conformance.Probe{Request: conformance.Request{Method: method, Path: path}, Status: 405, Header: map[string]string{"Allow": allow}}
	}
	typed := func(contentType string, more ...[2]string) conformance.Request {
		q := commandRequest(lamp, `{"action":"turn_on"}`)
		q.Header = more
		if contentType != "" {
			q.Header = append(q.Header, [2]string{"Content-Type", contentType})
		}
		return q
	}
	long := `{"action":"turn_on","parameters":{"x":"` + strings.Repeat("x", homelab.MaxCommand) + `"}}`
	chunked := commandRequest(lamp, long)
	chunked.Chunked = true
	readOnly := bad(405, "read_only", commandRequest(sensor, `{"action":"turn_on"}`))
	readOnly.Header = map[string]string{"Allow": "GET"}
	withID := func(id string, echoed bool) conformance.Probe {
		return conformance.Probe{Request: conformance.Get("/health", [2]string{"X-Request-Id", id}), Status: 200, Wrong: func(got conformance.Answer) error {
			if have := got.Header.Get("X-Request-Id"); (have == id) != echoed {
				return fmt.Errorf("header X-Request-Id is %q, the request's was %q", have, id)
			}
			return nil
		}}
	}
	list := []conformance.Probe{
		{Request: conformance.Get(api+"/services", [2]string{"Origin", "https://a.example"}), Status: 200},
		{Request: typed(""), Status: 200}, {Request: typed("application/json; charset=utf-8"), Status: 200}, {Request: conformance.Get("/metrics"), Status: 200, Header: map[string]string{"Content-Type": "text/plain"}},
		withID("mine-1", true), withID(strings.Repeat("x", 64), true), withID(strings.Repeat("x", 65), false), withID("a b", false),

		bad(415, "unsupported_media_type", typed("application/x-www-form-urlencoded")), bad(415, "unsupported_media_type", typed("text/plain;charset=UTF-8")),
		bad(415, "unsupported_media_type", typed("multipart/form-data; boundary=x")),
		bad(403, "cross_site", typed("application/json", [2]string{"Origin", "https://a.example"})), bad(403, "cross_site", typed("", [2]string{"Origin", "null"})),
		bad(400, "malformed", commandRequest(lamp, "")), bad(400, "malformed", commandRequest(lamp, "{")), bad(400, "malformed", commandRequest(lamp, `[]`)),
		bad(400, "malformed", commandRequest(lamp, `{"action":7}`)), bad(400, "malformed", commandRequest(lamp, `{"action":"set","parameters":[1]}`)),
		bad(400, "malformed", commandRequest(unknown, "no JSON")),
		bad(400, "", commandRequest(lamp, `{}`)), bad(400, "", commandRequest(lamp, `{"action":"explode"}`)),
		bad(413, "", commandRequest(lamp, long)), bad(413, "", chunked),
		bad(404, "", commandRequest(unknown, `{"action":"turn_on"}`)), bad(404, "", conformance.Get(api+"/devices/"+unknown)), readOnly,
		bad(405, "read_only", commandRequest("binary_sensor.device_0003", `{"action":"set","parameters":{"x":1}}`)),

		bad(404, "", conformance.Get("/nothing")), bad(404, "", conformance.Get("/")), bad(404, "", conformance.Get(api+"/nothing")), bad(404, "", conformance.Get(api+"/devices/a/b")),
		bad(404, "", conformance.Request{Method: "POST", Path: "/nothing", Body: []byte("{}")}),
		method("POST", api+"/", "GET"), method("DELETE", api+"/services", "GET"), method("POST", api+"/cluster/services", "GET"),
		method("PUT", api+"/devices", "GET"), method("DELETE", api+"/devices/"+lamp, "GET"), method("GET", commandPath(lamp), "POST"),
		method("POST", "/health", "GET"), method("POST", "/metrics", "GET"), method("POST", "/openapi.json", "GET"),
		method("OPTIONS", api+"/devices", "GET"),
	}
	for i, p := range list {
		wrong := p.Wrong
		list[i].Wrong = func(got conformance.Answer) error {
			if wrong != nil {
				if err := wrong(got); err != nil {
					return err
				}
			}
			if got.Header.Get("Access-Control-Allow-Origin") != "" {
				return errors.New("it says who may read it, and no origins are configured")
			}
			return checkRequestID(got)
		}
	}
	return list
}

// homelabOrigins are for two origins that may read responses.
func homelabOrigins() []conformance.Probe {
	const origin = "Access-Control-Allow-Origin"
	from := func(site, want string, q conformance.Request, status int) conformance.Probe {
		q.Header = append(q.Header, [2]string{"Origin", site})
		return conformance.Probe{Request: q, Status: status, Wrong: func(got conformance.Answer) error {
			if have := got.Header.Get(origin); have != want {
				return fmt.Errorf("header %s is %q, want %q", origin, have, want)
			}
			return checkRequestID(got)
		}}
	}
	preflight := conformance.Request{Method: "OPTIONS", Path: commandPath(lamp), Header: [][2]string{{"Access-Control-Request-Method", "POST"}, {"Access-Control-Request-Headers", "content-type"}}}
	allowed := from("https://a.example", "https://a.example", preflight, 204)
	allowed.Header = map[string]string{"Access-Control-Allow-Methods": "POST", "Access-Control-Allow-Headers": ""}
	return []conformance.Probe{
		from("https://a.example", "https://a.example", conformance.Get(api+"/devices"), 200),
		from("https://b.example:8443", "https://b.example:8443", conformance.Get(api+"/devices/"+unknown), 404),
		from("https://a.example", "https://a.example", conformance.Get("/nothing"), 404),
		from("https://b.example", "", conformance.Get(api+"/devices"), 200),
		from("null", "", conformance.Get(api+"/devices"), 200),
		from("https://a.example", "https://a.example", commandRequest(lamp, `{"action":"turn_on"}`), 200),
		from("https://c.example", "", commandRequest(lamp, `{"action":"turn_on"}`), 403),
		allowed,
		{Request: conformance.Get(api + "/devices"), Status: 200},
	}
}

// homelabLimits are for three requests of a client a minute.
func homelabLimits() []conformance.Probe {
	left := func(n string) conformance.Probe {
		return conformance.Probe{Request: conformance.Get(api + "/services"), Status: 200, Header: map[string]string{"X-RateLimit-Limit": "3", "X-RateLimit-Remaining": n, "X-RateLimit-Reset": ""}, Wrong: checkRequestID}
	}
	refused := conformance.Probe{Request: conformance.Get(api + "/devices"), Status: 429, Header: map[string]string{"Retry-After": "", "X-RateLimit-Limit": "3", "X-RateLimit-Remaining": "0", "X-RateLimit-Reset": ""}, Wrong: checkRequestID}
	return []conformance.Probe{left(""), left(""), refused, refused} // the program itself has sent one request
}

// checkCommands checks that the effect of a command is visible.
func checkCommands(e conformance.Exam) error {
	addr, err := e.Serves(nil)
	if err != nil {
		return err
	}
	const id = "switch.device_0002"
	c, err := conformance.Dial(addr, nil, e.Limit)
	if err != nil {
		return err
	}
	defer c.Close()
	for _, step := range []struct{ body, state, battery string }{
		{`{"action":"turn_off"}`, "off", "95"},
		{`{"action":"toggle"}`, "on", "95"},
		{`{"action":"toggle","parameters":{"battery":1}}`, "off", "95"},
		{`{"action":"set","parameters":{"battery":7,"note":"é\"\\<&>","list":[1,null,{"a":true}]}}`, "off", "7"},
		{`{"action":"turn_on"}`, "on", "7"},
	} {
		if _, err := c.Ask(commandRequest(id, step.body)); err != nil {
			return err
		}
		got, err := c.Ask(conformance.Get(api + "/devices/" + id))
		var device struct {
			State      string
			Attributes map[string]json.RawMessage
		}
		if err == nil {
			err = json.Unmarshal(got.Body, &device)
		}
		if !e.Trap && (err != nil || device.State != step.state || string(device.Attributes["battery"]) != step.battery) {
			return errors.Join(err, fmt.Errorf("after %s the device is %s", step.body, got.Body))
		}
		if note := device.Attributes["note"]; step.battery == "7" && !e.Trap {
			if err := errors.Join(conformance.SameJSON([]byte(`"é\"\\<&>"`), note), conformance.SameJSON([]byte(`[1,null,{"a":true}]`), device.Attributes["list"])); err != nil {
				return fmt.Errorf("after %s: %w: %s", step.body, err, got.Body)
			}
		}
	}
	return nil
}

// checkLayers checks that each setting that needs a middleware adds one.
func checkLayers(e conformance.Exam, sets ...map[string]string) error {
	for i, set := range append(sets, map[string]string{server.SetLog: server.LogDiscard}) {
		addr, err := e.Serves(set)
		if err != nil {
			return err
		}
		if _, err := e.AskOnce(addr, conformance.Get("/health")); err != nil {
			return err
		}
		a, err := e.Counted()
		if err != nil || a.LayerCalls < e.Layers+1 && !e.Trap {
			return errors.Join(err, fmt.Errorf("%v, case %d: %d layer_calls of a request, want %d at least", set, i, a.LayerCalls, e.Layers+1))
		}
	}
	return nil
}
