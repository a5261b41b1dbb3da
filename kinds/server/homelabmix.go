package server

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/apps/homelab"
	"github.com/tarebench/tare/contender/fixture"
)

// What a house is asked for, out of a hundred requests.
const (
	shareDevices  = 45
	shareDevice   = 35
	shareCommand  = 10
	shareServices = 5
	shareHealth   = 5

	shareUnknown = 0.02 // of those for one device: there is none
	popularity   = 1.1  // the exponent of Zipf's law by which devices are asked for
)

// Of commands so many are for a device that takes them, one that does not, and
// broken off.
func commandShares() []float64 { return []float64{8, 1, 1} }

// The pool of a mix is large enough for its shares to come out whole.
const (
	mixPool  = 1000
	mixLeast = 100
	mixMost  = 100_000
)

// homelabRequests are the pool of an op on a house of n devices.
func homelabRequests(w tare.Workload) ([]Request, error) {
	devices, err := devicesOf(w.N)
	if err != nil {
		return nil, err
	}
	switch w.Op {
	case opHealth:
		return []Request{get(pathHealth)}, nil
	case opDevices:
		return []Request{get(pathDevices)}, nil
	case opDevice:
		var list []Request
		for _, d := range byRank(devices) {
			list = append(list, get(devicePath(d.ID)))
		}
		return list, nil
	}
	pool := w.Pool
	if pool == 0 {
		pool = mixPool
	}
	switch {
	case pool < mixLeast || pool > mixMost:
		return nil, fmt.Errorf("a pool of %d requests; a mix takes %d to %d", pool, mixLeast, mixMost)
	case len(devices) < 4:
		return nil, fmt.Errorf("n: a house of %d devices; a mix takes one of each type, n: 4 or more", len(devices))
	}
	return mix(devices, pool)
}

// byRank are the devices in the order in which they are popular: not that of
// the house.
func byRank(devices []homelab.Device) []homelab.Device {
	list := slices.Clone(devices)
	Shuffle(fixture.NewRandom("tare/homelab/v1 ranks"), list)
	return list
}

// mix is a pool of everything, each kind with its share, in a fixed order.
func mix(devices []homelab.Device, pool int) ([]Request, error) {
	ranks := byRank(devices)
	parts := Shares(pool, []float64{shareDevices, shareDevice, shareCommand, shareServices, shareHealth})
	list := slices.Repeat([]Request{get(pathDevices)}, parts[0])
	list = append(list, someDevices(ranks, parts[1])...)
	commands, err := someCommands(ranks, parts[2])
	if err != nil {
		return nil, err
	}
	list = append(list, commands...)
	list = append(list, slices.Repeat([]Request{get(pathServices)}, parts[3])...)
	list = append(list, slices.Repeat([]Request{get(pathHealth)}, parts[4])...)
	Shuffle(fixture.NewRandom("tare/homelab/v1 mix"), list)
	return list, nil
}

// someDevices asks for single devices, by their popularity, and for some that
// are not there.
func someDevices(ranks []homelab.Device, n int) []Request {
	there := Shares(n, []float64{1 - shareUnknown, shareUnknown})
	var list []Request
	for i, times := range Shares(there[0], zipf(len(ranks), popularity)) {
		list = append(list, slices.Repeat([]Request{get(devicePath(ranks[i].ID))}, times)...)
	}
	for i := range there[1] {
		list = append(list, get(devicePath(fmt.Sprintf("light.nowhere_%04d", i))))
	}
	return list
}

// someCommands tells devices to be as they are already, tells some that take no
// commands, and breaks some off.
func someCommands(ranks []homelab.Device, n int) ([]Request, error) {
	var takes, reads []homelab.Device
	for _, d := range ranks {
		if d.Type == "sensor" || d.Type == "binary_sensor" {
			reads = append(reads, d)
		} else {
			takes = append(takes, d)
		}
	}
	parts := Shares(n, commandShares())
	var list []Request
	for i := range parts[0] {
		q, err := telling(takes[i%len(takes)].ID, asItIs(takes[i%len(takes)], i/len(takes)))
		if err != nil {
			return nil, err
		}
		list = append(list, q)
	}
	for i := range parts[1] {
		q, err := telling(reads[i%len(reads)].ID, homelab.Command{Action: "turn_on"})
		if err != nil {
			return nil, err
		}
		list = append(list, q)
	}
	for i := range parts[2] {
		list = append(list, tell(takes[i%len(takes)].ID, `{"action":"turn_on","parameters":{`))
	}
	return list, nil
}

// asItIs is a command that leaves d as it is: to be on or off as it is, or by
// turns to have an attribute that it has.
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

func telling(id string, c homelab.Command) (Request, error) {
	body, err := json.Marshal(c)
	return tell(id, string(body)), err
}

func tell(id, body string) Request {
	return Request{
		Method: http.MethodPost, Path: pathCommands + url.PathEscape(id) + "/command",
		Header: map[string]string{contentType: typeJSON}, Body: []byte(body),
	}
}

func devicePath(id string) string { return pathDevices + "/" + url.PathEscape(id) }
