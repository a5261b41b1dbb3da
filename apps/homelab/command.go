package homelab

import (
	"encoding/json"
	"maps"
	"reflect"
	"strings"
)

// States of a device that can be turned on and off, and what a command can ask
// for.
const (
	on  = "on"
	off = "off"

	turnOn  = "turn_on"
	turnOff = "turn_off"
	toggle  = "toggle"
	set     = "set"
)

// maxAttributes is how many attributes a device may come to have by commands.
const maxAttributes = 64

// Command tells a device what to do: it is turned on or off, or the parameters
// are merged into its attributes. What is wrong with the command itself is
// found first, then whether there is such a device, then whether it takes
// commands. A command that changes nothing leaves the device as it is, its time
// too. Nothing of c is kept.
func (h *House) Command(id string, c Command) (Outcome, error) {
	action, ok := known(c.Action)
	if !ok {
		return Outcome{}, unknownAction(c.Action)
	}
	i, ok := h.places[id]
	if !ok {
		return Outcome{}, noDevice(id)
	}
	d := h.Devices()[i]
	if readOnly(d) {
		return Outcome{}, readOnlyDevice(d)
	}
	_, changed, err := applied(d, action, c.Parameters)
	if err == nil && changed {
		d, err = h.changed(i, action, c.Parameters)
	}
	if err != nil {
		return Outcome{}, err
	}
	h.counters.commands[action].Add(1)
	return Outcome{ID: d.ID, Action: action, State: d.State}, nil
}

// changed puts a device in its new state into a new list. By now somebody else
// may have changed it, so it is looked at again.
func (h *House) changed(i int, action string, parameters map[string]any) (Device, error) {
	h.change.Lock()
	defer h.change.Unlock()
	former := h.Devices()
	d, changed, err := applied(former[i], action, parameters)
	if err != nil || !changed {
		return d, err
	}
	if h.now != nil {
		d.LastUpdated = h.now().UTC()
	}
	list := make([]Device, len(former))
	copy(list, former)
	list[i] = d
	h.devices.Store(&list)
	return d, nil
}

func actions() [4]string { return [...]string{turnOn, turnOff, toggle, set} }

// known is the action as the package writes it: what a client sent may live in
// a buffer of its server.
func known(action string) (string, bool) {
	for _, a := range actions() {
		if action == a {
			return a, true
		}
	}
	return "", false
}

func readOnly(d Device) bool { return d.Type == "sensor" || d.Type == "binary_sensor" }

// applied is d after a command, and whether that is another d.
func applied(d Device, action string, parameters map[string]any) (Device, bool, error) {
	state := d.State
	switch action {
	case turnOn:
		state = on
	case turnOff:
		state = off
	case toggle:
		if state = on; d.State == on {
			state = off
		}
	case set:
		return merged(d, parameters)
	}
	changed := state != d.State
	d.State = state
	return d, changed, nil
}

func merged(d Device, parameters map[string]any) (Device, bool, error) {
	changed := false
	for name, value := range parameters {
		old, ok := d.Attributes[name]
		changed = changed || !ok || !same(old, value)
	}
	if !changed {
		return d, false, nil
	}
	attributes := maps.Clone(d.Attributes)
	for name, value := range parameters {
		attributes[strings.Clone(name)] = copied(value)
	}
	if len(attributes) > maxAttributes {
		return d, false, tooManyAttributes()
	}
	d.Attributes = attributes
	return d, true, nil
}

// same reports whether two values are the same as JSON, whichever decoder made
// them.
func same(a, b any) bool {
	x, isNumber := number(a)
	y, areNumbers := number(b)
	if isNumber && areNumbers {
		return x == y
	}
	return reflect.DeepEqual(a, b)
}

func number(v any) (float64, bool) {
	switch v := v.(type) {
	case float64:
		return v, true
	case int:
		return float64(v), true
	case int64:
		return float64(v), true
	case uint64:
		return float64(v), true
	case json.Number:
		f, err := v.Float64()
		return f, err == nil
	}
	return 0, false
}

// copied is a copy of a JSON value. Some decoders make strings that point into
// the body they read, which their server will use for another request.
func copied(v any) any {
	switch v := v.(type) {
	case string:
		return strings.Clone(v)
	case json.Number:
		return json.Number(strings.Clone(string(v)))
	case []any:
		list := make([]any, len(v))
		for i := range v {
			list[i] = copied(v[i])
		}
		return list
	case map[string]any:
		m := make(map[string]any, len(v))
		for name, value := range v {
			m[strings.Clone(name)] = copied(value)
		}
		return m
	}
	return v
}
