package contendertest

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/tarebench/tare/apps/homelab"
	homelabserving "github.com/tarebench/tare/apps/homelab/serving"
	"github.com/tarebench/tare/contender/fixture"
	"github.com/tarebench/tare/contender/server"
)

const (
	api     = "/api/v1"
	lamp    = "light.device_0000"
	sensor  = "sensor.device_0001"
	unknown = "light.device_9999"
)

func commandPath(id string) string { return api + "/homeassistant/devices/" + id + "/command" }

// homelabApp is the app homelab, with the devices that a server starts with
// under a lab.
func homelabApp() (app, error) {
	d, err := parseDescription(homelab.OpenAPI())
	if err != nil {
		return app{}, err
	}
	pool, err := fixture.Pool("devices", 50, 1)
	if err != nil {
		return app{}, err
	}
	var devices []homelab.Device
	if err := json.Unmarshal(pool[0], &devices); err != nil {
		return app{}, err
	}
	house, err := homelab.New(homelab.Config{}, devices)
	if err != nil {
		return app{}, err
	}
	list := func(name string, v any) map[string]any { return map[string]any{name: v} }
	a := app{name: homelab.Name, settings: homelabserving.App(nil).New().Settings(), layers: 2, slow: commandPath(lamp)}
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
		a.good = append(a.good, good{asked: get(path), wrong: means(answers[path])})
	}
	a.good = append(a.good, good{asked: get("/health"), wrong: is("text/plain", "ok\n")})
	for _, c := range []struct{ id, body, action string }{
		{lamp, `{"action":"turn_on"}`, "turn_on"}, // it is on
		{lamp, `{"action":"set","parameters":{"brightness":128}}`, "set"},
		{"switch.device_0002", `{"action":"turn_on","parameters":null}`, "turn_on"},
	} {
		a.good = append(a.good, good{asked: told(c.id, c.body), wrong: means(homelab.Outcome{ID: c.id, Action: c.action, State: "on"})})
	}
	for i, g := range a.good {
		of, right := g.asked, g.wrong
		a.good[i].wrong = func(got called) error { return errors.Join(right(got), d.wrong(of, got), identified(got)) }
	}
	limited := map[string]string{homelabserving.SetRateLimit: "3"}
	shared := map[string]string{homelabserving.SetOrigins: "https://a.example,https://b.example:8443"}
	a.checks = []check{
		probes("refusals", d, nil, homelabRefusals()),
		probes("origins", d, shared, homelabOrigins()),
		probes("rate limit", d, limited, homelabLimits()),
		{"commands", exam.checkCommands},
		{"layers", func(e exam) error { return e.checkLayers(limited, shared) }},
	}
	a.set = func(string) map[string]string {
		return map[string]string{homelabserving.SetDevices: "50", homelabserving.SetRateLimit: "off", homelabserving.SetOrigins: "*"}
	}
	return a, nil
}

// told sends a command.
func told(id, body string) asked {
	return asked{method: "POST", path: commandPath(id), header: jsonType(""), body: []byte(body)}
}

// identified wants an id of the request in its answer.
func identified(got called) error {
	if id := got.header.Get("X-Request-Id"); id == "" || len(id) > 64 {
		return fmt.Errorf("header X-Request-Id is %q", id)
	}
	return nil
}

func homelabRefusals() []probe {
	bad := func(status int, code string, q asked) probe { return probe{asked: q, status: status, code: code} }
	method := func(method, path, allow string) probe {
		return probe{asked: asked{method: method, path: path}, status: 405, header: map[string]string{"Allow": allow}}
	}
	untyped := told(lamp, `{"action":"turn_on"}`)
	untyped.header = nil
	long := `{"action":"turn_on","parameters":{"x":"` + strings.Repeat("x", homelab.MaxCommand) + `"}}`
	chunked := told(lamp, long)
	chunked.chunked = true
	readOnly := bad(405, "read_only", told(sensor, `{"action":"turn_on"}`))
	readOnly.header = map[string]string{"Allow": "GET"}
	own := func(id string, kept bool) probe {
		return probe{asked: get("/health", [2]string{"X-Request-Id", id}), status: 200, wrong: func(got called) error {
			if have := got.header.Get("X-Request-Id"); (have == id) != kept {
				return fmt.Errorf("header X-Request-Id is %q, the request's was %q", have, id)
			}
			return nil
		}}
	}
	list := []probe{
		{asked: get(api+"/services", [2]string{"Origin", "https://a.example"}), status: 200},
		{asked: untyped, status: 200}, {asked: get("/metrics"), status: 200, header: map[string]string{"Content-Type": "text/plain"}},
		own("mine-1", true), own(strings.Repeat("x", 64), true), own(strings.Repeat("x", 65), false), own("a b", false),

		bad(400, "malformed", told(lamp, "")), bad(400, "malformed", told(lamp, "{")), bad(400, "malformed", told(lamp, `[]`)),
		bad(400, "malformed", told(lamp, `{"action":7}`)), bad(400, "malformed", told(lamp, `{"action":"set","parameters":[1]}`)),
		bad(400, "malformed", told(unknown, "no JSON")),
		bad(400, "", told(lamp, `{}`)), bad(400, "", told(lamp, `{"action":"explode"}`)),
		bad(413, "", told(lamp, long)), bad(413, "", chunked),
		bad(404, "", told(unknown, `{"action":"turn_on"}`)), bad(404, "", get(api+"/devices/"+unknown)), readOnly,
		bad(405, "read_only", told("binary_sensor.device_0003", `{"action":"set","parameters":{"x":1}}`)),

		bad(404, "", get("/nothing")), bad(404, "", get("/")), bad(404, "", get(api+"/nothing")), bad(404, "", get(api+"/devices/a/b")),
		bad(404, "", asked{method: "POST", path: "/nothing", body: []byte("{}")}),
		method("POST", api+"/", "GET"), method("DELETE", api+"/services", "GET"), method("POST", api+"/cluster/services", "GET"),
		method("PUT", api+"/devices", "GET"), method("DELETE", api+"/devices/"+lamp, "GET"), method("GET", commandPath(lamp), "POST"),
		method("POST", "/health", "GET"), method("POST", "/metrics", "GET"), method("POST", "/openapi.json", "GET"),
		method("OPTIONS", api+"/devices", "GET"),
	}
	for i, p := range list {
		wrong := p.wrong
		list[i].wrong = func(got called) error {
			if wrong != nil {
				if err := wrong(got); err != nil {
					return err
				}
			}
			if got.header.Get("Access-Control-Allow-Origin") != "" {
				return errors.New("it says who may read it, and no origins are configured")
			}
			return identified(got)
		}
	}
	return list
}

