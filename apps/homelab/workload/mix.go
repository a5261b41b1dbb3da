package workload

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/apps/homelab"
	"github.com/tarebench/tare/apps/homelab/serving"
	"github.com/tarebench/tare/contender/fixture"
	"github.com/tarebench/tare/kinds/server"
)

// A workload has a pool of requests, which are sent again and again to the homelab service of a house's
// devices. A mix is a pool with all kinds.

// Percent of requests in a mix, unless noted.
const (
	shareDevices  = 45 // the list of all devices
	shareDevice   = 35 // one device by its id
	shareCommand  = 10
	shareServices = 5
	shareHealth   = 5

	shareUnknown = 0.02 // share among requests for one device; 1 would be all
	popularity   = 1.1  // exponent of Zipf's law: the k-th device gets 1/k^1.1
)

// commandShares returns the weights of three kinds of commands: accepted ones, ones for a read-only device, and
// incomplete JSON.
func commandShares() []float64 { return []float64{8, 1, 1} }

// Requests in a mix. From minMixPool on every share has at least one.
const (
	mixPool    = 1000 // default; every share is an integer
	minMixPool = 100
	maxMixPool = 100_000
)

// newRequests returns a workload's pool. Its n is the number of devices.
func newRequests(w tare.Workload) ([]server.Request, error) {
	devices, err := serving.Devices(countDevices(w.N))
	if err != nil {
		return nil, err
	}
	switch w.Op {
	case opHealth:
		return []server.Request{server.Get(pathHealth)}, nil
	case opDevices:
		return []server.Request{server.Get(pathDevices)}, nil
	case opDevice:
		var list []server.Request
		for _, d := range rankDevices(devices) {
			list = append(list, server.Get(devicePath(d.ID)))
		}
		return list, nil
	}
	pool := w.Pool
	if pool == 0 {
		pool = mixPool
	}
	switch {
	case pool < minMixPool || pool > maxMixPool:
		return nil, fmt.Errorf("a pool of %d requests; a mix takes %d to %d", pool, minMixPool, maxMixPool)
	case len(devices) < 4: // the first four devices have the four types
		return nil, fmt.Errorf("n: a house of %d devices; a mix takes one of each type, n: 4 or more", len(devices))
	}
	return newMix(devices, pool)
}

// rankDevices orders devices by popularity, random but always the same.
func rankDevices(devices []homelab.Device) []homelab.Device {
	list := slices.Clone(devices)
	server.Shuffle(fixture.NewRandom("tare/homelab/v1 ranks"), list)
	return list
}

// newMix shuffles all kinds with a fixed seed.
func newMix(devices []homelab.Device, pool int) ([]server.Request, error) {
	ranked := rankDevices(devices)
	// counts[i] is for the i-th share.
	counts := server.Shares(pool, []float64{shareDevices, shareDevice, shareCommand, shareServices, shareHealth})
	commands, err := newCommands(ranked, counts[2])
	if err != nil {
		return nil, err
	}
	list := slices.Concat(
		slices.Repeat([]server.Request{server.Get(pathDevices)}, counts[0]),
		newDeviceRequests(ranked, counts[1]),
		commands,
		slices.Repeat([]server.Request{server.Get(pathServices)}, counts[3]),
		slices.Repeat([]server.Request{server.Get(pathHealth)}, counts[4]),
	)
	server.Shuffle(fixture.NewRandom("tare/homelab/v1 mix"), list)
	return list, nil
}

// newDeviceRequests requests known devices by popularity, and a share of unknown ids.
func newDeviceRequests(ranked []homelab.Device, n int) []server.Request {
	counts := server.Shares(n, []float64{1 - shareUnknown, shareUnknown})
	known, unknown := counts[0], counts[1]
	var list []server.Request
	for i, times := range server.Shares(known, server.Zipf(len(ranked), popularity)) {
		list = append(list, slices.Repeat([]server.Request{server.Get(devicePath(ranked[i].ID))}, times)...)
	}
	for i := range unknown {
		list = append(list, server.Get(devicePath(fmt.Sprintf("light.nowhere_%04d", i))))
	}
	return list
}

// newCommands returns n commands in commandShares, which go through devices in turn. None changes a device:
// valid ones set the value that it has.
func newCommands(ranked []homelab.Device, n int) ([]server.Request, error) {
	var writable, readOnly []homelab.Device
	for _, d := range ranked {
		if d.Type == "sensor" || d.Type == "binary_sensor" {
			readOnly = append(readOnly, d)
		} else {
			writable = append(writable, d)
		}
	}
	counts := server.Shares(n, commandShares())
	var list []server.Request
	for i := range counts[0] {
		d := writable[i%len(writable)]
		request, err := commandRequest(d.ID, unchangingCommand(d, i/len(writable)))
		if err != nil {
			return nil, err
		}
		list = append(list, request)
	}
	for i := range counts[1] {
		request, err := commandRequest(readOnly[i%len(readOnly)].ID, homelab.Command{Action: "turn_on"})
		if err != nil {
			return nil, err
		}
		list = append(list, request)
	}
	for i := range counts[2] {
		list = append(list, bodyRequest(writable[i%len(writable)].ID, `{"action":"turn_on","parameters":{`))
	}
	return list, nil
}

// unchangingCommand leaves d as it is. In even turns it turns d on or off, as d is. In odd turns it sets an
// attribute to its value. turn counts earlier commands.
func unchangingCommand(d homelab.Device, turn int) homelab.Command {
	names := slices.Sorted(maps.Keys(d.Attributes))
	switch {
	case turn%2 == 1 && len(names) > 0:
		name := names[turn/2%len(names)]
		return homelab.Command{Action: "set", Parameters: map[string]any{name: d.Attributes[name]}}
	case d.State == "on":
		return homelab.Command{Action: "turn_on"}
	}
	return homelab.Command{Action: "turn_off"}
}

func commandRequest(id string, c homelab.Command) (server.Request, error) {
	body, err := json.Marshal(c)
	return bodyRequest(id, string(body)), err
}

// bodyRequest returns a command for the device id. body may be invalid.
func bodyRequest(id, body string) server.Request {
	return server.Request{
		Method: http.MethodPost,
		Path:   pathCommands + url.PathEscape(id) + "/command",
		Header: map[string]string{server.ContentType: server.TypeJSON},
		Body:   []byte(body),
	}
}

func devicePath(id string) string { return pathDevices + "/" + url.PathEscape(id) }
