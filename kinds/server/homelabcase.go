package server

import (
	"net/http"
	"slices"
	"strings"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/apps/homelab"
)

// Devices of a house of any size. The first one is on.
const (
	aLight  = "light.device_0000"
	aSensor = "sensor.device_0001"
	aSwitch = "switch.device_0002"
	nobody  = "light.nowhere"
)

// homelabProbes are the contract's refusals, and one answer of each kind.
func homelabProbes() []Probe {
	const turnOn = `{"action":"turn_on"}`
	method := func(m string, q Request) Request {
		q.Method = m
		return q
	}
	return slices.Concat(
		Probing("",
			get(devicePath(nobody)),
			method(http.MethodPut, tell(aLight, turnOn)),
			get(pathCommands+aLight+"/command"),
			method(http.MethodPost, get(pathDevices)),
			method(http.MethodDelete, get(devicePath(aLight))),
			method(http.MethodPost, get(pathHealth)),
			get("/"),
			get("/nothing/here"),
			get("/api/v2/devices"),
			get(devicePath(aLight)+"/state"),
		),
		Probing("a command for a device that is not there", tell(nobody, turnOn)),
		Probing("a command for a device that takes none", tell(aSensor, turnOn)),
		Probing("JSON that breaks off", tell(aLight, `{"action":"turn_on"`), tell(nobody, `{"action":`)),
		Probing("a number for the action", tell(aLight, `{"action":7}`)),
		Probing("an array for the parameters", tell(aLight, `{"action":"turn_on","parameters":[]}`)),
		Probing("an array for a command", tell(aLight, `["turn_on"]`)),
		Probing("an empty body", tell(aLight, "")),
		Probing("an unknown action", tell(aLight, `{"action":"explode"}`)),
		Probing("no action", tell(aLight, `{}`)),
		Probing("a command beyond the limit", tell(aLight, `{"action":"turn_on","parameters":{"note":"`+strings.Repeat("x", homelab.MaxCommand)+`"}}`)),

		Probing("a command", tell(aLight, turnOn)),
		Probing("a command of another content type", headed(tell(aSwitch, turnOn), contentType, "text/plain")),
		Probing("",
			get(pathHealth),
			get("/openapi.json"),
			get(pathInfo),
			get(pathServices),
			get("/api/v1/cluster/services"),
			get("/api/v1/cluster/services?name=home"),
			get("/api/v1/cluster/services?name=nobody%20has%20this"),
			get(pathDevices),
			get(devicePath(aSensor)),
		),
	)
}

// homelabQuestions are commands on which decoders are known to differ, and
// paths on which frameworks are. None changes the house, whoever takes it.
func homelabQuestions() []Question {
	asks := []string{opMix, tare.OpStop}
	body := func(name, property, what, body string) Question {
		return Question{Request: tell(aLight, body), Name: name, Property: property, What: what, Asked: body, BearsOn: asks}
	}
	path := func(name, property, what, path string, ops ...string) Question {
		return Question{Request: get(path), Name: name, Property: property, What: what, BearsOn: append(ops, asks...)}
	}
	list := []Question{
		body("key twice", "duplicate keys", "a command with two actions", `{"action":"set","action":"turn_on"}`),
		body("text behind", "trailing data", "a command with something behind it", `{"action":"turn_on"}x`),
		body("command behind", "trailing data", "a command with another one behind it", `{"action":"turn_on"}{"action":"turn_on"}`),
		body("comma behind", "trailing comma", "a command with a comma behind its last field", `{"action":"turn_on",}`),
		body("unknown field", "unknown fields", "a command with a field that is not known", `{"action":"turn_on","when":"now"}`),
		body("other case", "letter case", "a command with its key in other letters", `{"ACTION":"turn_on"}`),
		body("null parameters", "null", "a command with null for its parameters", `{"action":"turn_on","parameters":null}`),
		body("null command", "null", "null for a command", `null`),
		body("mark", "byte order mark", "a command with a byte order mark before it", "\ufeff"+`{"action":"turn_on"}`),
		path("escaped letter", "escaped path", "a device with an escaped letter in its id", pathDevices+"/%6Cight.device_0000", opDevice),
		path("last slash more", "last slash", "a device with a slash behind it", devicePath(aLight)+"/", opDevice),
		path("list with slash", "last slash", "the devices with a slash behind them", pathDevices+"/", opDevices),
		path("last slash less", "last slash", "the API's own path without its slash", "/api/v1"),
		path("doubled slash", "doubled slash", "a path with a doubled slash", "/api//v1/devices", opDevices),
		path("capitals", "letter case", "a path in capitals", "/API/V1/DEVICES", opDevices),
		path("query", "query", "the devices with a query nobody knows", pathDevices+"?page=2", opDevices),
		path("plus", "query", "services by a name with a plus sign for a blank", "/api/v1/cluster/services?name=+"),
		path("OPTIONS", "OPTIONS", "OPTIONS", pathDevices, opDevices),
	}
	list[len(list)-1].Method = http.MethodOptions
	return list
}