// homelabOrigins are asked where two origins may read answers.
func homelabOrigins() []probe {
	const origin = "Access-Control-Allow-Origin"
	from := func(site, want string, q asked, status int) probe {
		q.header = append(q.header, [2]string{"Origin", site})
		return probe{asked: q, status: status, wrong: func(got called) error {
			if have := got.header.Get(origin); have != want {
				return fmt.Errorf("header %s is %q, want %q", origin, have, want)
			}
			return identified(got)
		}}
	}
	preflight := asked{method: "OPTIONS", path: commandPath(lamp), header: [][2]string{{"Access-Control-Request-Method", "POST"}, {"Access-Control-Request-Headers", "content-type"}}}
	allowed := from("https://a.example", "https://a.example", preflight, 204)
	allowed.header = map[string]string{"Access-Control-Allow-Methods": "POST", "Access-Control-Allow-Headers": ""}
	return []probe{
		from("https://a.example", "https://a.example", get(api+"/devices"), 200),
		from("https://b.example:8443", "https://b.example:8443", get(api+"/devices/"+unknown), 404),
		from("https://a.example", "https://a.example", get("/nothing"), 404),
		from("https://b.example", "", get(api+"/devices"), 200),
		from("null", "", get(api+"/devices"), 200),
		allowed,
		{asked: get(api + "/devices"), status: 200},
	}
}

// homelabLimits are asked where a client has three requests a minute.
func homelabLimits() []probe {
	left := func(n string) probe {
		return probe{asked: get(api + "/services"), status: 200, header: map[string]string{"X-RateLimit-Limit": "3", "X-RateLimit-Remaining": n, "X-RateLimit-Reset": ""}, wrong: identified}
	}
	refused := probe{asked: get(api + "/devices"), status: 429, header: map[string]string{"Retry-After": "", "X-RateLimit-Limit": "3", "X-RateLimit-Remaining": "0", "X-RateLimit-Reset": ""}, wrong: identified}
	return []probe{left(""), left(""), refused, refused} // the program itself has asked once
}

// checkCommands: what a device is told can be seen.
func (e exam) checkCommands() error {
	addr, err := e.serves(nil)
	if err != nil {
		return err
	}
	const id = "switch.device_0002"
	c, err := call(addr, nil, e.limit)
	if err != nil {
		return err
	}
	defer c.close()
	for _, step := range []struct{ body, state, battery string }{
		{`{"action":"turn_off"}`, "off", "95"},
		{`{"action":"toggle"}`, "on", "95"},
		{`{"action":"toggle","parameters":{"battery":1}}`, "off", "95"},
		{`{"action":"set","parameters":{"battery":7,"note":"é\"\\<&>","list":[1,null,{"a":true}]}}`, "off", "7"},
		{`{"action":"turn_on"}`, "on", "7"},
	} {
		if _, err := c.ask(told(id, step.body)); err != nil {
			return err
		}
		got, err := c.ask(get(api + "/devices/" + id))
		var device struct {
			State      string
			Attributes map[string]json.RawMessage
		}
		if err == nil {
			err = json.Unmarshal(got.body, &device)
		}
		if !e.Trap && (err != nil || device.State != step.state || string(device.Attributes["battery"]) != step.battery) {
			return errors.Join(err, fmt.Errorf("after %s the device is %s", step.body, got.body))
		}
		if note := device.Attributes["note"]; step.battery == "7" && !e.Trap {
			if err := errors.Join(sameJSON([]byte(`"é\"\\<&>"`), note), sameJSON([]byte(`[1,null,{"a":true}]`), device.Attributes["list"])); err != nil {
				return fmt.Errorf("after %s: %w: %s", step.body, err, got.body)
			}
		}
	}
	return nil
}

// checkLayers: each setting that needs a middleware adds one.
func (e exam) checkLayers(sets ...map[string]string) error {
	for i, set := range append(sets, map[string]string{server.SetLog: server.LogDiscard}) {
		addr, err := e.serves(set)
		if err != nil {
			return err
		}
		if _, err := e.askOnce(addr, get("/health")); err != nil {
			return err
		}
		a, err := e.counted()
		if err != nil || a.LayerCalls < e.layers+1 && !e.Trap {
			return errors.Join(err, fmt.Errorf("%v, case %d: %d layer_calls of a request, want %d at least", set, i, a.LayerCalls, e.layers+1))
		}
	}
	return nil
}
