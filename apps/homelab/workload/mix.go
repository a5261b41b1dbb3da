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

// Shares of the requests of a house, out of a hundred.
const (
	shareDevices  = 45
	shareDevice   = 35
	shareCommand  = 10
	shareServices = 5
	shareHealth   = 5

	shareUnknown = 0.02 // of those for one device: its id is unknown
	popularity   = 1.1  // the exponent of Zipf's law by which devices are requested
)

// commandShares returns the weights of commands for a device that takes them, for one that does
// not, and of incomplete ones.
func commandShares() []float64 { return []float64{8, 1, 1} }

// The pool of a mix is large enough that its shares are integers.
const (
	mixPool    = 1000
	minMixPool = 100
	maxMixPool = 100_000
)

// newRequests returns the pool of an op on a house of n devices.
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
		for _, d := range byRank(devices) {
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
	case len(devices) < 4:
		return nil, fmt.Errorf("n: a house of %d devices; a mix takes one of each type, n: 4 or more", len(devices))
	}
	return newMix(devices, pool)
}

// byRank returns the devices in the order of their popularity: not that of the house.
func byRank(devices []homelab.Device) []homelab.Device {
	list := slices.Clone(devices)
	server.Shuffle(fixture.NewRandom("tare/homelab/v1 ranks"), list)
	return list
}

// newMix returns a pool of all kinds of requests, each with its share, in a fixed order.
func newMix(devices []homelab.Device, pool int) ([]server.Request, error) {
	ranks := byRank(devices)
	parts := server.Shares(pool, []float64{shareDevices, shareDevice, shareCommand, shareServices, shareHealth})
	list := slices.Repeat([]server.Request{server.Get(pathDevices)}, parts[0])
	list = append(list, someDevices(ranks, parts[1])...)
	commands, err := someCommands(ranks, parts[2])
	if err != nil {
		return nil, err
	}
	list = append(list, commands...)
	list = append(list, slices.Repeat([]server.Request{server.Get(pathServices)}, parts[3])...)
	list = append(list, slices.Repeat([]server.Request{server.Get(pathHealth)}, parts[4])...)
	server.Shuffle(fixture.NewRandom("tare/homelab/v1 mix"), list)
	return list, nil
}

// someDevices returns requests for single devices, by their popularity, and for some unknown ones.
func someDevices(ranks []homelab.Device, n int) []server.Request {
	there := server.Shares(n, []float64{1 - shareUnknown, shareUnknown})
	var list []server.Request
	for i, times := range server.Shares(there[0], server.Zipf(len(ranks), popularity)) {
		list = append(list, slices.Repeat([]server.Request{server.Get(devicePath(ranks[i].ID))}, times)...)
	}
	for i := range there[1] {
		list = append(list, server.Get(devicePath(fmt.Sprintf("light.nowhere_%04d", i))))
	}
	return list
}

// someCommands returns commands that leave devices as they are, commands for devices that take
// none, and incomplete ones.
func someCommands(ranks []homelab.Device, n int) ([]server.Request, error) {
	var takes, reads []homelab.Device
	for _, d := range ranks {
		if d.Type == "sensor" || d.Type == "binary_sensor" {
			reads = append(reads, d)
		} else {
			takes = append(takes, d)
		}
	}
	parts := server.Shares(n, commandShares())
	var list []server.Request
	for i := range parts[0] {
		q, err := commandRequest(takes[i%len(takes)].ID, asItIs(takes[i%len(takes)], i/len(takes)))
		if err != nil {
			return nil, err
		}
		list = append(list, q)
	}
	for i := range parts[1] {
		q, err := commandRequest(reads[i%len(reads)].ID, homelab.Command{Action: "turn_on"})
		if err != nil {
			return nil, err
		}
		list = append(list, q)
	}
	for i := range parts[2] {
		list = append(list, bodyRequest(takes[i%len(takes)].ID, `{"action":"turn_on","parameters":{`))
	}
	return list, nil
}

// asItIs returns a command that leaves d unchanged: to be on or off as it is, or alternately to
// have an attribute that it has.
func asItIs(d homelab.Device, turn int) homelab.Command {
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

func bodyRequest(id, body string) server.Request {
	return server.Request{
		Method: http.MethodPost, Path: pathCommands + url.PathEscape(id) + "/command",
		Header: map[string]string{server.ContentType: server.TypeJSON}, Body: []byte(body),
	}
}

func devicePath(id string) string { return pathDevices + "/" + url.PathEscape(id) }
