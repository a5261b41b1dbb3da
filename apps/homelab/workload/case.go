package workload

import (
	"net/http"
	"slices"
	"strings"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/apps/homelab"
	"github.com/tarebench/tare/kinds/server"
)

// These requests are sent once per server, unmeasured. Every server must pass a probe. Responses to questions
// may differ, and tare reports how.

// Ids of devices.
const (
	lightID       = "light.device_0000" // the light is on
	sensorID      = "sensor.device_0001"
	switchID      = "switch.device_0002"
	unknownDevice = "light.nowhere" // no house has this device
)

// newProbes has requests for all error responses, and a valid one of each kind. The text of server.Probing is
// for the requests after it; "" means that method and path suffice.
func newProbes() []server.Probe {
	const turnOn = `{"action":"turn_on"}`
	withMethod := func(method string, request server.Request) server.Request {
		request.Method = method
		return request
	}
	return slices.Concat(
		server.Probing("",
			server.Get(devicePath(unknownDevice)),
			withMethod(http.MethodPut, bodyRequest(lightID, turnOn)),
			server.Get(pathCommands+lightID+"/command"),
			withMethod(http.MethodPost, server.Get(pathDevices)),
			withMethod(http.MethodDelete, server.Get(devicePath(lightID))),
			withMethod(http.MethodPost, server.Get(pathHealth)),
			server.Get("/"),
			server.Get("/nothing/here"),
			server.Get("/api/v2/devices"),
			server.Get(devicePath(lightID)+"/state"),
		),
		server.Probing("a command for a device that is not there", bodyRequest(unknownDevice, turnOn)),
		server.Probing("a command for a device that takes none", bodyRequest(sensorID, turnOn)),
		server.Probing("JSON that breaks off", bodyRequest(lightID, `{"action":"turn_on"`), bodyRequest(unknownDevice, `{"action":`)),
		server.Probing("a number for the action", bodyRequest(lightID, `{"action":7}`)),
		server.Probing("an array for the parameters", bodyRequest(lightID, `{"action":"turn_on","parameters":[]}`)),
		server.Probing("an array for a command", bodyRequest(lightID, `["turn_on"]`)),
		server.Probing("an empty body", bodyRequest(lightID, "")),
		server.Probing("an unknown action", bodyRequest(lightID, `{"action":"explode"}`)),
		server.Probing("no action", bodyRequest(lightID, `{}`)),
		server.Probing("a command beyond the limit", bodyRequest(lightID, `{"action":"turn_on","parameters":{"note":"`+strings.Repeat("x", homelab.MaxCommand)+`"}}`)),

		server.Probing("a command", bodyRequest(lightID, turnOn)),
		server.Probing("a command of another content type", server.WithHeader(bodyRequest(switchID, turnOn), server.ContentType, "text/plain")),
		server.Probing("",
			server.Get(pathHealth),
			server.Get("/openapi.json"),
			server.Get(pathInfo),
			server.Get(pathServices),
			server.Get("/api/v1/cluster/services"),
			server.Get("/api/v1/cluster/services?name=home"),
			server.Get("/api/v1/cluster/services?name=nobody%20has%20this"),
			server.Get(pathDevices),
			server.Get(devicePath(sensorID)),
		),
	)
}

// newQuestions returns commands and paths that servers treat differently. None changes the house.
func newQuestions() []server.Question {
	mixOps := []string{opMix, tare.OpStop} // a mix has all kinds
	body := func(name, property, description, body string) server.Question {
		return server.Question{Request: bodyRequest(lightID, body), Name: name, Property: property, What: description, Asked: body, BearsOn: mixOps}
	}
	path := func(name, property, description, path string, ops ...string) server.Question {
		return server.Question{Request: server.Get(path), Name: name, Property: property, What: description, BearsOn: append(ops, mixOps...)}
	}
	optionsRequest := path("OPTIONS", "OPTIONS", "OPTIONS", pathDevices, opDevices)
	optionsRequest.Method = http.MethodOptions
	return []server.Question{
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
		path("last slash more", "last slash", "a device with a slash behind it", devicePath(lightID)+"/", opDevice),
		path("list with slash", "last slash", "the devices with a slash behind them", pathDevices+"/", opDevices),
		path("last slash less", "last slash", "the API's own path without its slash", "/api/v1"),
		path("doubled slash", "doubled slash", "a path with a doubled slash", "/api//v1/devices", opDevices),
		path("capitals", "letter case", "a path in capitals", "/API/V1/DEVICES", opDevices),
		path("query", "query", "the devices with a query nobody knows", pathDevices+"?page=2", opDevices),
		path("plus", "query", "services by a name with a plus sign for a blank", "/api/v1/cluster/services?name=+"),
		optionsRequest,
	}
}
