// Package homelab is the API of a house with devices, without a server. A [House] computes the responses.
// tare compares HTTP servers that send them.
//
//	GET  /health                                        200  text/plain, ok and a line end
//	GET  /metrics                                       200  counters as Prometheus reads them
//	GET  /openapi.json                                  200  this API as an OpenAPI document
//	GET  /api/v1/                                       200  a description of the API
//	GET  /api/v1/services                               200  all services
//	GET  /api/v1/cluster/services?name=NAME             200  services whose name contains NAME
//	GET  /api/v1/devices                                200  all devices
//	GET  /api/v1/devices/{id}                           200  one device, or 404
//	POST /api/v1/homeassistant/devices/{id}/command     200  the outcome; 400 malformed, 404 unknown, 405 read-only
//
// Other responses, also errors, are JSON. All have X-Request-Id: the id of the request, or a new one. With a
// rate limit they have X-RateLimit-Limit, X-RateLimit-Remaining and X-RateLimit-Reset. A client above the
// limit gets 429 with Retry-After.
//
// The package does not import net/http: servers on other HTTP libraries are then built without it.
package homelab

import "time"

// Name is the name of this API on command lines and in studies (files of comparisons).
const Name = "homelab"

// Device is one thing in the house.
type Device struct {
	ID          string         `json:"id"` // e.g. light.device_0000
	Name        string         `json:"name"`
	Type        string         `json:"type"`  // e.g. light or sensor
	State       string         `json:"state"` // e.g. on
	Attributes  map[string]any `json:"attributes"`
	LastUpdated time.Time      `json:"last_updated"`
}

// Command is an instruction for a device.
type Command struct {
	Action     string         `json:"action"`     // turn_on, turn_off, toggle or set
	Parameters map[string]any `json:"parameters"` // attributes to change, for set; other actions ignore them
}

// Outcome is the result of a command.
type Outcome struct {
	ID     string `json:"id"`
	Action string `json:"action"`
	State  string `json:"state"` // state of the device after the command
}

// Info describes the API.
type Info struct {
	Name      string   `json:"name"`
	Version   string   `json:"version"`
	Endpoints []string `json:"endpoints"`
}

// Unit is an entry of /api/v1/services: a program that runs in the cluster of the house, such as its database.
type Unit struct {
	Name      string `json:"name"`
	Namespace string `json:"namespace"`
	Kind      string `json:"kind"`
	Replicas  int    `json:"replicas"`
	Ready     int    `json:"ready"`
	Port      int    `json:"port"`
}
